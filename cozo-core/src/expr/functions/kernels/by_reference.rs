//! Functions of values of any type, which are read in place and not cloned for each row.

use std::borrow::Cow;

use super::super::arguments::Outcome as ValueOutcome;
use super::super::lists::element;
use super::super::vectors::Metric;
use super::{KernelOutcome, Texts, Typed, done, view};
use crate::expr::Operand;
use crate::value::{Column, DataValue, VectorRef};

/// The value of a row; cheap for scalars and mixtures.
pub(super) fn value_at<'a>(operand: &'a Operand<'_>, row: usize) -> Cow<'a, DataValue> {
    match operand {
        Operand::Scalar(value) => Cow::Borrowed(&**value),
        Operand::Column(column) => match &**column {
            Column::Any(values) => Cow::Borrowed(&values[row]),
            other => Cow::Owned(other.get(row)),
        },
    }
}

/// Maps the values of a mixture; declines where `f` has no result.
pub(in super::super) fn map_values(
    operands: &[Operand<'_>],
    len: usize,
    f: impl Fn(&DataValue) -> Option<ValueOutcome>,
) -> KernelOutcome {
    let [operand] = operands else { return None };
    let mut column = Column::default();
    for row in 0..len {
        match f(&value_at(operand, row))? {
            Ok(value) => column.push_owned(value),
            Err(error) => return Some(Err(error)),
        }
    }
    done(column)
}

/// Tests each value. Of strings the test may see only whether they are empty, and of vectors nothing.
pub(in super::super) fn test_values(
    operands: &[Operand<'_>],
    len: usize,
    test: impl Fn(&DataValue) -> bool,
) -> KernelOutcome {
    let [operand] = operands else { return None };
    if let Operand::Column(column) = operand
        && let Column::Vec(vectors) = &**column
    {
        let [null, vector] = [DataValue::Null, DataValue::from(VectorRef::F32(&[0.0]))].map(|value| test(&value));
        return done(Column::bools((0..len).map(|row| if vectors.is_null(row) { null } else { vector }).collect()));
    }
    let Some(Typed::Str(Texts::Rows(texts))) = view(operand).map(|view| view.typed) else {
        return done(Column::bools((0..len).map(|row| test(&value_at(operand, row))).collect()));
    };
    let [null, empty, full] = [DataValue::Null, "".into(), "a".into()].map(|value: DataValue| test(&value));
    let of_row = |row| match texts.bytes_at(row) {
        _ if texts.is_null(row) => null,
        [] => empty,
        _ => full,
    };
    done(Column::bools((0..len).map(of_row).collect()))
}

pub(in super::super) fn get(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let (container, key, default) = match operands {
        [container, key] => (container, key, None),
        [container, key, default] => (container, key, Some(default)),
        _ => return None,
    };
    let mut column = Column::default();
    for row in 0..len {
        let found = element(&value_at(container, row), &value_at(key, row));
        let found = match (found, default) {
            (Ok(None), None) => return None,
            (Ok(None), Some(default)) => default.get(row),
            (Ok(Some(found)), _) => Ok(found),
            (Err(stop), _) => Err(stop),
        };
        match found {
            Ok(found) => column.push_owned(found),
            Err(stop) => return Some(Err(stop.into())),
        }
    }
    done(column)
}

pub(in super::super) fn maybe_get(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [container, key] = operands else { return None };
    let found = |row| Ok(element(&value_at(container, row), &value_at(key, row))?.unwrap_or_default());
    Some((0..len).map(found).collect())
}

/// Distances of vectors.
pub(super) fn distances(operands: &[Operand<'_>], len: usize, metric: Metric) -> KernelOutcome {
    let [a, b] = operands else { return None };
    let of_row = |row| match (&*value_at(a, row), &*value_at(b, row)) {
        (DataValue::Vec(a), DataValue::Vec(b)) => metric.of(a, b),
        _ => None,
    };
    done(Column::floats((0..len).map(of_row).collect::<Option<_>>()?))
}
