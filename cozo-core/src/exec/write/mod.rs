//! Writing the rows of a query to a stored relation.
//!
//! [`write`](write()) takes rows as they are: a single row goes to `one_row`, if it is small and no report is asked for. All other rows
//! go to `batch`, which applies them as columns, or, if memory does not hold them, to `stream`. [`build_index`] fills an ordinary index.

mod batch;
mod index;
mod one_row;
mod stream;

use std::borrow::Cow;
use std::sync::Arc;

pub use batch::Mutated;
use batch::mutate;
pub use index::build_index;
use one_row::write_row;
use stream::{in_parts, is_large, is_streamed, put_stream};

use crate::exec::error::ExecError;
use crate::exec::rows::Rows;
use crate::exec::sorting::Disk;
use crate::exec::thresholds::MAX_ROW_BYTES;
use crate::plan::MutationPlan;
use crate::schema::SchemaRef;
use crate::spill::SpillSpace;
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
    space: Option<&Arc<SpillSpace>>,
) -> Result<Mutated, ExecError> {
    let space = space.filter(|_| !report && is_streamed(plan, schema));
    let rows = match (rows, space) {
        (Rows::Many(rows), Some(space)) if is_large(&rows, schema) => {
            let given = put_stream(plan, schema, in_parts(&rows), parameters, txn, &Disk::of_current(space))?;
            return Ok(Mutated { given, ..Mutated::default() });
        }
        (Rows::Many(rows), _) => rows,
        (Rows::Stream(mut rows), Some(space)) => {
            let next = || rows.next_rows();
            let given = put_stream(plan, schema, next, parameters, txn, &Disk::of_current(space))?;
            return Ok(Mutated { given, ..Mutated::default() });
        }
        (Rows::Stream(rows), None) => rows.collect()?,
        (Rows::One(None, _), _) => Batch::empty(plan.outputs()),
        (Rows::One(Some(row), bytes), _) => {
            let left = if report || bytes > MAX_ROW_BYTES { Some(row) } else { write_row(plan, schema, row, txn)? };
            let Some(row) = left else { return Ok(Mutated { given: 1, ..Mutated::default() }) };
            Batch::of_row(row.into_iter().map(Cow::Owned))
        }
    };
    let given = rows.len;
    Ok(Mutated { given, ..mutate(plan, schema, rows, parameters, txn, report)? })
}
