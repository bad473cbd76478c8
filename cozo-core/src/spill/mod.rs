//! Rows of a query on disk, when its memory is used up.
//!
//! ```text
//!  SpillSpace     one for each database: the folder, the limit, the bytes in use
//!    SpillFile    without a name, so that it vanishes with the process; written at its end, read anywhere
//!      SpillWriter -> SpilledRows    rows in blocks of encoded columns, read by ranges of row numbers
//! ```
//!
//! A file is freed when the last rows that lie in it are dropped. What is on disk is never read by another process, so its form
//! may change with any version. **spill never decides when rows go to disk; exec does.**

mod block;
mod error;
mod file;
mod rows;
mod space;

pub use error::SpillError;
pub use file::SpillFile;
pub use rows::{SpillReader, SpillWriter, SpilledRows};
pub use space::SpillSpace;
