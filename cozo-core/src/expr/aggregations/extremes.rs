//! `min` and `max`: the smallest and the largest number, with its own type.

use std::cmp::Ordering;

use super::grouped::{Kind, for_each_value, grouped, only_group};
use super::{Aggregation, Meet, unexpected};
use crate::expr::FunctionError;
use crate::value::{Column, DataValue, Num, Primitive};

pub(super) static MIN: Aggregation = Aggregation {
    name: "min",
    parameters: &["x"],
    doc: "The smallest number, keeping Int or Float; the first of equals. Nulls are ignored; no numbers give null.",
    examples: &[
        ("?[min(x)] := x in [2, null, 7.5]", "2"),
        ("?[min(x)] := x in []", "null"),
        ("?[min(x)] := x in ['a']", ""),
    ],
    order_matters: false,
    start: |_| Ok(grouped(Min)),
    meet: Some(Meet {
        start: |value| number_or_null::<Min>(&value).map(to_value),
        improve: improve::<Min>,
        int_improves: Some(|current, new| new < current),
    }),
};

pub(super) static MAX: Aggregation = Aggregation {
    name: "max",
    parameters: &["x"],
    doc: "The largest number, keeping Int or Float; the first of equals. Nulls are ignored; no numbers give null.",
    examples: &[
        ("?[max(x)] := x in [2, null, 7.5]", "7.5"),
        ("?[max(x)] := x in [null]", "null"),
        ("?[max(x)] := x in ['a']", ""),
    ],
    order_matters: false,
    start: |_| Ok(grouped(Max)),
    meet: Some(Meet {
        start: |value| number_or_null::<Max>(&value).map(to_value),
        improve: improve::<Max>,
        int_improves: Some(|current, new| new > current),
    }),
};

/// Numbers by magnitude: an Int and a Float, or two zeros, of equal magnitude tie; NaN stands where the total order of
/// values has it.
pub(super) fn compare_magnitudes(a: Num, b: Num) -> Ordering {
    match (a, b) {
        (Num::Float(a), Num::Float(b)) => compare_floats(a, b),
        (Num::Int(int), Num::Float(_)) if b.get_int() == Some(int) => Ordering::Equal,
        (Num::Float(_), Num::Int(int)) if a.get_int() == Some(int) => Ordering::Equal,
        _ => a.cmp(&b),
    }
}

#[inline]
fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.total_cmp(&b))
}

/// Which end of the order wins.
trait Side: Copy + Send + 'static {
    /// The aggregation's name, for errors.
    const NAME: &'static str;
    /// The side itself.
    const SIDE: Self;
    /// How a new number compares with the current one when it replaces it.
    const REPLACES: Ordering;

    /// The better of two integers.
    fn better(a: i64, b: i64) -> i64;

    /// The better of two floats, neither of which is NaN or zero.
    fn better_float(a: f64, b: f64) -> f64;
}

#[derive(Clone, Copy)]
struct Min;

impl Side for Min {
    const NAME: &'static str = "min";
    const SIDE: Self = Min;
    const REPLACES: Ordering = Ordering::Less;

    #[inline]
    fn better(a: i64, b: i64) -> i64 {
        a.min(b)
    }

    #[inline]
    fn better_float(a: f64, b: f64) -> f64 {
        if b < a { b } else { a }
    }
}

#[derive(Clone, Copy)]
struct Max;

impl Side for Max {
    const NAME: &'static str = "max";
    const SIDE: Self = Max;
    const REPLACES: Ordering = Ordering::Greater;

    #[inline]
    fn better(a: i64, b: i64) -> i64 {
        a.max(b)
    }

    #[inline]
    fn better_float(a: f64, b: f64) -> f64 {
        if b > a { b } else { a }
    }
}

impl<S: Side> Kind for S {
    type State = Option<Num>;

    fn initial(&self) -> Self::State {
        None
    }

    fn update(&mut self, states: &mut [Self::State], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        match values {
            Column::Null(_) => {}
            Column::Int(column) => offer_column::<S, i64>(states, groups, column, Num::Int, best_int::<S>),
            Column::Float(column) => offer_column::<S, f64>(states, groups, column, Num::Float, best_float::<S>),
            _ => for_each_value(values, |row, value| {
                if let Some(number) = number_or_null::<S>(value)? {
                    offer::<S>(&mut states[groups[row] as usize], number);
                }
                Ok::<_, FunctionError>(())
            })?,
        }
        Ok(())
    }

