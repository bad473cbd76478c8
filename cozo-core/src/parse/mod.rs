//! From text to the syntax tree.
//!
//! 1. [`prescan`] blanks out comments, and reports unclosed strings and too deep nesting.
//! 2. `cozoscript.pest` ([`grammar`]) divides the text into nodes; what it cannot read, [`hint`] explains.
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
mod display;
mod error;
mod expected;
mod expr;
mod formula;
mod grammar;
mod hint;
mod operators;
mod option;
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
pub use hint::nearest;
pub use operators::operators;
pub use vocabulary::{CONTROL_WORDS, MUTATIONS, OPTIONS, Word};

use ast::{ColumnTypeSpec, Expr, Query, Script};
use builder::Builder;
use grammar::{CozoScriptParser, Node, Rule};
use pest::Parser;

/// Parses a whole script of any kind.
pub fn parse_script(source: &str) -> Result<Script, ParseError> {
    parse_with(source, script_rule, |builder, node| {
        Ok(match node.as_rule() {
            Rule::query => Script::Query(Box::new(builder.query(node)?)),
            Rule::statements => {
                let statements = builder.statements(node)?;
                Script::Imperative { statements, parameters: builder.parameters.take() }
            }
            _ => Script::System(builder.system_op(node)?),
        })
    })
}

/// Parses a script that must be a single query.
pub fn parse_query(source: &str) -> Result<Query, ParseError> {
    parse_with(source, |_| Rule::query_script, |builder, node| builder.query(node))
}

/// Parses an expression that stands alone.
pub fn parse_expr(source: &str) -> Result<Expr, ParseError> {
    parse_with(source, |_| Rule::lone_expression, |builder, node| builder.expr(node))
}

/// Parses a column type such as `[Int; 2]?`.
pub fn parse_column_type(source: &str) -> Result<ColumnTypeSpec, ParseError> {
    parse_with(source, |_| Rule::lone_column_type, |builder, node| builder.column_type(node))
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

/// All three steps for the kind of text that `rule_for` names.
fn parse_with<T>(
    source: &str,
    rule_for: impl FnOnce(&str) -> Rule,
    build: impl FnOnce(&Builder<'_>, Node<'_>) -> Result<T, ParseError>,
) -> Result<T, ParseError> {
    let scanned = prescan::prescan(source)?;
    let rule = rule_for(&scanned.text);
    let mut nodes =
        CozoScriptParser::parse(rule, &scanned.text).map_err(|error| hint::explain(source, &scanned, &error))?;
    build(&Builder::new(source), grammar::next_part(&mut nodes))
}
