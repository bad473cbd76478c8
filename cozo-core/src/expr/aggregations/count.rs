//! `count`: how many rows a group has.

use super::Aggregation;
use super::grouped::{Kind, grouped, only_group};
use crate::expr::FunctionError;
use crate::value::Column;

pub(super) static COUNT: Aggregation = Aggregation {
    name: "count",
    parameters: &["x"],
    doc: "The number of rows, an Int. Nulls count; no rows give 0.",
    examples: &[("?[count(x)] := x in [1, null, 1]", "3"), ("?[count(x)] := x in []", "0")],
    order_matters: false,
    start: |_| Ok(grouped(Count)),
    meet: None,
};

struct Count;

impl Kind for Count {
    type State = i64;

    fn initial(&self) -> i64 {
        0
    }

    fn update(&mut self, states: &mut [i64], groups: &[u32], _: &Column) -> Result<(), FunctionError> {
        if let Some(group) = only_group(groups) {
            states[group] += groups.len() as i64;
            return Ok(());
        }
        for group in groups {
            states[*group as usize] += 1;
        }
        Ok(())
    }

    fn absorb(&mut self, state: &mut i64, later: i64) -> Result<(), FunctionError> {
        *state += later;
        Ok(())
    }

    fn finish(&self, states: Vec<i64>) -> Result<Column, FunctionError> {
        Ok(Column::ints(states))
    }

    fn fork(&self) -> Self {
        Count
    }
}
