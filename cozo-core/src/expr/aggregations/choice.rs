//! `choice` and `choice_rand`: one value of the group.

use rand::RngExt;
use rand::rngs::SmallRng;

use super::grouped::{Kind, grouped};
use super::{Aggregation, Meet};
use crate::expr::FunctionError;
use crate::value::{Column, DataValue};

pub(super) static CHOICE: Aggregation = Aggregation {
    name: "choice",
    parameters: &["x"],
    doc: "The first value that is not null; null if there is none.",
    examples: &[("?[choice(x)] := x in [null, 7, 7]", "7"), ("?[choice(x)] := x in [null]", "null")],
    order_matters: true,
    start: |_| Ok(grouped(Choice { held_bytes: 0 })),
    meet: Some(Meet { start: Ok, improve: take_first, int_improves: None }),
};

pub(super) static CHOICE_RAND: Aggregation = Aggregation {
    name: "choice_rand",
    parameters: &["x"],
    doc: "A value chosen at random, each row equally likely, nulls included. No rows give null.",
    examples: &[("?[choice_rand(x)] := x in [7, 7]", "7"), ("?[choice_rand(x)] := x in []", "null")],
    order_matters: false,
    start: |_| Ok(grouped(ChoiceRand::new())),
    meet: None,
};

/// Takes the new value if there is none yet; returns whether it did.
fn take_first(current: &mut DataValue, new: &DataValue) -> Result<bool, FunctionError> {
    let takes = current.is_null() && !new.is_null();
    if takes {
        *current = new.copy()?;
    }
    Ok(takes)
}

struct Choice {
    /// How many bytes the values of all groups hold.
    held_bytes: usize,
}

impl Kind for Choice {
    type State = DataValue;

    fn initial(&self) -> DataValue {
        DataValue::Null
    }

    fn update(&mut self, states: &mut [DataValue], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        for (row, group) in groups.iter().enumerate() {
            let state = &mut states[*group as usize];
            if state.is_null() && !values.is_null(row) {
                *state = values.copy_at(row)?;
                self.held_bytes += state.held_bytes();
            }
        }
        Ok(())
    }

    fn absorb(&mut self, state: &mut DataValue, later: DataValue) -> Result<(), FunctionError> {
        if state.is_null() {
            self.held_bytes += later.held_bytes();
            *state = later;
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.held_bytes
    }

    fn finish(&self, states: Vec<DataValue>) -> Result<Column, FunctionError> {
        Ok(states.into_iter().collect())
    }

    fn fork(&self) -> Self {
        Choice { held_bytes: 0 }
    }
}

/// Reservoir sampling with a reservoir of one.
struct ChoiceRand {
    random: SmallRng,
    /// How many bytes the values of all groups hold.
    held_bytes: usize,
}

impl ChoiceRand {
    fn new() -> Self {
        ChoiceRand { random: rand::make_rng(), held_bytes: 0 }
    }

    fn choose(&mut self, state: &mut Chosen, value: DataValue) {
        let before = state.value.held_bytes();
        self.held_bytes = self.held_bytes + value.held_bytes() - before;
        state.value = value;
    }
}

/// The chosen value, and the number of rows it was chosen from.
struct Chosen {
    value: DataValue,
    rows: u64,
}

impl Kind for ChoiceRand {
    type State = Chosen;

    fn initial(&self) -> Chosen {
        Chosen { value: DataValue::Null, rows: 0 }
    }

    fn update(&mut self, states: &mut [Chosen], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        for (row, group) in groups.iter().enumerate() {
            let state = &mut states[*group as usize];
            state.rows += 1;
            if self.random.random_range(0..state.rows) == 0 {
                self.choose(state, values.copy_at(row)?);
            }
        }
        Ok(())
    }

    fn absorb(&mut self, state: &mut Chosen, later: Chosen) -> Result<(), FunctionError> {
        state.rows += later.rows;
        if later.rows > 0 && self.random.random_range(0..state.rows) < later.rows {
            self.choose(state, later.value);
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.held_bytes
    }

    fn finish(&self, states: Vec<Chosen>) -> Result<Column, FunctionError> {
        Ok(states.into_iter().map(|state| state.value).collect())
    }

    fn fork(&self) -> Self {
        ChoiceRand::new()
    }
}
