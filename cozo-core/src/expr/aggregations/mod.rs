//! The registry of aggregations.
//!
//! An aggregation runs over groups: an [`Accumulator`] holds the state of all groups of one head column, and takes
//! batches of (group, value). One that is a *meet* (idempotent, commutative, associative) may also run inside
//! recursion, where each group keeps its current value and improves it.

use super::FunctionError;
use crate::value::{Column, DataValue};

/// An aggregation that rule heads may apply.
pub struct Aggregation {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence or two.
    pub doc: &'static str,
    /// Makes the state for no group at all; `args` are the constant arguments after the variable.
    pub start: fn(args: &[DataValue]) -> Result<Box<dyn Accumulator>, FunctionError>,
    /// The meet form, if it is one.
    pub meet: Option<Meet>,
}

/// The state of an aggregation for many groups.
pub trait Accumulator: Send {
    /// Makes room for groups up to `groups`, new ones in their initial state.
    fn resize(&mut self, groups: usize);

    /// Takes one value for each row: `groups[row]` is the group that gets it, below the size set before.
    fn update(&mut self, groups: &[u32], values: &Column) -> Result<(), FunctionError>;

    /// An empty accumulator of the same kind for another thread, if partial states can be merged in order.
    fn fork(&self) -> Option<Box<dyn Accumulator>>;

    /// Takes over the state of a fork that saw later rows: its group `i` is `groups[i]` here.
    fn merge(&mut self, groups: &[u32], other: Box<dyn Accumulator>) -> Result<(), FunctionError>;

    /// The results of all groups, in order.
    fn finish(self: Box<Self>) -> Result<Column, FunctionError>;

    /// For [`Accumulator::merge`] to reach the state of its own kind.
    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any>;
}

/// The meet form of an aggregation: values are combined one at a time.
pub struct Meet {
    /// The value that stands for a single input; checks its type.
    pub start: fn(DataValue) -> Result<DataValue, FunctionError>,
    /// Improves the current value by an input; whether it changed.
    pub improve: fn(&mut DataValue, &DataValue) -> Result<bool, FunctionError>,
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
pub static AGGREGATIONS: &[&Aggregation] = &[];
