//! Queries: rules, heads, fixed rules and options.

use std::fmt::{self, Display, Formatter};

use super::body::{Setting, bracketed};
use super::commas;
use crate::parse::ast::{
    AggregationCall, Assertion, FixedCall, FixedInput, Head, HeadArg, Mutation, MutationOp, OrderKey, Query,
    QueryOption, Rule, RuleBody, StoredBindings, Symbol,
};
use crate::parse::option::MUTATIONS;

/// Words that join what is before them to what follows, also where the next rule has such a name.
const JOINING_WORDS: [&str; 3] = ["and", "in", "or"];

impl Display for Query {
    /// A rule or option a line.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, rule) in self.rules.iter().enumerate() {
            let end = match JOINING_WORDS.contains(&&*rule.head.name) {
                _ if i == 0 => "",
                true => ";\n",
                false => "\n",
            };
            write!(f, "{end}{rule}")?;
        }
        for (i, option) in self.options.iter().enumerate() {
            write!(f, "{}{option}", if i > 0 || !self.rules.is_empty() { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.head, self.body)
    }
}

impl Display for Head {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.name)?;
        commas(f, &self.args)?;
        f.write_str("]")
    }
}

impl Display for HeadArg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.aggregation {
            None => write!(f, "{}", self.variable),
            Some(AggregationCall { name, args }) => {
                write!(f, "{name}({}", self.variable)?;
                args.iter().try_for_each(|arg| write!(f, ", {arg}"))?;
                f.write_str(")")
            }
        }
    }
}

impl Display for RuleBody {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            RuleBody::Inline(formula) => write!(f, ":= {formula}"),
            RuleBody::Constant(expr) => write!(f, "<- {expr}"),
            RuleBody::Fixed(call) => write!(f, "<~ {call}"),
        }
    }
}

impl Display for FixedCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        commas(f, &self.inputs)?;
        f.write_str(if self.inputs.is_empty() || self.options.is_empty() { "" } else { ", " })?;
        commas(f, self.options.iter().map(Setting))?;
        f.write_str(")")
    }
}

impl Display for FixedInput {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FixedInput::Rule { name, bindings, .. } => {
                write!(f, "{name}")?;
                bracketed(f, ["[", "]"], bindings, &None)
            }
            FixedInput::Stored { name, bindings, validity, .. } => {
                write!(f, "*{name}")?;
                match bindings {
                    StoredBindings::Positional(names) => bracketed(f, ["[", "]"], names, validity),
                    StoredBindings::Named(pairs) => bracketed(f, ["{", "}"], pairs.iter().map(NamedBinding), validity),
                }
            }
        }
    }
}

/// `column: name`, or `column` when they are the same.
struct NamedBinding<'b>(&'b (Symbol, Symbol));

impl Display for NamedBinding<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (column, name) = self.0;
        if column == name { write!(f, "{column}") } else { write!(f, "{column}: {name}") }
    }
}

impl Display for QueryOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            QueryOption::Limit(expr) => write!(f, ":limit {expr}"),
            QueryOption::Offset(expr) => write!(f, ":offset {expr}"),
            QueryOption::Timeout(expr) => write!(f, ":timeout {expr}"),
            QueryOption::Sleep(expr) => write!(f, ":sleep {expr}"),
            QueryOption::DisableMagicRewrite(expr) => write!(f, ":disable_magic_rewrite {expr}"),
            QueryOption::DisableJoinReorder(expr) => write!(f, ":disable_join_reorder {expr}"),
            QueryOption::Assert(Assertion::None, _) => f.write_str(":assert none"),
            QueryOption::Assert(Assertion::Some, _) => f.write_str(":assert some"),
            QueryOption::Returning(_) => f.write_str(":returning"),
            QueryOption::Order(keys) => {
                f.write_str(":order ")?;
                commas(f, keys)
            }
            QueryOption::Mutation(mutation) => write!(f, "{mutation}"),
        }
    }
}

impl Display for OrderKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.descending { "-" } else { "" }, self.column)
    }
}

impl Display for Mutation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.op, self.relation)?;
        self.columns.as_ref().map_or(Ok(()), |columns| write!(f, " {columns}"))?;
        f.write_str(if self.if_absent.is_some() { " if absent" } else { "" })
    }
}

impl Display for MutationOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let spelling = MUTATIONS.iter().find(|(_, op)| op == self);
        f.write_str(spelling.expect("the table holds every mutation").0)
    }
}
