//! `and` and `or`: conjunction and disjunction.

use super::grouped::{Kind, for_each_value, grouped};
use super::{Aggregation, Meet, unexpected};
use crate::expr::FunctionError;
use crate::value::{Column, DataValue, Primitive};

pub(super) static AND: Aggregation = Aggregation {
    name: "and",
    parameters: &["x"],
    doc: "Whether all Booleans are true. Nulls are an error; no rows give true.",
    examples: &[
        ("?[and(x)] := x in [true, false]", "false"),
        ("?[and(x)] := x in []", "true"),
        ("?[and(x)] := x in [1]", ""),
    ],
    order_matters: false,
    start: |_| Ok(grouped(CONJUNCTION)),
    meet: Some(Meet {
        start: |value| CONJUNCTION.check(&value).map(DataValue::Bool),
        improve: |current, new| CONJUNCTION.improve(current, new),
        int_improves: None,
    }),
};

pub(super) static OR: Aggregation = Aggregation {
    name: "or",
    parameters: &["x"],
    doc: "Whether any Boolean is true. Nulls are an error; no rows give false.",
    examples: &[
        ("?[or(x)] := x in [false, true]", "true"),
        ("?[or(x)] := x in []", "false"),
        ("?[or(x)] := x in [null]", ""),
    ],
    order_matters: false,
    start: |_| Ok(grouped(DISJUNCTION)),
    meet: Some(Meet {
        start: |value| DISJUNCTION.check(&value).map(DataValue::Bool),
        improve: |current, new| DISJUNCTION.improve(current, new),
        int_improves: None,
    }),
};

/// A connective: groups start at `unit`, and one value that differs from it decides.
#[derive(Clone, Copy)]
struct Connective {
    name: &'static str,
    unit: bool,
}

const CONJUNCTION: Connective = Connective { name: "and", unit: true };
const DISJUNCTION: Connective = Connective { name: "or", unit: false };

impl Connective {
    fn check(self, value: &DataValue) -> Result<bool, FunctionError> {
        value.get_bool().ok_or_else(|| unexpected(self.name, "a Boolean", value))
    }

    fn improve(self, current: &mut DataValue, new: &DataValue) -> Result<bool, FunctionError> {
        let decides = self.check(new)? != self.unit && self.check(current)? == self.unit;
        if decides {
            *current = DataValue::Bool(!self.unit);
        }
        Ok(decides)
    }
}

impl Kind for Connective {
    type State = bool;

    fn initial(&self) -> bool {
        self.unit
    }

    fn update(&mut self, states: &mut [bool], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        if let Column::Bool(Primitive { values, nulls: None }) = values {
            let deciding = groups.iter().zip(values).filter(|(_, value)| **value != self.unit);
            deciding.for_each(|(group, _)| states[*group as usize] = !self.unit);
            return Ok(());
        }
        for_each_value(values, |row, value| {
            if self.check(value)? != self.unit {
                states[groups[row] as usize] = !self.unit;
            }
            Ok(())
        })
    }

    fn absorb(&mut self, state: &mut bool, later: bool) -> Result<(), FunctionError> {
        if later != self.unit {
            *state = later;
        }
        Ok(())
    }

    fn finish(&self, states: Vec<bool>) -> Result<Column, FunctionError> {
        Ok(Column::bools(states))
    }

    fn fork(&self) -> Self {
        *self
    }
}
