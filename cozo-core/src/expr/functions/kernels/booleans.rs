//! Connectives on columns of Booleans without nulls, and the filling of nulls.

use std::hint::select_unpredictable;

use super::{KernelOutcome, OperandSide, Typed, View, build_texts, dense, done, map, view};
use crate::expr::{FunctionError, Operand};
use crate::value::{Column, Primitive};

/// The values of an operand, if all rows are Booleans.
fn booleans<'a>(operand: &'a Operand<'_>) -> Option<OperandSide<'a, bool>> {
    match dense(operand)? {
        Typed::Bool(values) => Some(values),
        _ => None,
    }
}

/// Joins all operands. For Booleans only, it does not matter where the scalar form would stop.
fn connect(operands: &[Operand<'_>], len: usize, f: impl Fn(bool, bool) -> bool) -> KernelOutcome {
    let (first, rest) = operands.split_first()?;
    let mut result = map(booleans(first)?, len, |value| value);
    for operand in rest {
        match booleans(operand)? {
            OperandSide::Same(other) => result.iter_mut().for_each(|value| *value = f(*value, other)),
            OperandSide::Rows(others) => {
                result.iter_mut().zip(others).for_each(|(value, other)| *value = f(*value, *other))
            }
        }
    }
    done(Column::bools(result))
}

pub(in super::super) fn and(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    connect(operands, len, |a, b| a & b)
}

pub(in super::super) fn or(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    connect(operands, len, |a, b| a | b)
}

pub(in super::super) fn negate(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [operand] = operands else { return None };
    done(Column::bools(map(booleans(operand)?, len, |value| !value)))
}

/// Of two operands of one type.
pub(in super::super) fn coalesce(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [Operand::Column(column), default] = operands else { return None };
    if !column.has_nulls() {
        return Some(column.copy_range(0..len).map_err(FunctionError::from));
    }
    let (a, b) = (view(&operands[0])?, view(default)?);
    let both_null = || {
        if b.nulls.is_none() && !matches!(b.typed, Typed::Null) {
            return None;
        }
        let nulls: Vec<bool> = (0..len).map(|row| a.is_null(row) && b.is_null(row)).collect();
        nulls.contains(&true).then_some(nulls)
    };
    match (a.typed, b.typed) {
        (Typed::Bool(x), Typed::Bool(y)) => {
            done(Column::Bool(Primitive { values: fill(x, y, &a, len), nulls: both_null() }))
        }
        (Typed::Int(x), Typed::Int(y)) => {
            done(Column::Int(Primitive { values: fill(x, y, &a, len), nulls: both_null() }))
        }
        (Typed::Float(x), Typed::Float(y)) => {
            done(Column::Float(Primitive { values: fill(x, y, &a, len), nulls: both_null() }))
        }
        (Typed::Str(x), Typed::Str(y)) if both_null().is_none() => {
            let text = |row| if a.is_null(row) { y.str_at(row) } else { x.str_at(row) };
            build_texts(len, |row, buffer| {
                buffer.push_str(text(row));
                Ok(())
            })
        }
        _ => None,
    }
}

/// The values of `x`, and the values of `y` where `x` is null. Selects without branches, since nulls are rarely predictable.
fn fill<T: Copy>(x: OperandSide<'_, T>, y: OperandSide<'_, T>, nulls: &View<'_>, len: usize) -> Vec<T> {
    match (x, y, nulls.nulls) {
        (OperandSide::Rows(x), OperandSide::Same(y), Some(nulls)) => {
            x.iter().zip(nulls).map(|(x, is_null)| select_unpredictable(*is_null, y, *x)).collect()
        }
        (OperandSide::Rows(x), OperandSide::Rows(y), Some(nulls)) => {
            x.iter().zip(y).zip(nulls).map(|((x, y), is_null)| select_unpredictable(*is_null, *y, *x)).collect()
        }
        _ => (0..len).map(|row| if nulls.is_null(row) { y.at(row) } else { x.at(row) }).collect(),
    }
}
