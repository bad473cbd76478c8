//! Callbacks for the changes of other processes.

use std::sync::Arc;

use super::callbacks::{CallbackOp, Callbacks, Change, named};
use crate::schema::RelationSchema;
use crate::storage::{ChangeKind, ChangeSet, RowChanges, Snapshot, StorageError};
use crate::txn::{Catalog, Observer};
use crate::value::{Batch, Column};

/// Turns the changes of other processes into messages.
pub struct Elsewhere(pub Arc<Callbacks>);

impl Observer for Elsewhere {
    fn listens(&self) -> bool {
        self.0.is_any()
    }

    fn changed(&self, catalog: &Catalog, before: &Arc<dyn Snapshot>, changes: &[ChangeSet]) {
        let (mut catalog, mut before) = (catalog.clone(), before.clone());
        let mut left: usize = changes.iter().map(|set| set.rows.len()).sum();
        for set in changes {
            catalog.apply(set, catalog.version + 1);
            if left > 1 && !set.created.is_empty() {
                let created = ChangeSet { created: set.created.clone(), ..ChangeSet::default() };
                before = after(before, created);
            }
            for rows in &set.rows {
                let schema =
                    catalog.iter().find(|schema| schema.id == rows.relation && self.0.listens_to(&schema.name));
                // What cannot be read is no reason to stop the replica: the channel closes, as for a receiver that is too slow.
                match schema.map(|schema| (schema, change(schema, &*before, rows))) {
                    Some((schema, Ok(Some(change)))) => self.0.committed(&schema.name, change),
                    Some((schema, Err(_))) => self.0.give_up(&schema.name),
                    _ => {}
                }
                left -= 1;
                if left > 0 {
                    before = after(before, ChangeSet::of_rows(vec![rows.clone()]));
                }
            }
        }
    }

    fn published(&self) {
        self.0.deliver();
    }
}

/// The state after changes. What cannot be applied is left out: then the rows before later changes are as they were before.
fn after(state: Arc<dyn Snapshot>, changes: ChangeSet) -> Arc<dyn Snapshot> {
    state.clone().with_changes(changes).unwrap_or(state)
}

/// The message about changed rows, if they changed anything.
pub fn change(
    schema: &RelationSchema,
    before: &dyn Snapshot,
    changes: &RowChanges,
) -> Result<Option<Change>, miette::Report> {
    let (mut new, mut old) = (Batch::empty(0), Batch::empty(schema.arity()));
    for batch in changes.rows.batches() {
        let batch = batch?;
        old.append_all(rows_before(schema, before, &batch.columns[..schema.keys.len()])?);
        match new.columns.is_empty() {
            true => new = batch.into_owned(),
            false => new.append_all(batch.into_owned()),
        }
    }
    let op = if changes.kind == ChangeKind::Put { CallbackOp::Put } else { CallbackOp::Rm };
    let is_change = if op == CallbackOp::Put { !new.is_empty() } else { !old.is_empty() };
    if !is_change {
        return Ok(None);
    }
    Ok(Some((op, named(schema, &new)?, named(schema, &old)?)))
}

/// The rows with some keys.
fn rows_before(schema: &RelationSchema, before: &dyn Snapshot, keys: &[Column]) -> Result<Batch, StorageError> {
    let columns: Vec<usize> = (0..schema.arity()).collect();
    let mut rows = Batch::empty(schema.arity());
    if before.describe(schema.id).is_none() {
        return Ok(rows);
    }
    let mut found = before.lookup(schema.id, keys, &columns, None)?;
    while let Some(matches) = found.next_matches(usize::MAX >> 1)? {
        rows.append_all(matches.batch);
    }
    Ok(rows)
}
