//! `collect`: the values of a group in a list.

use super::grouped::{Kind, grouped};
use super::{Aggregation, unexpected};
use crate::expr::FunctionError;
use crate::value::{Column, DataValue, check_depth};

pub(super) static COLLECT: Aggregation = Aggregation {
    name: "collect",
    parameters: &["x", "limit?"],
    doc: "The list of all values, nulls included, in the order in which the body derives them (relations in ascending \
          order, atoms as they are written). `collect(x, n)` keeps the first n, n at least 1. No rows give [].",
    examples: &[
        ("?[collect(x)] := x in [3, null, 1, 3]", "[3, null, 1, 3]"),
        ("?[collect(x, 2)] := x in [3, null, 1, 3]", "[3, null]"),
        ("?[collect(x, 0)] := x in [3]", ""),
    ],
    order_matters: true,
    start: |args| Ok(grouped(Collect { limit: read_limit(args)?, kept_bytes: 0 })),
    meet: None,
};

struct Collect {
    /// The most values that a group keeps.
    limit: usize,
    /// About how many bytes all groups keep.
    kept_bytes: usize,
}

fn read_limit(args: &[DataValue]) -> Result<usize, FunctionError> {
    let Some(arg) = args.first() else { return Ok(usize::MAX) };
    let limit = arg.get_int().filter(|limit| *limit >= 1);
    let limit = limit.ok_or_else(|| unexpected("collect", "a limit that is an integer of at least 1", arg))?;
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}

impl Kind for Collect {
    type State = Vec<DataValue>;

    fn initial(&self) -> Self::State {
        vec![]
    }

    fn update(&mut self, states: &mut [Self::State], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        for (row, group) in groups.iter().enumerate() {
            let state = &mut states[*group as usize];
            if state.len() < self.limit {
                let value = values.copy_at(row)?;
                check_depth(&value, 1)?;
                let room = state.capacity();
                self.kept_bytes += value.held_bytes();
                state.push(value);
                self.kept_bytes += (state.capacity() - room) * size_of::<DataValue>();
            }
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.kept_bytes
    }

    fn absorb(&mut self, state: &mut Self::State, later: Self::State) -> Result<(), FunctionError> {
        state.extend(later.into_iter().take(self.limit - state.len()));
        Ok(())
    }

    fn finish(&self, states: Vec<Self::State>) -> Result<Column, FunctionError> {
        Ok(Column::Any(states.into_iter().map(DataValue::List).collect()))
    }

    fn fork(&self) -> Self {
        Collect { limit: self.limit, kept_bytes: 0 }
    }
}
