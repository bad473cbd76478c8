//! The nesting of values: lists, sets and JSON within each other, at most [`MAX_DEPTH`] levels.

use serde_json::Value;

use super::DataValue;
use crate::budget::{MAX_DEPTH, Stop};

/// Fails if a value has too many levels to be nested within `outer_levels` other levels.
///
/// The check descends no deeper than the limit, so it also refuses values that are too deep for recursion.
#[inline]
pub fn check_depth(value: &DataValue, outer_levels: usize) -> Result<(), Stop> {
    match value {
        DataValue::List(items) => check_items(items, outer_levels),
        DataValue::Set(items) => check_items(items, outer_levels),
        DataValue::Json(json) => check_json_depth(&json.0, outer_levels),
        _ => Ok(()),
    }
}

fn check_items<'a>(items: impl IntoIterator<Item = &'a DataValue>, outer_levels: usize) -> Result<(), Stop> {
    if outer_levels >= MAX_DEPTH {
        return Err(Stop::TooDeep);
    }
    items.into_iter().try_for_each(|item| check_depth(item, outer_levels + 1))
}

/// [`check_depth`] for a JSON value.
pub fn check_json_depth(value: &Value, outer_levels: usize) -> Result<(), Stop> {
    let check_inner = |inner: &Value| check_json_depth(inner, outer_levels + 1);
    match value {
        Value::Array(_) | Value::Object(_) if outer_levels >= MAX_DEPTH => Err(Stop::TooDeep),
        Value::Array(items) => items.iter().try_for_each(check_inner),
        Value::Object(fields) => fields.values().try_for_each(check_inner),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::JsonData;

    #[test]
    fn lists_and_json_within_each_other_count_together() {
        let json = |levels: usize| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let mixed = |lists: usize, levels: usize| {
            (0..lists).fold(DataValue::Json(JsonData(json(levels))), |inner, _| DataValue::List(vec![inner]))
        };
        for (lists, levels) in [(0, MAX_DEPTH), (MAX_DEPTH, 0), (100, MAX_DEPTH - 100)] {
            assert_eq!(check_depth(&mixed(lists, levels), 0), Ok(()));
            assert_eq!(check_depth(&mixed(lists, levels), 1), Err(Stop::TooDeep));
            assert_eq!(check_depth(&mixed(lists + 1, levels), 0), Err(Stop::TooDeep));
        }
        assert_eq!(check_depth(&1.into(), MAX_DEPTH), Ok(()), "what is no list is no level");
    }
}
