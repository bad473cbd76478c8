//! The thresholds of execution: from where on one way of working is faster than another.
//!
//! Each has its unit, and the bench that shows whether it is right. A few more depend on the number of rows: [`max_codes`] and
//! [`max_bits`]. Thresholds of the planner are in `plan/cost.rs`, those of an engine with the engine.

use crate::value::sort::RADIX_MIN_ROWS;

// Batches.

/// The most rows of a batch.
/// Unit: rows. Bench: `pokec`.
pub const MAX_BATCH_ROWS: usize = 2048;

/// The most rows of the first batch if only a few results are wanted.
/// Unit: rows. Bench: `pokec`.
pub const FIRST_BATCH_ROWS: usize = 16;

/// About the most bytes of a batch: a batch of large rows has fewer rows.
/// Unit: bytes. Bench: `values`.
pub const MAX_BATCH_BYTES: usize = 8 << 20;

// Threads.

/// A scan is split among threads from this many rows on. Fewer rows suffice if each row makes more work. The work must outweigh
/// the start of the threads.
/// Unit: rows. Bench: `pokec`.
pub const SPLIT_MIN_ROWS: u64 = 1 << 17;

/// A recursive rule needs this many times more rows: the threads' results are compared once more with all known rows when they
/// are merged.
/// Unit: ratio. Bench: `recursion`.
pub const MERGE_MIN_RATIO: u64 = 4;

// Single rows.

/// The rows that recursion row by row makes between two checks of the budget.
/// Unit: rows. Bench: `recursion`.
pub const ROWS_BETWEEN_CHECKS: usize = 16;

/// The bytes that recursion row by row makes between two checks of the budget.
/// Unit: bytes. Bench: `recursion`.
pub const BYTES_BETWEEN_CHECKS: usize = 1 << 14;

/// Larger rows are written as columns: engines that store bytes make columns anyway, and a large value is then copied once.
/// Unit: bytes. Bench: `values`.
pub const MAX_ROW_BYTES: usize = 1024;

// From keys to rows.

/// From this many rows on, look-ups are sorted: neighbours then share their way through the relation.
/// Unit: rows. Bench: `pokec`.
pub const SORT_MIN_ROWS: usize = 64;

/// A batch of this many look-ups is worth a question to the cache of indexes.
/// Unit: rows. Bench: `pokec`.
pub const COUNT_MIN_ROWS: usize = 4;

/// A look-up of a key costs at least as much as reading this many rows in sequence and indexing them by position.
/// Unit: rows. Bench: `pokec`.
pub const ROWS_PER_LOOKUP: u64 = 32;

/// The same for each row that a look-up finds: to decode it from its leaf costs more than to copy it from an index.
/// Unit: rows. Bench: `pokec`.
pub const ROWS_PER_FOUND: u64 = 2;

/// The same as [`ROWS_PER_LOOKUP`], for an index that one query builds for itself.
/// Unit: rows. Bench: `recursion`.
pub const ROWS_PER_LOOKUP_OF_QUERY: u64 = 4;

/// The rows that are entered into a leaf directory in the time that it takes to copy and index one row.
/// Unit: rows. Bench: `pokec`.
pub const PLACED_ROWS_PER_COPIED: u64 = 16;

/// An index that is not necessary, only faster, may take this fraction of the query's free memory: one in so many bytes.
/// Unit: ratio. Bench: `pokec`.
pub const INDEX_SHARE_OF_MEMORY: usize = 4;

/// A relation of more rows is not copied into an index if it can be read in its tree, and if a key has [`MIN_ROWS_PER_KEY`].
/// Unit: rows. Bench: `pokec`.
pub const MAX_COPIED_ROWS: u64 = 1 << 21;

/// With fewer rows for a key on average, rows are copied into an index: to go to a leaf costs more than to copy a few rows.
/// Unit: rows. Bench: `pokec`.
pub const MIN_ROWS_PER_KEY: u64 = 8;

/// Up to this many input rows of a join by equal expressions are joined with every row, which costs less than an index. In
/// recursion, more input rows come with each round.
/// Unit: rows. Bench: `recursion`.
pub const READ_THROUGH_MAX_ROWS: usize = 4;

/// So many pairs of rows are joined and compared in the time that it takes to read and order one row for a join by comparisons.
/// Unit: pairs. Bench: `indices`.
pub const PAIRS_PER_ORDERED_ROW: u64 = 4;

/// Keys of sorted lists are found by their distance if that takes at most this many positions for each pair.
/// Unit: positions. Bench: `pokec`.
pub const POSITIONS_PER_PAIR: usize = 4;

/// Sorted lists leave this fraction of the query's free memory to others: one in so many bytes. Beyond it, they are divided into pieces.
/// Unit: ratio. Bench: `pokec`.
pub const LISTS_SPARE_SHARE: usize = 4;

/// Sorted lists are divided into at most so many pieces: for each of them, their relations are read again.
/// Unit: pieces. Bench: `pokec`.
pub const MAX_PIECES: usize = 256;

/// A sorted list this many times longer than the other is searched, not read through.
/// Unit: ratio. Bench: `pokec`.
pub const SEARCH_MIN_RATIO: usize = 16;

// Ends of an order.

/// The second chunk of an ordered scan has about this many rows, or more if more rows are wanted. Each chunk may be twice as large
/// as the one before.
/// Unit: rows. Bench: `indices`.
pub const SECOND_CHUNK_ROWS: u64 = 64;

