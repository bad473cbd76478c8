//! Fills a slot with the value of an expression, or with each element of a list. A Json array is a list of its elements.

use serde_json::Value;

use super::{Emit, Operator, Shape, frame, stopped};
use crate::budget::{Stop, temporary};
use crate::exec::error::ExecError;
use crate::exec::run::Worker;
use crate::exec::sink::{CONTINUE, Flow};
use crate::expr::functions::quote;
use crate::expr::{EvalError, Expr, Operand};
use crate::value::{Batch, Column, DataValue, JsonData, element_of_json};

/// Fills a slot with the value of an expression.
pub struct Unify<'a> {
    pub slot: usize,
    pub expr: &'a Expr,
    pub shape: Shape<'a>,
}

impl Operator for Unify<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let column = self.expr.eval(frame(&input, worker))?.into_column(input.len)?;
        let mut output = self.shape.pass(input);
        output.columns[self.slot] = column;
        emit(output, worker)
    }
}

/// Repeats a row for each element of a list.
pub struct Unnest<'a> {
    pub slot: Option<usize>,
    pub expr: &'a Expr,
    pub shape: Shape<'a>,
}

impl Operator for Unnest<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let lists = self.expr.eval(frame(&input, worker))?;
        let (mut row, mut element) = (0, 0);
        while row < input.len {
            let _passing = temporary();
            let room = self.shape.batch_rows(&input, worker.next_batch_rows()?);
            let mut rows: Vec<u32> = vec![];
            let mut column = Column::default();
            while row < input.len && rows.len() < room {
                let list = self.elements(&lists, row)?;
                let end = list.len().min(element + room - rows.len());
                if self.slot.is_some() {
                    for place in element..end {
                        column.push_owned(list.copy(place)?);
                    }
                }
                rows.resize(rows.len() + (end - element), row as u32);
                element = end;
                if element == list.len() {
                    (row, element) = (row + 1, 0);
                }
            }
            let mut output = self.shape.take(&input, &rows)?;
            if let Some(slot) = self.slot {
                output.columns[slot] = column;
            }
            let flow = emit(output, worker)?;
            if stopped(&flow) {
                return Ok(flow);
            }
        }
        CONTINUE
    }
}

impl Unnest<'_> {
    /// The list of a row.
    fn elements<'l>(&self, lists: &'l Operand<'_>, row: usize) -> Result<Elements<'l>, ExecError> {
        let value = match lists {
            Operand::Scalar(value) => &**value,
            Operand::Column(column) => match &**column {
                Column::Any(values) => &values[row],
                other => return Err(self.not_list(&other.get(row))),
            },
        };
        match value {
            DataValue::List(items) => Ok(Elements::List(items)),
            DataValue::Json(JsonData(Value::Array(items))) => Ok(Elements::Json(items)),
            _ => Err(self.not_list(value)),
        }
    }

    fn not_list(&self, found: &DataValue) -> ExecError {
        EvalError::NotList { found: quote(found), span: self.expr.span() }.into()
    }
}

/// The elements of a list. Those of a Json array are made one by one, since there may be many.
enum Elements<'l> {
    List(&'l [DataValue]),
    Json(&'l [Value]),
}

impl Elements<'_> {
    fn len(&self) -> usize {
        match self {
            Elements::List(items) => items.len(),
            Elements::Json(items) => items.len(),
        }
    }

    fn copy(&self, place: usize) -> Result<DataValue, Stop> {
        match self {
            Elements::List(items) => items[place].copy(),
            Elements::Json(items) => element_of_json(&items[place]),
        }
    }
}
