//! Numbering integers from a small range, by a bit set and rank queries.
//!
//! Integers are stored as distances of 32 bits from a lower bound, and converted to node numbers in place. So the two ends of an
//! edge never take more than 8 bytes.
//!
//! ```text
//!  values    100  103  104            bits    1 0 0 1 1          number of 104 = set bits before it = 2
//!  distances   0    3    4            before  set bits before each word of 64 bits
//! ```

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::nodes::Nodes;
use super::{FixedRuleError, Input, Poison, VALUES_PER_CHECK};
use crate::fixed_rule::input::{ROWS_PER_CHECK, StoredRows};
use crate::storage::KeyRange;
use crate::threads;
use crate::value::{Column, DataValue, Num};

/// The range of the integers must have at most this many places for each end of an edge.
const SPARSEST: usize = 32;

/// The distance of the lower bound below the first integer.
const BELOW: i64 = 1 << 31;

/// At least this many edges are read by several threads.
const PARALLEL_MIN_EDGES: usize = 1 << 15;

/// The number of parts for each thread. There are more parts than threads, since they take different times.
const PARTS_PER_THREAD: usize = 2;

/// The ends of edges as distances from a lower bound.
pub struct Near {
    low: i64,
    from: Vec<u32>,
    to: Vec<u32>,
    /// The least and the greatest distance.
    bounds: Option<(u32, u32)>,
    /// The third column, if it was requested.
    pub weights: Option<Column>,
}

/// Nodes, and the numbers of the two ends of each edge.
pub type Numbered = (Nodes, Vec<u32>, Vec<u32>);

/// Reads the first two columns as distances, and the third unchanged. None if the first two are not integers, or not within 32 bits of
/// the lower bound.
pub fn read(input: &Input<'_>, columns: &[usize], poison: &Poison) -> Result<Option<Near>, FixedRuleError> {
    if let (&[from, to], Some(rows)) = (columns, input.stored())
        && rows.most_rows() >= PARALLEL_MIN_EDGES
        && let Some(near) = read_parts(rows, [from, to], poison)?
    {
        return Ok(Some(near));
    }
    let weights = (columns.len() > 2).then(Column::default);
    let ends = || Vec::with_capacity(input.most_rows());
    let mut near = Near { low: 0, from: ends(), to: ends(), bounds: None, weights };
    let fits = input.visit(columns, poison, &mut |columns| near.append(columns))?;
    Ok(fits.then_some(near))
}

/// [`read`] by several threads, each of which fills its part of the lists. None too if the numbers of rows of the parts are not exact.
fn read_parts(rows: &dyn StoredRows, columns: [usize; 2], poison: &Poison) -> Result<Option<Near>, FixedRuleError> {
    let parts = rows.parts(threads::count() * PARTS_PER_THREAD);
    let first = match parts.first() {
        Some((part, _)) => rows.scan_part(part, &columns[..1])?.next_batch(1)?,
        None => None,
    };
    let Some(DataValue::Num(Num::Int(first))) = first.map(|batch| batch.columns[0].get(0)) else { return Ok(None) };
    let low = first.saturating_sub(BELOW);
    let total = parts.iter().map(|(_, rows)| rows).sum();
    let (mut from, mut to) = (vec![0; total], vec![0; total]);
    let (mut from_left, mut to_left) = (&mut from[..], &mut to[..]);
    let mut slices = vec![];
    for (part, rows) in &parts {
        let from = from_left.split_off_mut(..*rows).expect("the lists are as long as all parts");
        let to = to_left.split_off_mut(..*rows).expect("the lists are as long as all parts");
        slices.push((part, from, to));
    }
    let fill = |(part, from, to): (&KeyRange, &mut [u32], &mut [u32])| {
        let mut filled = 0;
        let mut bounds: Option<(u32, u32)> = None;
        let mut cursor = rows.scan_part(part, &columns)?;
        while let Some(batch) = cursor.next_batch(ROWS_PER_CHECK)? {
            poison.check()?;
            let place = filled..filled + batch.len;
            let (Some(from), Some(to)) = (from.get_mut(place.clone()), to.get_mut(place.clone())) else {
                return Ok(None);
            };
            for (column, list) in batch.columns.iter().zip([from, to]) {
                let Some((values, of_values)) = column.as_dense_ints().and_then(|v| Some((v, distances(v, low)?)))
                else {
                    return Ok(None);
                };
                bounds = Some(bounds.map_or(of_values, |so_far| both(so_far, of_values)));
                list.iter_mut().zip(values).for_each(|(place, value)| *place = (value - low) as u32);
            }
            filled = place.end;
        }
        Ok::<_, FixedRuleError>((filled == from.len()).then_some(bounds))
    };
    let filled: Vec<Option<Option<(u32, u32)>>> =
        slices.into_par_iter().map(fill).collect::<Result<_, FixedRuleError>>()?;
    let Some(bounds) = filled.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let bounds = bounds.into_iter().flatten().reduce(both);
    Ok(Some(Near { low, from, to, bounds, weights: None }))
}

