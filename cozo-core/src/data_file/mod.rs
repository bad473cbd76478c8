//! What all readers of data files need, in scripts and on the command line.
//!
//! * [`files_of`] expands a pattern such as `data/*.csv`, [`decompressed`] reads gzip.
//! * [`find_delimiter`] finds the delimiter of CSV, [`SeparatedReader`] reads its records.
//! * [`TypeGuess`] finds the narrowest type that holds all values of a column.
//!
//! No part of this module knows relations or rules.

mod delimiter;
mod guess;
mod paths;
mod separated;

pub use delimiter::{START_BYTES, find_delimiter};
pub use guess::{GuessedKind, TypeGuess, beyond_numbers, is_exact_float};
pub use paths::{PatternError, decompressed, files_of, is_gzip, without_gzip};
pub use separated::{RecordError, SeparatedReader, line_of};
