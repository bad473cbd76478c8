//! Sorting rows, by radix if there are many.
//!
//! | module | |
//! |---|---|
//! | `columns` | the order of rows by some of their columns |
//! | `packed` | rows of small integers, as one number each |
//! | `radix` | sorting by a number |
//! | `steps` | sorting that can be stopped |

mod columns;
mod packed;
mod radix;
mod steps;

use std::ops::Range;

use packed::sort_packed;
use rayon::prelude::*;
use smallvec::SmallVec;

use super::{Batch, Column, compare_columns};
use crate::threads;

pub use columns::order;
pub use steps::{sort_in_steps, sort_values};

/// At least this many integers are sorted by radix, which is faster than by comparison.
pub const RADIX_MIN_ROWS: usize = 4096;

/// The number of rows that another thread compares at a time.
const PARALLEL_MIN_ROWS: usize = 1 << 14;

/// At least this many rows are packed into numbers and sorted by these, which is faster than comparing their columns.
const PACK_MIN_ROWS: usize = 64;

/// Sorts integers. It is not stable, which makes no difference for integers.
pub fn sort_ints(values: &mut [i64]) {
    if values.is_sorted() {
        return;
    }
    if values.len() < RADIX_MIN_ROWS { values.sort_unstable() } else { radsort::sort(values) }
}

/// Sorts row numbers by the integers of the rows. Ties come in any order.
pub fn sort_by_ints(rows: &mut [u32], values: &[i64]) {
    if rows.len() < RADIX_MIN_ROWS {
        rows.sort_unstable_by_key(|row| values[*row as usize]);
    } else {
        radsort::sort_by_key(rows, |row| values[*row as usize]);
    }
}

/// Rows sorted stably by their first `width` columns.
pub fn sorted(rows: Batch, width: usize) -> Batch {
    let keys = &rows.columns[..width];
    if ascend(keys, rows.len, false) {
        return rows;
    }
    by_number(rows, width, false).unwrap_or_else(|rows| match order(&rows.columns[..width], rows.len) {
        Some(order) => rows.take(&order),
        None => rows,
    })
}

/// Rows sorted by their first `width` columns. Of rows that are equal there, only the last remains.
pub fn last_of_each_key(rows: Batch, width: usize) -> Batch {
    if ascend(&rows.columns[..width], rows.len, true) {
        return rows;
    }
    by_number(rows, width, true).unwrap_or_else(|rows| rows.take(&last_of_each(&rows.columns[..width], rows.len)))
}

/// [`sort_packed`], if there are enough rows.
fn by_number(rows: Batch, width: usize, once: bool) -> Result<Batch, Batch> {
    if rows.len < PACK_MIN_ROWS { Err(rows) } else { sort_packed(rows, width, once) }
}

/// The numbers of `len` rows in ascending order of these columns. Of rows that are equal there, only the last remains.
pub fn last_of_each(keys: &[Column], len: usize) -> Vec<u32> {
    let order = order(keys, len).unwrap_or_else(|| (0..len as u32).collect());
    let mut last: Vec<u32> = Vec::with_capacity(order.len());
    for row in order {
        match last.last_mut() {
            Some(previous) if compare_columns(keys, *previous as usize, keys, row as usize).is_eq() => *previous = row,
            _ => last.push(row),
        }
    }
    last
}