/// The most rows of a chunk of an ordered scan.
/// Unit: rows. Bench: `indices`.
pub const MAX_CHUNK_ROWS: u64 = 1024;

/// Where the engine knows no ranks, a range is divided into this many parts at a time, until the parts are chunks.
/// Unit: parts. Bench: `indices`.
pub const CHUNK_PARTS: u64 = 4;

/// A table is cut to the wanted rows when it has twice as many, and this many more.
/// Unit: rows. Bench: `pokec`.
pub const TOP_K_SLACK: usize = 1024;

// Telling rows apart.

/// Up to this many rows, duplicates are found by comparing with all rows.
/// Unit: rows. Bench: `recursion`.
pub const FEW_ROWS: usize = 8;

/// `Distinct` forgets all rows when it has seen this many: a duplicate costs only time, but a remembered row costs memory.
/// Unit: rows. Bench: `pokec`.
pub const REMEMBERED_ROWS: usize = 1 << 20;

/// Rows that a fork lists unchecked are checked from this many rows on, which bounds their memory.
/// Unit: rows. Bench: `recursion`.
pub const MAX_UNCHECKED_ROWS: usize = 1 << 20;

/// Integers are sorted in the end if a bitmap would have this many words for each of them, or more.
/// Unit: words. Bench: `pokec`.
pub const SORT_MIN_WORDS: u64 = 8;

/// More integers are not listed, however far apart they lie: a list holds each duplicate.
/// Unit: rows. Bench: `pokec`.
pub const MAX_LISTED_ROWS: usize = RADIX_MIN_ROWS;

/// A bitmap with this many words for each row, or more, is sparse: the words that are not 0 are marked.
/// Unit: words. Bench: `recursion`.
pub const SPARSE_MIN_WORDS: usize = 4;

/// Groups by one integer from 0 up to here, a power of two, are looked up in an array.
/// Unit: values. Bench: `pokec`.
pub const SMALL_GROUPS: u64 = 1 << 16;

/// From this many groups on, a hash table of integers may become an array.
/// Unit: groups. Bench: `patterns`.
pub const LOOK_MIN_GROUPS: usize = 1 << 12;

/// The most codes for an index of so many rows: at four bytes each, they take at most a few times the memory of a hash table.
pub fn max_codes(rows: u64) -> u64 {
    rows.saturating_mul(16).saturating_add(1024)
}

/// The most bits for a set of so many rows. A small set may take more memory than a hash table would, since words are cleared and
/// read at memory speed; a large set may not.
pub fn max_bits(rows: usize) -> u64 {
    let rows = rows as u64;
    (rows * 128).max((rows * 4096).min(1 << 26))
}

// Rows on disk.

/// A set or a sort that holds less than this fraction of the bytes from which on rows go to disk does not go to disk: one in so many
/// bytes. Others hold the rest.
/// Unit: ratio. Bench: `spill`.
pub const SPILL_MIN_SHARE: usize = 8;

/// The rows that are sorted at a time take this fraction of the bytes from which on rows go to disk: one in so many bytes.
/// Unit: ratio. Bench: `spill`.
pub const SORT_SHARE_OF_MEMORY: usize = 4;

/// Rows on disk are parted by so many bits of their hash.
/// Unit: bits. Bench: `spill`.
pub const PARTITION_BITS: u32 = 5;

/// A partition is parted again at most so many times: what is still too large then has mostly one key.
/// Unit: times. Bench: `spill`.
pub const MAX_PARTITION_LEVEL: u32 = 4;

/// Groups and build sides go to disk if they take more than this fraction of the bytes from which on rows go to disk: one in so many
/// bytes.
/// Unit: ratio. Bench: `spill`.
pub const PARTITION_SHARE_OF_MEMORY: usize = 2;

/// A file for rows that is larger is not shared with others: it is freed when all rows that lie in it are.
/// Unit: bytes. Bench: `spill`.
pub const MAX_SHARED_FILE_BYTES: u64 = 64 << 20;

/// A write in memory makes copies of its rows, coerced and sorted: together so many times the memory of the rows.
/// Unit: ratio. Bench: `spill`.
pub const WRITE_COPIES: usize = 3;

/// The bytes that an index of rows takes besides their values.
/// Unit: bytes per row. Bench: `spill`.
pub const BUILD_BYTES_AROUND_ROW: usize = 24;

/// The rows that a merge has read take this fraction of the bytes from which on rows go to disk: one in so many bytes.
/// Unit: ratio. Bench: `spill`.
pub const MERGE_SHARE_OF_MEMORY: usize = 4;

/// The least rows that a merge reads of a run at a time.
/// Unit: rows. Bench: `spill`.
pub const MIN_MERGE_ROWS: usize = 1 << 10;

/// The most rows that a merge reads of a run at a time.
/// Unit: rows. Bench: `spill`.
pub const MAX_MERGE_ROWS: usize = 1 << 16;

// Searches.

/// A search with a filter asks its index for this many times more rows, and again if too few pass.
/// Unit: ratio. Bench: `search`.
pub const SEARCH_GROWTH: usize = 4;

/// The least rows that a search with a filter asks for at first.
/// Unit: rows. Bench: `search`.
pub const SEARCH_MIN_CANDIDATES: usize = 64;
