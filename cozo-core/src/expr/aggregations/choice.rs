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
    doc: "One of the values that are not null (the first one met); null if there is none.",
    examples: &[("?[choice(x)] := x in [null, 7, 7]", "7"), ("?[choice(x)] := x in [null]", "null")],
    order_matters: true,
    start: |_| Ok(grouped(Choice)),
    meet: Some(Meet { start: Ok, improve: |current, new| Ok(take_first(current, new)), int_improves: None }),
};

pub(super) static CHOICE_RAND: Aggregation = Aggregation {
    name: "choice_rand",
    parameters: &["x"],
    doc: "A value chosen at random, each row equally likely, nulls among them. No rows give null.",
    examples: &[("?[choice_rand(x)] := x in [7, 7]", "7"), ("?[choice_rand(x)] := x in []", "null")],
    order_matters: false,
    start: |_| Ok(grouped(ChoiceRand { random: rand::make_rng() })),
    meet: None,
};

/// Takes the new value if there is none yet; whether it did.
fn take_first(current: &mut DataValue, new: &DataValue) -> bool {
    let takes = current.is_null() && !new.is_null();
    if takes {
        *current = new.clone();
    }
    takes
}

struct Choice;

impl Kind for Choice {
    type State = DataValue;

    fn initial(&self) -> DataValue {
        DataValue::Null
    }

    fn update(&mut self, states: &mut [DataValue], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        for (row, group) in groups.iter().enumerate() {
            let state = &mut states[*group as usize];
            if state.is_null() && !values.is_null(row) {
                *state = values.get(row);
            }
        }
        Ok(())
    }

    fn absorb(&mut self, state: &mut DataValue, later: DataValue) -> Result<(), FunctionError> {
        take_first(state, &later);
        Ok(())
    }

    fn finish(&self, states: Vec<DataValue>) -> Column {
        states.into_iter().collect()
    }

    fn fork(&self) -> Self {
        Choice
    }
}

/// Reservoir sampling with a reservoir of one.
struct ChoiceRand {
    random: SmallRng,
}

/// What was chosen among how many rows.
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
                state.value = values.get(row);
            }
        }
        Ok(())
    }

    fn absorb(&mut self, state: &mut Chosen, later: Chosen) -> Result<(), FunctionError> {
        state.rows += later.rows;
        if later.rows > 0 && self.random.random_range(0..state.rows) < later.rows {
            state.value = later.value;
        }
        Ok(())
    }

    fn finish(&self, states: Vec<Chosen>) -> Column {
        states.into_iter().map(|state| state.value).collect()
    }

    fn fork(&self) -> Self {
        ChoiceRand { random: rand::make_rng() }
    }
}
