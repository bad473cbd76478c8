//! The rocksdb engine: relations in a folder of [RocksDB](https://rocksdb.org) files, for many writes and for data much
//! larger than memory.
//!
//! RocksDB stores the ordered bytes of [`kv`](super::kv) in one column family. A commit is one `WriteBatch`, and a snapshot is a
//! snapshot of RocksDB. Keys begin with the number of their relation, and filters have that prefix besides whole keys. So a file
//! without rows of a relation is not searched, and a get of a missing key seldom reads. Large values are in files of their own,
//! which compactions do not copy.
//!
//! ```text
//!  KvStorage ──> RocksDb::write    one WriteBatch: log, memtable
//!            ──> RocksDb::append   a flush, then a new file of rows, ingested as a whole (no log)
//!            ──> RocksDb::snapshot RocksView: gets and iterators at one sequence number
//! ```
//!
//! RocksDB does not report every loss: of a truncated or outdated file it may read the rest and open. So the database records
//! beside it how many writes it had and what the list of files was, and an opening compares.
//!
//! | part | what |
//! |---|---|
//! | [`RocksOptions`] | the options of the engine, and the settings of RocksDB |
//! | `place` | whether the folder may be opened |
//! | `recovery` | opening the folder, also if RocksDB's own log is damaged |
//! | `evidence` | second names for files that an opening may remove, until they are known to be read |
//! | `height` | the number of writes at intervals, so that an opening notices missing ones |
//! | `manifest` | whether RocksDB's list of files is as the database left it |
//! | `threads` | whether this process can have the threads of RocksDB |

mod evidence;
mod height;
mod manifest;
mod options;
mod place;
mod recovery;
#[cfg(test)]
mod tests;
mod threads;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::rocksdb::{
    BottommostLevelCompaction, CompactOptions, DB, DBRawIterator, DEFAULT_COLUMN_FAMILY_NAME, Error, ErrorKind,
    IngestExternalFileOptions, Options as Setup, Range, ReadOptions, Snapshot, SstFileWriter, WriteBatch, WriteOptions,
};
use self_cell::self_cell;

pub use options::{Compression, RocksOptions};

use height::Height;

use super::error::StorageError;
use super::folders::sync_name;
use super::kv::{
    ByteRange, Entry, Keys, KvBatch, KvCursor, KvEngine, KvPairs, KvSnapshot, KvStorage, KvTraits, OnFound,
    RELATION_BYTES,
};
use super::options::{Durability, Options};

/// The name of the engine.
const NAME: &str = "rocksdb";

/// The storage of this engine.
pub type RocksDbStorage = KvStorage<RocksDb>;

/// Opens the database in a folder. Creates it if there is none.
pub fn open(path: &Path, options: &Options) -> Result<RocksDbStorage, StorageError> {
    KvStorage::open(RocksDb::open(path, options)?, options.read_only)
}

/// An open RocksDB.
pub struct RocksDb {
    db: Arc<DB>,
    /// The settings for writing files.
    setup: Setup,
    min_blob_bytes: usize,
    write: WriteOptions,
    max_rows_in_place: usize,
    warnings: Vec<String>,
    height: Height,
    is_read_only: bool,
    /// Whether RocksDB shows a batch that it has reported as failed.
    has_taken_failed_batch: AtomicBool,
}

/// The name of a file to be added, in the folder of the database, while it is written. The next one replaces the remains of an
/// interrupted one.
const APPENDED_FILE: &str = "appended.tmp";

/// A commit of this many rows takes about a tenth of a millisecond.
const MAX_ROWS_IN_PLACE: usize = 16;

