//! `min` and `max`: the smallest and the largest value of one type, as it is.
//!
//! The state of a group in [`Extreme`] is its best value, null until there is one. [`wins`] compares a value with it and refuses what
//! has no order, or another type. Numbers and strings of typed columns are compared in place, and become values only where they win.
//!
//! Int and Float are one type, in which `1` and `1.0` tie. Other values have the order of values, except that a later Validity is the
//! greater one.

use std::cmp::Ordering;
use std::marker::PhantomData;

use super::grouped::{Kind, for_each_value, grouped, only_group};
use super::{Aggregation, Meet, unexpected};
use crate::budget::make_room;
use crate::expr::FunctionError;
use crate::expr::functions::quote;
use crate::value::{Column, DataValue, Num, Primitive, StrColumn};

pub(super) static MIN: Aggregation = Aggregation {
    name: "min",
    parameters: &["x"],
    doc: "The smallest value. All values must be of one type: numbers (an Int or a Float as it was given, of equal ones the \
          first), Strings, Booleans (false is less), Lists, Bytes, Uuids, or Validities (the earliest). Nulls are ignored; \
          if there is nothing else, the result is null.",
    examples: &[
        ("?[min(x)] := x in [2, null, 7.5]", "2"),
        ("?[min(x)] := x in ['b', 'a']", "'a'"),
        ("?[min(x)] := x in []", "null"),
        ("?[min(x)] := x in ['a', 1]", ""),
    ],
    order_matters: false,
    start: |_| Ok(grouped(Extreme::<Min>::new())),
    meet: Some(Meet { start: start::<Min>, improve: improve::<Min>, int_improves: Some(|current, new| new < current) }),
};

pub(super) static MAX: Aggregation = Aggregation {
    name: "max",
    parameters: &["x"],
    doc: "The largest value. All values must be of one type: numbers (an Int or a Float as it was given, of equal ones the \
          first), Strings, Booleans (true is greater), Lists, Bytes, Uuids, or Validities (the latest). Nulls are ignored; \
          if there is nothing else, the result is null.",
    examples: &[
        ("?[max(x)] := x in [2, null, 7.5]", "7.5"),
        ("?[max(x)] := x in [[1, 2], [1, 3]]", "[1, 3]"),
        ("?[max(x)] := x in [null]", "null"),
        ("?[max(x)] := x in [{}]", ""),
    ],
    order_matters: false,
    start: |_| Ok(grouped(Extreme::<Max>::new())),
    meet: Some(Meet { start: start::<Max>, improve: improve::<Max>, int_improves: Some(|current, new| new > current) }),
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
trait Side: Send + 'static {
    /// The aggregation's name, for errors.
    const NAME: &'static str;
    /// How a new value compares with the current one when it replaces it.
    const REPLACES: Ordering;

    /// The better of two integers.
    fn better(a: i64, b: i64) -> i64;

    /// The better of two floats, neither of which is NaN or zero.
    fn better_float(a: f64, b: f64) -> f64;
}

struct Min;

impl Side for Min {
    const NAME: &'static str = "min";
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

struct Max;

impl Side for Max {
    const NAME: &'static str = "max";
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

/// The kind whose states are the best values.
struct Extreme<S> {
    /// How many bytes the values of all groups hold.
    held_bytes: usize,
    side: PhantomData<S>,
}

impl<S: Side> Extreme<S> {
    fn new() -> Self {
        Extreme { held_bytes: 0, side: PhantomData }
    }

    fn replace(&mut self, state: &mut DataValue, value: DataValue) {
        let before = state.held_bytes();
        self.held_bytes = self.held_bytes + value.held_bytes() - before;
        *state = value;
    }

    fn offer_texts(
        &mut self,
        states: &mut [DataValue],
        groups: &[u32],
        texts: &StrColumn,
    ) -> Result<(), FunctionError> {
        let mut rows = (0..texts.len()).filter(|row| !texts.is_null(*row));
        let Some(group) = only_group(groups) else {
            return rows.try_for_each(|row| self.offer_text(&mut states[groups[row] as usize], texts, row));
        };
        let replaces = |row, best| texts.bytes_at(row).cmp(texts.bytes_at(best)) == S::REPLACES;
        let best = rows.reduce(|best, row| if replaces(row, best) { row } else { best });
        best.map_or(Ok(()), |row| self.offer_text(&mut states[group], texts, row))
    }

    fn offer_text(&mut self, state: &mut DataValue, texts: &StrColumn, row: usize) -> Result<(), FunctionError> {
        let wins = match &*state {
            DataValue::Str(current) => texts.bytes_at(row).cmp(current.as_bytes()) == S::REPLACES,
            DataValue::Null => true,
            other => return Err(mixed::<S>(other, &texts.str_at(row).into())),
        };
        if wins {
            make_room(texts.bytes_at(row).len())?;
            self.replace(state, texts.str_at(row).into());
        }
        Ok(())
    }
}

impl<S: Side> Kind for Extreme<S> {
    type State = DataValue;

    fn initial(&self) -> DataValue {
        DataValue::Null
    }

