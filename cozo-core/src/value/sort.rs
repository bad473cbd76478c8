//! Sorting by integers, by radix where that pays.
//!
//! Neither function is stable: rows that tie come in any order.

/// From so many integers on, sorting by radix beats sorting by comparison.
pub const WORTH_RADIX: usize = 4096;

/// Sorts integers.
pub fn sort_ints(values: &mut [i64]) {
    if values.is_sorted() {
        return;
    }
    if values.len() < WORTH_RADIX { values.sort_unstable() } else { radsort::sort(values) }
}

/// Sorts row numbers by the integers of the rows.
pub fn sort_by_ints(rows: &mut [u32], values: &[i64]) {
    if rows.len() < WORTH_RADIX {
        rows.sort_unstable_by_key(|row| values[*row as usize]);
    } else {
        radsort::sort_by_key(rows, |row| values[*row as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