impl RocksDb {
    fn open(path: &Path, options: &Options) -> Result<Self, StorageError> {
        let engine_options = options.of_engine::<RocksOptions>()?;
        let setup = engine_options.setup()?;
        let min_blob_bytes = engine_options.min_blob_bytes.min(usize::MAX as u64) as usize;
        threads::check(engine_options.background_jobs)?;
        place::check(path, options.read_only)?;
        let is_new = !path.exists();
        let (db, warnings) = recovery::open(path, setup.clone(), options.read_only)?;
        threads::are_started();
        if is_new && options.durability == Durability::Disk {
            let unsynced = |error: std::io::Error| StorageError::Engine {
                engine: NAME,
                action: "make the folder of the database",
                message: error.to_string(),
            };
            sync_name(path).map_err(unsynced)?;
        }
        let mut write = WriteOptions::default();
        let sync = options.durability == Durability::Disk;
        write.set_sync(sync);
        let max_rows_in_place = if sync { 0 } else { MAX_ROWS_IN_PLACE };
        let height = Height::new(path, engine_options.write_buffer_mb << 20);
        if !options.read_only {
            height.note(&db, false);
        }
        Ok(RocksDb {
            db: Arc::new(db),
            setup,
            min_blob_bytes,
            write,
            max_rows_in_place,
            warnings,
            height,
            is_read_only: options.read_only,
            has_taken_failed_batch: AtomicBool::new(false),
        })
    }
}

impl Drop for RocksDb {
    fn drop(&mut self) {
        // A failed batch has a number, but may be missing at the next opening, so no note is written.
        if !self.is_read_only && !self.has_taken_failed_batch.load(Ordering::Relaxed) {
            // A compaction that ended after the note would add to the manifest what no note covers.
            self.db.cancel_all_background_work(true);
            self.height.note(&self.db, true);
        }
    }
}

/// Converts an error of RocksDB, with the action that failed.
fn failed(action: &'static str) -> impl Fn(Error) -> StorageError {
    move |error| match error.kind() {
        ErrorKind::Corruption => StorageError::Damaged(error.into_string()),
        _ => StorageError::Engine { engine: NAME, action, message: error.into_string() },
    }
}

impl KvEngine for RocksDb {
    type Snapshot = RocksView;
    type Batch = WriteBatch;

    /// Larger values than can be appended belong in files of their own, which ingested files do not have.
    fn traits(&self) -> KvTraits {
        KvTraits { name: NAME, appendable_bytes: self.min_blob_bytes, max_rows_in_place: self.max_rows_in_place }
    }

    fn path(&self) -> String {
        self.db.path().display().to_string()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn snapshot(&self) -> RocksView {
        RocksView(OwnedView::new(self.db.clone(), |db| {
            let snapshot = db.snapshot();
            let mut read = ReadOptions::default();
            read.set_snapshot(&snapshot);
            View { snapshot, read }
        }))
    }

    fn write(&self, batch: WriteBatch) -> Result<(), StorageError> {
        let (before, bytes) = (self.db.latest_sequence_number(), batch.size_in_bytes());
        self.db.write_opt(batch, &self.write).map_err(|error| {
            let has_taken = self.db.latest_sequence_number() != before;
            self.has_taken_failed_batch.fetch_or(has_taken, Ordering::Relaxed);
            failed("write")(error)
        })?;
        if !self.has_taken_failed_batch.load(Ordering::Relaxed) {
            self.height.has_written(bytes, &self.db);
        }
        Ok(())
    }

    /// Writes the keys to a file, and ingests it.
    fn append(&self, pairs: &mut dyn KvPairs) -> Result<bool, StorageError> {
        let added = failed("add a file");
        let path = self.db.path().join(APPENDED_FILE);
        let mut file = SstFileWriter::create(&self.setup);
        file.open(&path).map_err(&added)?;
        let (mut key, mut value, mut is_empty) = (vec![], vec![], true);
        let mut fit = true;
        while fit && pairs.next(&mut key, &mut value)? {
            fit = value.len() < self.min_blob_bytes;
            if fit {
                file.put(&key, &value).map_err(&added)?;
                is_empty = false;
            }
        }
        if is_empty || !fit {
            drop(file);
            // An error is harmless: the next one replaces the file.
            let _ = fs::remove_file(&path);
            return Ok(fit);
        }
        file.finish().map_err(&added)?;
        // The file survives a loss of power and damage to the log, and so must all earlier commits: in files, too.
        self.db.flush().map_err(&added)?;
        let mut options = IngestExternalFileOptions::default();
        options.set_move_files(true);
        let family = self.db.cf_handle(DEFAULT_COLUMN_FAMILY_NAME).expect("the family was opened by name");
        self.db.ingest_external_file_cf_opts(family, &options, vec![path]).map_err(&added)?;
        self.height.note(&self.db, false);
        Ok(true)
    }

    fn flush(&self) -> Result<(), StorageError> {
        self.db.flush().map_err(failed("write a file"))?;
        self.height.note(&self.db, false);
        Ok(())
    }

    /// Flushes, so that a failed batch in the log is not read again. That is not possible once RocksDB itself shows the batch,
    /// although it failed.
    fn settle(&self) -> Result<(), StorageError> {
        if self.has_taken_failed_batch.load(Ordering::Relaxed) {
            let message = "it has taken a part of a write that failed".to_string();
            return Err(StorageError::Engine { engine: NAME, action: "undo a write", message });
        }
        self.flush()
    }

    fn compact(&self) -> Result<(), StorageError> {
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
        // Other compactions and flushes may run meanwhile.
        options.set_exclusive_manual_compaction(false);
        self.db.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &options);
        Ok(())
    }
}

