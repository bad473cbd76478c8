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
//! Lists hold integers. If all columns have integers only, these are the values themselves. Otherwise a dictionary numbers the
//! values, and all inputs share it, so that equal values have equal numbers.

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use crate::budget::Stop;
use crate::exec::access::all_rows::AllRows;
use crate::exec::access::stored::Stored;
use crate::exec::error::ExecError;
use crate::exec::rowset::table::Table;
use crate::exec::run::Run;
use crate::exec::thresholds::{POSITIONS_PER_PAIR, SEARCH_MIN_RATIO};
use crate::plan::{IntersectInput, IntersectPlan, Source};
use crate::value::{Batch, Column, DataValue, Num};

/// The lists of all inputs of an intersection, over one domain of numbers.
#[derive(Debug)]
pub struct SortedLists {
    /// The adjacency of each input.
    of_input: Vec<usize>,
    adjacencies: Vec<Adjacency>,
    domain: Domain,
}

/// What the numbers in lists stand for.
#[derive(Debug)]
enum Domain {
    /// The numbers themselves.
    Integers,
    /// The values of a dictionary.
    Values(Dictionary),
}

/// Distinct values, by number.
#[derive(Debug, Default)]
struct Dictionary {
    values: Column,
    by_value: HashTable<u32>,
}

/// The sorted list of each key.
#[derive(Debug)]
struct Adjacency {
    keys: Keys,
    /// Where the list of each key begins in `values`, and where the last one ends.
    starts: Vec<u32>,
    values: Vec<i64>,
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
    /// Reads the inputs of an intersection.
    pub fn read(plan: &IntersectPlan, tables: &[Table], run: &Run<'_>) -> Result<Self, ExecError> {
        let mut of_input: Vec<usize> = vec![];
        let mut pairs: Vec<[Column; 2]> = vec![];
        for (i, input) in plan.inputs.iter().enumerate() {
            match plan.inputs[..i].iter().position(|earlier| reads_the_same(earlier, input, run)) {
                Some(earlier) => of_input.push(of_input[earlier]),
                None => {
                    of_input.push(pairs.len());
                    pairs.push(read_pairs(input, tables, run)?);
                }
            }
        }
        let all_ints = pairs.iter().flatten().all(|column| column.is_empty() || column.as_dense_ints().is_some());
        let mut domain = if all_ints { Domain::Integers } else { Domain::Values(Dictionary::default()) };
        let adjacencies = pairs.into_iter().map(|pair| {
            let [keys, values] = pair.map(|column| domain.numbers(column));
            Adjacency::new(&keys, &values)
        });
        Ok(SortedLists { of_input, adjacencies: adjacencies.collect(), domain })
    }

    /// The list of an input for the key in a row of a column.
    #[inline]
    pub fn list(&self, input: usize, keys: &Column, row: usize) -> &[i64] {
        let key = match (&self.domain, keys) {
            (Domain::Integers, Column::Int(keys)) => keys.get(row),
            (Domain::Integers, keys) => match keys.get(row) {
                DataValue::Num(Num::Int(key)) => Some(key),
                _ => None,
            },
            (Domain::Values(dictionary), keys) => dictionary.find(keys, row),
        };
        key.map_or(&[], |key| self.adjacencies[self.of_input[input]].list(key))
    }

    /// Numbers as the values they stand for.
    pub fn values(&self, numbers: &[i64]) -> Result<Column, Stop> {
        match &self.domain {
            Domain::Integers => Ok(Column::ints(numbers.to_vec())),
            Domain::Values(dictionary) => {
                dictionary.values.copy_rows(&numbers.iter().map(|number| *number as u32).collect::<Vec<_>>())
            }
        }
    }
}

fn reads_the_same(a: &IntersectInput, b: &IntersectInput, run: &Run<'_>) -> bool {
    let same_source = match (&a.source, &b.source) {
        (Source::Stored(a), Source::Stored(b)) => Stored::of(a, run).identity() == Stored::of(b, run).identity(),
        (Source::Table(a), Source::Table(b)) => a == b,
        _ => false,
    };
    same_source && a.key.0 == b.key.0 && a.values == b.values
}

