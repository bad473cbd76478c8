//! The rows of a query: one or many.

use crate::value::{Batch, Tuple};

/// The rows of a query.
pub enum Rows {
    /// One row or none, and the bytes of its values, from a run on single values.
    One(Option<Tuple>, usize),
    /// Any number of rows, from a run on batches.
    Many(Batch),
}
