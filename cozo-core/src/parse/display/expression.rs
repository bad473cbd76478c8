//! Expressions. `Call` prints as an operator where there is one for so many arguments.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter, Write};

use serde_json::{Map, Value};

use super::commas;
use crate::parse::ast::Expr;
use crate::parse::operation::MAX_NESTED_OPERANDS;
use crate::parse::operators::{self, POWER, PREFIX};
use crate::value::{DataValue, JsonData, Num};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_expr(f, self, 0)
    }
}

/// Prints an expression where only operators of at least some precedence can stand without parentheses.
fn write_expr(f: &mut Formatter<'_>, expr: &Expr, least: u8) -> fmt::Result {
    match expr {
        Expr::Literal(value, _) => write_literal(f, value, least),
        Expr::Data(value, _) => write_literal(f, value, least),
        Expr::Rows(rows, _) => write_list(f, rows.rows().map(|row| Cow::Owned(DataValue::List(row)))),
        Expr::Parameter(name) => write!(f, "${name}"),
        Expr::Variable(name) => write!(f, "{name}"),
        Expr::List(items, _) => {
            f.write_char('[')?;
            commas(f, items)?;
            f.write_char(']')
        }
        Expr::Object(pairs, _) => {
            f.write_char('{')?;
            for (i, (key, value)) in pairs.iter().enumerate() {
                write!(f, "{}{key}: {value}", if i > 0 { ", " } else { "" })?;
            }
            f.write_char('}')
        }
        Expr::Call { function, args, .. } => write_call(f, function, args, least),
    }
}

fn write_call(f: &mut Formatter<'_>, function: &str, args: &[Expr], least: u8) -> fmt::Result {
    match args {
        [left, right] if let Some(operator) = operators::infix_of(function) => {
            let right_first = u8::from(operator.precedence == POWER);
            parenthesized(f, operator.precedence < least, |f| {
                write_expr(f, left, operator.precedence + right_first)?;
                write!(f, " {} ", operator.symbol)?;
                write_expr(f, right, operator.precedence + 1 - right_first)
            })
        }
        [first, rest @ ..]
            if rest.len() >= MAX_NESTED_OPERANDS
                && let Some(operator) = operators::infix_of(function).filter(|operator| operator.takes_any) =>
        {
            parenthesized(f, operator.precedence < least, |f| {
                write_expr(f, first, operator.precedence)?;
                rest.iter().try_for_each(|operand| {
                    write!(f, " {} ", operator.symbol)?;
                    write_expr(f, operand, operator.precedence + 1)
                })
            })
        }
        [operand] if let Some(operator) = operators::prefix_of(function) => parenthesized(f, PREFIX < least, |f| {
            f.write_str(operator.symbol)?;
            write_expr(f, operand, PREFIX)
        }),
        args => {
            write!(f, "{function}(")?;
            commas(f, args)?;
            f.write_char(')')
        }
    }
}

fn parenthesized(
    f: &mut Formatter<'_>,
    needed: bool,
    content: impl FnOnce(&mut Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    if !needed {
        return content(f);
    }
    f.write_char('(')?;
    content(f)?;
    f.write_char(')')
}

/// Values as the parser reads them back. A negative number is one with an operator before it.
fn write_literal(f: &mut Formatter<'_>, value: &DataValue, least: u8) -> fmt::Result {
    match value {
        DataValue::Num(Num::Float(number)) if number.is_infinite() => match number.is_sign_negative() {
            true => parenthesized(f, PREFIX < least, |f| f.write_str("-1e999")),
            false => f.write_str("1e999"),
        },
        DataValue::Num(number) if number.get_float().is_sign_negative() => {
            parenthesized(f, PREFIX < least, |f| write!(f, "{value}"))
        }
        DataValue::List(items) => write_list(f, items.iter().map(Cow::Borrowed)),
        DataValue::Json(JsonData(Value::Object(fields))) => write_object(f, fields),
        value => write!(f, "{value}"),
    }
}

fn write_list<'v>(f: &mut Formatter<'_>, items: impl Iterator<Item = Cow<'v, DataValue>>) -> fmt::Result {
    f.write_char('[')?;
    for (i, item) in items.enumerate() {
        f.write_str(if i > 0 { ", " } else { "" })?;
        write_literal(f, &item, 0)?;
    }
    f.write_char(']')
}

fn write_object(f: &mut Formatter<'_>, fields: &Map<String, Value>) -> fmt::Result {
    f.write_char('{')?;
    for (i, (key, value)) in fields.iter().enumerate() {
        write!(f, "{}{}: ", if i > 0 { ", " } else { "" }, DataValue::from(key.as_str()))?;
        write_literal(f, &DataValue::from(value), 0)?;
    }
    f.write_char('}')
}
