//! The operators: their spelling, the function that each one calls, and how tightly they bind.
//!
//! `a + b` is a call of `add`, `-a` one of `minus`. The table serves the parser and the printer alike.
//!
//! ```
//! use cozo::parse::parse_expr;
//! assert_eq!(parse_expr("add(a, 10 % (4 + 1))").unwrap().to_string(), "a + (10 % 4 + 1)");
//! ```

use std::sync::LazyLock;

use pest::pratt_parser::{Assoc, Op, PrattParser};

use super::grammar::Rule;

/// An operator between two operands.
pub(super) struct Infix {
    pub rule: Rule,
    pub symbol: &'static str,
    pub function: &'static str,
    /// Larger binds tighter.
    pub precedence: u8,
}

/// An operator before its operand.
pub(super) struct Prefix {
    pub rule: Rule,
    pub symbol: &'static str,
    pub function: &'static str,
}

const fn infix(rule: Rule, symbol: &'static str, function: &'static str, precedence: u8) -> Infix {
    Infix { rule, symbol, function, precedence }
}

/// `^`, the only one that associates to the right.
pub(super) const POWER: u8 = 8;
/// All operators before an operand: looser than `->`, tighter than the rest.
pub(super) const PREFIX: u8 = 10;
/// Literals, calls and brackets.
pub(super) const TIGHTEST: u8 = 12;

/// Loosest first; operators of one level stand together.
pub(super) const INFIXES: [Infix; 17] = [
    infix(Rule::op_or, "||", "or", 1),
    infix(Rule::op_and, "&&", "and", 2),
    infix(Rule::op_gt, ">", "gt", 3),
    infix(Rule::op_ge, ">=", "ge", 3),
    infix(Rule::op_lt, "<", "lt", 3),
    infix(Rule::op_le, "<=", "le", 3),
    infix(Rule::op_eq, "==", "eq", 4),
    infix(Rule::op_neq, "!=", "neq", 4),
    infix(Rule::op_mod, "%", "mod", 5),
    infix(Rule::op_add, "+", "add", 6),
    infix(Rule::op_sub, "-", "sub", 6),
    infix(Rule::op_concat, "++", "concat", 6),
    infix(Rule::op_mul, "*", "mul", 7),
    infix(Rule::op_div, "/", "div", 7),
    infix(Rule::op_pow, "^", "pow", POWER),
    infix(Rule::op_coalesce, "~", "coalesce", 9),
    infix(Rule::op_get, "->", "maybe_get", 11),
];

/// The operators before an operand.
pub(super) const PREFIXES: [Prefix; 2] = [
    Prefix { rule: Rule::op_minus, symbol: "-", function: "minus" },
    Prefix { rule: Rule::op_negate, symbol: "!", function: "negate" },
];

/// The table as pest's operator-precedence parser wants it.
pub(super) static PRATT: LazyLock<PrattParser<Rule>> = LazyLock::new(|| {
    let mut pratt = PrattParser::new();
    for precedence in 1..TIGHTEST {
        let level = if precedence == PREFIX {
            PREFIXES.iter().map(|operator| Op::prefix(operator.rule)).reduce(|a, b| a | b)
        } else {
            let associativity = if precedence == POWER { Assoc::Right } else { Assoc::Left };
            let operators = INFIXES.iter().filter(|operator| operator.precedence == precedence);
            operators.map(|operator| Op::infix(operator.rule, associativity)).reduce(|a, b| a | b)
        };
        pratt = pratt.op(level.expect("every level has an operator"));
    }
    pratt
});

/// Every operator with the function that it calls: `("+", "add")`.
pub fn operators() -> impl Iterator<Item = (&'static str, &'static str)> {
    let prefixes = PREFIXES.iter().map(|operator| (operator.symbol, operator.function));
    INFIXES.iter().map(|operator| (operator.symbol, operator.function)).chain(prefixes)
}

/// The function that an operator of the grammar calls.
pub(super) fn function_of(rule: Rule) -> &'static str {
    let infix = INFIXES.iter().find(|operator| operator.rule == rule).map(|operator| operator.function);
    let prefix = || PREFIXES.iter().find(|operator| operator.rule == rule).map(|operator| operator.function);
    infix.or_else(prefix).expect("the grammar has no other operators")
}

/// The operator that calls a function with two arguments.
pub(super) fn infix_of(function: &str) -> Option<&'static Infix> {
    INFIXES.iter().find(|operator| operator.function == function)
}

/// The operator that calls a function with one argument.
pub(super) fn prefix_of(function: &str) -> Option<&'static Prefix> {
    PREFIXES.iter().find(|operator| operator.function == function)
}
