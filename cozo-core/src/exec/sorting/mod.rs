//! Sorting rows, in memory or on disk.
//!
//! [`sort_rows`] sorts a batch. More rows than memory holds are sorted in parts, each of which goes to disk as a *run*
//! ([`SortedRuns`]); a [`Merge`] then reads all runs at once, in order. Equal rows meet in the merge, where one of them remains.
//!
//! ```text
//!  rows -> SortedRuns::add     sort a part, write it       run 0: a c g ...   run 1: b c d ...
//!          Merge::next_rows    rows up to the least of the last rows read, sorted together: a b c d ...
//! ```
//!
//! [`Partitions`] part rows by hash instead, for groups and joins.
//!
//! Parts that come in order already make one run, which is read without a merge.

mod compare;
mod in_memory;
mod merge;
mod order;
mod partitions;
mod runs;

pub use compare::compare;
pub use in_memory::sort_rows;
pub use merge::Merge;
pub use order::RunOrder;
pub use partitions::{Partitions, append_partitions, part_again};
pub use runs::{Disk, SortedRuns};