/// The two columns of an input, all rows.
fn read_pairs(input: &IntersectInput, tables: &[Table], run: &Run<'_>) -> Result<[Column; 2], ExecError> {
    let mut rows = Batch::empty(2);
    AllRows::whole(&input.source, tables, run).read(&[input.key.0, input.values], run, |block| {
        run.budget.charge(block.memory_bytes())?;
        rows.append_all(block);
        Ok(())
    })?;
    let mut columns = rows.columns.into_iter();
    Ok([columns.next().unwrap_or_default(), columns.next().unwrap_or_default()])
}

impl Domain {
    /// The numbers of the values of a column.
    fn numbers(&mut self, column: Column) -> Vec<i64> {
        match (self, column) {
            (Domain::Integers, Column::Int(column)) => column.values,
            (Domain::Integers, _) => vec![],
            (Domain::Values(dictionary), column) => {
                (0..column.len()).map(|row| dictionary.enter(&column, row)).collect()
            }
        }
    }
}

impl Dictionary {
    fn enter(&mut self, column: &Column, row: usize) -> i64 {
        if let Some(number) = self.find(column, row) {
            return number;
        }
        let number = self.values.len() as u32;
        self.values.push_from(column, row);
        let values = &self.values;
        self.by_value.insert_unique(column.hash_at(row), number, |number| values.hash_at(*number as usize));
        i64::from(number)
    }

    fn find(&self, column: &Column, row: usize) -> Option<i64> {
        let same = |number: &u32| self.values.equals_at(*number as usize, column, row);
        self.by_value.find(column.hash_at(row), same).map(|number| i64::from(*number))
    }
}

impl Adjacency {
    /// Sorts the values of each key: pairs are counted by key, then put in place.
    fn new(keys: &[i64], values: &[i64]) -> Self {
        let (index, positions) = Keys::of(keys);
        let mut starts = vec![0u32; positions + 1];
        for key in keys {
            starts[index.position(*key).map_or(0, |position| position + 1)] += 1;
        }
        for position in 0..positions {
            starts[position + 1] += starts[position];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0; values.len()];
        for (key, value) in keys.iter().zip(values) {
            let Some(position) = index.position(*key) else { continue };
            sorted[next[position] as usize] = *value;
            next[position] += 1;
        }
        for bounds in starts.windows(2) {
            let list = &mut sorted[bounds[0] as usize..bounds[1] as usize];
            // Rows that come in key order leave most lists sorted.
            if !list.is_sorted() {
                list.sort_unstable();
            }
        }
        Adjacency { keys: index, starts, values: sorted }
    }

    #[inline]
    fn list(&self, key: i64) -> &[i64] {
        match self.keys.position(key) {
            Some(position) if position + 1 < self.starts.len() => {
                &self.values[self.starts[position] as usize..self.starts[position + 1] as usize]
            }
            _ => &[],
        }
    }
}

impl Keys {
    /// The positions of keys, and how many positions there are.
    fn of(keys: &[i64]) -> (Keys, usize) {
        let (Some(first), Some(last)) = (keys.iter().min(), keys.iter().max()) else {
            return (Keys::Near { first: 0 }, 0);
        };
        let span = last.abs_diff(*first);
        if span < (keys.len() * POSITIONS_PER_PAIR) as u64 {
            return (Keys::Near { first: *first }, span as usize + 1);
        }
        let mut positions = FxHashMap::default();
        for key in keys {
            let next = positions.len() as u32;
            positions.entry(*key).or_insert(next);
        }
        let count = positions.len();
        (Keys::Far(positions), count)
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

/// Appends the values that two sorted lists have in common.
pub fn intersect(a: &[i64], b: &[i64], common: &mut Vec<i64>) {
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
    fn lists_are_sorted_by_key_wherever_keys_lie() {
        for scale in [1, 1_000_000_007] {
            let keys: Vec<i64> = [5, 3, 5, 9, 3, 5].iter().map(|key| key * scale).collect();
            let adjacency = Adjacency::new(&keys, &[2, 8, 1, 4, 7, 3]);
            assert_eq!(adjacency.list(5 * scale), [1, 2, 3]);
            assert_eq!(adjacency.list(3 * scale), [7, 8]);
            assert_eq!(adjacency.list(9 * scale), [4]);
            for absent in [4 * scale, -scale, i64::MIN, i64::MAX] {
                assert!(adjacency.list(absent).is_empty());
            }
        }
        assert!(Adjacency::new(&[], &[]).list(0).is_empty());
    }

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
