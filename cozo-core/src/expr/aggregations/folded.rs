//! Accumulators made from the meet form, so that ordinary and recursive use give the same results by construction.

use super::grouped::{Kind, for_each_value, grouped};
use super::{Accumulator, Meet};
use crate::expr::FunctionError;
use crate::value::{Column, DataValue};

/// Folds the values of each group with [`Meet::improve`].
#[derive(Clone, Copy)]
pub(super) struct Folded {
    /// How a first value enters, and how a further one improves it.
    pub fold: &'static Meet,
    /// The result of a group that saw nothing.
    pub empty: fn() -> DataValue,
    /// The result of a group from its last value.
    pub result: fn(DataValue) -> DataValue,
}

/// The accumulator of a fold whose last value is the result.
pub(super) fn folded(fold: &'static Meet, empty: fn() -> DataValue) -> Box<dyn Accumulator> {
    grouped(Folded { fold, empty, result: |value| value })
}

impl Kind for Folded {
    type State = Option<DataValue>;

    fn initial(&self) -> Self::State {
        None
    }

    fn update(&mut self, states: &mut [Self::State], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        for_each_value(values, |row, value| match &mut states[groups[row] as usize] {
            Some(current) => (self.fold.improve)(current, value).map(|_| ()),
            unseen => {
                *unseen = Some((self.fold.start)(value.clone())?);
                Ok(())
            }
        })
    }

    fn absorb(&mut self, state: &mut Self::State, later: Self::State) -> Result<(), FunctionError> {
        match (state, later) {
            (_, None) => {}
            (Some(current), Some(later)) => {
                (self.fold.improve)(current, &later)?;
            }
            (unseen, later) => *unseen = later,
        }
        Ok(())
    }

    fn finish(&self, states: Vec<Self::State>) -> Column {
        states.into_iter().map(|state| state.map_or_else(self.empty, self.result)).collect()
    }

    fn fork(&self) -> Self {
        *self
    }
}