impl KvBatch for WriteBatch {
    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) {
        WriteBatch::put(self, key, value);
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) {
        WriteBatch::delete(self, key);
    }

    fn delete_range(&mut self, range: &ByteRange) {
        WriteBatch::delete_range(self, &range.lower, &range.upper);
    }
}

/// A snapshot, and the options of gets from it.
struct View<'a> {
    snapshot: Snapshot<'a>,
    read: ReadOptions,
}

self_cell!(
    /// A snapshot with its database.
    struct OwnedView {
        owner: Arc<DB>,

        #[covariant]
        dependent: View,
    }
);

/// The contents at one moment.
pub struct RocksView(OwnedView);

impl RocksView {
    fn iterator(&self, mut read: ReadOptions, range: &ByteRange) -> DBRawIterator<'_> {
        read.set_iterate_lower_bound(&range.lower[..]);
        read.set_iterate_upper_bound(&range.upper[..]);
        self.0.borrow_dependent().snapshot.raw_iterator_opt(read)
    }

    fn get(&self, key: &[u8], found: &mut OnFound) -> Result<(), StorageError> {
        let value = self.0.borrow_owner().get_pinned_opt(key, &self.0.borrow_dependent().read);
        value.map_err(failed("read"))?.map_or(Ok(()), |value| found(0, &value))
    }
}

impl KvSnapshot for RocksView {
    type Cursor<'a> = DBRawIterator<'a>;

    fn get_all(&self, keys: &Keys, found: &mut OnFound) -> Result<(), StorageError> {
        if keys.len() < 2 {
            return keys.iter().try_for_each(|key| self.get(key, found));
        }
        let (db, view) = (self.0.borrow_owner(), self.0.borrow_dependent());
        let family = db.cf_handle(DEFAULT_COLUMN_FAMILY_NAME).expect("the family was opened by name");
        let values = db.batched_multi_get_cf_opt(family, keys.iter(), keys.are_sorted(), &view.read);
        for (number, value) in values.into_iter().enumerate() {
            if let Some(value) = value.map_err(failed("read"))? {
                found(number, &value)?;
            }
        }
        Ok(())
    }

    fn cursor(&self, range: &ByteRange) -> DBRawIterator<'_> {
        let mut read = ReadOptions::default();
        // Without this setting a cursor sees the keys of one relation only.
        read.set_total_order_seek(range.lower.len() < RELATION_BYTES);
        self.iterator(read, range)
    }

    fn last_key(&self, range: &ByteRange) -> Result<Option<Vec<u8>>, StorageError> {
        let mut read = ReadOptions::default();
        // The search begins at the upper bound, which may be of the next relation.
        read.set_total_order_seek(true);
        let mut iterator = self.iterator(read, range);
        iterator.seek_to_last();
        Ok(iterator.entry()?.map(|(key, _)| key.to_vec()))
    }

    fn approximate_bytes(&self, range: &ByteRange) -> u64 {
        if range.lower >= range.upper {
            return 0;
        }
        self.0.borrow_owner().get_approximate_sizes(&[Range::new(&range.lower, &range.upper)]).iter().sum()
    }
}

impl KvCursor for DBRawIterator<'_> {
    fn seek(&mut self, key: &[u8]) {
        DBRawIterator::seek(self, key);
    }

    #[inline]
    fn next(&mut self) {
        DBRawIterator::next(self);
    }

    #[inline]
    fn entry(&self) -> Result<Option<Entry<'_>>, StorageError> {
        match self.item() {
            None => self.status().map(|()| None).map_err(failed("read")),
            item => Ok(item),
        }
    }
}