/// The least and the greatest distance of values from a bound, if all fit.
fn distances(values: &[i64], low: i64) -> Option<(u32, u32)> {
    let (least, most) = values.iter().fold((i64::MAX, i64::MIN), |(a, b), value| (a.min(*value), b.max(*value)));
    let distance = |value: i64| u32::try_from(value.checked_sub(low)?).ok();
    Some((distance(least)?, distance(most)?))
}

fn both(a: (u32, u32), b: (u32, u32)) -> (u32, u32) {
    (a.0.min(b.0), a.1.max(b.1))
}

impl Near {
    /// Appends edges, if they fit. Returns whether they do.
    fn append(&mut self, columns: &[&Column]) -> bool {
        let (Some(from), Some(to)) = (columns[0].as_dense_ints(), columns[1].as_dense_ints()) else {
            return columns[0].is_empty();
        };
        if let (true, Some(first)) = (self.from.is_empty(), from.first()) {
            self.low = first.saturating_sub(BELOW);
        }
        if let (Some(weights), Some(more)) = (&mut self.weights, columns.get(2)) {
            weights.append_range(more, 0..more.len());
        }
        let (Some(of_from), Some(of_to)) = (distances(from, self.low), distances(to, self.low)) else {
            return from.is_empty();
        };
        let bounds = both(of_from, of_to);
        self.bounds = Some(self.bounds.map_or(bounds, |so_far| both(so_far, bounds)));
        self.from.extend(from.iter().map(|value| (value - self.low) as u32));
        self.to.extend(to.iter().map(|value| (value - self.low) as u32));
        true
    }

    /// Numbers the nodes. None if the range of the integers is too large.
    pub fn number(mut self, poison: &Poison) -> miette::Result<Option<Numbered>> {
        let Some((least, most)) = self.bounds else {
            return Ok(Some((Nodes::default(), vec![], vec![])));
        };
        let span = (most - least) as usize + 1;
        if span / SPARSEST > 2 * self.from.len() {
            return Ok(None);
        }
        let present = Present::of(&[&self.from, &self.to], least, span, poison)?;
        let numbers = if span <= self.from.len() { present.numbers() } else { vec![] };
        let ends = self.from.par_chunks_mut(VALUES_PER_CHECK).chain(self.to.par_chunks_mut(VALUES_PER_CHECK));
        ends.try_for_each(|ends| {
            poison.check()?;
            match (present.is_full, numbers.is_empty()) {
                (true, _) => ends.iter_mut().for_each(|end| *end -= least),
                (false, true) => ends.iter_mut().for_each(|end| *end = present.rank(*end - least)),
                (false, false) => ends.iter_mut().for_each(|end| *end = numbers[(*end - least) as usize]),
            }
            Ok::<_, miette::Report>(())
        })?;
        let first = self.low + i64::from(least);
        let values = match present.is_full {
            true => (0..span as i64).map(|place| first + place).collect(),
            false => present.places().map(|place| first + place as i64).collect(),
        };
        Ok(Some((Nodes::ascending(Column::ints(values)), self.from, self.to)))
    }
}

/// A set of small integers with rank queries.
struct Present {
    bits: Vec<u64>,
    /// The number of elements before each word of bits.
    before: Vec<u32>,
    /// Whether every integer of the range is in the set.
    is_full: bool,
}

impl Present {
    /// The set of the values in lists, as distances from `least`, all less than `span`.
    fn of(lists: &[&[u32]], least: u32, span: usize, poison: &Poison) -> miette::Result<Self> {
        let bits: Vec<AtomicU64> = (0..span.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        for list in lists {
            list.par_chunks(VALUES_PER_CHECK).try_for_each(|values| {
                poison.check()?;
                for value in values {
                    let place = value - least;
                    let (word, bit) = (&bits[place as usize / 64], 1 << (place % 64));
                    // Most bits are set already. Reading first leaves the word shared between the processors' caches.
                    if word.load(Relaxed) & bit == 0 {
                        word.fetch_or(bit, Relaxed);
                    }
                }
                Ok::<_, miette::Report>(())
            })?;
        }
        let bits: Vec<u64> = bits.into_iter().map(AtomicU64::into_inner).collect();
        let mut count = 0;
        let mut count_word = |word: &u64| {
            count += word.count_ones();
            count - word.count_ones()
        };
        let before = bits.iter().map(&mut count_word).collect();
        Ok(Present { bits, before, is_full: count as usize == span })
    }

    /// The number of elements before a place.
    #[inline]
    fn rank(&self, place: u32) -> u32 {
        let word = place as usize / 64;
        let below = (1 << (place % 64)) - 1;
        self.before[word] + (self.bits[word] & below).count_ones()
    }

    /// The rank of each place, as a table. It takes more memory than `rank`, but less time.
    fn numbers(&self) -> Vec<u32> {
        let mut numbers = vec![0; self.bits.len() * 64];
        (0..).zip(self.places()).for_each(|(number, place)| numbers[place] = number);
        numbers
    }

    /// All elements, ascending.
    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let within = |mut word: u64| {
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
                word &= word - 1;
                Some(bit)
            })
        };
        self.bits.iter().enumerate().flat_map(move |(i, word)| within(*word).map(move |bit| i * 64 + bit))
    }
}
