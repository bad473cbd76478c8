//! `int_sum`: the exact sum of integers.

use super::grouped::{Kind, for_each_value, grouped, only_group};
use super::{Aggregation, unexpected};
use crate::expr::FunctionError;
use crate::value::{Column, DataValue, Num};

pub(super) static INT_SUM: Aggregation = Aggregation {
    name: "int_sum",
    parameters: &["x"],
    doc: "The sum of integers, an Int, where `sum` gives a Float. A sum beyond 64 bits is an error, and so are Floats and nulls; no \
          rows give 0.",
    examples: &[
        ("?[int_sum(x)] := x in [9007199254740992, 1]", "9007199254740993"),
        ("?[int_sum(x)] := x in []", "0"),
        ("?[int_sum(x)] := x in [1, 0.5]", ""),
        ("?[int_sum(x)] := x in [9223372036854775807, 1]", ""),
    ],
    order_matters: false,
    start: |_| Ok(grouped(IntSum)),
    meet: None,
};

/// Sums have 128 bits, so that only the last one can be too large, in whatever order the integers come.
struct IntSum;

impl Kind for IntSum {
    type State = i128;

    fn initial(&self) -> i128 {
        0
    }

    fn update(&mut self, states: &mut [i128], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        match (values.as_dense_ints(), only_group(groups)) {
            (Some(ints), Some(group)) => states[group] += ints.iter().map(|int| i128::from(*int)).sum::<i128>(),
            (Some(ints), None) => {
                groups.iter().zip(ints).for_each(|(group, int)| states[*group as usize] += i128::from(*int));
            }
            (None, _) => for_each_value(values, |row, value| match value {
                DataValue::Num(Num::Int(int)) => {
                    states[groups[row] as usize] += i128::from(*int);
                    Ok(())
                }
                other => Err(unexpected("int_sum", "an Int", other)),
            })?,
        }
        Ok(())
    }

    fn absorb(&mut self, state: &mut i128, later: i128) -> Result<(), FunctionError> {
        *state += later;
        Ok(())
    }

    fn finish(&self, states: Vec<i128>) -> Result<Column, FunctionError> {
        let sums: Result<_, _> = states.into_iter().map(i64::try_from).collect();
        let too_large = || FunctionError::new("int_sum: the sum has more than 64 bits; use sum, a Float".to_string());
        Ok(Column::ints(sums.map_err(|_| too_large())?))
    }

    fn fork(&self) -> Self {
        IntSum
    }
}
