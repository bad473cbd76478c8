//! The options of the engine, and the settings of RocksDB that follow from them.

use ::rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, DBCompressionType, DataBlockIndexType, LogLevel, Options as Setup,
    SliceTransform,
};
use serde::Deserialize;

use crate::storage::error::StorageError;
use crate::storage::kv::RELATION_BYTES;
use crate::storage::options::{AMPLE_MEMORY_BYTES, MEMORY_BYTES};

/// The options of the engine, beside those that every engine has.
///
/// Memory is bounded by `block_cache_mb` and twice `write_buffer_mb`. Their defaults are for a machine or a container with at least
/// [`AMPLE_MEMORY_BYTES`]; with less they shrink in proportion, since queries and the cache of columns take shares of the same memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RocksOptions {
    /// The size in megabytes of the cache of blocks, with their indices and filters.
    pub block_cache_mb: u64,
    /// The size in megabytes of the buffer of writes that become one file. While it is written, a second buffer is filled.
    pub write_buffer_mb: u64,
    /// The compression of blocks.
    pub compression: Compression,
    /// Values of at least this many bytes are stored apart from their keys. They are not copied when files are merged, but a scan
    /// reads each of them separately.
    pub min_blob_bytes: u64,
    /// The number of files that are open at once.
    pub max_open_files: i32,
    /// The number of threads that write and merge files.
    pub background_jobs: i32,
}

/// A compression of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// No compression.
    None,
    /// Fast compression.
    #[default]
    Lz4,
    /// Smaller files, but slower.
    Zstd,
}

impl Default for RocksOptions {
    fn default() -> Self {
        RocksOptions {
            block_cache_mb: share_of(256),
            write_buffer_mb: share_of(64),
            compression: Compression::Lz4,
            min_blob_bytes: 4096,
            max_open_files: 512,
            background_jobs: 4,
        }
    }
}

const MEGABYTE: u64 = 1 << 20;

/// What the engine takes by default, of `megabytes` where memory is ample.
fn share_of(megabytes: u64) -> u64 {
    let there_are = (*MEMORY_BYTES).min(AMPLE_MEMORY_BYTES) as u64;
    (megabytes * there_are / AMPLE_MEMORY_BYTES as u64).max(1)
}

/// The greatest value of an option in megabytes: a terabyte.
const MAX_MEGABYTES: u64 = 1 << 20;

/// The bits of the filters for each key. With them about one get in a hundred of a missing key reads a block in vain.
const FILTER_BITS: f64 = 10.0;

/// The size of a part of an index or of a filter.
const METADATA_BLOCK_BYTES: usize = 16 << 10;

impl RocksOptions {
    /// Refuses invalid values.
    fn check(&self) -> Result<(), StorageError> {
        let wrong = [
            (self.write_buffer_mb == 0, "write_buffer_mb must be at least 1"),
            (self.write_buffer_mb > MAX_MEGABYTES, "write_buffer_mb must be at most 1048576"),
            (self.block_cache_mb > MAX_MEGABYTES, "block_cache_mb must be at most 1048576"),
            (self.max_open_files < 16, "max_open_files must be at least 16"),
            (self.background_jobs < 1, "background_jobs must be at least 1"),
        ];
        match wrong.iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, message)) => Err(StorageError::BadOptions(message.to_string())),
            None => Ok(()),
        }
    }

    /// RocksDB's options.
    pub(super) fn setup(&self) -> Result<Setup, StorageError> {
        self.check()?;
        let cache = Cache::new_lru_cache((self.block_cache_mb * MEGABYTE) as usize);
        let mut setup = Setup::default();
        setup.create_if_missing(true);
        setup.set_block_based_table_factory(&blocks(&cache));
        setup.set_prefix_extractor(SliceTransform::create_fixed_prefix(RELATION_BYTES));
        self.set_writes(&mut setup);
        self.set_blobs(&mut setup, &cache);
        setup.set_compression_type(self.compression.kind());
        setup.set_max_open_files(self.max_open_files);
        // Background threads, not readers, delete the files that only a dropped snapshot needed.
        setup.set_avoid_unnecessary_blocking_io(true);
        setup.set_log_level(LogLevel::Warn);
        setup.set_keep_log_file_num(4);
        setup.set_stats_dump_period_sec(0);
        setup.set_stats_persist_period_sec(0);
        Ok(setup)
    }

    fn set_writes(&self, setup: &mut Setup) {
        let write_buffer = (self.write_buffer_mb * MEGABYTE) as usize;
        setup.set_write_buffer_size(write_buffer);
        setup.set_max_write_buffer_number(2);
        setup.set_db_write_buffer_size(2 * write_buffer);
        // A commit checks whether keys are new. Most are, and the filter says so without a search.
        setup.set_memtable_prefix_bloom_ratio(0.02);
        setup.set_memtable_whole_key_filtering(true);
        setup.set_max_background_jobs(self.background_jobs);
        // Dirty pages go to the disk steadily, and not all at once.
        setup.set_bytes_per_sync(MEGABYTE);
    }

    fn set_blobs(&self, setup: &mut Setup, cache: &Cache) {
        setup.set_enable_blob_files(true);
        setup.set_min_blob_size(self.min_blob_bytes);
        setup.set_blob_compression_type(self.compression.kind());
        setup.set_blob_cache(cache);
        setup.set_enable_blob_gc(true);
    }
}

fn blocks(cache: &Cache) -> BlockBasedOptions {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_block_size(8 << 10);
    blocks.set_bloom_filter(FILTER_BITS, false);
    blocks.set_whole_key_filtering(true);
    blocks.set_optimize_filters_for_memory(true);
    // Indices and filters count as memory of the cache. As a whole, those of a large file would not fit into a shard of the cache, and
    // each look-up would read them anew. So they are in parts, and only the list of the parts is kept.
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
    blocks.set_partition_filters(true);
    blocks.set_metadata_block_size(METADATA_BLOCK_BYTES);
    blocks.set_pin_top_level_index_and_filter(true);
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(true);
    // A get finds its key in a block by a hash.
    blocks.set_data_block_index_type(DataBlockIndexType::BinaryAndHash);
    blocks
}

impl Compression {
    fn kind(self) -> DBCompressionType {
        match self {
            Compression::None => DBCompressionType::None,
            Compression::Lz4 => DBCompressionType::Lz4,
            Compression::Zstd => DBCompressionType::Zstd,
        }
    }
}
