//! Sorted lists by key, for intersections: relations of pairs as adjacencies.
//!
//! [`SortedLists::read`] reads the inputs of an intersection once for each run. Each input becomes an `Adjacency` with the sorted
//! values of each key; inputs that read the same columns share one. [`intersect`] then finds the values that two lists have in
//! common.
//!
//! ```text
//! *e[a, b] by a    keys: 3, 4, 5      starts: 0 2 5 6      values: 7 8 | 1 2 3 | 4
//! list of 4        starts[1] .. starts[2] = 2 .. 5         1 2 3
//! ```
//!
//! Lists hold numbers. If all columns have integers only, these are the values themselves. Otherwise a dictionary numbers the
//! values, and all inputs share it, so that equal values have equal numbers. Numbers within 32 bits of the least take four bytes
//! each.
//!
//! Lists that exceed the memory are divided by their values: a [`Piece`] has the values of one part of the hashes. What the lists of a
//! piece have in common is a part of the whole, so the rule runs once for each piece.

use rustc_hash::FxHashMap;

use super::pairs::{Bounds, Domain, Pairs};
use crate::budget::{Charge, Stop};
use crate::exec::error::ExecError;
use crate::exec::piece::Piece;
use crate::exec::rowset::table::Table;
use crate::exec::run::Run;
use crate::exec::thresholds::{LISTS_SPARE_SHARE, MAX_PIECES, MIN_ROWS_PER_KEY, POSITIONS_PER_PAIR, SEARCH_MIN_RATIO};
use crate::plan::IntersectPlan;
use crate::value::{Column, DataValue, Num};

/// The lists of all inputs of an intersection, over one domain of numbers.
#[derive(Debug)]
pub struct SortedLists {
    /// The adjacency of each input.
    of_input: Vec<usize>,
    domain: Domain,
    /// How many pieces there are in all.
    pub pieces: u32,
    pub adjacencies: Adjacencies,
    _charge: Charge,
}

/// The adjacencies, by the width of their numbers.
#[derive(Debug)]
pub enum Adjacencies {
    /// Numbers as distances from the least.
    Narrow(Vec<Adjacency<u32>>, i64),
    /// The numbers themselves.
    Wide(Vec<Adjacency<i64>>),
}

/// A number in a list.
pub trait ListNumber: Copy + Ord {
    /// The number at a distance from the least, which is 0 for wide ones.
    fn near(number: i64, least: i64) -> Self;

    /// The number from its distance.
    fn far(self, least: i64) -> i64;
}

impl ListNumber for u32 {
    fn near(number: i64, least: i64) -> Self {
        (number - least) as u32
    }

    fn far(self, least: i64) -> i64 {
        least + i64::from(self)
    }
}

impl ListNumber for i64 {
    fn near(number: i64, _: i64) -> Self {
        number
    }

    fn far(self, _: i64) -> i64 {
        self
    }
}

/// The sorted list of each key.
#[derive(Debug)]
pub struct Adjacency<N> {
    keys: Keys,
    /// Where the list of each key begins in `values`, and where the last one ends.
    starts: Vec<u32>,
    values: Vec<N>,
}

/// The position of each key in `Adjacency::starts`.
#[derive(Debug)]
enum Keys {
    /// The distance from the first key.
    Near { first: i64 },
    /// By look-up.
    Far(FxHashMap<i64, u32>),
}

