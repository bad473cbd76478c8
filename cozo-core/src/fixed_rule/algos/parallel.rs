//! Parallel computation of values for nodes and of sums. The results are the same for any number of threads.

use std::ops::Range;

use rayon::prelude::*;

use crate::fixed_rule::Poison;
use crate::threads;

/// The number of values that one thread adds at a time.
const VALUES_PER_SUM: usize = 1 << 14;

/// The approximate number of parts for each thread.
const PARTS_PER_THREAD: usize = 4;

/// Fills `values`, which has an element for each node. `pieces` are those of
/// [`Graph::pieces`](crate::fixed_rule::graph::Graph::pieces).
pub fn fill<T: Send>(
    pieces: &[Range<usize>],
    values: &mut [T],
    poison: &Poison,
    value: impl Fn(u32) -> T + Sync,
) -> miette::Result<()> {
    fill_with(pieces, values, poison, || (), |(), node| value(node))
}

/// Fills `values` with a scratch space for each piece.
pub fn fill_with<T: Send, S>(
    pieces: &[Range<usize>],
    values: &mut [T],
    poison: &Poison,
    scratch: impl Fn() -> S + Sync,
    value: impl Fn(&mut S, u32) -> T + Sync,
) -> miette::Result<()> {
    pieces.par_iter().zip(split(pieces, values)).try_for_each(|(piece, part)| {
        poison.check()?;
        let mut scratch = scratch();
        for (node, place) in piece.clone().zip(part) {
            *place = value(&mut scratch, node as u32);
        }
        Ok(())
    })
}

/// The values of the nodes of each piece.
pub fn split<'a, T>(pieces: &[Range<usize>], mut values: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let (part, rest) = values.split_at_mut(piece.len());
        parts.push(part);
        values = rest;
    }
    parts
}

/// The sum of a number for each node.
pub fn sum(count: usize, value: impl Fn(usize) -> f64 + Sync) -> f64 {
    let starts: Vec<usize> = (0..count).step_by(VALUES_PER_SUM).collect();
    let part = |start: &usize| (*start..(start + VALUES_PER_SUM).min(count)).map(&value).sum::<f64>();
    starts.par_iter().map(part).collect::<Vec<f64>>().into_iter().sum()
}

/// Processes items in parallel, in a few runs for each thread. `start` makes the scratch space of a run. The results are in the order
/// of the items.
pub fn map_runs<I: Sync, S, T: Send, E: Send>(
    items: &[I],
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let run = items.len().div_ceil(PARTS_PER_THREAD * threads::count()).max(1);
    let results: Result<Vec<Vec<T>>, E> = items
        .par_chunks(run)
        .map(|items| {
            let mut scratch = start();
            items.iter().map(|item| work(&mut scratch, item)).collect()
        })
        .collect();
    Ok(results?.into_iter().flatten().collect())
}