    fn update(&mut self, states: &mut [DataValue], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        match values {
            Column::Null(_) => Ok(()),
            Column::Int(column) => offer_column::<S, i64>(states, groups, column, Num::Int, best_int::<S>),
            Column::Float(column) => offer_column::<S, f64>(states, groups, column, Num::Float, best_float::<S>),
            Column::Str(column) => self.offer_texts(states, groups, column),
            _ => for_each_value(values, |row, value| {
                let state = &mut states[groups[row] as usize];
                if wins::<S>(state, value)? {
                    self.replace(state, value.copy()?);
                }
                Ok(())
            }),
        }
    }

    fn absorb(&mut self, state: &mut DataValue, later: DataValue) -> Result<(), FunctionError> {
        if wins::<S>(state, &later)? {
            self.replace(state, later);
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.held_bytes
    }

    fn finish(&self, states: Vec<DataValue>) -> Result<Column, FunctionError> {
        Ok(states.into_iter().collect())
    }

    fn fork(&self) -> Self {
        Extreme::new()
    }
}

/// Offers a number to a group.
#[inline]
fn offer<S: Side>(state: &mut DataValue, number: Num) -> Result<(), FunctionError> {
    match (state, number) {
        (DataValue::Num(Num::Int(current)), Num::Int(new)) => *current = S::better(*current, new),
        (state, number) => offer_to_any::<S>(state, number)?,
    }
    Ok(())
}

/// The same for a group whose value is not an Int, or a number that is none.
#[inline(never)]
fn offer_to_any<S: Side>(state: &mut DataValue, number: Num) -> Result<(), FunctionError> {
    match state {
        DataValue::Num(current) => {
            if compare_magnitudes(number, *current) == S::REPLACES {
                *current = number;
            }
        }
        DataValue::Null => *state = DataValue::Num(number),
        other => return Err(mixed::<S>(other, &DataValue::Num(number))),
    }
    Ok(())
}

/// Offers the values of a typed column that are not null.
fn offer_column<S: Side, T: Copy + Default>(
    states: &mut [DataValue],
    groups: &[u32],
    column: &Primitive<T>,
    to_number: impl Fn(T) -> Num,
    best: impl Fn(&[T]) -> Option<T>,
) -> Result<(), FunctionError> {
    match (&column.nulls, only_group(groups)) {
        (None, Some(group)) => {
            if let Some(best) = best(&column.values) {
                offer::<S>(&mut states[group], to_number(best))?;
            }
        }
        (None, None) => {
            for (group, value) in groups.iter().zip(&column.values) {
                offer::<S>(&mut states[*group as usize], to_number(*value))?;
            }
        }
        (Some(nulls), _) => {
            for ((group, value), null) in groups.iter().zip(&column.values).zip(nulls) {
                if !null {
                    offer::<S>(&mut states[*group as usize], to_number(*value))?;
                }
            }
        }
    }
    Ok(())
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

/// Whether a value replaces the current one, which is null if there is none yet.
fn wins<S: Side>(current: &DataValue, new: &DataValue) -> Result<bool, FunctionError> {
    use DataValue::{Bool, Bytes, List, Null, Num, Str, Uuid, Validity};
    let order = match (current, new) {
        (_, Null) => return Ok(false),
        (Null, _) => return check_ordered::<S>(new).map(|()| true),
        (Num(current), Num(new)) => compare_magnitudes(*new, *current),
        (Validity(current), Validity(new)) => (new.micros(), new.asserts()).cmp(&(current.micros(), current.asserts())),
        (Bool(_), Bool(_)) | (Str(_), Str(_)) | (Bytes(_), Bytes(_)) | (Uuid(_), Uuid(_)) | (List(_), List(_)) => {
            new.cmp(current)
        }
        _ => {
            check_ordered::<S>(new)?;
            return Err(mixed::<S>(current, new));
        }
    };
    Ok(order == S::REPLACES)
}

/// Refuses a value of a type without an order; null is no value.
fn check_ordered<S: Side>(value: &DataValue) -> Result<(), FunctionError> {
    use DataValue::{Bool, Bytes, List, Null, Num, Str, Uuid, Validity};
    match value {
        Null | Bool(_) | Num(_) | Str(_) | Bytes(_) | Uuid(_) | List(_) | Validity(_) => Ok(()),
        other => Err(unexpected(S::NAME, "a value of a type that has an order", other)),
    }
}

/// The error for values of two types.
fn mixed<S: Side>(one: &DataValue, other: &DataValue) -> FunctionError {
    let (name, one, other) = (S::NAME, quote(one), quote(other));
    FunctionError::new(format!("{name}: cannot order {one} and {other}: all values must be of one type"))
}

fn start<S: Side>(value: DataValue) -> Result<DataValue, FunctionError> {
    check_ordered::<S>(&value)?;
    Ok(value)
}

fn improve<S: Side>(current: &mut DataValue, new: &DataValue) -> Result<bool, FunctionError> {
    let wins = wins::<S>(current, new)?;
    if wins {
        *current = new.copy()?;
    }
    Ok(wins)
}
