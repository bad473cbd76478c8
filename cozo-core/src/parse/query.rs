//! Queries: rules with their heads, calls of fixed rules, and the options among them.
//!
//! `?[x, count(y)] := edge[x, y] :limit 5` is a query of one rule and one option.

use super::ast::{
    AggregationCall, FixedCall, FixedInput, Head, HeadArg, Query, Rule as RuleDefinition, RuleBody, StoredBindings,
    Symbol,
};
use super::builder::Builder;
use super::error::ParseError;
use super::grammar::{Node, Rule, next_part, parts, span_of, symbol};

impl Builder<'_> {
    /// A whole query.
    pub fn query(&self, node: Node<'_>) -> Result<Query, ParseError> {
        let mut query = Query { span: span_of(&node), ..Query::default() };
        for clause in parts(node) {
            match clause.as_rule() {
                Rule::rule_definition => query.rules.push(self.rule(clause)?),
                _ => query.options.push(self.option(clause)?),
            }
        }
        Ok(query)
    }

    /// The query between the braces of a block.
    pub fn block(&self, node: Node<'_>) -> Result<Box<Query>, ParseError> {
        Ok(Box::new(self.query(next_part(&mut parts(node)))?))
    }

    fn rule(&self, node: Node<'_>) -> Result<RuleDefinition, ParseError> {
        let span = span_of(&node);
        let mut inner = parts(node);
        let head = self.head(next_part(&mut inner))?;
        let body = next_part(&mut inner);
        let kind = body.as_rule();
        let content = next_part(&mut parts(body));
        let body = match kind {
            Rule::inline_body => RuleBody::Inline(self.body(content)?),
            Rule::constant_body => RuleBody::Constant(self.expr(content)?),
            _ => RuleBody::Fixed(self.fixed_call(content)?),
        };
        Ok(RuleDefinition { head, body, span })
    }

    fn head(&self, node: Node<'_>) -> Result<Head, ParseError> {
        let span = span_of(&node);
        let mut inner = parts(node);
        let name = symbol(&next_part(&mut inner));
        let args = inner.map(|arg| self.head_arg(arg)).collect::<Result<_, _>>()?;
        Ok(Head { name, args, span })
    }

    fn head_arg(&self, node: Node<'_>) -> Result<HeadArg, ParseError> {
        if node.as_rule() == Rule::binding_name {
            return Ok(HeadArg { variable: symbol(&node), aggregation: None });
        }
        let mut inner = parts(node);
        let name = symbol(&next_part(&mut inner));
        let variable = symbol(&next_part(&mut inner));
        Ok(HeadArg { variable, aggregation: Some(AggregationCall { name, args: self.exprs(inner)? }) })
    }

    fn fixed_call(&self, node: Node<'_>) -> Result<FixedCall, ParseError> {
        let span = span_of(&node);
        let mut inner = parts(node);
        let name = symbol(&next_part(&mut inner));
        let mut call = FixedCall { name, inputs: vec![], options: vec![], span };
        for arg in inner {
            match arg.as_rule() {
                Rule::setting => call.options.push(self.setting(arg)?),
                Rule::fixed_rule_input => call.inputs.push(rule_input(arg)),
                _ => call.inputs.push(self.stored_input(arg)?),
            }
        }
        Ok(call)
    }

    fn stored_input(&self, node: Node<'_>) -> Result<FixedInput, ParseError> {
        let span = span_of(&node);
        let mut inner = parts(node);
        let name = symbol(&next_part(&mut inner));
        let bindings = next_part(&mut inner);
        let positional = bindings.as_rule() == Rule::positional_bindings;
        let mut bindings: Vec<Node<'_>> = parts(bindings).collect();
        let validity = self.validity(&mut bindings)?;
        let bindings = if positional {
            StoredBindings::Positional(bindings.iter().map(symbol).collect())
        } else {
            StoredBindings::Named(bindings.into_iter().map(named_binding).collect())
        };
        Ok(FixedInput::Stored { name, bindings, validity, span })
    }
}

fn rule_input(node: Node<'_>) -> FixedInput {
    let span = span_of(&node);
    let mut inner = parts(node);
    let name = symbol(&next_part(&mut inner));
    FixedInput::Rule { name, bindings: inner.map(|binding| symbol(&binding)).collect(), span }
}

/// `column: name`, or `column` alone for both.
fn named_binding(node: Node<'_>) -> (Symbol, Symbol) {
    let mut inner = parts(node);
    let column = symbol(&next_part(&mut inner));
    let binding = inner.next().map_or_else(|| column.clone(), |name| symbol(&name));
    (column, binding)
}
