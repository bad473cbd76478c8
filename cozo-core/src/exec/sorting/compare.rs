//! The order of two rows.

use std::cmp::Ordering;

use crate::plan::SortKey;
use crate::value::Batch;

/// The order of two rows: by some columns, and among equals by all columns.
pub fn compare(keys: &[SortKey], a: (&Batch, usize), b: (&Batch, usize)) -> Ordering {
    let by_key = keys.iter().map(|key| {
        let order = a.0.columns[key.column].compare_at(a.1, &b.0.columns[key.column], b.1);
        if key.descending { order.reverse() } else { order }
    });
    by_key.into_iter().find(|order| order.is_ne()).unwrap_or_else(|| a.0.compare_rows(a.1, b.0, b.1))
}
