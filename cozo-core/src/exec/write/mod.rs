//! Writing the rows of a query to a stored relation.
//!
//! [`write`](write()) takes rows as they are: a single row goes to `one_row`, if it is small and no report is asked for. All other rows
//! go to `batch`, which applies them as columns.

mod batch;
mod one_row;

use std::borrow::Cow;

pub use batch::Mutated;
use batch::mutate;
use one_row::write_row;

use crate::exec::error::ExecError;
use crate::exec::rows::Rows;
use crate::exec::thresholds::MAX_ROW_BYTES;
use crate::plan::MutationPlan;
use crate::schema::SchemaRef;
use crate::txn::Transaction;
use crate::value::{Batch, DataValue};

/// Applies the rows of an answer to `schema`, the relation of the plan as it is in the transaction. Says what it did if `report`.
#[inline(always)] // so that a row is not moved
pub fn write(
    plan: &MutationPlan,
    schema: &SchemaRef,
    rows: Rows,
    parameters: &[&DataValue],
    txn: &mut Transaction,
    report: bool,
) -> Result<Mutated, ExecError> {
    let rows = match rows {
        Rows::Many(rows) => rows,
        Rows::One(None, _) => Batch::empty(plan.outputs()),
        Rows::One(Some(row), bytes) => {
            let left = if report || bytes > MAX_ROW_BYTES { Some(row) } else { write_row(plan, schema, row, txn)? };
            let Some(row) = left else { return Ok(Mutated::default()) };
            Batch::of_row(row.into_iter().map(Cow::Owned))
        }
    };
    mutate(plan, schema, rows, parameters, txn, report)
}
