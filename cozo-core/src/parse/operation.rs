//! Operators by precedence, without recursion (the shunting-yard algorithm of Dijkstra, 1961).
//!
//! `1 + 2 * x` becomes `add(1, mul(2, x))`. Where a chain of one operator is long and its function takes any number of
//! arguments, it becomes one call: `a || b || ...` is `or(a, b, ...)`, and no tree of a thousand levels.

use super::ast::{Expr, Symbol};
use super::builder::Builder;
use super::error::ParseError;
use super::expr::Tall;
use super::grammar::{Node, span_of};
use super::operators::{self, Infix, POWER, PREFIX, Prefix};
use crate::diag::SourceSpan;

/// A chain of more operands than this becomes one call.
pub(super) const MAX_NESTED_OPERANDS: usize = 64;

/// An operator that waits for its right operand.
enum Waiting {
    Prefix(&'static Prefix, SourceSpan),
    Infix(&'static Infix, SourceSpan),
}

impl Waiting {
    fn precedence(&self) -> u8 {
        match self {
            Waiting::Prefix(..) => PREFIX,
            Waiting::Infix(infix, _) => infix.precedence,
        }
    }
}

/// An operand.
enum Operand {
    Whole(Tall),
    Chain(Chain),
}

/// Operands of one operator; more may follow.
struct Chain {
    infix: &'static Infix,
    operands: Vec<Tall>,
    /// Where the operators stand, one fewer.
    operators: Vec<SourceSpan>,
}

impl Builder<'_> {
    /// Operands with the operators before and between them.
    pub fn operation<'i>(&self, nodes: impl Iterator<Item = Node<'i>>) -> Result<Tall, ParseError> {
        let mut stack = Stack { builder: self, operands: vec![], waiting: vec![] };
        let mut operand_ended = false;
        for node in nodes {
            let rule = node.as_rule();
            if operand_ended {
                let infix = operators::infix_at(rule).expect("an operator follows an operand");
                stack.infix(infix, span_of(&node))?;
            } else if let Some(prefix) = operators::prefix_at(rule) {
                stack.waiting.push(Waiting::Prefix(prefix, span_of(&node)));
                continue;
            } else {
                stack.operands.push(Operand::Whole(self.term(node)?));
            }
            operand_ended = !operand_ended;
        }
        stack.finish()
    }
}

struct Stack<'b, 's> {
    builder: &'b Builder<'s>,
    operands: Vec<Operand>,
    waiting: Vec<Waiting>,
}

impl Stack<'_, '_> {
    fn infix(&mut self, infix: &'static Infix, span: SourceSpan) -> Result<(), ParseError> {
        let to_the_right = infix.precedence == POWER;
        while let Some(last) = self.waiting.last() {
            let binds = last.precedence();
            if binds < infix.precedence || binds == infix.precedence && to_the_right {
                break;
            }
            self.apply()?;
        }
        self.waiting.push(Waiting::Infix(infix, span));
        Ok(())
    }

    /// Applies the last operator to its operands.
    fn apply(&mut self) -> Result<(), ParseError> {
        let Some(operator) = self.waiting.pop() else { return Ok(()) };
        let right = self.whole()?;
        let applied = match operator {
            Waiting::Prefix(prefix, span) => Operand::Whole(self.call(prefix.function, span, vec![right])?),
            Waiting::Infix(infix, span) => {
                let mut chain = self.chain(infix)?;
                chain.operators.push(span);
                chain.operands.push(right);
                match infix.takes_any {
                    true => Operand::Chain(chain),
                    false => Operand::Whole(self.close(chain)?),
                }
            }
        };
        self.operands.push(applied);
        Ok(())
    }

    /// The last operand as the begin of a chain.
    fn chain(&mut self, infix: &'static Infix) -> Result<Chain, ParseError> {
        match self.operands.pop_if(|last| matches!(last, Operand::Chain(chain) if std::ptr::eq(chain.infix, infix))) {
            Some(Operand::Chain(chain)) => Ok(chain),
            _ => Ok(Chain { infix, operands: vec![self.whole()?], operators: vec![] }),
        }
    }

    /// Takes the last operand.
    fn whole(&mut self) -> Result<Tall, ParseError> {
        match self.operands.pop().expect("every operator has its operands") {
            Operand::Whole(whole) => Ok(whole),
            Operand::Chain(chain) => self.close(chain),
        }
    }

    /// Completes a chain: calls of two arguments each, or one call of all arguments if they are many.
    fn close(&self, chain: Chain) -> Result<Tall, ParseError> {
        let function = chain.infix.function;
        if chain.operands.len() > MAX_NESTED_OPERANDS {
            return self.call(function, chain.operators[0], chain.operands);
        }
        let mut operands = chain.operands.into_iter();
        let first = operands.next().expect("a chain has operands");
        chain
            .operators
            .into_iter()
            .zip(operands)
            .try_fold(first, |left, (span, right)| self.call(function, span, vec![left, right]))
    }

    fn call(&self, function: &'static str, operator: SourceSpan, operands: Vec<Tall>) -> Result<Tall, ParseError> {
        let height = operands.iter().map(|(_, height)| *height).max().unwrap_or_default();
        self.builder.higher(height, operator)?;
        let prefix = (operands.len() == 1).then_some(operator);
        let spans = prefix.into_iter().chain(operands.iter().map(|(operand, _)| operand.span()));
        let span = spans.reduce(SourceSpan::merge).unwrap_or(operator);
        let args = operands.into_iter().map(|(operand, _)| operand).collect();
        Ok((Expr::Call { function: Symbol::new(function, operator), args, span }, height + 1))
    }

    fn finish(mut self) -> Result<Tall, ParseError> {
        while !self.waiting.is_empty() {
            self.apply()?;
        }
        self.whole()
    }
}
