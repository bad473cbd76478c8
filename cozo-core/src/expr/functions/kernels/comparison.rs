//! Comparisons of columns of one type; equality knows nulls, order declines them.

use std::cmp::Ordering;

use rustc_hash::FxHashSet;

use super::by_reference::value_at;
use super::{KernelOutcome, Texts, Typed, View, dense, done, view, zip};
use crate::budget::make_room;
use crate::expr::Operand;
use crate::value::{Column, DataValue, Num};

pub(in super::super) fn eq(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    equality(operands, len, true)
}

pub(in super::super) fn neq(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    equality(operands, len, false)
}

pub(in super::super) fn lt(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    order(operands, len, Ordering::is_lt)
}

pub(in super::super) fn le(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    order(operands, len, Ordering::is_le)
}

pub(in super::super) fn gt(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    order(operands, len, Ordering::is_gt)
}

pub(in super::super) fn ge(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    order(operands, len, Ordering::is_ge)
}

/// Applies a test to the order of the two operands in each row.
#[inline]
fn order(operands: &[Operand<'_>], len: usize, test: impl Fn(Ordering) -> bool) -> KernelOutcome {
    let [a, b] = operands else { return None };
    done(Column::bools(match (dense(a)?, dense(b)?) {
        (Typed::Bool(a), Typed::Bool(b)) => zip(a, b, len, |x, y| test(x.cmp(&y))),
        (Typed::Int(a), Typed::Int(b)) => zip(a, b, len, |x, y| test(x.cmp(&y))),
        (Typed::Float(a), Typed::Float(b)) => zip(a, b, len, |x, y| test(x.total_cmp(&y))),
        (Typed::Int(a), Typed::Float(b)) => zip(a, b, len, |x, y| test(Num::Int(x).loosely_compare(Num::Float(y)))),
        (Typed::Float(a), Typed::Int(b)) => zip(a, b, len, |x, y| test(Num::Float(x).loosely_compare(Num::Int(y)))),
        (Typed::Str(a), Typed::Str(b)) => zip_texts(a, b, len, |x, y| test(x.cmp(y))),
        _ => return None,
    }))
}

#[inline]
fn zip_texts(a: Texts<'_>, b: Texts<'_>, len: usize, f: impl Fn(&[u8], &[u8]) -> bool) -> Vec<bool> {
    (0..len).map(|row| f(a.bytes_at(row), b.bytes_at(row))).collect()
}

/// Whether the operands are equal, or unequal, as `wanted`.
fn equality(operands: &[Operand<'_>], len: usize, wanted: bool) -> KernelOutcome {
    let [a, b] = operands else { return None };
    let (Some(view_a), Some(view_b)) = (view(a), view(b)) else {
        let is_vectors = |column: &Column| matches!(column, Column::Vec(_));
        let equal = |row| match (a, b) {
            (Operand::Column(a), Operand::Column(b)) if is_vectors(a) || is_vectors(b) => a.equals_at(row, b, row),
            (Operand::Column(column), Operand::Scalar(value)) | (Operand::Scalar(value), Operand::Column(column))
                if is_vectors(column) =>
            {
                column.compare_value(row, value).is_eq()
            }
            _ => value_at(a, row).loosely_equals(&value_at(b, row)),
        };
        return done(Column::bools((0..len).map(|row| equal(row) == wanted).collect()));
    };
    let mut outcome = typed_equality(view_a.typed, view_b.typed, len, wanted);
    let may_be_null = |view: &View<'_>| view.nulls.is_some() || matches!(view.typed, Typed::Null);
    if may_be_null(&view_a) || may_be_null(&view_b) {
        for (row, outcome) in outcome.iter_mut().enumerate() {
            match (view_a.is_null(row), view_b.is_null(row)) {
                (false, false) => {}
                (null_a, null_b) => *outcome = (null_a == null_b) == wanted,
            }
        }
    }
    done(Column::bools(outcome))
}

/// [`equality`] of rows without null; its results for other rows have no meaning.
fn typed_equality(a: Typed<'_>, b: Typed<'_>, len: usize, wanted: bool) -> Vec<bool> {
    match (a, b) {
        (Typed::Bool(a), Typed::Bool(b)) => zip(a, b, len, |x, y| (x == y) == wanted),
        (Typed::Int(a), Typed::Int(b)) => zip(a, b, len, |x, y| (x == y) == wanted),
        // Floats are equal by identity, that is by their bits.
        (Typed::Float(a), Typed::Float(b)) => zip(a, b, len, |x, y| (x.to_bits() == y.to_bits()) == wanted),
        (Typed::Int(a), Typed::Float(b)) => zip(a, b, len, |x, y| (x as f64 == y) == wanted),
        (Typed::Float(a), Typed::Int(b)) => zip(a, b, len, |x, y| (x == y as f64) == wanted),
        (Typed::Str(a), Typed::Str(b)) => zip_texts(a, b, len, |x, y| (x == y) == wanted),
        _ => vec![!wanted; len],
    }
}

/// Whether integers or strings are in a list that is the same for all rows; the list is made a set once.
pub(in super::super) fn is_in(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [Operand::Column(column), Operand::Scalar(list)] = operands else { return None };
    let items = match list.elements() {
        Ok(items) => items?,
        Err(stop) => return Some(Err(stop.into())),
    };
    // A set has room for twice what it holds.
    if let Err(stop) = make_room(items.len().saturating_mul(2 * size_of::<&[u8]>())) {
        return Some(Err(stop.into()));
    }
    let has_null = items.contains(&DataValue::Null);
    done(Column::bools(match &**column {
        Column::Int(column) => {
            let int = |item: &DataValue| if let DataValue::Num(Num::Int(int)) = item { Some(*int) } else { None };
            let set: FxHashSet<i64> = items.iter().filter_map(int).collect();
            (0..len).map(|row| column.get(row).map_or(has_null, |value| set.contains(&value))).collect()
        }
        Column::Str(column) => {
            let set: FxHashSet<&[u8]> = items.iter().filter_map(DataValue::get_str).map(str::as_bytes).collect();
            let found = |row| if column.is_null(row) { has_null } else { set.contains(column.bytes_at(row)) };
            (0..len).map(found).collect()
        }
        _ => return None,
    }))
}
