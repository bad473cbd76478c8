//! Expressions: literals, brackets, calls, and operators by precedence.
//!
//! `1 + 2 * x` becomes `add(1, mul(2, x))`.

use super::ast::{Expr, Symbol};
use super::builder::Builder;
use super::error::ParseError;
use super::grammar::{Node, Rule, next_part, parts, span_of, symbol};
use super::operators::{self, PRATT};
use super::strings::string_value;
use crate::diag::SourceSpan;
use crate::value::DataValue;

impl Builder<'_> {
    /// An `expr`, or a `filter`, which is the same but for the groups in it.
    pub fn expr(&self, node: Node<'_>) -> Result<Expr, ParseError> {
        let operators = node.clone().into_inner().filter(|part| is_operator(part.as_rule())).count();
        if operators == 0 {
            let term = next_part(&mut node.into_inner());
            return self.deeper(1, span_of(&term), || self.term(term));
        }
        let excess = self.operator_after(&node, self.levels_left());
        self.deeper(operators + 1, excess, || self.operation(node))
    }

    /// The operator behind the first `count` of a chain, or its last part.
    fn operator_after(&self, node: &Node<'_>, count: usize) -> SourceSpan {
        let mut operators = node.clone().into_inner().filter(|part| is_operator(part.as_rule()));
        operators.nth(count).map_or_else(|| span_of(node), |operator| span_of(&operator))
    }

    fn operation(&self, node: Node<'_>) -> Result<Expr, ParseError> {
        PRATT
            .map_primary(|term| self.term(term))
            .map_prefix(|operator, operand| {
                let operand = operand?;
                let span = span_of(&operator).merge(operand.span());
                Ok(Expr::Call { function: operator_symbol(&operator), args: vec![operand], span })
            })
            .map_infix(|left, operator, right| {
                let (left, right) = (left?, right?);
                let span = left.span().merge(right.span());
                Ok(Expr::Call { function: operator_symbol(&operator), args: vec![left, right], span })
            })
            .parse(node.into_inner())
    }

    fn term(&self, node: Node<'_>) -> Result<Expr, ParseError> {
        let span = span_of(&node);
        Ok(match node.as_rule() {
            Rule::grouped => self.expr(next_part(&mut parts(node)))?,
            Rule::group => self.group_as_expr(node)?,
            Rule::double_string | Rule::single_string | Rule::raw_string => {
                Expr::Literal(DataValue::Str(string_value(self.source, &node)?), span)
            }
            Rule::integer => Expr::Literal(self.integer(&node)?.into(), span),
            Rule::float => Expr::Literal(float(&node).into(), span),
            Rule::constant => Expr::Literal(constant(node.as_str()), span),
            Rule::parameter => {
                let name = Symbol::new(&node.as_str()[1..], span);
                self.parameters.borrow_mut().push(name.clone());
                Expr::Parameter(name)
            }
            Rule::list => Expr::List(self.exprs(parts(node))?, span),
            Rule::object => Expr::Object(parts(node).map(|pair| self.pair(pair)).collect::<Result<_, _>>()?, span),
            Rule::call => self.call(node)?,
            Rule::variable => Expr::Variable(symbol(&node)),
            rule => unreachable!("{rule:?} is no term"),
        })
    }

    /// Several expressions.
    pub fn exprs<'i>(&self, nodes: impl Iterator<Item = Node<'i>>) -> Result<Vec<Expr>, ParseError> {
        nodes.map(|node| self.expr(node)).collect()
    }

    fn pair(&self, node: Node<'_>) -> Result<(Expr, Expr), ParseError> {
        let mut parts = parts(node);
        Ok((self.expr(next_part(&mut parts))?, self.expr(next_part(&mut parts))?))
    }

    fn call(&self, node: Node<'_>) -> Result<Expr, ParseError> {
        let span = span_of(&node);
        let mut parts = parts(node);
        let function = symbol(&next_part(&mut parts));
        Ok(Expr::Call { function, args: self.exprs(parts)?, span })
    }

    /// An integer in any radix.
    pub fn integer(&self, node: &Node<'_>) -> Result<i64, ParseError> {
        let literal = node.as_str();
        let (digits, radix) = match literal.get(..2) {
            Some("0x") => (&literal[2..], 16),
            Some("0o") => (&literal[2..], 8),
            Some("0b") => (&literal[2..], 2),
            _ => (literal, 10),
        };
        i64::from_str_radix(&digits.replace('_', ""), radix)
            .map_err(|_| ParseError::IntegerTooLarge { literal: shortened(literal), span: span_of(node) })
    }
}

fn is_operator(rule: Rule) -> bool {
    operators::PREFIXES.iter().any(|operator| operator.rule == rule)
        || operators::INFIXES.iter().any(|operator| operator.rule == rule)
}

/// The function that an operator calls, standing where the operator stands.
fn operator_symbol(operator: &Node<'_>) -> Symbol {
    Symbol::new(operators::function_of(operator.as_rule()), span_of(operator))
}

/// A float; one beyond all floats is infinite.
fn float(node: &Node<'_>) -> f64 {
    node.as_str().replace('_', "").parse().expect("the grammar's floats are Rust's, but for underscores")
}

fn constant(word: &str) -> DataValue {
    match word {
        "null" => DataValue::Null,
        word => DataValue::Bool(word == "true"),
    }
}

fn shortened(literal: &str) -> String {
    match literal.get(..40) {
        Some(start) if literal.len() > 43 => format!("{start}..."),
        _ => literal.to_string(),
    }
}
