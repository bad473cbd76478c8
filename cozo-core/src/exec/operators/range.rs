//! Key ranges from the bounds that filters set.
//!
//! A range is never narrower than the filters, which run afterwards and are exact. An Int and a Float are compared as floats, and
//! a float cannot tell all integers apart. So the range for `a >= 2` begins below every number that may equal 2.

use crate::expr::Expr;
use crate::plan::{BoundPlan, Comparison, JoinPlan};
use crate::storage::KeyRange;
use crate::value::{DataValue, Num};

/// The range of keys that a join reads by constants.
pub fn key_range(join: &JoinPlan, parameters: &[&DataValue]) -> KeyRange {
    let mut prefix: Vec<DataValue> = join.keys.iter().map(|(_, expr)| given(expr, parameters).clone()).collect();
    // A value that is not a number equals only itself.
    let is_one = |bound: &&BoundPlan| {
        bound.comparison == Comparison::Equal && !matches!(given(&bound.value, parameters), DataValue::Num(_))
    };
    if let Some(bound) = join.bounds.iter().find(is_one) {
        prefix.push(given(&bound.value, parameters).clone());
        return KeyRange { prefix, lower: None, upper: None };
    }
    let (mut lower, mut upper): (Option<DataValue>, Option<DataValue>) = (None, None);
    for bound in &join.bounds {
        let (least, end) = limits(bound, parameters);
        lower = least.into_iter().chain(lower).max();
        upper = end.into_iter().chain(upper).min();
    }
    KeyRange { prefix, lower: lower.map(|value| vec![value]), upper: upper.map(|value| vec![value]) }
}

fn given<'v>(expr: &'v Expr, parameters: &[&'v DataValue]) -> &'v DataValue {
    expr.given(parameters).expect("ranges are planned by constants and parameters")
}

/// A value at or below all values for which the comparison holds, and a value above all of them; `None` where there is no limit.
fn limits(bound: &BoundPlan, parameters: &[&DataValue]) -> (Option<DataValue>, Option<DataValue>) {
    let value = given(&bound.value, parameters);
    let (least, end) = match (bound.comparison, value) {
        (Comparison::StartsWith, DataValue::Str(text)) => return (Some(value.clone()), after_all_with(text)),
        (Comparison::StartsWith, _) => return (None, None),
        (_, DataValue::Num(number)) => around(*number),
        // In the order of bytes the next string has one zero more.
        (_, DataValue::Str(text)) => (Some(value.clone()), Some(DataValue::from(format!("{text}\0")))),
        _ => (None, None),
    };
    match bound.comparison {
        Comparison::AtLeast => (least, None),
        Comparison::AtMost => (None, end),
        Comparison::Equal | Comparison::StartsWith => (least, end),
    }
}

/// Numbers below and above all numbers that comparisons may take for equal to this one.
fn around(number: Num) -> (Option<DataValue>, Option<DataValue>) {
    let float = number.get_float();
    let neighbour = |neighbour: f64| (neighbour.is_finite()).then(|| DataValue::from(neighbour));
    if float.is_nan() { (None, None) } else { (neighbour(float.next_down()), neighbour(float.next_up())) }
}

/// The first string after all that begin with this one: the last character that has a successor is replaced by it.
fn after_all_with(text: &str) -> Option<DataValue> {
    let (end, last) = text.char_indices().rfind(|(_, last)| *last != char::MAX)?;
    let next = (last..=char::MAX).nth(1)?;
    Some(DataValue::from(format!("{}{next}", &text[..end])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::SourceSpan;
    use crate::expr::functions;

    /// Values around which comparisons are delicate.
    fn values() -> Vec<DataValue> {
        let big = 1i64 << 53;
        let ints = [0, 1, 2, -1, big - 1, big, big + 1, big + 2, big + 3, i64::MAX, i64::MAX - 1, i64::MIN];
        let floats = [0.0, -0.0, 1.0, 0.5, -1.0, big as f64, 9.3e18, -9.3e18, f64::MAX, f64::MIN, f64::INFINITY];
        let more = [f64::NEG_INFINITY, f64::NAN, -f64::NAN, f64::MIN_POSITIVE, 9_223_372_036_854_775_808.0];
        let texts = ["", "a", "ab", "a\0", "b", "\u{d7ff}", "\u{e000}", "a\u{10ffff}", "\u{10ffff}", "é"];
        let numbers = ints.into_iter().map(DataValue::from).chain(floats.into_iter().chain(more).map(DataValue::from));
        numbers.chain(texts.into_iter().map(DataValue::from)).collect()
    }

    #[test]
    fn whatever_a_comparison_holds_for_is_within_its_limits() {
        for (name, comparison) in [
            ("eq", Comparison::Equal),
            ("ge", Comparison::AtLeast),
            ("gt", Comparison::AtLeast),
            ("le", Comparison::AtMost),
            ("lt", Comparison::AtMost),
            ("starts_with", Comparison::StartsWith),
        ] {
            let function = functions::find(name).expect("the function exists");
            for constant in values() {
                let bound = BoundPlan { comparison, value: Expr::Constant(constant.clone(), SourceSpan::default()) };
                let (least, end) = limits(&bound, &[]);
                for value in values() {
                    if let Ok(DataValue::Bool(true)) = (function.eval)(&[value.clone(), constant.clone()]) {
                        assert!(least.as_ref().is_none_or(|least| *least <= value), "{value} {name} {constant}");
                        assert!(end.as_ref().is_none_or(|end| value < *end), "{value} {name} {constant}");
                    }
                }
            }
        }
    }

    #[test]
    fn limits_are_close() {
        let limits = |comparison, value: DataValue| {
            limits(&BoundPlan { comparison, value: Expr::Constant(value, SourceSpan::default()) }, &[])
        };
        assert_eq!(limits(Comparison::StartsWith, "ab".into()), (Some("ab".into()), Some("ac".into())));
        assert_eq!(limits(Comparison::StartsWith, "\u{10ffff}".into()).1, None);
        let (least, end) = limits(Comparison::Equal, 7.into());
        assert!(least > Some(6.into()) && end < Some(8.into()));
    }
}
