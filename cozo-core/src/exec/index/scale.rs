//! The values of a column as integers that are in the order of `<`.
//!
//! A [`Scale`] is made for the rows of a relation, and gives each of them an integer. For a value of other rows it gives a
//! [`Limit`]: which integers may stand for values that are below it, or above it.
//!
//! | scale | values | integers |
//! |---|---|---|
//! | `Ints` | integers only | themselves |
//! | `Floats` | numbers | the bits of floats, in their order |
//! | `Ranks` | any | positions among the distinct values |
//!
//! An Int and a Float compare as floats, which cannot tell all integers apart. A limit is therefore never narrower than the
//! comparison, but it may be wider: [`Limit::sure`] says from where on the comparison is sure to hold. Values of different
//! [`Class`]es cannot be compared; a limit says nothing about those.

use crate::value::{Column, DataValue, Num};

/// 2 to the 53rd: up to here a float represents every integer exactly.
const FLOATS_ARE_EXACT: f64 = 9_007_199_254_740_992.0;

/// What a value can be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Null, which can be compared with itself.
    Null,
    /// A Boolean.
    Bool,
    /// A number.
    Number,
    /// A string.
    Str,
    /// Bytes.
    Bytes,
    /// A list.
    List,
    /// A value that cannot be compared, or no value.
    Other,
}

impl Class {
    /// The class of a value.
    pub fn of(value: &DataValue) -> Self {
        match value {
            DataValue::Null => Class::Null,
            DataValue::Bool(_) => Class::Bool,
            DataValue::Num(_) => Class::Number,
            DataValue::Str(_) => Class::Str,
            DataValue::Bytes(_) => Class::Bytes,
            DataValue::List(_) => Class::List,
            _ => Class::Other,
        }
    }
}

/// Which side of a value is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedSide {
    /// What is smaller.
    Below,
    /// What is greater.
    Above,
}

/// Which integers of a scale are on one side of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The last integer, in the direction of the value, that may be on the side.
    pub reach: i64,
    /// The last integer that is sure to be on the side.
    pub sure: i64,
}

/// How the values of a column are integers.
#[derive(Debug)]
pub enum Scale {
    /// All values are integers.
    Ints,
    /// All values are numbers.
    Floats,
    /// The integers are positions among these values, which ascend and are distinct.
    Ranks(Vec<DataValue>),
}

impl Scale {
    /// A scale for a column, and the integers of its rows.
    pub fn of(column: &Column) -> (Self, Vec<i64>) {
        if let Some(ints) = column.as_dense_ints() {
            return (Scale::Ints, ints.to_vec());
        }
        let floats: Option<Vec<i64>> = column
            .iter()
            .map(|value| match value {
                DataValue::Num(number) => Some(float_key(number.get_float())),
                _ => None,
            })
            .collect();
        if let Some(floats) = floats {
            return (Scale::Floats, floats);
        }
        let values: Vec<DataValue> = column.iter().map(coarse).collect();
        let mut distinct = values.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let rank = |value: &DataValue| distinct.partition_point(|known| known < value) as i64;
        let ranks = values.iter().map(rank).collect();
        (Scale::Ranks(distinct), ranks)
    }

    /// Whether rows with the same integer have the same value.
    pub fn is_exact(&self) -> bool {
        matches!(self, Scale::Ints)
    }

    /// The integers on one side of a value; with those of the value itself if it is `inclusive`.
    pub fn limit(&self, value: &DataValue, side: WantedSide, inclusive: bool) -> Limit {
        match (self, value) {
            (Scale::Ints, DataValue::Num(Num::Int(int))) => {
                let reach = if inclusive { *int } else { before(*int, side) };
                Limit { reach, sure: reach }
            }
            (Scale::Ints, DataValue::Num(Num::Float(float))) => limit_of_ints(*float, side, inclusive),
            (Scale::Floats, DataValue::Num(number)) => {
                let reach = float_key(number.get_float());
                Limit { reach, sure: before(reach, side) }
            }
            (Scale::Ranks(values), value) => {
                let value = coarse(value.clone());
                let reach = match side {
                    WantedSide::Below => values.partition_point(|known| *known <= value) as i64 - 1,
                    WantedSide::Above => values.partition_point(|known| *known < value) as i64,
                };
                Limit { reach, sure: before(reach, side) }
            }
            // Numbers cannot be compared with anything else.
            (Scale::Ints | Scale::Floats, _) => Limit { reach: 0, sure: 0 },
        }
    }
}

/// The next integer away from a value that is to be on the other side.
fn before(int: i64, side: WantedSide) -> i64 {
    match side {
        WantedSide::Below => int.saturating_sub(1),
        WantedSide::Above => int.saturating_add(1),
    }
}

