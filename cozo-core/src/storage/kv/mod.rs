//! Storage over any engine of ordered bytes.
//!
//! An engine is a [`KvEngine`]. Its [`KvSnapshot`] has gets and [cursors](KvCursor), and its [`KvBatch`] collects changes that
//! are applied as one. [`KvStorage`] makes a [`Storage`](super::Storage) of it, by the encodings of [`codec`](super::codec).
//! A [`KvView`] is a snapshot of the relations: the engine's snapshot, and the codec and row count of each relation.
//!
//! ```text
//!  KvStorage::commit ──> Writer: change sets become one KvBatch ──> KvEngine::write ──> the next KvView is published
//!  KvView::scan, lookup ──> KvCursor or get_all ──> RowReader: bytes become columns
//! ```
//!
//! # Keys and values
//! ```text
//! 8 bytes of the relation's number, big-endian, then the key of the row        the value of the row
//! 8 bytes 0, 'd', the name of a relation                                       its definition as JSON
//! 8 bytes 0, 'f'                                                               the version of this format, as text
//! 8 bytes 0, 'l'                                                               the mark of the commit log, as text
//! 8 bytes 0, 'n', 8 bytes of a relation's number                               its number of rows, as text
//! ```
//! Invariant: the order of the keys' bytes is the order of the rows.
//!
//! # Numbers of rows
//! They are estimates. A commit looks up a few of the keys that it changes to see how many are new, and adds that share of its
//! rows. Later commits add the same share until a thousandth of the relation has changed. In a relation of less than a thousand
//! rows, commits of up to eight rows are counted exactly. The numbers are written when they have changed by an eighth and when
//! the database closes. So after a crash they are about right.
//!
//! # The life of a look-up
//! 1. A prefix is encoded. One with a value that its column cannot hold has no rows.
//! 2. Whole keys are read by gets, several at once. Other prefixes are sought by a cursor, which moves only if it is not there
//!    already.
//! 3. The bytes found are decoded into the requested columns only.
//!
//! # The life of a read as of a time
//! A key ends with its validity, newest first. So the version visible at a time is found by seeking the history followed by that
//! time. The end of the history is found by seeking the history followed by bytes above every validity. A few steps forward are
//! tried first, since most histories are short.

mod append;
mod as_of;
mod catalog;
mod engine;
mod keys;
mod lookup;
mod partition;
mod probes;
mod scan;
mod snapshot;
mod storage;
#[cfg(test)]
mod tests;
mod write;

pub use catalog::FORMAT_VERSION;
pub use engine::{Entry, KvBatch, KvCursor, KvEngine, KvPairs, KvSnapshot, KvTraits, OnFound};
pub use keys::{ByteRange, Keys, RELATION_BYTES};
pub use snapshot::KvView;
pub use storage::KvStorage;
