//! `min_cost`, `latest_by`, `smallest_by` and `shortest`: the one input that is best by a measure; the first of equals.

use std::cmp::Ordering;

use super::extremes::compare_magnitudes;
use super::folded::{folded, folded_to};
use super::{Accumulator, Aggregation, Meet, unexpected};
use crate::expr::FunctionError;
use crate::value::{DataValue, Num};

pub(super) static MIN_COST: Aggregation = Aggregation {
    name: "min_cost",
    parameters: &["data_cost"],
    doc: "The list `[data, cost]` with the lowest cost, a number; of equal costs the first. Nulls are an error; no rows \
          give `[null, inf]`.",
    examples: &[
        ("?[min_cost(x)] := x in [['a', 3], ['b', 1.5], ['c', 2]]", "['b', 1.5]"),
        ("?[min_cost(x)] := x in [['a', 'cheap']]", ""),
    ],
    order_matters: true,
    start: |_| Ok(folded(&MIN_COST_MEET, || DataValue::List(vec![DataValue::Null, f64::INFINITY.into()]))),
    meet: Some(MIN_COST_MEET),
};

pub(super) static LATEST_BY: Aggregation = Aggregation {
    name: "latest_by",
    parameters: &["data_time"],
    doc: "Takes lists `[data, time]`, and gives the data of the largest time in the order of values; of equal times the \
          first. Null times never win; the result is null if there is no other time.",
    examples: &[
        ("?[latest_by(x)] := x in [['old', 1], ['new', 5], ['never', null]]", "'new'"),
        ("?[latest_by(x)] := x in [[1]]", ""),
    ],
    order_matters: true,
    start: |_| Ok(by_key(&LATEST_FOLD)),
    meet: None,
};

pub(super) static SMALLEST_BY: Aggregation = Aggregation {
    name: "smallest_by",
    parameters: &["data_cost"],
    doc: "Takes lists `[data, cost]`, and gives the data of the smallest cost in the order of values; of equal costs the \
          first. Null costs never win; the result is null if there is no other cost.",
    examples: &[
        ("?[smallest_by(x)] := x in [['far', 9], ['near', 2], ['unknown', null]]", "'near'"),
        ("?[smallest_by(x)] := x in [1]", ""),
    ],
    order_matters: true,
    start: |_| Ok(by_key(&SMALLEST_FOLD)),
    meet: None,
};

pub(super) static SHORTEST: Aggregation = Aggregation {
    name: "shortest",
    parameters: &["list"],
    doc: "The list with the fewest elements; of equally short lists the first. Nulls are ignored; no lists give null.",
    examples: &[("?[shortest(l)] := l in [[1, 2, 3], [4, 5], null]", "[4, 5]"), ("?[shortest(l)] := l in [1]", "")],
    order_matters: true,
    start: |_| Ok(folded(&SHORTEST_MEET, DataValue::default)),
    meet: Some(SHORTEST_MEET),
};

const MIN_COST_MEET: Meet = Meet {
    start: |value| {
        cost_of(&value)?;
        Ok(value)
    },
    improve: |current, new| {
        let wins = compare_magnitudes(cost_of(new)?, cost_of(current)?).is_lt();
        replace_if(wins, current, new)
    },
    int_improves: None,
};

const LATEST_FOLD: Meet = Meet {
    start: |value| check_pair("latest_by", value),
    improve: |current, new| pick_by_key("latest_by", current, new, Ordering::Greater),
    int_improves: None,
};

const SMALLEST_FOLD: Meet = Meet {
    start: |value| check_pair("smallest_by", value),
    improve: |current, new| pick_by_key("smallest_by", current, new, Ordering::Less),
    int_improves: None,
};

/// An accumulator that gives the data of the pair that wins.
fn by_key(fold: &'static Meet) -> Box<dyn Accumulator> {
    folded_to(fold, DataValue::default, data_unless_null_key)
}

const SHORTEST_MEET: Meet = Meet {
    start: |value| {
        length_of(&value)?;
        Ok(value)
    },
    improve: |current, new| {
        let wins = match (length_of(current)?, length_of(new)?) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(shortest), Some(length)) => length < shortest,
        };
        replace_if(wins, current, new)
    },
    int_improves: None,
};

/// Replaces the current value by the new one if that wins; returns whether it does.
fn replace_if(wins: bool, current: &mut DataValue, new: &DataValue) -> Result<bool, FunctionError> {
    if wins {
        *current = new.copy()?;
    }
    Ok(wins)
}

/// The data and the measure of a list of two.
fn pair_of<'a>(name: &str, value: &'a DataValue) -> Result<(&'a DataValue, &'a DataValue), FunctionError> {
    match value.get_slice() {
        Some([data, measure]) => Ok((data, measure)),
        _ => Err(unexpected(name, "a List of two elements", value)),
    }
}

fn check_pair(name: &str, value: DataValue) -> Result<DataValue, FunctionError> {
    pair_of(name, &value)?;
    Ok(value)
}

fn cost_of(value: &DataValue) -> Result<Num, FunctionError> {
    match pair_of("min_cost", value)?.1 {
        DataValue::Num(cost) => Ok(*cost),
        other => Err(unexpected("min_cost", "a number for the cost", other)),
    }
}

/// The number of elements of a list; `None` for null.
fn length_of(value: &DataValue) -> Result<Option<usize>, FunctionError> {
    match value {
        DataValue::List(items) => Ok(Some(items.len())),
        DataValue::Null => Ok(None),
        other => Err(unexpected("shortest", "a List", other)),
    }
}

/// Keeps the pair whose key compares as `wins` with the other; null keys lose.
fn pick_by_key(name: &str, current: &mut DataValue, new: &DataValue, wins: Ordering) -> Result<bool, FunctionError> {
    let (_, new_key) = pair_of(name, new)?;
    let (_, current_key) = pair_of(name, current)?;
    let better = !new_key.is_null() && (current_key.is_null() || new_key.cmp(current_key) == wins);
    replace_if(better, current, new)
}

/// The data of the pair that won; null if even its key is null.
fn data_unless_null_key(pair: DataValue) -> DataValue {
    match pair {
        DataValue::List(mut items) if items.last().is_some_and(|key| !key.is_null()) => items.swap_remove(0),
        _ => DataValue::Null,
    }
}
