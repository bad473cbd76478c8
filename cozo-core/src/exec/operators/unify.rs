//! Fills a slot with the value of an expression, or with each element of a list.

use std::borrow::Cow;

use super::{Emit, Operator, Shape, frame, stopped};
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::{ExecError, Worker};
use crate::expr::{EvalError, Expr, Operand};
use crate::value::{Batch, Column, DataValue};

/// Fills a slot with the value of an expression.
pub struct Unify<'a> {
    pub slot: usize,
    pub expr: &'a Expr,
    pub shape: Shape<'a>,
}

impl Operator for Unify<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let column = self.expr.eval(frame(&input, worker))?.into_column(input.len);
        let mut output = self.shape.pass(input);
        output.columns[self.slot] = column;
        emit(output, worker)
    }
}

/// Repeats a row for each element of a list.
pub struct UnifyEach<'a> {
    pub slot: Option<usize>,
    pub expr: &'a Expr,
    pub shape: Shape<'a>,
}

impl Operator for UnifyEach<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let lists = self.lists(&input, worker)?;
        let (mut row, mut element) = (0, 0);
        while row < input.len {
            let room = worker.next_batch_rows()?;
            let mut rows: Vec<u32> = vec![];
            let mut column = Column::default();
            while row < input.len && rows.len() < room {
                let list = self.elements(&lists, row)?;
                let end = list.len().min(element + room - rows.len());
                if self.slot.is_some() {
                    list[element..end].iter().for_each(|value| column.push(value));
                }
                rows.resize(rows.len() + (end - element), row as u32);
                element = end;
                if element == list.len() {
                    (row, element) = (row + 1, 0);
                }
            }
            let mut output = self.shape.take(&input, &rows);
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

/// The lists of the rows of a batch.
enum Lists<'a> {
    /// The same for all; one that is a constant or a parameter stays where it is, since it may be long.
    Same(Cow<'a, DataValue>),
    /// One for each row.
    Rows(Column),
}

impl<'a> UnifyEach<'a> {
    fn lists<'r: 'a>(&self, input: &Batch, worker: &Worker<'r>) -> Result<Lists<'a>, ExecError> {
        let expr: &'a Expr = self.expr;
        if let Some(value) = expr.given(worker.run.parameters) {
            return Ok(Lists::Same(Cow::Borrowed(value)));
        }
        Ok(match expr.eval(frame(input, worker))? {
            Operand::Scalar(value) => Lists::Same(Cow::Owned(value)),
            Operand::Column(column) => Lists::Rows(column.into_owned()),
        })
    }

    /// The list of a row.
    fn elements<'l>(&self, lists: &'l Lists<'_>, row: usize) -> Result<&'l [DataValue], ExecError> {
        let value = match lists {
            Lists::Same(value) => value,
            Lists::Rows(column) => match column {
                Column::Any(values) => &values[row],
                other => return Err(self.not_list(&other.get(row))),
            },
        };
        value.get_slice().ok_or_else(|| self.not_list(value))
    }

    fn not_list(&self, found: &DataValue) -> ExecError {
        let found = format!("{found} ({})", found.type_name());
        EvalError::NotList { found, span: self.expr.span() }.into()
    }
}
