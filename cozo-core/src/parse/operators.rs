//! The operators: their spelling, the function that each one calls, and how tightly they bind.
//!
//! `a + b` is a call of `add`, `-a` one of `minus`. The table serves the parser and the printer alike.
//!
//! ```
//! use cozo::parse::parse_expr;
//! assert_eq!(parse_expr("add(a, 10 % (4 + 1))").unwrap().to_string(), "a + (10 % 4 + 1)");
//! ```

use super::grammar::Rule;

/// An operator between two operands.
pub(super) struct Infix {
    pub rule: Rule,
    pub symbol: &'static str,
    pub function: &'static str,
    /// Larger binds tighter.
    pub precedence: u8,
    /// Whether the function takes any number of arguments, with the same result as a chain of calls of two arguments.
    pub takes_any: bool,
}

/// An operator before its operand.
pub(super) struct Prefix {
    pub rule: Rule,
    pub symbol: &'static str,
    pub function: &'static str,
}

const fn infix(rule: Rule, symbol: &'static str, function: &'static str, precedence: u8) -> Infix {
    Infix { rule, symbol, function, precedence, takes_any: false }
}

const fn infix_of_any(rule: Rule, symbol: &'static str, function: &'static str, precedence: u8) -> Infix {
    Infix { rule, symbol, function, precedence, takes_any: true }
}

/// `^`, the only one that associates to the right.
pub(super) const POWER: u8 = 8;
/// All operators before an operand: looser than `->`, tighter than the rest.
pub(super) const PREFIX: u8 = 10;

/// Loosest first; operators of one level stand together.
pub(super) static INFIXES: [Infix; 17] = [
    infix_of_any(Rule::op_or, "||", "or", 1),
    infix_of_any(Rule::op_and, "&&", "and", 2),
    infix(Rule::op_gt, ">", "gt", 3),
    infix(Rule::op_ge, ">=", "ge", 3),
    infix(Rule::op_lt, "<", "lt", 3),
    infix(Rule::op_le, "<=", "le", 3),
    infix(Rule::op_eq, "==", "eq", 4),
    infix(Rule::op_neq, "!=", "neq", 4),
    infix(Rule::op_mod, "%", "mod", 5),
    infix_of_any(Rule::op_add, "+", "add", 6),
    infix(Rule::op_sub, "-", "sub", 6),
    infix_of_any(Rule::op_concat, "++", "concat", 6),
    infix_of_any(Rule::op_mul, "*", "mul", 7),
    infix(Rule::op_div, "/", "div", 7),
    infix(Rule::op_pow, "^", "pow", POWER),
    infix_of_any(Rule::op_coalesce, "~", "coalesce", 9),
    infix(Rule::op_get, "->", "maybe_get", 11),
];

/// The operators before an operand.
pub(super) static PREFIXES: [Prefix; 2] = [
    Prefix { rule: Rule::op_minus, symbol: "-", function: "minus" },
    Prefix { rule: Rule::op_negate, symbol: "!", function: "negate" },
];

/// Every operator with the function that it calls: `("+", "add")`.
pub fn operators() -> impl Iterator<Item = (&'static str, &'static str)> {
    let prefixes = PREFIXES.iter().map(|operator| (operator.symbol, operator.function));
    INFIXES.iter().map(|operator| (operator.symbol, operator.function)).chain(prefixes)
}

/// The operator between two operands that the grammar knows as a rule.
pub(super) fn infix_at(rule: Rule) -> Option<&'static Infix> {
    INFIXES.iter().find(|operator| operator.rule == rule)
}

/// The operator before an operand that the grammar knows as a rule.
pub(super) fn prefix_at(rule: Rule) -> Option<&'static Prefix> {
    PREFIXES.iter().find(|operator| operator.rule == rule)
}

/// The operator that calls a function with two arguments.
pub(super) fn infix_of(function: &str) -> Option<&'static Infix> {
    INFIXES.iter().find(|operator| operator.function == function)
}

/// The operator that calls a function with one argument.
pub(super) fn prefix_of(function: &str) -> Option<&'static Prefix> {
    PREFIXES.iter().find(|operator| operator.function == function)
}
