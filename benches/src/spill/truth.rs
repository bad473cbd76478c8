//! What the cases must answer, computed from the formulas of the data by loops that need little memory.

use super::generate::{LAYERS, MODULUS, WIDTH, join_keys, left, right, rows, scattered};

/// How many rows a page has.
pub const PAGE: u64 = 10;

/// The groups of so many rows of `fact`, and the sum of `value * (key % 1000)`.
pub fn groups(facts: u64) -> Vec<i64> {
    let weighted: u64 = (0..facts).map(|id| (id % 1000) * (scattered(id) % 1000)).sum();
    vec![facts as i64, weighted as i64]
}

/// The number of rows of `rows`, and the sum of `(a % 1000) * (b % 1000)`.
pub fn sorted(number: u64) -> Vec<i64> {
    let weighted: u64 = rows(number).map(|[a, b]| (a % 1000) * (b % 1000)).sum();
    vec![number as i64, weighted as i64]
}

/// The rows in the middle of `rows` by `b`, as a, b, a, b and so on.
pub fn page(number: u64) -> Vec<i64> {
    // Counts by the upper bits of b find the ranges that have the page; only their rows are sorted.
    const SHIFT: u32 = 12;
    let mut counts = vec![0u64; (MODULUS >> SHIFT) as usize + 1];
    rows(number).for_each(|[_, b]| counts[(b >> SHIFT) as usize] += 1);
    let (from, to) = (number / 2, number / 2 + PAGE);
    let (mut before, mut skipped, mut ranges) = (0, 0, 0..0);
    for (range, count) in (0u64..).zip(counts) {
        if before + count <= from {
            (skipped, ranges) = (before + count, range + 1..range + 1);
        } else if before < to {
            ranges.end = range + 1;
        }
        before += count;
    }
    let mut found: Vec<[u64; 2]> = rows(number).filter(|[_, b]| ranges.contains(&(b >> SHIFT))).collect();
    found.sort_unstable_by_key(|[_, b]| *b);
    let page = found.into_iter().skip((from - skipped) as usize).take(PAGE as usize);
    page.flatten().map(|number| number as i64).collect()
}

/// The pairs of the closure of so many components of layers: a node reaches `k + 1` nodes of the layer `k` steps on, or all.
pub fn layers(components: u64) -> Vec<i64> {
    let of_a_place: u64 = (1..LAYERS).map(|steps| (LAYERS - steps) * (steps + 1).min(WIDTH)).sum();
    vec![(components * WIDTH * of_a_place) as i64]
}

/// The pairs of the closure of a ring: all.
pub fn ring(nodes: u64) -> Vec<i64> {
    vec![(nodes * nodes) as i64]
}

/// The matches of `left` and `right`, of so many rows each, and the sum of `x * y`.
pub fn joined(number: u64) -> Vec<i64> {
    let keys = join_keys(number) as usize;
    // Some ten rows have a key at most.
    let mut of_left = vec![(0u16, 0u16); keys];
    for [_, key, x] in left(number) {
        let (count, sum) = &mut of_left[key as usize];
        *count += 1;
        *sum += x as u16;
    }
    let (mut matches, mut products) = (0, 0);
    for [_, key, y] in right(number) {
        let (count, sum) = of_left[key as usize];
        matches += i64::from(count);
        products += i64::from(sum) * y as i64;
    }
    vec![matches, products]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::spill::generate;

    /// The closure of edges by brute force.
    fn closure(edges: impl Iterator<Item = [u64; 2]>) -> i64 {
        let edges: BTreeSet<[u64; 2]> = edges.collect();
        let starts: BTreeSet<u64> = edges.iter().map(|[a, _]| *a).collect();
        let reached = |start: u64| {
            let (mut reached, mut left) = (BTreeSet::new(), vec![start]);
            while let Some(node) = left.pop() {
                let next = edges.range([node, 0]..[node + 1, 0]).map(|[_, b]| *b);
                left.extend(next.filter(|next| reached.insert(*next)));
            }
            reached.len() as i64
        };
        starts.into_iter().map(reached).sum()
    }

    #[test]
    fn closures_have_as_many_pairs_as_the_formulas_say() {
        assert_eq!(layers(1), [closure(generate::layers(1))]);
        assert_eq!(ring(100), [closure(generate::ring(100))]);
    }

    #[test]
    fn a_page_is_that_of_sorted_rows() {
        let mut all: Vec<[u64; 2]> = rows(1000).collect();
        all.sort_unstable_by_key(|[_, b]| *b);
        let expected: Vec<i64> = all[500..510].iter().flatten().map(|number| *number as i64).collect();
        assert_eq!(page(1000), expected);
    }

    #[test]
    fn matches_are_those_of_all_pairs() {
        let (mut matches, mut products) = (0, 0);
        for [_, key, x] in left(300) {
            for [_, _, y] in right(300).filter(|[_, other, _]| *other == key) {
                (matches, products) = (matches + 1, products + (x * y) as i64);
            }
        }
        assert_eq!(joined(300), [matches, products]);
        assert!(matches > 300, "{matches}");
    }
}
