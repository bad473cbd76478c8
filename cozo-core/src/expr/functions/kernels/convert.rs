//! Conversions of columns of numbers, strings and Booleans; a null converts like any value.

use std::fmt::Write;

use super::super::convert::text_of;
use super::{KernelOutcome, OperandSide, Typed, View, build_texts, done, view};
use crate::expr::Operand;
use crate::value::{Column, DataValue};

/// Converts each row, a null to the default.
#[inline]
fn convert<T: Copy, R: Default>(view: &View<'_>, side: OperandSide<'_, T>, len: usize, f: impl Fn(T) -> R) -> Vec<R> {
    (0..len).map(|row| if view.is_null(row) { R::default() } else { f(side.at(row)) }).collect()
}

pub(in super::super) fn to_float(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [operand] = operands else { return None };
    let view = view(operand)?;
    done(Column::floats(match view.typed {
        Typed::Int(values) => convert(&view, values, len, |value| value as f64),
        Typed::Float(values) => convert(&view, values, len, |value| value),
        _ => return None,
    }))
}

pub(in super::super) fn to_int(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [operand] = operands else { return None };
    let view = view(operand)?;
    done(Column::ints(match view.typed {
        Typed::Int(values) => convert(&view, values, len, |value| value),
        Typed::Float(values) => convert(&view, values, len, |value| value as i64),
        _ => return None,
    }))
}

pub(in super::super) fn to_string(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [operand] = operands else { return None };
    let view = view(operand)?;
    let text = |row: usize, buffer: &mut String| {
        let written = match view.typed {
            _ if view.is_null(row) => buffer.write_str("null"),
            Typed::Null => unreachable!("an operand without values is null in every row"),
            Typed::Bool(values) => write!(buffer, "{}", values.at(row)),
            Typed::Int(values) => write!(buffer, "{}", values.at(row)),
            Typed::Float(values) => buffer.write_str(&text_of(&DataValue::from(values.at(row)))?),
            Typed::Str(texts) => buffer.write_str(texts.str_at(row)),
        };
        written.expect("writing to a string does not fail");
        Ok(())
    };
    build_texts(len, text)
}