impl SortedLists {
    /// Reads the inputs of an intersection: those of a piece, or of the first if the lists exceed the memory and may be divided.
    pub fn read(
        plan: &IntersectPlan,
        tables: &[Table],
        run: &Run<'_>,
        piece: Piece,
        may_divide: bool,
    ) -> Result<Self, ExecError> {
        let (of_input, mut pairs) = Pairs::of(plan, tables, run)?;
        let (domain, bounds) = Domain::of(&mut pairs, run)?;
        let least = bounds.iter().filter_map(|bounds| bounds.values).map(|(least, _)| least).min().unwrap_or(0);
        let most = bounds.iter().filter_map(|bounds| bounds.values).map(|(_, most)| most).max().unwrap_or(0);
        let is_narrow = u32::try_from(most.abs_diff(least)).is_ok();
        let width = if is_narrow { size_of::<u32>() } else { size_of::<i64>() };
        let around: usize = bounds.iter().map(Keys::expected_bytes).sum();
        let rows: usize = bounds.iter().map(|bounds| bounds.rows).sum();
        let piece = if piece == Piece::WHOLE && may_divide {
            let spare = run.budget.spare_bytes();
            Piece { nth: 0, of: pieces(rows * width, (spare - spare / LISTS_SPARE_SHARE).saturating_sub(around)) }
        } else {
            piece
        };
        let mut charge = run.budget.charge_for_now();
        charge.add(rows * width / piece.of as usize)?;
        let mut reading = ListReader { domain: &domain, piece, run, charge };
        let all = pairs.iter().zip(&bounds);
        let adjacencies = match is_narrow {
            true => {
                let made = all.map(|(pairs, bounds)| Adjacency::read(pairs, bounds, least, &mut reading));
                Adjacencies::Narrow(made.collect::<Result<_, _>>()?, least)
            }
            false => {
                let made = all.map(|(pairs, bounds)| Adjacency::read(pairs, bounds, 0, &mut reading));
                Adjacencies::Wide(made.collect::<Result<_, _>>()?)
            }
        };
        let charge = reading.charge;
        Ok(SortedLists { of_input, domain, pieces: piece.of, adjacencies, _charge: charge })
    }

    /// The list of an input in its adjacency for the key in a row of a column.
    #[inline]
    pub fn list<'l, N>(&self, lists: &'l [Adjacency<N>], input: usize, keys: &Column, row: usize) -> &'l [N] {
        let key = match (&self.domain, keys) {
            (Domain::Integers, Column::Int(keys)) => keys.get(row),
            (Domain::Integers, keys) => match keys.get(row) {
                DataValue::Num(Num::Int(key)) => Some(key),
                _ => None,
            },
            (Domain::Values(dictionary), keys) => dictionary.find(keys, row),
        };
        key.map_or(&[], |key| lists[self.of_input[input]].list(key))
    }

    /// Numbers as the values they stand for.
    pub fn values(&self, numbers: Vec<i64>) -> Result<Column, Stop> {
        match &self.domain {
            Domain::Integers => Ok(Column::ints(numbers)),
            Domain::Values(dictionary) => {
                dictionary.values().copy_rows(&numbers.iter().map(|number| *number as u32).collect::<Vec<_>>())
            }
        }
    }
}

/// How many pieces lists of so many bytes are divided into, if so many are free.
fn pieces(bytes: usize, free: usize) -> u32 {
    bytes.div_ceil(free.max(1)).clamp(1, MAX_PIECES) as u32
}

/// How lists are read.
struct ListReader<'r> {
    domain: &'r Domain,
    piece: Piece,
    run: &'r Run<'r>,
    charge: Charge,
}

impl<N: ListNumber> Adjacency<N> {
    /// Sorts the values of each key: pairs are counted by key, then put in place.
    fn read(pairs: &Pairs<'_>, bounds: &Bounds, least: i64, reading: &mut ListReader<'_>) -> Result<Self, ExecError> {
        let ListReader { domain, piece, run, charge } = reading;
        let (mut index, positions) = Keys::of(bounds);
        charge.add(2 * size_of::<u32>() * positions)?;
        let mut starts = vec![0u32; positions + 1];
        pairs.visit(domain, run, |keys, values| {
            for (key, _) in keys.iter().zip(values).filter(|(_, value)| piece.has(**value)) {
                let position = index.enter(*key);
                if position + 1 >= starts.len() {
                    charge.add(Keys::BYTES_OF_FAR)?;
                    starts.push(0);
                }
                starts[position + 1] += 1;
            }
            Ok(())
        })?;
        for position in 1..starts.len() {
            starts[position] += starts[position - 1];
        }
        let mut next = starts.clone();
        let mut sorted = vec![N::near(least, least); starts[starts.len() - 1] as usize];
        pairs.visit(domain, run, |keys, values| {
            for (key, value) in keys.iter().zip(values).filter(|(_, value)| piece.has(**value)) {
                let Some(position) = index.position(*key) else { continue };
                sorted[next[position] as usize] = N::near(*value, least);
                next[position] += 1;
            }
            Ok(())
        })?;
        for bounds in starts.windows(2) {
            let list = &mut sorted[bounds[0] as usize..bounds[1] as usize];
            // Rows that come in key order leave most lists sorted.
            if !list.is_sorted() {
                list.sort_unstable();
            }
        }
        Ok(Adjacency { keys: index, starts, values: sorted })
    }
}

