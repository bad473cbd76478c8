//! Expressions of the catalog as CozoScript: defaults come from a syntax tree, extractors from a printed one.
//!
//! `{"Apply": {"op": "OP_ADD", "args": [...]}}` becomes `1 + 2`.

use super::handle::StoredExpr;
use crate::diag::SourceSpan;
use crate::expr::functions::CONDITIONALS;
use crate::parse::ast::{Expr, Symbol};
use crate::parse::parse_expr;

/// Where nothing is: what was stored has no text.
const NOWHERE: SourceSpan = SourceSpan(0, 0);

/// The function that a pattern of a regular expression is wrapped in; it is none of the language.
const REGEX: &str = "OP_REGEX";

/// A default as the parser would have read it.
pub(super) fn expression(stored: StoredExpr) -> Expr {
    match stored {
        StoredExpr::Const { val } => Expr::Literal(val.0, NOWHERE),
        StoredExpr::Binding { var } => Expr::Variable(Symbol::new(var.name, NOWHERE)),
        StoredExpr::UnboundApply { op, args } => call(&op, expressions(args)),
        StoredExpr::Cond { clauses } => {
            let parts = clauses.into_iter().flat_map(|(condition, value)| [condition, value]);
            call("cond", parts.map(expression).collect())
        }
        StoredExpr::Apply { op, mut args } if op == REGEX && args.len() == 1 => expression(args.remove(0)),
        StoredExpr::Apply { op, args } => {
            apply(&op.strip_prefix("OP_").unwrap_or(&op).to_lowercase(), expressions(args))
        }
    }
}

fn expressions(stored: Vec<StoredExpr>) -> Vec<Expr> {
    stored.into_iter().map(expression).collect()
}

fn apply(function: &str, args: Vec<Expr>) -> Expr {
    match function {
        "list" => Expr::List(args, NOWHERE),
        "json_object" if args.len().is_multiple_of(2) => {
            let mut args = args.into_iter();
            Expr::Object(std::iter::from_fn(|| args.next().zip(args.next())).collect(), NOWHERE)
        }
        function => call(function, args),
    }
}

fn call(function: &str, args: Vec<Expr>) -> Expr {
    Expr::Call { function: Symbol::new(function, NOWHERE), args, span: NOWHERE }
}

/// An extractor as CozoScript: only its strings are written in another way.
pub(super) fn rewrite_strings(printed: &str) -> String {
    let mut text = String::with_capacity(printed.len());
    let mut rest = printed.chars();
    let mut quoted = false;
    while let Some(character) = rest.next() {
        match character {
            '\\' if quoted => text.push_str(&escape(&mut rest)),
            character => {
                quoted ^= character == '"';
                text.push(character);
            }
        }
    }
    text
}

/// The escape after a backslash: `\0` and `\u{301}` have other spellings in CozoScript.
fn escape(rest: &mut std::str::Chars<'_>) -> String {
    let braces = rest.as_str().strip_prefix("u{").and_then(|digits| digits.split_once('}'));
    let coded =
        braces.and_then(|(digits, after)| Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, after)));
    if let Some((character, after)) = coded {
        *rest = after.chars();
        let mut units = [0; 2];
        return character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect();
    }
    match rest.next() {
        Some('0') => "\\u0000".to_string(),
        Some(other) => format!("\\{other}"),
        None => "\\".to_string(),
    }
}

/// The functions that an expression calls, and the variables that it names; what cannot be read has an error.
pub(super) fn names_in(text: &str) -> Result<Names, String> {
    let mut names = Names::default();
    names.add(&parse_expr(text).map_err(|error| error.to_string())?);
    Ok(names)
}

/// Names that an expression relies on.
#[derive(Default)]
pub(super) struct Names {
    pub functions: Vec<String>,
    pub variables: Vec<String>,
}

impl Names {
    fn add(&mut self, expr: &Expr) {
        match expr {
            Expr::Literal(..) | Expr::Parameter(_) | Expr::Data(..) | Expr::Rows(..) => {}
            Expr::Variable(name) => self.variables.push(name.to_string()),
            Expr::List(items, _) => items.iter().for_each(|item| self.add(item)),
            Expr::Object(pairs, _) => pairs.iter().for_each(|(key, value)| {
                self.add(key);
                self.add(value);
            }),
            Expr::Call { function, args, .. } => {
                if CONDITIONALS.iter().all(|conditional| conditional.name != function.as_str()) {
                    self.functions.push(function.to_string());
                }
                args.iter().for_each(|arg| self.add(arg));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn strings_keep_their_meaning() {
        for (printed, text) in [
            (r#"concat(a, "\n \u{301}\"\\")"#, r#"concat(a, "\n \u0301\"\\")"#),
            (r#"list("\0", "\u{1f600}x")"#, r#"list("\u0000", "\ud83d\ude00x")"#),
            (r#""\\u{301}""#, r#""\\u{301}""#),
            (r#""\u{zz}""#, r#""\u{zz}""#),
        ] {
            assert_eq!(rewrite_strings(printed), text);
        }
        let Expr::Literal(value, _) = parse_expr(&rewrite_strings(r#""\u{1f600}\0""#)).unwrap() else { panic!() };
        assert_eq!(value.get_str(), Some("\u{1f600}\0"));
    }
}
