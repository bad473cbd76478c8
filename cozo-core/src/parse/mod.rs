//! From text to the syntax tree.
//!
//! 1. [`prescan`] leaves comments out, and reports unclosed strings and too deep nesting. Long lists of constants it reads by a
//!    loop ([`constants`]), so that the grammar never sees them ([`condensed`]).
//! 2. `cozoscript.pest` ([`grammar`]) divides the text into nodes, one part of a long script after the other ([`parts`]);
//!    what it cannot read, [`hint`] explains.
//! 3. [`builder`] and the files that extend it (`expr`, `formula`, `query`, `option`, `schema`, `system`, `script`) turn
//!    the nodes into the types of [`ast`], which print as CozoScript again (`display`).
//!
//! **The parser never sees the catalog**: it does not know which functions, rules or relations exist, nor the values of
//! parameters. Every input takes time about linear in its length, and none overflows the stack.
//!
//! ```
//! use cozo::parse::{ast::Script, parse_script};
//! let Script::Query(query) = parse_script("?[y] := edge['a', x], edge[x, y] :limit 5").unwrap() else { panic!() };
//! assert_eq!(query.rules[0].to_string(), "?[y] := edge[\"a\", x], edge[x, y]");
//! assert_eq!(query.options.len(), 1);
//! ```

pub mod ast;

mod advice;
mod builder;
mod condensed;
mod constants;
mod display;
mod error;
mod expected;
mod expr;
mod formula;
mod grammar;
mod habits;
mod hint;
mod operation;
mod operators;
mod option;
mod parts;
mod position;
mod prescan;
mod query;
mod schema;
mod script;
mod spans;
mod strings;
mod symbol;
mod system;
mod vocabulary;

#[cfg(test)]
mod tests;

pub use error::ParseError;
pub use operators::operators;
pub use vocabulary::{CONTROL_WORDS, MUTATIONS, OPTIONS, Word};

use ast::{ColumnTypeSpec, Expr, Query, Script};
use grammar::Rule;
use parts::Parts;

/// Parses a whole script of any kind.
pub fn parse_script(source: &str) -> Result<Script, ParseError> {
    let parts = Parts::of(source)?;
    match script_rule(parts.text()) {
        Rule::query_script => Ok(Script::Query(Box::new(query_of(&parts)?))),
        Rule::imperative_script => {
            let mut statements = vec![];
            parts.each(Rule::imperative_script, |builder, node| {
                statements.append(&mut builder.statements(node)?);
                Ok(())
            })?;
            Ok(Script::Imperative { statements, parameters: parts.builder.parameters.take() })
        }
        rule => parts.whole(rule, |builder, node| builder.system_op(node)).map(Script::System),
    }
}

/// Parses a script that must be a single query.
pub fn parse_query(source: &str) -> Result<Query, ParseError> {
    query_of(&Parts::of(source)?)
}

/// Parses an expression that stands alone.
pub fn parse_expr(source: &str) -> Result<Expr, ParseError> {
    Parts::of(source)?.whole(Rule::lone_expression, |builder, node| builder.expr(node))
}

/// Parses a column type such as `[Int; 2]?`.
pub fn parse_column_type(source: &str) -> Result<ColumnTypeSpec, ParseError> {
    Parts::of(source)?.whole(Rule::lone_column_type, |builder, node| builder.column_type(node))
}

fn query_of(parts: &Parts<'_>) -> Result<Query, ParseError> {
    let mut whole = Query::default();
    parts.each(Rule::query_script, |builder, node| {
        let mut part = builder.query(node)?;
        let is_first = whole.rules.is_empty() && whole.options.is_empty();
        whole.span = if is_first { part.span } else { whole.span.merge(part.span) };
        whole.rules.append(&mut part.rules);
        whole.options.append(&mut part.options);
        Ok(())
    })?;
    Ok(whole)
}

/// What kind of script a text without comments is; its first sign tells.
fn script_rule(text: &str) -> Rule {
    let text = text.trim_start();
    if text.starts_with("::") {
        Rule::system_script
    } else if text.starts_with(['{', '%']) {
        Rule::imperative_script
    } else {
        Rule::query_script
    }
}
