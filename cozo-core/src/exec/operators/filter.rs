//! Keeps rows for which an expression is true, or for which a slot has a given value.

use super::{Emit, Operator, Shape, frame};
use crate::exec::run::Worker;
use crate::exec::sink::{CONTINUE, Flow};
use crate::expr::{Condition, Expr};
use crate::value::Batch;

/// Keeps rows for which an expression is true.
pub struct Filter<'a> {
    pub expr: &'a Expr,
    pub shape: Shape<'a>,
}

impl Operator for Filter<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let condition = self.expr.eval_condition(frame(&input, worker))?;
        match condition {
            Condition::All(false) => CONTINUE,
            Condition::All(true) => emit(self.shape.pass(input), worker),
            Condition::Rows(holds) => emit_where(&self.shape, input, &holds, worker, emit),
        }
    }
}

/// Keeps rows for which a slot and an expression are the same value.
pub struct Same<'a> {
    pub slot: usize,
    pub expr: &'a Expr,
    pub shape: Shape<'a>,
}

impl Operator for Same<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let wanted = self.expr.eval(frame(&input, worker))?.into_shared_column(input.len)?;
        let found = &input.columns[self.slot];
        let holds: Vec<bool> = (0..input.len).map(|row| found.equals_at(row, &wanted, row)).collect();
        emit_where(&self.shape, input, &holds, worker, emit)
    }
}

/// Emits the rows for which `holds` is true.
pub fn emit_where(
    shape: &Shape<'_>,
    input: Batch,
    holds: &[bool],
    worker: &mut Worker<'_>,
    emit: &mut Emit<'_>,
) -> Flow {
    let rows = selected(holds);
    if rows.len() == input.len {
        emit(shape.pass(input), worker)
    } else if rows.is_empty() {
        CONTINUE
    } else {
        emit(shape.take(&input, &rows)?, worker)
    }
}

/// The numbers of the rows for which `holds` is true. Without branches, which would be predicted wrong: each number is written,
/// and the next one overwrites it unless its row holds.
fn selected(holds: &[bool]) -> Vec<u32> {
    let mut rows = vec![0; holds.len()];
    let mut count = 0;
    for (row, holds) in holds.iter().enumerate() {
        rows[count] = row as u32;
        count += usize::from(*holds);
    }
    rows.truncate(count);
    rows
}