impl<N> Adjacency<N> {
    #[inline]
    fn list(&self, key: i64) -> &[N] {
        match self.keys.position(key) {
            Some(position) if position + 1 < self.starts.len() => {
                &self.values[self.starts[position] as usize..self.starts[position + 1] as usize]
            }
            _ => &[],
        }
    }
}

impl Keys {
    /// How keys within bounds are found, and how many positions there are at first.
    fn of(bounds: &Bounds) -> (Keys, usize) {
        match bounds.keys {
            None => (Keys::Near { first: 0 }, 0),
            Some((first, last)) => match Keys::span(bounds.rows, first, last) {
                Some(positions) => (Keys::Near { first }, positions),
                None => (Keys::Far(FxHashMap::default()), 0),
            },
        }
    }

    /// The positions of keys that are found by their distance from the first, if they are.
    fn span(rows: usize, first: i64, last: i64) -> Option<usize> {
        let span = last.abs_diff(first);
        (span < (rows * POSITIONS_PER_PAIR) as u64).then_some(span as usize + 1)
    }

    /// About the bytes of a key that is found by look-up: it is in a hash table, which may be half empty, and has two positions.
    const BYTES_OF_FAR: usize = 2 * size_of::<(i64, u32)>() + 2 * size_of::<u32>();

    /// About the bytes of the keys and their positions, while the lists are made.
    fn expected_bytes(bounds: &Bounds) -> usize {
        match bounds.keys.map_or(Some(0), |(first, last)| Keys::span(bounds.rows, first, last)) {
            Some(positions) => 2 * size_of::<u32>() * positions,
            None => bounds.rows / MIN_ROWS_PER_KEY as usize * Keys::BYTES_OF_FAR,
        }
    }

    /// The position of a key, which is new if it is not known.
    #[inline]
    fn enter(&mut self, key: i64) -> usize {
        match self {
            Keys::Near { first } => (key - *first) as usize,
            Keys::Far(positions) => {
                let next = positions.len() as u32;
                *positions.entry(key).or_insert(next) as usize
            }
        }
    }

    /// The position of a key. An absent key has none, or one past the last.
    #[inline]
    fn position(&self, key: i64) -> Option<usize> {
        match self {
            Keys::Near { first } => key.checked_sub(*first).and_then(|distance| usize::try_from(distance).ok()),
            Keys::Far(positions) => positions.get(&key).map(|position| *position as usize),
        }
    }
}

/// Appends what two sorted lists have in common.
pub fn intersect<N: ListNumber>(a: &[N], b: &[N], common: &mut Vec<N>) {
    let (short, mut long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if long.len() / SEARCH_MIN_RATIO > short.len() {
        for value in short {
            long = &long[long.partition_point(|other| other < value)..];
            if long.first() == Some(value) {
                common.push(*value);
            }
        }
        return;
    }
    let (mut i, mut j) = (0, 0);
    while i < short.len() && j < long.len() {
        let (x, y) = (short[i], long[j]);
        if x == y {
            common.push(x);
        }
        // Without branches: which of the two is smaller cannot be predicted.
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intersections_are_those_of_sets() {
        let multiples = |of: i64, below: i64| (0..below).filter(|n| n % of == 0).collect::<Vec<_>>();
        for (a, b) in [(2, 3), (1, 100), (7, 7), (500, 1)] {
            let (a, b) = (multiples(a, 1000), multiples(b, 1000));
            let mut common = vec![];
            intersect(&a, &b, &mut common);
            let expected: Vec<i64> = a.iter().copied().filter(|value| b.contains(value)).collect();
            assert_eq!(common, expected);
        }
    }
}
