//! Arithmetic on columns of numbers without nulls. `vectors` has that on the elements of vectors.

use super::super::arithmetic::canonical;
use super::{KernelOutcome, OperandSide, Typed, dense, done, map, vectors, zip};
use crate::expr::Operand;
use crate::value::Column;

/// Combines two operands: by `ints` if both are Int, else by `floats`.
#[inline]
fn combine(
    operands: &[Operand<'_>],
    len: usize,
    ints: impl Fn(i64, i64) -> (i64, i64),
    floats: impl Fn(f64, f64) -> f64,
) -> KernelOutcome {
    let [a, b] = operands else { return None };
    match (dense(a)?, dense(b)?) {
        (Typed::Int(a), Typed::Int(b)) => combine_ints(a, b, len, ints),
        (a, b) => done(Column::floats(zip_floats(a, b, len, |x, y| canonical(floats(x, y)))?)),
    }
}

/// Beside each result, `ints` gives a number that is negative if it failed. These are combined and tested once: the loop has no
/// branch, and the compiler can vectorise it where the arithmetic allows.
#[inline]
fn combine_ints(
    a: OperandSide<'_, i64>,
    b: OperandSide<'_, i64>,
    len: usize,
    ints: impl Fn(i64, i64) -> (i64, i64),
) -> KernelOutcome {
    let mut failures = 0;
    let values = zip(a, b, len, |x, y| {
        let (value, failure) = ints(x, y);
        failures |= failure;
        value
    });
    if failures < 0 { None } else { done(Column::ints(values)) }
}

/// The number that [`combine_ints`] takes for a failure.
#[inline]
fn flagged((value, failed): (i64, bool)) -> (i64, i64) {
    (value, -i64::from(failed))
}

/// Combines two numeric operands as floats.
#[inline]
fn zip_floats(a: Typed<'_>, b: Typed<'_>, len: usize, f: impl Fn(f64, f64) -> f64) -> Option<Vec<f64>> {
    match (a, b) {
        (Typed::Float(a), Typed::Float(b)) => Some(zip(a, b, len, f)),
        (Typed::Int(a), Typed::Float(b)) => Some(zip(a, b, len, |x, y| f(x as f64, y))),
        (Typed::Float(a), Typed::Int(b)) => Some(zip(a, b, len, |x, y| f(x, y as f64))),
        (Typed::Int(a), Typed::Int(b)) => Some(zip(a, b, len, |x, y| f(x as f64, y as f64))),
        _ => None,
    }
}

pub(in super::super) fn add(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    // A sum overflowed if its sign is that of neither operand.
    let sum = |a: i64, b: i64| {
        let sum = a.wrapping_add(b);
        (sum, (a ^ sum) & (b ^ sum))
    };
    combine(operands, len, sum, |a, b| a + b).or_else(|| vectors::combine(operands, len, |a, b| a + b, |a, b| a + b))
}

pub(in super::super) fn sub(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    // A difference overflowed if the operands have different signs, and it does not have the sign of the first.
    let difference = |a: i64, b: i64| {
        let difference = a.wrapping_sub(b);
        (difference, (a ^ b) & (a ^ difference))
    };
    combine(operands, len, difference, |a, b| a - b)
        .or_else(|| vectors::combine(operands, len, |a, b| a - b, |a, b| a - b))
}

pub(in super::super) fn mul(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    combine(operands, len, |a, b| flagged(a.overflowing_mul(b)), |a, b| a * b)
        .or_else(|| vectors::combine(operands, len, |a, b| a * b, |a, b| a * b))
}

pub(in super::super) fn modulo(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let remainder = |a: i64, b: i64| if b == 0 { (0, -1) } else { (a.wrapping_rem(b), 0) };
    combine(operands, len, remainder, |a, b| a % b)
}

pub(in super::super) fn int_div(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [a, b] = operands else { return None };
    let (Typed::Int(a), Typed::Int(b)) = (dense(a)?, dense(b)?) else { return None };
    combine_ints(a, b, len, |a, b| a.checked_div(b).map_or((0, -1), |quotient| (quotient, 0)))
}

/// Combines two numeric operands as floats, whatever their type.
#[inline]
fn combine_as_floats(operands: &[Operand<'_>], len: usize, f: impl Fn(f64, f64) -> f64) -> KernelOutcome {
    let [a, b] = operands else { return None };
    done(Column::floats(zip_floats(dense(a)?, dense(b)?, len, |x, y| canonical(f(x, y)))?))
}

pub(in super::super) fn div(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    combine_as_floats(operands, len, |a, b| a / b)
        .or_else(|| vectors::combine(operands, len, |a, b| a / b, |a, b| a / b))
}

pub(in super::super) fn pow(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    combine_as_floats(operands, len, f64::powf)
}

/// The preferred of two operands of one type; of an Int and a Float the result may be either, so they are declined.
#[inline]
fn choose(
    operands: &[Operand<'_>],
    len: usize,
    ints: impl Fn(i64, i64) -> i64,
    first_float: impl Fn(f64, f64) -> bool,
) -> KernelOutcome {
    let [a, b] = operands else { return None };
    match (dense(a)?, dense(b)?) {
        (Typed::Int(a), Typed::Int(b)) => done(Column::ints(zip(a, b, len, ints))),
        (Typed::Float(a), Typed::Float(b)) => {
            done(Column::floats(zip(a, b, len, |x, y| if first_float(x, y) { x } else { y })))
        }
        _ => None,
    }
}

pub(in super::super) fn max(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    choose(operands, len, i64::max, |a, b| a.total_cmp(&b).is_gt())
}

pub(in super::super) fn min(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    choose(operands, len, i64::min, |a, b| a.total_cmp(&b).is_lt())
}

/// Maps Ints to Ints, with failures as for [`combine_ints`], and Floats to Floats.
#[inline]
fn map_numbers(
    operands: &[Operand<'_>],
    len: usize,
    ints: impl Fn(i64) -> (i64, i64),
    floats: impl Fn(f64) -> f64,
) -> KernelOutcome {
    let [operand] = operands else { return None };
    match dense(operand)? {
        Typed::Int(values) => combine_ints(values, OperandSide::Same(0), len, |value, _| ints(value)),
        Typed::Float(values) => done(Column::floats(map(values, len, |x| canonical(floats(x))))),
        _ => None,
    }
}

pub(in super::super) fn minus(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    map_numbers(operands, len, |value| flagged(value.overflowing_neg()), |x| -x)
}

pub(in super::super) fn abs(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    map_numbers(operands, len, |value| flagged(value.overflowing_abs()), f64::abs)
}

pub(in super::super) fn floor(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    map_numbers(operands, len, |value| (value, 0), f64::floor)
}

pub(in super::super) fn ceil(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    map_numbers(operands, len, |value| (value, 0), f64::ceil)
}

pub(in super::super) fn round(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    map_numbers(operands, len, |value| (value, 0), f64::round)
}

/// Maps numbers, Ints as floats, to floats.
#[inline]
pub(in super::super) fn map_reals(operands: &[Operand<'_>], len: usize, f: impl Fn(f64) -> f64) -> KernelOutcome {
    let [operand] = operands else { return None };
    match dense(operand)? {
        Typed::Int(values) => done(Column::floats(map(values, len, |x| canonical(f(x as f64))))),
        Typed::Float(values) => done(Column::floats(map(values, len, |x| canonical(f(x))))),
        _ => None,
    }
}
