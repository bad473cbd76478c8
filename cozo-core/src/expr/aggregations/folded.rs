//! Accumulators made from the meet form, so that ordinary and recursive use give the same results by construction.

use super::grouped::{Kind, for_each_value, grouped};
use super::{Accumulator, Meet};
use crate::expr::FunctionError;
use crate::value::{Column, DataValue};

/// Folds the values of each group with [`Meet::improve`].
#[derive(Clone, Copy)]
pub(super) struct Folded {
    /// How many bytes the values of all groups hold.
    held_bytes: usize,
    /// How a first value enters, and how a further one improves it.
    fold: &'static Meet,
    /// The result of a group without values.
    empty: fn() -> DataValue,
    /// The result of a group from its last value.
    result: fn(DataValue) -> DataValue,
}

/// The accumulator of a fold whose last value is the result.
pub(super) fn folded(fold: &'static Meet, empty: fn() -> DataValue) -> Box<dyn Accumulator> {
    folded_to(fold, empty, |value| value)
}

/// The accumulator of a fold whose result is made of its last value.
pub(super) fn folded_to(
    fold: &'static Meet,
    empty: fn() -> DataValue,
    result: fn(DataValue) -> DataValue,
) -> Box<dyn Accumulator> {
    grouped(Folded { held_bytes: 0, fold, empty, result })
}

/// The value of a group, and how many bytes it holds.
pub(super) struct Current {
    value: DataValue,
    held_bytes: usize,
}

impl Folded {
    fn improve(&mut self, current: &mut Current, new: &DataValue) -> Result<(), FunctionError> {
        if (self.fold.improve)(&mut current.value, new)? {
            let before = std::mem::replace(&mut current.held_bytes, current.value.held_bytes());
            self.held_bytes = self.held_bytes + current.held_bytes - before;
        }
        Ok(())
    }

    fn start(&mut self, value: &DataValue) -> Result<Current, FunctionError> {
        let value = (self.fold.start)(value.copy()?)?;
        let held_bytes = value.held_bytes();
        self.held_bytes += held_bytes;
        Ok(Current { value, held_bytes })
    }
}

impl Kind for Folded {
    type State = Option<Current>;

    fn initial(&self) -> Self::State {
        None
    }

    fn update(&mut self, states: &mut [Self::State], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        for_each_value(values, |row, value| match &mut states[groups[row] as usize] {
            Some(current) => self.improve(current, value),
            unseen => {
                *unseen = Some(self.start(value)?);
                Ok(())
            }
        })
    }

    fn absorb(&mut self, state: &mut Self::State, later: Self::State) -> Result<(), FunctionError> {
        match (state, later) {
            (_, None) => {}
            (Some(current), Some(later)) => self.improve(current, &later.value)?,
            (unseen, later) => {
                self.held_bytes += later.as_ref().map_or(0, |later| later.held_bytes);
                *unseen = later;
            }
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.held_bytes
    }

    fn finish(&self, states: Vec<Self::State>) -> Result<Column, FunctionError> {
        Ok(states.into_iter().map(|state| state.map_or_else(self.empty, |state| (self.result)(state.value))).collect())
    }

    fn fork(&self) -> Self {
        Folded { held_bytes: 0, ..*self }
    }
}
