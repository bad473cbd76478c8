//! What the indices of a relation compare: the rows before a write and after it.

use crate::value::{Batch, compare_columns};

/// The rows of both batches that have the same keys; both are sorted by key.
pub fn same_keys(new: &Batch, old: &Batch, keys: usize) -> Vec<(u32, u32)> {
    let compare = |a, b| compare_columns(&new.columns[..keys], a, &old.columns[..keys], b);
    let mut pairs = Vec::with_capacity(old.len);
    let mut row = 0;
    for old_row in 0..old.len {
        while row < new.len && compare(row, old_row).is_lt() {
            row += 1;
        }
        if row < new.len && compare(row, old_row).is_eq() {
            pairs.push((row as u32, old_row as u32));
        }
    }
    pairs
}

/// The pairs of rows with the same keys that agree in some columns.
pub fn kept(new: &Batch, old: &Batch, keys: usize, columns: &[usize]) -> Vec<(u32, u32)> {
    let mut pairs = same_keys(new, old, keys);
    pairs.retain(|(new_row, old_row)| {
        let same = |column: &usize| {
            new.columns[*column].equals_at(*new_row as usize, &old.columns[*column], *old_row as usize)
        };
        columns.iter().all(same)
    });
    pairs
}

/// The new and the old rows, by number, that have no pair in [`kept`].
pub fn changed(new: &Batch, old: &Batch, keys: usize, columns: &[usize]) -> (Vec<u32>, Vec<u32>) {
    let kept = kept(new, old, keys, columns);
    let without = |len: usize, of: fn(&(u32, u32)) -> u32| {
        let mut kept = kept.iter().map(of).peekable();
        (0..len as u32).filter(|row| kept.next_if_eq(row).is_none()).collect()
    };
    (without(new.len, |pair| pair.0), without(old.len, |pair| pair.1))
}
