//! Accumulators that hold one state a group in a dense vector.
//!
//! A [`Kind`] says what the states are and how batches and later states enter them; [`Grouped`] makes it an
//! [`Accumulator`].

use std::any::Any;

use super::Accumulator;
use crate::expr::FunctionError;
use crate::value::{Column, DataValue};

/// The state of an aggregation for each group, and its operations.
pub(super) trait Kind: Send + Sized + 'static {
    /// The state of one group.
    type State: Send + 'static;

    /// The state of a group without values.
    fn initial(&self) -> Self::State;

    /// Takes a batch: `groups[row]` is the index in `states` that gets the row's value.
    fn update(&mut self, states: &mut [Self::State], groups: &[u32], values: &Column) -> Result<(), FunctionError>;

    /// Merges a state of later rows of the same group.
    fn absorb(&mut self, state: &mut Self::State, later: Self::State) -> Result<(), FunctionError>;

    /// See [`Accumulator::memory_bytes`].
    fn memory_bytes(&self) -> usize {
        0
    }

    /// The result of each state.
    fn finish(&self, states: Vec<Self::State>) -> Result<Column, FunctionError>;

    /// The same kind for another thread.
    fn fork(&self) -> Self;
}

/// The accumulator of a kind.
pub(super) struct Grouped<K: Kind> {
    kind: K,
    states: Vec<K::State>,
}

/// An accumulator of no groups.
pub(super) fn grouped<K: Kind>(kind: K) -> Box<dyn Accumulator> {
    Box::new(Grouped { kind, states: vec![] })
}

impl<K: Kind> Accumulator for Grouped<K> {
    fn resize(&mut self, groups: usize) {
        if groups > self.states.len() {
            self.states.resize_with(groups, || self.kind.initial());
        }
    }

    fn update(&mut self, groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        debug_assert_eq!(groups.len(), values.len(), "a group for each value");
        self.kind.update(&mut self.states, groups, values)
    }

    fn memory_bytes(&self) -> usize {
        self.kind.memory_bytes()
    }

    fn fork(&self) -> Option<Box<dyn Accumulator>> {
        Some(grouped(self.kind.fork()))
    }

    fn merge(&mut self, groups: &[u32], other: Box<dyn Accumulator>) -> Result<(), FunctionError> {
        let other: Box<Self> = other.into_any().downcast().expect("only forks of this accumulator are merged");
        for (group, later) in groups.iter().zip(other.states) {
            self.kind.absorb(&mut self.states[*group as usize], later)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Column, FunctionError> {
        self.kind.finish(self.states)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The one group that all rows belong to, if there is one: sorted and ungrouped input has long runs of these.
pub(super) fn only_group(groups: &[u32]) -> Option<usize> {
    let (first, last) = (*groups.first()?, *groups.last()?);
    // All differences combined: a search could end early, but would not be vectorised.
    let is_only = || groups.iter().fold(0, |differences, group| differences | (group ^ first)) == 0;
    (first == last && is_only()).then_some(first as usize)
}

/// Calls `visit` with each row and its value, by reference where the column holds values.
pub(super) fn for_each_value<E>(
    values: &Column,
    mut visit: impl FnMut(usize, &DataValue) -> Result<(), E>,
) -> Result<(), E> {
    match values {
        Column::Any(values) => values.iter().enumerate().try_for_each(|(row, value)| visit(row, value)),
        typed => typed.iter().enumerate().try_for_each(|(row, value)| visit(row, &value)),
    }
}
