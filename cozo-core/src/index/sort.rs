//! The order of rows by some of their columns; rows that are equal there stay in the order they have.
//!
//! Columns `[2, 1, 2]` and `[0, 5, -1]` give the rows `1, 2, 0`.

use crate::value::{Column, Primitive};

/// From so many rows on, sorting by radix beats sorting by comparison.
const WORTH_RADIX: usize = 4096;

/// The rows in ascending order of the columns, the first of which counts most; `None` if they are so already.
pub fn order(columns: &[Column], len: usize) -> Option<Vec<u32>> {
    let compare = |a: usize, b: usize| {
        let by_column = columns.iter().map(|column| column.compare_at(a, column, b));
        by_column.into_iter().find(|order| order.is_ne())
    };
    if (1..len).all(|row| compare(row - 1, row).is_none_or(std::cmp::Ordering::is_lt)) {
        return None;
    }
    let mut rows: Vec<u32> = (0..len as u32).collect();
    // Every sort is stable, so that the last is by the column that counts most.
    columns.iter().rev().for_each(|column| sort_by_column(&mut rows, column));
    Some(rows)
}

fn sort_by_column(rows: &mut [u32], column: &Column) {
    match column {
        Column::Null(_) => {}
        Column::Int(ints) => sort_ints(rows, ints),
        column => rows.sort_by(|a, b| column.compare_at(*a as usize, column, *b as usize)),
    }
}

/// Nulls first, then by value.
fn sort_ints(rows: &mut [u32], ints: &Primitive<i64>) {
    let (nulls, others): (Vec<u32>, Vec<u32>) = rows.iter().partition(|row| ints.is_null(**row as usize));
    // The values travel with their rows: reading them through the row numbers in each pass would miss the cache.
    let mut pairs: Vec<(i64, u32)> = others.into_iter().map(|row| (ints.values[row as usize], row)).collect();
    if pairs.len() >= WORTH_RADIX {
        radsort::sort_by_key(&mut pairs, |pair| pair.0);
    } else {
        pairs.sort_by_key(|pair| pair.0);
    }
    let sorted = nulls.into_iter().chain(pairs.into_iter().map(|pair| pair.1));
    rows.iter_mut().zip(sorted).for_each(|(place, row)| *place = row);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::DataValue;

    /// Values of a type, many of them equal.
    fn column(kind: u64, len: usize) -> Column {
        let value = |i: u64| match (i.wrapping_mul(2654435761) >> 7) % 9 {
            0 if kind < 3 => DataValue::Null,
            n if kind == 0 || kind == 4 => DataValue::from(n as i64 - 4),
            n if kind == 1 => DataValue::from(n as f64 / 2.0 - 1.0),
            n if kind == 2 => DataValue::from("z".repeat(n as usize)),
            n if n % 2 == 0 => DataValue::from(n as i64),
            n => DataValue::from((n - 1) as f64),
        };
        (0..len as u64).map(|i| value(i * 31 + kind)).collect()
    }

    #[test]
    fn rows_are_sorted_as_values_are_and_ties_keep_their_order() {
        for len in [0, 1, 2, 50, 2 * WORTH_RADIX] {
            for kinds in [vec![0], vec![4], vec![3, 0], vec![2, 1], vec![1, 4, 2]] {
                let columns: Vec<Column> = kinds.iter().map(|kind| column(*kind, len)).collect();
                let mut expected: Vec<u32> = (0..len as u32).collect();
                expected.sort_by_key(|row| columns.iter().map(|column| column.get(*row as usize)).collect::<Vec<_>>());
                let found = order(&columns, len).unwrap_or_else(|| (0..len as u32).collect());
                assert!(found == expected, "{len} rows of {kinds:?}");
            }
        }
    }

    #[test]
    fn sorted_rows_need_no_order() {
        assert_eq!(order(&[Column::ints(vec![1, 1, 2]), Column::ints(vec![3, 3, 0])], 3), None);
        assert_eq!(order(&[Column::ints(vec![1, 1, 2]), Column::ints(vec![3, 2, 0])], 3), Some(vec![1, 0, 2]));
    }
}