/// [`Scale::limit`] of a float among integers.
fn limit_of_ints(float: f64, side: WantedSide, inclusive: bool) -> Limit {
    if float.abs() < FLOATS_ARE_EXACT {
        let nearest = if side == WantedSide::Below { float.floor() } else { float.ceil() };
        let is_excluded = nearest == float && !inclusive;
        let reach = if is_excluded { before(nearest as i64, side) } else { nearest as i64 };
        return Limit { reach, sure: reach };
    }
    // Casts end at the greatest and the smallest integer.
    let (below, above) = if !float.is_nan() {
        (float.next_down() as i64, float.next_up() as i64)
    } else if float.is_sign_negative() {
        (i64::MIN, i64::MIN)
    } else {
        (i64::MAX, i64::MAX)
    };
    match side {
        WantedSide::Below => Limit { reach: above, sure: below.saturating_sub(1) },
        WantedSide::Above => Limit { reach: below, sure: above.saturating_add(1) },
    }
}

/// An integer for each float, in the total order of floats; the same for both zeros, which equal the Int 0.
fn float_key(float: f64) -> i64 {
    // The sum of -0.0 and 0.0 is 0.0.
    let bits = (float + 0.0).to_bits() as i64;
    // The order of negative floats is that of their bits reversed.
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// The same value for all numbers that are equal as floats; other values as they are.
fn coarse(value: DataValue) -> DataValue {
    match value {
        DataValue::Num(number) => DataValue::from(number.get_float() + 0.0),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::functions;

    fn numbers() -> Vec<DataValue> {
        let big = 1i64 << 53;
        let ints = [0, 1, -1, 7, big - 1, big, big + 1, big + 2, -big, -big - 1, i64::MAX, i64::MAX - 1, i64::MIN];
        let floats = [0.0, -0.0, 1.0, 0.5, -1.5, 7.0, big as f64, -(big as f64), 9.3e18, -9.3e18, f64::MAX];
        let more =
            [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN, 9_223_372_036_854_775_808.0, f64::MIN_POSITIVE];
        ints.into_iter().map(DataValue::from).chain(floats.into_iter().chain(more).map(DataValue::from)).collect()
    }

    /// Checks the limits of each value on the scale of a column against the comparisons.
    fn check(column: &[DataValue], sought: &[DataValue]) {
        let mut rows = Column::default();
        column.iter().for_each(|value| rows.push(value));
        let (scale, keys) = Scale::of(&rows);
        for (name, side, inclusive) in [
            ("lt", WantedSide::Below, false),
            ("le", WantedSide::Below, true),
            ("gt", WantedSide::Above, false),
            ("ge", WantedSide::Above, true),
        ] {
            let function = functions::find(name).expect("the function exists");
            for value in sought {
                let limit = scale.limit(value, side, inclusive);
                for (of_row, key) in column.iter().zip(&keys) {
                    if Class::of(of_row) != Class::of(value) {
                        continue;
                    }
                    let holds = (function.eval)(&[of_row.clone(), value.clone()]) == Ok(true.into());
                    let within = |last: i64| if side == WantedSide::Below { *key <= last } else { *key >= last };
                    assert!(!holds || within(limit.reach), "{of_row} {name} {value} on {scale:?}");
                    // Nothing lies beyond the ends, so that there an uncertain row hides no other.
                    let is_end = [i64::MIN, i64::MAX].contains(key);
                    assert!(holds || is_end || !within(limit.sure), "{of_row} {name} {value} is not sure on {scale:?}");
                }
            }
        }
    }

    #[test]
    fn limits_include_whatever_a_comparison_holds_for() {
        let numbers = numbers();
        let is_int = |value: &&DataValue| matches!(value, DataValue::Num(Num::Int(_)));
        let ints: Vec<DataValue> = numbers.iter().filter(is_int).cloned().collect();
        let others =
            ["", "a", "b"].map(DataValue::from).into_iter().chain([DataValue::Null, true.into(), false.into()]);
        let lists = [vec![], vec![1.into()], vec![2.into(), 'x'.to_string().into()]].map(DataValue::List);
        let all: Vec<DataValue> = numbers.iter().cloned().chain(others).chain(lists).collect();
        check(&ints, &all);
        check(&numbers, &all);
        check(&all, &all);
    }

    #[test]
    fn integers_are_exact() {
        let (scale, _) = Scale::of(&Column::ints(vec![1, 2]));
        assert!(scale.is_exact());
        assert_eq!(scale.limit(&7.into(), WantedSide::Below, false), Limit { reach: 6, sure: 6 });
        assert_eq!(scale.limit(&7.5.into(), WantedSide::Above, true), Limit { reach: 8, sure: 8 });
    }
}
