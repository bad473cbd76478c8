//! The registry of aggregations.
//!
//! An aggregation runs over groups: an [`Accumulator`] holds the state of all groups of one head column, and takes
//! batches of (group, value). One that is a *meet* (idempotent, commutative, associative) may also run inside
//! recursion, where each group keeps its current value and improves it. Both forms give the same results.
//!
//! Most accumulators are a [`grouped::Kind`]: a dense vector of states, one a group. Those that need no typed path are
//! made from their meet form ([`folded`]); those that compare values for sameness share a hash table ([`distinct`]).
//! The registry is at the end of this file; an aggregation is an entry of its file and a line there.

mod bits;
mod boolean;
mod choice;
mod collect;
mod count;
mod distinct;
mod extremes;
mod folded;
mod grouped;
mod int_sum;
mod pick;
mod quantiles;
mod sets;
mod string_join;
mod sums;
#[cfg(test)]
mod tests;

use super::FunctionError;
use super::functions::shorten;
use crate::value::{Column, DataValue};

/// An aggregation that rule heads may apply.
pub struct Aggregation {
    /// Its name.
    pub name: &'static str,
    /// The variable that it is applied to, and its constant arguments; those that end in `?` may be left out.
    pub parameters: &'static [&'static str],
    /// What it does, in a sentence or two.
    pub doc: &'static str,
    /// Queries that apply it, and the one value that each gives, as an expression; an empty outcome means an error.
    pub examples: &'static [(&'static str, &'static str)],
    /// Whether its value depends on the order of the rows, as a list of them does, or the first of equals. Rounding does not
    /// count.
    pub order_matters: bool,
    /// Makes an accumulator without groups; its arguments are the constant arguments after the variable.
    pub start: Start,
    /// The meet form, if it is one.
    pub meet: Option<Meet>,
}

impl Aggregation {
    /// The application with the names of its parameters: `collect(x, count?)`.
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.parameters.join(", "))
    }
}

/// Makes an accumulator from constant arguments, or refuses these.
pub type Start = fn(args: &[DataValue]) -> Result<Box<dyn Accumulator>, FunctionError>;

/// The state of an aggregation for many groups.
pub trait Accumulator: Send {
    /// Makes room for groups up to `groups`, new ones in their initial state.
    fn resize(&mut self, groups: usize);

    /// Takes one value for each row: `groups[row]` is the group that gets it, below the size set before.
    fn update(&mut self, groups: &[u32], values: &Column) -> Result<(), FunctionError>;

    /// An empty accumulator of the same kind for another thread, if partial states can be merged in order.
    fn fork(&self) -> Option<Box<dyn Accumulator>>;

    /// Merges the state of a fork that took later rows: its group `i` is `groups[i]` here.
    fn merge(&mut self, groups: &[u32], other: Box<dyn Accumulator>) -> Result<(), FunctionError>;

    /// About how many bytes it holds for the values that it took, besides a few bytes for each group.
    fn memory_bytes(&self) -> usize {
        0
    }

    /// The results of all groups, in order.
    fn finish(self: Box<Self>) -> Result<Column, FunctionError>;

    /// For [`Accumulator::merge`] to reach the state of its own kind.
    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any>;
}

/// The meet form of an aggregation: values are combined one at a time.
pub struct Meet {
    /// The value that stands for a single input; checks its type.
    pub start: fn(DataValue) -> Result<DataValue, FunctionError>,
    /// Improves the current value by an input; returns whether it changed.
    pub improve: fn(&mut DataValue, &DataValue) -> Result<bool, FunctionError>,
    /// Whether a new integer replaces the current one, for aggregations that keep one of their inputs by comparing
    /// it: what `improve` does when both values are Int, so that the fixpoint can run on plain integers.
    pub int_improves: Option<fn(current: i64, new: i64) -> bool>,
}

impl std::fmt::Debug for Aggregation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The aggregation of this name.
pub fn find(name: &str) -> Option<&'static Aggregation> {
    AGGREGATIONS.iter().copied().find(|aggregation| aggregation.name == name)
}

/// All aggregations, sorted by name.
pub static AGGREGATIONS: &[&Aggregation] = &[
    &boolean::AND,
    &bits::BIT_AND,
    &bits::BIT_OR,
    &bits::BIT_XOR,
    &choice::CHOICE,
    &choice::CHOICE_RAND,
    &collect::COLLECT,
    &count::COUNT,
    &sets::COUNT_UNIQUE,
    &sets::GROUP_COUNT,
    &int_sum::INT_SUM,
    &sets::INTERSECTION,
    &pick::LATEST_BY,
    &extremes::MAX,
    &sums::MEAN,
    &quantiles::MEDIAN,
    &extremes::MIN,
    &pick::MIN_COST,
    &sets::MODE,
    &boolean::OR,
    &sums::PRODUCT,
    &quantiles::QUANTILE,
    &pick::SHORTEST,
    &pick::SMALLEST_BY,
    &sums::STD_DEV,
    &string_join::STRING_JOIN,
    &sums::SUM,
    &sets::UNION,
    &sets::UNIQUE,
    &sums::VARIANCE,
];

/// How much of an offending value an error shows, in bytes.
const SHOWN_BYTES: usize = 80;

/// The error for a value that `aggregation` does not take.
fn unexpected(aggregation: &str, expected: &str, found: &DataValue) -> FunctionError {
    let shown = shorten(found, SHOWN_BYTES, "…");
    let kind = if found.is_null() { String::new() } else { format!(" ({})", found.type_name()) };
    FunctionError::new(format!("{aggregation}: expected {expected}, found {shown}{kind}"))
}
