//! The options of a query, mutations among them.
//!
//! `:order -count(x)` is an `Order` with one key; `:put r {k => v}` a `Mutation`.

use super::ast::{Assertion, Mutation, MutationOp, OrderKey, QueryOption, Symbol};
use super::builder::Builder;
use super::error::ParseError;
use super::grammar::{Node, Rule, next_part, parts, span_of, symbol};
use crate::value::SmallStr;

/// The spelling of every mutation.
pub(super) const MUTATIONS: [(&str, MutationOp); 9] = [
    (":create", MutationOp::Create),
    (":replace", MutationOp::Replace),
    (":put", MutationOp::Put),
    (":insert", MutationOp::Insert),
    (":update", MutationOp::Update),
    (":rm", MutationOp::Rm),
    (":delete", MutationOp::Delete),
    (":ensure", MutationOp::Ensure),
    (":ensure_not", MutationOp::EnsureNot),
];

impl Builder<'_> {
    /// One option.
    pub fn option(&self, node: Node<'_>) -> Result<QueryOption, ParseError> {
        let span = span_of(&node);
        let kind = node.as_rule();
        if kind == Rule::returning {
            return Ok(QueryOption::Returning(span));
        }
        if kind == Rule::mutation {
            return self.mutation(node).map(QueryOption::Mutation);
        }
        let mut inner = parts(node);
        Ok(match kind {
            Rule::order => QueryOption::Order(inner.map(order_key).collect()),
            Rule::assertion => QueryOption::Assert(assertion(next_part(&mut inner).as_str()), span),
            Rule::limit => QueryOption::Limit(self.expr(next_part(&mut inner))?),
            Rule::offset => QueryOption::Offset(self.expr(next_part(&mut inner))?),
            Rule::timeout => QueryOption::Timeout(self.expr(next_part(&mut inner))?),
            Rule::sleep => QueryOption::Sleep(self.expr(next_part(&mut inner))?),
            Rule::disable_magic_rewrite => QueryOption::DisableMagicRewrite(self.expr(next_part(&mut inner))?),
            Rule::disable_join_reorder => QueryOption::DisableJoinReorder(self.expr(next_part(&mut inner))?),
            rule => unreachable!("{rule:?} is no option"),
        })
    }

    fn mutation(&self, node: Node<'_>) -> Result<Mutation, ParseError> {
        let span = span_of(&node);
        let mut inner = parts(node);
        let op = mutation_op(next_part(&mut inner).as_str());
        let relation = symbol(&next_part(&mut inner));
        let (mut columns, mut if_absent) = (None, None);
        for part in inner {
            match part.as_rule() {
                Rule::if_absent => if_absent = Some(span_of(&part)),
                _ => columns = Some(self.column_specs(part)?),
            }
        }
        if let Some(span) = if_absent.filter(|_| op != MutationOp::Create) {
            let help = "`if absent` stands after `:create`; other operations need the relation, or make it anew";
            return Err(self.misplaced("`if absent` belongs to `:create`", span, help));
        }
        Ok(Mutation { op, relation, columns, if_absent, span })
    }
}

fn mutation_op(word: &str) -> MutationOp {
    let known = MUTATIONS.iter().find(|(spelling, _)| *spelling == word);
    known.expect("the grammar has no other mutations").1
}

fn assertion(word: &str) -> Assertion {
    if word == "none" { Assertion::None } else { Assertion::Some }
}

fn order_key(node: Node<'_>) -> OrderKey {
    let mut descending = false;
    let mut inner = parts(node);
    let mut part = next_part(&mut inner);
    if matches!(part.as_rule(), Rule::ascending | Rule::descending) {
        descending = part.as_rule() == Rule::descending;
        part = next_part(&mut inner);
    }
    OrderKey { column: output_column(part), descending }
}

/// A column of the output as its header spells it.
pub(super) fn output_column(node: Node<'_>) -> Symbol {
    let span = span_of(&node);
    let mut inner = parts(node);
    let name = next_part(&mut inner);
    match inner.next() {
        None => symbol(&name),
        Some(variable) => {
            let header: SmallStr = [name.as_str(), "(", variable.as_str(), ")"].into_iter().collect();
            Symbol::new(header, span)
        }
    }
}
