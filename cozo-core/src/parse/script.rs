//! Imperative scripts: blocks, conditions and loops.
//!
//! `%if _a %then { ... } %end` becomes a `Statement::If`.

use super::ast::{Condition, Statement, Symbol};
use super::builder::Builder;
use super::error::ParseError;
use super::grammar::{Node, Rule, next_part, parts, span_of, symbol};

impl Builder<'_> {
    /// One statement after another.
    pub fn statements(&self, node: Node<'_>) -> Result<Vec<Statement>, ParseError> {
        parts(node).map(|statement| self.statement(statement)).collect()
    }

    fn statement(&self, node: Node<'_>) -> Result<Statement, ParseError> {
        let span = span_of(&node);
        let rule = node.as_rule();
        if rule == Rule::if_statement {
            return self.if_statement(node);
        }
        let mut inner = parts(node);
        Ok(match rule {
            Rule::query_statement => {
                let query = self.block(next_part(&mut inner))?;
                Statement::Query { query, store_as: store_as(inner.next()) }
            }
            Rule::system_statement => {
                let op = self.system_op(next_part(&mut inner))?;
                Statement::System { op, store_as: store_as(inner.next()) }
            }
            Rule::loop_statement => {
                let first = next_part(&mut inner);
                let (label, body) = match first.as_rule() {
                    Rule::ident => (Some(symbol(&first)), next_part(&mut inner)),
                    _ => (None, first),
                };
                Statement::Loop { label, body: self.statements(body)?, span }
            }
            Rule::break_statement => Statement::Break(inner.next().map(|label| symbol(&label)), span),
            Rule::continue_statement => Statement::Continue(inner.next().map(|label| symbol(&label)), span),
            Rule::return_statement => {
                Statement::Return(inner.map(|value| self.condition(value)).collect::<Result<_, _>>()?, span)
            }
            Rule::debug_statement => Statement::Debug(symbol(&next_part(&mut inner))),
            Rule::ignore_error_statement => Statement::IgnoreError(self.block(next_part(&mut inner))?),
            Rule::swap_statement => Statement::Swap(symbol(&next_part(&mut inner)), symbol(&next_part(&mut inner))),
            rule => unreachable!("{rule:?} is no statement"),
        })
    }

    fn if_statement(&self, node: Node<'_>) -> Result<Statement, ParseError> {
        let span = span_of(&node);
        let mut inner = parts(node);
        let negated = next_part(&mut inner).as_rule() == Rule::kw_if_not;
        let condition = self.condition(next_part(&mut inner))?;
        let then = self.statements(next_part(&mut inner))?;
        let otherwise = inner.next().map(|branch| self.statements(branch)).transpose()?.unwrap_or_default();
        Ok(Statement::If { condition, negated, then, otherwise, span })
    }

    /// What `%if` tests or `%return` gives: a relation or a query.
    fn condition(&self, node: Node<'_>) -> Result<Condition, ParseError> {
        Ok(match node.as_rule() {
            Rule::query_statement => {
                let mut inner = parts(node);
                let query = self.block(next_part(&mut inner))?;
                Condition::Query { query, store_as: store_as(inner.next()) }
            }
            Rule::block => Condition::Query { query: self.block(node)?, store_as: None },
            _ => Condition::Relation(symbol(&node)),
        })
    }
}

/// The name in `as _name`.
fn store_as(node: Option<Node<'_>>) -> Option<Symbol> {
    node.map(|clause| symbol(&next_part(&mut parts(clause))))
}
