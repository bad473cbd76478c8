//! Writing one row without making columns of it, as most writes of few rows can be.
//!
//! [`write_row`] covers `:put`, `:insert`, `:update`, `:rm` and `:delete` of a row whose values fit as they are, in a relation
//! without indices. In every other case, and where the operation would fail, it returns the row unchanged, and `mutate` does the
//! work and words the error. The two therefore cannot disagree.

use smallvec::SmallVec;

use crate::exec::error::ExecError;
use crate::parse::ast::MutationOp;
use crate::plan::{MutationPlan, ValueSource};
use crate::schema::{SchemaRef, value_surely_fits};
use crate::storage::{ChangeKind, ChangedRows};
use crate::txn::Transaction;
use crate::value::{DataValue, Tuple};

/// Puts or removes the row of an answer. Returns the row and does nothing where `mutate` must convert values, update indices or
/// report an error.
pub fn write_row(
    plan: &MutationPlan,
    schema: &SchemaRef,
    row: Tuple,
    txn: &mut Transaction,
) -> Result<Option<Tuple>, ExecError> {
    let (kind, wanted) = match plan.op {
        MutationOp::Put => (ChangeKind::Put, None),
        MutationOp::Insert => (ChangeKind::Put, Some(false)),
        MutationOp::Update => (ChangeKind::Put, Some(true)),
        MutationOp::Rm => (ChangeKind::Remove, None),
        MutationOp::Delete => (ChangeKind::Remove, Some(true)),
        MutationOp::Create | MutationOp::Replace | MutationOp::Ensure | MutationOp::EnsureNot => return Ok(Some(row)),
    };
    if schema.has_indices() || !fits(plan, schema, &row) {
        return Ok(Some(row));
    }
    let mut kept = SmallVec::new();
    if let Some(wanted) = wanted
        && (schema.keys.is_empty() || find(plan, schema, &row, txn, &mut kept)? != wanted)
    {
        return Ok(Some(row));
    }
    txn.write(schema, kind, ChangedRows::One(arranged(plan, row, kept)))?;
    Ok(None)
}

/// Values of a stored row.
type Values = SmallVec<[DataValue; 4]>;

/// Whether the row needs no change: column `i` of the relation is column `i` of the answer.
fn is_as_given(plan: &MutationPlan, row: &[DataValue]) -> bool {
    let as_given = |(i, source): (usize, &ValueSource)| matches!(source, ValueSource::Output(output) if *output == i);
    plan.sources.len() == row.len() && plan.sources.iter().enumerate().all(as_given)
}

/// Whether no value of a row has to be converted or computed.
fn fits(plan: &MutationPlan, schema: &SchemaRef, row: &[DataValue]) -> bool {
    plan.sources.iter().zip(schema.columns()).all(|(source, definition)| match source {
        ValueSource::Output(output) => value_surely_fits(&row[*output], &definition.column_type),
        ValueSource::Null => definition.column_type.nullable,
        ValueSource::Kept => true,
        ValueSource::Default(_) => false,
    })
}

/// Whether the relation has a row with the key of this one. Appends the values of that row that stay to `kept`.
fn find(
    plan: &MutationPlan,
    schema: &SchemaRef,
    row: &[DataValue],
    txn: &mut Transaction,
    kept: &mut Values,
) -> Result<bool, ExecError> {
    let (mut key, mut outputs) = (Values::new(), SmallVec::<[(usize, usize); 4]>::new());
    for (i, source) in plan.sources.iter().enumerate() {
        match source {
            ValueSource::Output(output) if i < schema.keys.len() => key.push(row[*output].clone()),
            ValueSource::Kept => {
                outputs.push((i, kept.len()));
                kept.push(DataValue::Null);
            }
            _ => {}
        }
    }
    Ok(txn.view(&[schema.id])?.of(schema.id).get(schema.id, &key, &outputs, kept)?)
}

/// The row of the relation that the row of an answer becomes. `kept` has the stored values that stay.
fn arranged(plan: &MutationPlan, mut row: Tuple, kept: Values) -> Tuple {
    if is_as_given(plan, &row) {
        return row;
    }
    let mut kept = kept.into_iter();
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
            ValueSource::Kept => kept.next().expect("as many as are kept"),
            ValueSource::Null | ValueSource::Default(_) => DataValue::Null,
        });
    }
    values
}
