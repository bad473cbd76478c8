//! Expressions: literals, brackets, calls.
//!
//! `f(1, [x])` becomes a call of `f` with a literal and a list. Operators are put together in `operation.rs`.

use std::sync::Arc;

use super::ast::{Expr, Symbol};
use super::builder::Builder;
use super::condensed::Elements;
use super::error::ParseError;
use super::grammar::{Node, Rule, next_part, parts, span_of, symbol};
use super::strings::string_value;
use crate::diag::SourceSpan;
use crate::value::DataValue;

/// A list of this many constants is one value in the tree. In a shorter list each element is an expression.
const MIN_DATA: usize = 1000;

/// An expression, and how many levels it has. A leaf has none.
pub(super) type Tall = (Expr, usize);

impl Builder<'_> {
    /// An `expr`, or a `filter`, which differs only in its groups.
    pub fn expr(&self, node: Node<'_>) -> Result<Expr, ParseError> {
        self.tall_expr(node).map(|(expr, _)| expr)
    }

    /// As [`Builder::expr`], with its height.
    pub fn tall_expr(&self, node: Node<'_>) -> Result<Tall, ParseError> {
        let mut inner = node.into_inner();
        let first = next_part(&mut inner);
        match inner.next() {
            None => self.term(first),
            Some(second) => self.operation([first, second].into_iter().chain(inner)),
        }
    }

    pub(super) fn term(&self, node: Node<'_>) -> Result<Tall, ParseError> {
        let span = span_of(&node);
        let leaf = match node.as_rule() {
            Rule::grouped => return self.tall_expr(next_part(&mut parts(node))),
            Rule::group => return self.group_as_expr(node),
            Rule::list => return self.list(node),
            Rule::object => return self.object(node),
            Rule::call => return self.call(node),
            Rule::double_string | Rule::single_string | Rule::raw_string => {
                Expr::Literal(DataValue::Str(string_value(self.source, span)?), span)
            }
            Rule::integer => Expr::Literal(self.integer(&node)?.into(), span),
            Rule::float => Expr::Literal(float(node.as_str()).into(), span),
            Rule::constant => Expr::Literal(constant(node.as_str()), span),
            Rule::parameter => {
                let name = Symbol::new(&node.as_str()[1..], span);
                self.parameters.borrow_mut().push(name.clone());
                Expr::Parameter(name)
            }
            Rule::variable => Expr::Variable(symbol(&node)),
            rule => unreachable!("{rule:?} is no term"),
        };
        Ok((leaf, 0))
    }

    /// Several expressions.
    pub fn exprs<'i>(&self, nodes: impl Iterator<Item = Node<'i>>) -> Result<Vec<Expr>, ParseError> {
        nodes.map(|node| self.expr(node)).collect()
    }

    /// A list, with the elements that were left out of the text.
    fn list(&self, node: Node<'_>) -> Result<Tall, ParseError> {
        let (span, text, range) = (span_of(&node), node.text(), node.range());
        let mut list = ListBuilder { builder: self, span, items: vec![], height: 0 };
        let mut done = range.start + 1;
        let mut elements = parts(node).peekable();
        if elements.peek().is_none() {
            let mut left_out = text.take(done..range.end);
            match (left_out.next(), left_out.next()) {
                (Some(Elements::Rows(rows)), _) => return Ok((Expr::Rows(Arc::new(rows), span), 1)),
                (Some(Elements::Constants(values)), None) if values.len() >= MIN_DATA => {
                    return Ok((Expr::Data(Arc::new(DataValue::List(values)), span), 1));
                }
                (first, second) => first.into_iter().chain(second).chain(left_out).try_for_each(|it| list.add(it))?,
            }
        }
        for element in elements {
            let here = element.range();
            text.take(done..here.start + 1).try_for_each(|it| list.add(it))?;
            list.add_node(element)?;
            done = here.end;
        }
        text.take(done..range.end).try_for_each(|it| list.add(it))?;
        self.higher(list.height, span)?;
        Ok((Expr::List(list.items, span), list.height + 1))
    }

    fn object(&self, node: Node<'_>) -> Result<Tall, ParseError> {
        let span = span_of(&node);
        let (mut pairs, mut height) = (vec![], 0);
        for pair in parts(node) {
            let mut parts = parts(pair);
            let ((key, below_key), (value, below)) =
                (self.tall_expr(next_part(&mut parts))?, self.tall_expr(next_part(&mut parts))?);
            height = height.max(below_key).max(below);
            pairs.push((key, value));
        }
        self.higher(height, span)?;
        Ok((Expr::Object(pairs, span), height + 1))
    }

    fn call(&self, node: Node<'_>) -> Result<Tall, ParseError> {
        let span = span_of(&node);
        let mut parts = parts(node);
        let function = symbol(&next_part(&mut parts));
        let (mut args, mut height) = (vec![], 0);
        for part in parts {
            let (arg, below) = self.tall_expr(part)?;
            height = height.max(below);
            args.push(arg);
        }
        self.higher(height, span)?;
        Ok((Expr::Call { function, args, span }, height + 1))
    }

    /// An integer in any radix.
    pub fn integer(&self, node: &Node<'_>) -> Result<i64, ParseError> {
        let literal = node.as_str();
        integer(literal).ok_or_else(|| ParseError::IntegerTooLarge { literal: shortened(literal), span: span_of(node) })
    }
}

/// A list that grows.
struct ListBuilder<'b, 's> {
    builder: &'b Builder<'s>,
    span: SourceSpan,
    items: Vec<Expr>,
    height: usize,
}

impl ListBuilder<'_, '_> {
    fn add_node(&mut self, element: Node<'_>) -> Result<(), ParseError> {
        let (item, below) = self.builder.tall_expr(element)?;
        self.height = self.height.max(below);
        self.items.push(item);
        Ok(())
    }

    /// Adds elements that were left out.
    fn add(&mut self, elements: Elements) -> Result<(), ParseError> {
        match elements {
            Elements::Constants(values) => self.add_constants(values),
            Elements::Rows(rows) => self.add_constants(rows.rows().map(DataValue::List)),
            Elements::Text(text) => {
                let list = next_part(&mut self.builder.read_elements(&text)?.into_inner());
                let (Expr::List(mut items, _), below) = self.builder.list(list)? else { return Ok(()) };
                self.height = self.height.max(below);
                self.items.append(&mut items);
            }
        }
        Ok(())
    }

    fn add_constants(&mut self, values: impl IntoIterator<Item = DataValue>) {
        self.items.extend(values.into_iter().map(|value| as_expr(value, self.span)));
    }
}

/// A constant as the grammar would have read it.
fn as_expr(value: DataValue, span: SourceSpan) -> Expr {
    match value {
        DataValue::List(items) => Expr::List(items.into_iter().map(|item| as_expr(item, span)).collect(), span),
        value => Expr::Literal(value, span),
    }
}

/// An integer in any radix, unless it is too large.
pub(super) fn integer(literal: &str) -> Option<i64> {
    let (digits, radix) = match literal.get(..2) {
        Some("0x") => (&literal[2..], 16),
        Some("0o") => (&literal[2..], 8),
        Some("0b") => (&literal[2..], 2),
        _ => (literal, 10),
    };
    match digits.contains('_') {
        true => i64::from_str_radix(&digits.replace('_', ""), radix),
        false => i64::from_str_radix(digits, radix),
    }
    .ok()
}

/// A float; one beyond all floats is infinite.
pub(super) fn float(literal: &str) -> f64 {
    literal.replace('_', "").parse().expect("the grammar's floats are Rust's, but for underscores")
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
