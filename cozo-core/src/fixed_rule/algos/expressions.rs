//! Options that are expressions over the rows of nodes: evaluated a block of rows at a time, when one of them is asked for.

use std::ops::Range;

use crate::expr::{Expr, Frame};
use crate::fixed_rule::{Call, FixedRuleError};
use crate::value::{Batch, Column, DataValue};

/// How many rows are evaluated together.
const BLOCK: usize = 256;

/// The values of an expression for rows, those of a block once one of it is asked for.
pub struct RowValues<'a> {
    expr: Expr,
    rows: &'a Batch,
    /// Columns after those of the rows: the same for all of them.
    constants: Vec<DataValue>,
    /// The values of each block.
    blocks: Vec<Option<Column>>,
}

impl<'a> RowValues<'a> {
    /// An expression whose slots are the columns of `rows`, and after them constants.
    pub fn new(expr: Expr, rows: &'a Batch, constants: Vec<DataValue>) -> Self {
        let blocks = std::iter::repeat_with(|| None).take(rows.len.div_ceil(BLOCK)).collect();
        RowValues { expr, rows, constants, blocks }
    }

    /// The value for a row.
    pub fn get(&mut self, row: usize) -> Result<DataValue, FixedRuleError> {
        let block = row / BLOCK;
        if let Some(values) = &self.blocks[block] {
            return Ok(values.get(row % BLOCK));
        }
        let rows = block * BLOCK..((block + 1) * BLOCK).min(self.rows.len);
        match self.evaluate(rows) {
            Ok(values) => {
                let value = values.get(row % BLOCK);
                self.blocks[block] = Some(values);
                Ok(value)
            }
            // It may be another row that fails, which nobody asked for.
            Err(_) => Ok(self.evaluate(row..row + 1)?.get(0)),
        }
    }

    fn evaluate(&self, range: Range<usize>) -> Result<Column, FixedRuleError> {
        let len = range.len();
        let rows = self.rows.columns.iter().map(|column| column.slice(range.clone()));
        let columns: Vec<Column> = rows.chain(self.constants.iter().map(|value| Column::repeat(value, len))).collect();
        Ok(self.expr.eval(Frame { columns: &columns, len, parameters: &[] })?.into_column(len)?)
    }
}

/// The error of a value that an option must not have for some row.
pub fn wrong_value(call: &Call<'_>, option: &str, expected: &'static str, found: &DataValue) -> FixedRuleError {
    FixedRuleError::ExpressionWrong {
        rule: call.options.rule.to_string(),
        option: option.to_string(),
        expected,
        found: found.to_string(),
        span: call.options.span_of(option),
    }
}

/// The error of a node that the relation of nodes lacks.
pub fn node_not_found(call: &Call<'_>, input: usize, node: &DataValue) -> FixedRuleError {
    let span = call.inputs.get(input).map_or(call.options.span, |input| input.span);
    FixedRuleError::NodeNotFound { node: node.to_string(), span }
}
