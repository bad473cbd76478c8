//! The stable order of rows by some of their columns.
//!
//! Columns `[2, 1, 2]` and `[0, 5, -1]` give the rows `1, 2, 0`.

use super::{RADIX_MIN_ROWS, ascend};
use crate::value::{Column, StrColumn};

/// The rows in ascending order of the columns, of which the first is the most significant. `None` if they are in that order already.
pub fn order(columns: &[Column], len: usize) -> Option<Vec<u32>> {
    if ascend(columns, len, false) {
        return None;
    }
    let mut rows: Vec<u32> = (0..len as u32).collect();
    // Each sort is stable, so the last one is by the most significant column.
    columns.iter().rev().for_each(|column| sort_by_column(&mut rows, column));
    Some(rows)
}

fn sort_by_column(rows: &mut [u32], column: &Column) {
    match column {
        Column::Null(_) => {}
        Column::Int(ints) => sort_by_number(rows, |row| ints.is_null(row), |row| ints.values[row]),
        Column::Str(texts) => sort_texts(rows, texts),
        column => rows.sort_by(|a, b| column.compare_at(*a as usize, column, *b as usize)),
    }
}

/// Sorts nulls first, then by number.
fn sort_by_number<N>(rows: &mut [u32], is_null: impl Fn(usize) -> bool, number: impl Fn(usize) -> N)
where
    N: radsort::Key + Ord + Copy,
{
    let (nulls, others): (Vec<u32>, Vec<u32>) = rows.iter().partition(|row| is_null(**row as usize));
    // The numbers are moved with their rows. Reading them by row number in each pass would miss the cache.
    let mut pairs: Vec<(N, u32)> = others.into_iter().map(|row| (number(row as usize), row)).collect();
    if pairs.len() >= RADIX_MIN_ROWS {
        radsort::sort_by_key(&mut pairs, |pair| pair.0);
    } else {
        pairs.sort_by_key(|pair| pair.0);
    }
    let sorted = nulls.into_iter().chain(pairs.into_iter().map(|pair| pair.1));
    rows.iter_mut().zip(sorted).for_each(|(place, row)| *place = row);
}

/// Sorts by the eight bytes after the common prefix of all texts, and by the whole text among equal ones.
fn sort_texts(rows: &mut [u32], texts: &StrColumn) {
    let skipped = common_prefix(rows, texts);
    let number = |row: usize| leading_bytes(texts.bytes_at(row).get(skipped..).unwrap_or_default());
    sort_by_number(rows, |row| texts.is_null(row), number);
    let alike = |a: &u32, b: &u32| {
        let (a, b) = (*a as usize, *b as usize);
        texts.is_null(a) == texts.is_null(b) && number(a) == number(b)
    };
    for run in rows.chunk_by_mut(alike).filter(|run| run.len() > 1) {
        run.sort_by(|a, b| texts.bytes_at(*a as usize).cmp(texts.bytes_at(*b as usize)));
    }
}

/// The length of the common prefix of all texts. Nulls do not count.
fn common_prefix(rows: &[u32], texts: &StrColumn) -> usize {
    let mut all =
        rows.iter().map(|row| *row as usize).filter(|row| !texts.is_null(*row)).map(|row| texts.bytes_at(row));
    let first = all.next().unwrap_or_default();
    let common = |text: &[u8], len: usize| first[..len].iter().zip(text).take_while(|(a, b)| a == b).count();
    all.fold(first.len(), |len, text| common(text, len))
}

/// The first eight bytes as a number with the same order. Missing bytes count as zeros.
fn leading_bytes(text: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = text.len().min(8);
    bytes[..len].copy_from_slice(&text[..len]);
    u64::from_be_bytes(bytes)
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
            n if kind == 5 => DataValue::from(format!("a common beginning {}{}", "\0".repeat(n as usize % 3), i % 700)),
            n if n % 2 == 0 => DataValue::from(n as i64),
            n => DataValue::from((n - 1) as f64),
        };
        (0..len as u64).map(|i| value(i * 31 + kind)).collect()
    }

    #[test]
    fn rows_are_sorted_as_values_are_and_ties_keep_their_order() {
        for len in [0, 1, 2, 50, 2 * RADIX_MIN_ROWS] {
            for kinds in [vec![0], vec![4], vec![3, 0], vec![2, 1], vec![1, 4, 2], vec![5], vec![4, 5]] {
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
