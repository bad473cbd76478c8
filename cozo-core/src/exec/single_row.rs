//! Writing one row without making columns of it, as most writes of few rows can be.

use super::ExecError;
use crate::parse::ast::MutationOp;
use crate::plan::{MutationPlan, ValueSource};
use crate::schema::{SchemaRef, value_surely_fits};
use crate::storage::{ChangeKind, ChangedRows};
use crate::txn::Transaction;
use crate::value::{DataValue, Tuple};

/// Larger rows are made columns of: engines that keep bytes make them anyway, and what is large is copied once.
pub const MAX_ROW_BYTES: usize = 1024;

/// Puts or removes the row of an answer, if nobody asks what was there before. Gives it back, and does nothing, where
/// [`mutate`](super::mutate) is to do more: to look for rows that are there, to convert values, or to say which does not fit.
pub fn write_row(
    plan: &MutationPlan,
    schema: &SchemaRef,
    row: Tuple,
    txn: &mut Transaction,
) -> Result<Option<Tuple>, ExecError> {
    let kind = match plan.op {
        MutationOp::Put => ChangeKind::Put,
        MutationOp::Rm => ChangeKind::Remove,
        _ => return Ok(Some(row)),
    };
    if !schema.indices.is_empty() {
        return Ok(Some(row));
    }
    match fitted(plan, schema, row) {
        Ok(row) => {
            txn.write(schema, kind, ChangedRows::One(row))?;
            Ok(None)
        }
        Err(row) => Ok(Some(row)),
    }
}

/// The row of the relation that the row of an answer becomes; itself if a value would have to be converted or computed.
fn fitted(plan: &MutationPlan, schema: &SchemaRef, mut row: Tuple) -> Result<Tuple, Tuple> {
    let as_given = |(i, source): (usize, &ValueSource)| matches!(source, ValueSource::Output(output) if *output == i);
    if plan.sources.len() == row.len() && plan.sources.iter().enumerate().all(as_given) {
        let fit = row.iter().zip(schema.columns()).all(|(value, column)| value_surely_fits(value, &column.column_type));
        return if fit { Ok(row) } else { Err(row) };
    }
    for (source, definition) in plan.sources.iter().zip(schema.columns()) {
        let fits = match source {
            ValueSource::Output(output) => value_surely_fits(&row[*output], &definition.column_type),
            ValueSource::Null => definition.column_type.nullable,
            ValueSource::Default(_) | ValueSource::Kept => false,
        };
        if !fits {
            return Err(row);
        }
    }
    let mut values = Tuple::with_capacity(plan.sources.len());
    for (i, source) in plan.sources.iter().enumerate() {
        values.push(match source {
            ValueSource::Output(output) => {
                let again = |later: &ValueSource| matches!(later, ValueSource::Output(other) if other == output);
                match plan.sources[i + 1..].iter().any(again) {
                    true => row[*output].clone(),
                    false => std::mem::take(&mut row[*output]),
                }
            }
            _ => DataValue::Null,
        });
    }
    Ok(values)
}