    fn absorb(&mut self, state: &mut Self::State, later: Self::State) -> Result<(), FunctionError> {
        if let Some(number) = later {
            offer::<S>(state, number);
        }
        Ok(())
    }

    fn finish(&self, states: Vec<Self::State>) -> Column {
        states.into_iter().map(to_value).collect()
    }

    fn fork(&self) -> Self {
        S::SIDE
    }
}

/// Offers a number to a group; whether it won.
#[inline]
fn offer<S: Side>(state: &mut Option<Num>, number: Num) -> bool {
    let wins = state.is_none_or(|current| compare_magnitudes(number, current) == S::REPLACES);
    if wins {
        *state = Some(number);
    }
    wins
}

/// Offers the values of a typed column that are not null.
fn offer_column<S: Side, T: Copy + Default>(
    states: &mut [Option<Num>],
    groups: &[u32],
    column: &Primitive<T>,
    to_number: impl Fn(T) -> Num,
    best: impl Fn(&[T]) -> Option<T>,
) {
    match (&column.nulls, only_group(groups)) {
        (None, Some(group)) => {
            if let Some(best) = best(&column.values) {
                offer::<S>(&mut states[group], to_number(best));
            }
        }
        (None, None) => {
            for (group, value) in groups.iter().zip(&column.values) {
                offer::<S>(&mut states[*group as usize], to_number(*value));
            }
        }
        (Some(nulls), _) => {
            for ((group, value), null) in groups.iter().zip(&column.values).zip(nulls) {
                if !null {
                    offer::<S>(&mut states[*group as usize], to_number(*value));
                }
            }
        }
    }
}

/// This many values are compared at a time, each in its own lane, so that no comparison waits for the one before.
const LANES: usize = 8;

/// The best of some integers.
fn best_int<S: Side>(values: &[i64]) -> Option<i64> {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let start = [*values.first()?; LANES];
    let lanes = best_small_ints::<S>(start, chunks).unwrap_or_else(|| {
        chunks.iter().fold(start, |best, chunk| std::array::from_fn(|lane| S::better(best[lane], chunk[lane])))
    });
    lanes.iter().chain(rest).copied().reduce(S::better)
}

/// The best of each lane, if all integers fit the 52 digits of a float. As the digits of floats between 2^52 and 2^53 they have
/// the same order, and processors that cannot compare several large integers at once can compare several floats.
fn best_small_ints<S: Side>(start: [i64; LANES], chunks: &[[i64; LANES]]) -> Option<[i64; LANES]> {
    const DIGITS: u32 = f64::MANTISSA_DIGITS - 1;
    const EXPONENT: i64 = (1.0 / f64::EPSILON).to_bits() as i64;
    let are_small = |bits: [i64; LANES]| bits.iter().all(|bits| *bits >> DIGITS == 0);
    if !are_small(start) {
        return None;
    }
    let as_digits = |value: i64| f64::from_bits((value | EXPONENT) as u64);
    let (mut best, mut bits) = (start.map(as_digits), start);
    for chunk in chunks {
        bits = std::array::from_fn(|lane| bits[lane] | chunk[lane]);
        best = std::array::from_fn(|lane| S::better_float(best[lane], as_digits(chunk[lane])));
    }
    are_small(bits).then(|| best.map(|digits| digits.to_bits() as i64 ^ EXPONENT))
}

/// The best of some floats, the first of equals.
fn best_float<S: Side>(values: &[f64]) -> Option<f64> {
    let pick = |best: f64, value: f64| if compare_floats(value, best) == S::REPLACES { value } else { best };
    values.iter().copied().reduce(pick)
}

fn number_or_null<S: Side>(value: &DataValue) -> Result<Option<Num>, FunctionError> {
    match value {
        DataValue::Num(number) => Ok(Some(*number)),
        DataValue::Null => Ok(None),
        other => Err(unexpected(S::NAME, "a number", other)),
    }
}

fn to_value(number: Option<Num>) -> DataValue {
    number.map_or(DataValue::Null, DataValue::Num)
}

fn improve<S: Side>(current: &mut DataValue, new: &DataValue) -> Result<bool, FunctionError> {
    let Some(number) = number_or_null::<S>(new)? else { return Ok(false) };
    let mut state = number_or_null::<S>(current)?;
    let improved = offer::<S>(&mut state, number);
    *current = to_value(state);
    Ok(improved)
}
