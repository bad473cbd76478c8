//! Expressions. `Call` prints as an operator where there is one for so many arguments.

use std::fmt::{self, Display, Formatter, Write};

use super::commas;
use crate::parse::ast::Expr;
use crate::parse::operators::{self, POWER, PREFIX, TIGHTEST};
use crate::value::{DataValue, Num};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_expr(f, self, 0)
    }
}

/// Prints an expression where only operators of at least some precedence can stand without parentheses.
fn write_expr(f: &mut Formatter<'_>, expr: &Expr, least: u8) -> fmt::Result {
    match expr {
        Expr::Literal(value, _) => write_literal(f, value),
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

/// Literals as the parser makes them read back as they are; there are none for negative numbers.
fn write_literal(f: &mut Formatter<'_>, value: &DataValue) -> fmt::Result {
    match value {
        DataValue::Num(Num::Float(number)) if *number == f64::INFINITY => f.write_str("1e999"),
        DataValue::Num(number) if number.get_float().is_sign_negative() => {
            parenthesized(f, TIGHTEST > PREFIX, |f| write!(f, "{value}"))
        }
        value => write!(f, "{value}"),
    }
}