/// Whether each of `len` rows is greater than the one before, or, if not `strictly`, equal to it.
pub fn ascend(columns: &[Column], len: usize, strictly: bool) -> bool {
    let dense: Option<SmallVec<[&[i64]; 4]>> = columns.iter().map(Column::as_dense_ints).collect();
    let ascends = |pairs: Range<usize>| match dense.as_deref() {
        Some([values]) => values[pairs.start - 1..pairs.end]
            .windows(2)
            .all(|pair| pair[0] < pair[1] || (pair[0] == pair[1] && !strictly)),
        Some([first, second]) => first[pairs.start - 1..pairs.end]
            .windows(2)
            .zip(second[pairs.start - 1..pairs.end].windows(2))
            .all(|(a, b)| a[0] < a[1] || (a[0] == a[1] && (b[0] < b[1] || (b[0] == b[1] && !strictly)))),
        _ => pairs.into_iter().all(|row| {
            let order = compare_columns(columns, row - 1, columns, row);
            order.is_lt() || (order.is_eq() && !strictly)
        }),
    };
    match len {
        0..=1 => true,
        2..PARALLEL_MIN_ROWS => ascends(1..len),
        _ => {
            threads::ready();
            let parts = (1..len).into_par_iter().step_by(PARALLEL_MIN_ROWS);
            parts.all(|start| ascends(start..(start + PARALLEL_MIN_ROWS).min(len)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::DataValue;

    /// Rows of three columns, of which the first values lie so far apart that with `wide` they are not packed.
    fn rows(len: usize, wide: bool) -> Batch {
        let scale = if wide { 1 << 58 } else { 1 };
        let column = |factor: i64, kinds: i64| {
            Column::ints((0..len as i64).map(|i| (i * factor % kinds - kinds / 2) * scale).collect())
        };
        Batch::new(vec![column(7919, 31), column(31, 17), column(1, 13)], len)
    }

    #[test]
    fn rows_are_sorted_stably_and_the_last_of_each_key_is_kept() {
        for (len, wide) in [0, 1, 50, 100, 3 * RADIX_MIN_ROWS].into_iter().flat_map(|len| [(len, false), (len, true)]) {
            for width in 1..=3 {
                let batch = rows(len, wide);
                let mut expected: Vec<Vec<DataValue>> = batch.rows().collect();
                expected.sort_by(|a, b| a[..width].cmp(&b[..width]));
                let found: Vec<Vec<DataValue>> = sorted(batch.clone(), width).rows().collect();
                assert!(found == expected, "{len} rows by {width} columns");
                let last: Vec<_> =
                    expected.chunk_by(|a, b| a[..width] == b[..width]).flat_map(|run| run.last()).collect();
                let found = last_of_each_key(batch.clone(), width);
                assert!(found.rows().eq(last.into_iter().cloned()), "{len} rows by {width} columns, once");
            }
        }
    }

    #[test]
    fn rows_that_ascend_are_told() {
        let columns = |rows: [[i64; 2]; 3]| [0, 1].map(|i| Column::ints(rows.iter().map(|row| row[i]).collect()));
        for (rows, strictly, weakly) in [
            ([[1, 1], [1, 2], [2, 0]], true, true),
            ([[1, 1], [1, 1], [2, 0]], false, true),
            ([[1, 1], [1, 0], [2, 0]], false, false),
            ([[1, 1], [2, 0], [1, 2]], false, false),
        ] {
            let columns = columns(rows);
            assert_eq!((ascend(&columns, 3, true), ascend(&columns, 3, false)), (strictly, weakly), "{rows:?}");
            let mixed = [columns[0].clone(), columns[1].iter().chain([DataValue::Null]).collect()];
            assert_eq!((ascend(&mixed, 3, true), ascend(&mixed, 3, false)), (strictly, weakly), "{rows:?} with a null");
        }
    }

    #[test]
    fn a_single_row_out_of_order_among_many_is_told() {
        let len = 3 * PARALLEL_MIN_ROWS;
        for place in
            [1, PARALLEL_MIN_ROWS - 1, PARALLEL_MIN_ROWS, PARALLEL_MIN_ROWS + 1, 2 * PARALLEL_MIN_ROWS + 1, len - 1]
        {
            let mut values: Vec<i64> = (0..len as i64).collect();
            let ascends = |values: &[i64], strictly| {
                let ints = Column::ints(values.to_vec());
                let narrow = ascend(std::slice::from_ref(&ints), len, strictly);
                assert_eq!(narrow, ascend(&[ints.clone(), ints.clone()], len, strictly));
                assert_eq!(narrow, ascend(&[ints.clone(), ints.clone(), ints], len, strictly));
                narrow
            };
            assert!(ascends(&values, true));
            values[place] = values[place - 1];
            assert!(!ascends(&values, true) && ascends(&values, false), "at {place}");
            values[place] -= 1;
            assert!(!ascends(&values, false), "at {place}");
        }
    }

    #[test]
    fn integers_are_sorted_however_many() {
        for len in [0, 1, 10, 1000, 10_000] {
            let values: Vec<i64> = (0..len).map(|i| (i * 7919) % 1009 - 500).collect();
            let mut expected = values.clone();
            expected.sort_unstable();
            let mut sorted = values.clone();
            sort_ints(&mut sorted);
            assert_eq!(sorted, expected);
            let mut rows: Vec<u32> = (0..len as u32).collect();
            sort_by_ints(&mut rows, &values);
            assert_eq!(rows.iter().map(|row| values[*row as usize]).collect::<Vec<_>>(), expected);
        }
    }
}
