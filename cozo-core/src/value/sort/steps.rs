//! Sorting many or large items within the budget of a script.
//!
//! The library's sort cannot be interrupted, so it sorts short runs. These are merged in pairs, with checks in between.

use std::cmp::Ordering;

use crate::budget::{BYTES_PER_STEP, Stop, make_room, step};
use crate::value::{DataValue, allocated};

/// The approximate size of a run.
const RUN_BYTES: usize = 1 << 20;

/// The number of items merged between two checks of the budget.
const PIECE: usize = 1024;

/// The values in ascending order.
pub fn sort_values(items: Vec<DataValue>) -> Result<Vec<DataValue>, Stop> {
    sort_in_steps(items, |item| size_of::<DataValue>() + item.held_bytes(), DataValue::cmp)
}

/// Sorts items stably. `bytes_of` is the size of an item.
pub fn sort_in_steps<T>(
    mut items: Vec<T>,
    bytes_of: impl Fn(&T) -> usize,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Result<Vec<T>, Stop> {
    let bytes: usize = items.iter().map(&bytes_of).sum();
    if bytes <= RUN_BYTES {
        step(bytes / BYTES_PER_STEP + 1)?;
        items.sort_by(&compare);
        return Ok(items);
    }
    make_room(allocated(items.len() * size_of::<T>()))?;
    let steps = bytes / items.len() / BYTES_PER_STEP + 1;
    let mut runs = sorted_runs(items, bytes_of, &compare)?;
    while runs.len() > 1 {
        let mut merged = Vec::with_capacity(runs.len().div_ceil(2));
        let mut left = runs.into_iter();
        while let Some(first) = left.next() {
            merged.push(match left.next() {
                Some(second) => merge(first, second, steps, &compare)?,
                None => first,
            });
        }
        runs = merged;
    }
    Ok(runs.pop().unwrap_or_default())
}

/// Runs of about [`RUN_BYTES`], each sorted.
fn sorted_runs<T>(
    items: Vec<T>,
    bytes_of: impl Fn(&T) -> usize,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Result<Vec<Vec<T>>, Stop> {
    let (mut runs, mut run, mut bytes) = (vec![], vec![], 0);
    for item in items {
        bytes += bytes_of(&item);
        run.push(item);
        if bytes >= RUN_BYTES {
            step(bytes / BYTES_PER_STEP)?;
            run.sort_by(&compare);
            runs.push(std::mem::take(&mut run));
            bytes = 0;
        }
    }
    run.sort_by(&compare);
    runs.push(run);
    Ok(runs)
}

/// Merges two runs. Each comparison counts as `steps` steps.
fn merge<T>(
    mut first: Vec<T>,
    mut second: Vec<T>,
    steps: usize,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Result<Vec<T>, Stop> {
    // Runs that are in order already, or in reverse, need no merge.
    match (first.last().zip(second.first()), second.last().zip(first.first())) {
        (Some((end, start)), _) if compare(end, start).is_le() => {
            first.append(&mut second);
            return Ok(first);
        }
        (_, Some((end, start))) if compare(end, start).is_lt() => {
            second.append(&mut first);
            return Ok(second);
        }
        _ => {}
    }
    let mut merged = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    while let (Some(a), Some(b)) = (first.peek(), second.peek()) {
        let next = if compare(a, b).is_le() { first.next() } else { second.next() };
        merged.extend(next);
        if merged.len() % PIECE == 0 || steps > PIECE {
            step(steps.saturating_mul(PIECE))?;
        }
    }
    merged.extend(first);
    merged.extend(second);
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, Interrupt};

    fn sort(values: Vec<u64>) -> Result<Vec<u64>, Stop> {
        // Each is as if it were large, so that few of them are a run.
        sort_in_steps(values, |_| RUN_BYTES / 10, u64::cmp)
    }

    #[test]
    fn runs_are_merged_in_order() {
        for len in [0, 1, 9, 10, 11, 20, 25, 99, 1000] {
            let mixed: Vec<u64> = (0..len).map(|i| i * 7919 % 1009).collect();
            let mut expected = mixed.clone();
            expected.sort_unstable();
            assert_eq!(sort(mixed), Ok(expected));
            assert_eq!(sort((0..len).collect()), Ok((0..len).collect()));
            assert_eq!(sort((0..len).rev().collect()), Ok((0..len).collect()));
        }
    }

    #[test]
    fn what_ties_stays_in_its_order() {
        let pairs: Vec<(u64, u64)> = (0..200).map(|i| (i % 3, i)).collect();
        let sorted = sort_in_steps(pairs, |_| RUN_BYTES / 10, |a, b| a.0.cmp(&b.0));
        assert!(sorted.is_ok_and(|sorted| sorted.is_sorted()));
    }

    #[test]
    fn a_sort_that_is_stopped_ends() {
        let interrupt = Interrupt::default();
        let _entered = Budget::new(interrupt.clone(), 0.0, usize::MAX / 2).enter();
        interrupt.kill();
        assert!(sort((0..1000).map(|i| i * 7919 % 1009).collect()).is_err());
    }
}
