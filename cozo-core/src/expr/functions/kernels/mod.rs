//! The columnar forms of functions: loops over slices of one type, without values of dynamic type.
//!
//! **A kernel never makes an error of its own.** Where a row may fail, such as on a null, an overflow or another type, it
//! declines, and the row-by-row evaluation finds the row and words the error; so the two cannot disagree. A kernel only passes on
//! that the script must stop.

pub(super) mod arithmetic;
pub(super) mod booleans;
pub(super) mod by_reference;
pub(super) mod comparison;
pub(super) mod convert;
pub(super) mod strings;
pub(super) mod time;
pub(super) mod vectors;

use crate::budget::{Stop, make_room};
use crate::expr::{FunctionError, Operand};
use crate::value::{Column, DataValue, Num, Primitive, StrColumn};

/// The result of a kernel; `None` declines.
pub(super) type KernelOutcome = Option<Result<Column, FunctionError>>;

/// One value for all rows, or one for each.
#[derive(Clone, Copy)]
enum OperandSide<'a, T> {
    Same(T),
    Rows(&'a [T]),
}

impl<T: Copy> OperandSide<'_, T> {
    #[inline]
    fn at(&self, row: usize) -> T {
        match self {
            OperandSide::Same(value) => *value,
            OperandSide::Rows(values) => values[row],
        }
    }
}

/// [`OperandSide`] for strings.
#[derive(Clone, Copy)]
enum Texts<'a> {
    Same(&'a str),
    Rows(&'a StrColumn),
}

impl<'a> Texts<'a> {
    #[inline]
    fn bytes_at(&self, row: usize) -> &'a [u8] {
        match self {
            Texts::Same(text) => text.as_bytes(),
            Texts::Rows(column) => column.bytes_at(row),
        }
    }

    #[inline]
    fn str_at(&self, row: usize) -> &'a str {
        match self {
            Texts::Same(text) => text,
            Texts::Rows(column) => column.str_at(row),
        }
    }
}

/// The values of an operand by type. The values of null rows have no meaning.
#[derive(Clone, Copy)]
enum Typed<'a> {
    Null,
    Bool(OperandSide<'a, bool>),
    Int(OperandSide<'a, i64>),
    Float(OperandSide<'a, f64>),
    Str(Texts<'a>),
}

/// An operand of one type besides null.
#[derive(Clone, Copy)]
struct View<'a> {
    typed: Typed<'a>,
    nulls: Option<&'a [bool]>,
}

impl View<'_> {
    #[inline]
    fn is_null(&self, row: usize) -> bool {
        matches!(self.typed, Typed::Null) || self.nulls.is_some_and(|nulls| nulls[row])
    }
}

/// The operand by type, unless it is a mixture or of a type without columns.
fn view<'a>(operand: &'a Operand<'_>) -> Option<View<'a>> {
    fn rows<'a, T>(column: &'a Primitive<T>, typed: fn(OperandSide<'a, T>) -> Typed<'a>) -> View<'a> {
        View { typed: typed(OperandSide::Rows(&column.values)), nulls: column.nulls.as_deref() }
    }
    let same = |typed| Some(View { typed, nulls: None });
    match operand {
        Operand::Scalar(value) => match &**value {
            DataValue::Null => same(Typed::Null),
            DataValue::Bool(value) => same(Typed::Bool(OperandSide::Same(*value))),
            DataValue::Num(Num::Int(value)) => same(Typed::Int(OperandSide::Same(*value))),
            DataValue::Num(Num::Float(value)) => same(Typed::Float(OperandSide::Same(*value))),
            DataValue::Str(text) => same(Typed::Str(Texts::Same(text))),
            _ => None,
        },
        Operand::Column(column) => match &**column {
            Column::Null(_) => same(Typed::Null),
            Column::Bool(column) => Some(rows(column, Typed::Bool)),
            Column::Int(column) => Some(rows(column, Typed::Int)),
            Column::Float(column) => Some(rows(column, Typed::Float)),
            Column::Str(column) => {
                Some(View { typed: Typed::Str(Texts::Rows(column)), nulls: column.nulls.as_deref() })
            }
            Column::Vec(_) | Column::Any(_) => None,
        },
    }
}

/// The operand by type, if no row is null.
fn dense<'a>(operand: &'a Operand<'_>) -> Option<Typed<'a>> {
    let view = view(operand)?;
    let no_nulls = view.nulls.is_none_or(|nulls| !nulls.contains(&true));
    (no_nulls && !matches!(view.typed, Typed::Null)).then_some(view.typed)
}

/// The strings of an operand, if all rows have one.
fn dense_texts<'a>(operand: &'a Operand<'_>) -> Option<Texts<'a>> {
    match dense(operand)? {
        Typed::Str(texts) => Some(texts),
        _ => None,
    }
}

fn done(column: Column) -> KernelOutcome {
    Some(Ok(column))
}

/// Combines two operands row by row.
#[inline]
fn zip<A: Copy, B: Copy, R: Clone>(
    a: OperandSide<'_, A>,
    b: OperandSide<'_, B>,
    len: usize,
    mut f: impl FnMut(A, B) -> R,
) -> Vec<R> {
    match (a, b) {
        (OperandSide::Same(a), OperandSide::Same(b)) => vec![f(a, b); len],
        (OperandSide::Same(a), OperandSide::Rows(b)) => b.iter().map(|b| f(a, *b)).collect(),
        (OperandSide::Rows(a), OperandSide::Same(b)) => a.iter().map(|a| f(*a, b)).collect(),
        (OperandSide::Rows(a), OperandSide::Rows(b)) => a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect(),
    }
}

/// Maps an operand row by row.
#[inline]
fn map<T: Copy, R: Clone>(side: OperandSide<'_, T>, len: usize, mut f: impl FnMut(T) -> R) -> Vec<R> {
    match side {
        OperandSide::Same(value) => vec![f(value); len],
        OperandSide::Rows(values) => values.iter().map(|value| f(*value)).collect(),
    }
}

/// Texts may take this many bytes before the budget is asked.
const BYTES_UNASKED: usize = 1 << 16;

/// A column of the texts that `text_of` appends to the buffer for each row. Declines if they are too long for a column.
fn build_texts(len: usize, mut text_of: impl FnMut(usize, &mut String) -> Result<(), Stop>) -> KernelOutcome {
    let mut column = StrColumn::with_capacity(len, 0);
    let (mut buffer, mut asked) = (String::new(), 0);
    for row in 0..len {
        buffer.clear();
        if let Err(stop) = text_of(row, &mut buffer) {
            return Some(Err(stop.into()));
        }
        if !column.has_room(buffer.len()) {
            return None;
        }
        if column.byte_len() + buffer.len() > asked + BYTES_UNASKED {
            if let Err(stop) = make_room(column.byte_len() + buffer.len() - asked) {
                return Some(Err(stop.into()));
            }
            asked = column.byte_len() + buffer.len();
        }
        column.push(&buffer);
    }
    done(Column::Str(column))
}
