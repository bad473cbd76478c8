//! The orders of runs, and which of equal rows remains.

use std::cmp::Ordering;

use super::compare::compare;
use super::in_memory::sort_rows;
use crate::exec::error::ExecError;
use crate::plan::SortKey;
use crate::value::sort::last_of_each_key;
use crate::value::{Batch, compare_columns};

/// The order of the rows of a run.
#[derive(Clone, Debug)]
pub enum RunOrder {
    /// By some columns, and among equals by all columns. Each row remains once.
    Rows(Vec<SortKey>),
    /// By so many leading columns. Of rows that are equal there, the last remains.
    Keys(usize),
}

impl RunOrder {
    /// Sorts rows. Of rows that are equal in this order, one remains.
    pub fn sort(&self, rows: Batch) -> Result<Batch, ExecError> {
        Ok(match self {
            RunOrder::Keys(width) => last_of_each_key(rows, *width),
            RunOrder::Rows(keys) if keys.is_empty() => {
                let width = rows.columns.len();
                last_of_each_key(rows, width)
            }
            RunOrder::Rows(keys) => without_repetitions(sort_rows(rows, keys)?),
        })
    }

    /// The order of two rows.
    pub fn compare(&self, a: (&Batch, usize), b: (&Batch, usize)) -> Ordering {
        match self {
            RunOrder::Rows(keys) => compare(keys, a, b),
            RunOrder::Keys(width) => compare_columns(&a.0.columns[..*width], a.1, &b.0.columns[..*width], b.1),
        }
    }
}

/// Sorted rows, each once.
fn without_repetitions(rows: Batch) -> Batch {
    let repeats = |row: &u32| *row > 0 && rows.compare_rows(*row as usize - 1, &rows, *row as usize).is_eq();
    if !(0..rows.len as u32).any(|row| repeats(&row)) {
        return rows;
    }
    let kept: Vec<u32> = (0..rows.len as u32).filter(|row| !repeats(row)).collect();
    rows.take(&kept)
}
