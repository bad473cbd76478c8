//! Options that are expressions over the rows of nodes. They are evaluated on demand, a block of rows at a time.

use std::ops::Range;

use crate::expr::{Expr, Frame};
use crate::fixed_rule::{Call, FixedRuleError};
use crate::value::{Batch, Column, DataValue};

/// The number of rows evaluated together.
const BLOCK: usize = 256;

/// The values of an expression for rows. A block is evaluated when one of its rows is requested.
pub struct RowValues<'a> {
    expr: Expr,
    rows: &'a Batch,
    /// The values of further columns, which are the same for all rows.
    constants: Vec<DataValue>,
    /// The values of each block.
    blocks: Vec<Option<Column>>,
}

impl<'a> RowValues<'a> {
    /// An expression whose slots are the columns of `rows`, followed by constants.
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
            // Another row of the block may have failed, which was not requested.
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

/// The error for an invalid value of an option for a row.
pub fn wrong_value(call: &Call<'_>, option: &str, expected: &'static str, found: &DataValue) -> FixedRuleError {
    FixedRuleError::ExpressionWrong {
        rule: call.options.rule.to_string(),
        option: option.to_string(),
        expected,
        found: found.to_string(),
        span: call.options.span_of(option),
    }
}

/// The error for a node that the relation of nodes lacks.
pub fn node_not_found(call: &Call<'_>, input: usize, node: &DataValue) -> FixedRuleError {
    let span = call.inputs.get(input).map_or(call.options.span, |input| input.span);
    FixedRuleError::NodeNotFound { node: node.to_string(), span }
}
