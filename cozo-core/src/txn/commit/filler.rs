//! Filling new relations: they are created and filled before any of them is visible.

use std::sync::Arc;

use crate::replica::ReplicaError;
use crate::schema::{RelationId, RelationSchema, SchemaRef, SearchIndex, with_indices};
use crate::storage::{ChangeKind, ChangeSet, KeyRange, RowChanges};
use crate::txn::catalog::Catalog;
use crate::txn::commit::pipeline::Pipeline;
use crate::txn::error::TxnError;
use crate::value::{Batch, SmallStr, compare_columns};

/// Fills new relations; see [`Pipeline::fill`] and [`Pipeline::fill_beside`].
pub struct Filler<'p> {
    pipeline: &'p Pipeline,
    /// The relations that were there before.
    catalog: Catalog,
    created: Vec<RelationId>,
    definitions: Vec<(SmallStr, Option<SchemaRef>)>,
    /// Rows of one relation in key order that are not put yet.
    pending: Option<(SchemaRef, Batch)>,
}

/// Pending rows of this many bytes are put, however few they are.
const FILLED_BYTES: usize = 16 << 20;

/// Rows that are counted at a time.
const COUNTED_ROWS: usize = 1 << 16;

impl Pipeline {
    /// Fills an empty database by a callback. No other commit runs meanwhile. Nothing is visible before the end, and nothing
    /// is left after an error.
    pub fn fill<E: From<TxnError>>(&self, fill: impl FnOnce(&mut Filler<'_>) -> Result<(), E>) -> Result<(), E> {
        self.fill_beside(|filler| {
            let first = filler.catalog.iter().next().map(|relation| relation.name.to_string());
            first.map_or(Ok(()), |name| Err(TxnError::NotEmpty(name)))?;
            fill(filler)
        })
    }

    /// [`Pipeline::fill`] of a database that may have other relations.
    pub fn fill_beside<E: From<TxnError>>(&self, fill: impl FnOnce(&mut Filler<'_>) -> Result<(), E>) -> Result<(), E> {
        if self.replica.is_some() {
            let help = "fill a database without a shared log, and open that one with the option 'shared' and a new log";
            return Err(TxnError::from(ReplicaError::Unsupported("be filled from files", help)).into());
        }
        let mut history = self.leader.lock();
        let _closed = self.batcher.close();
        self.commit_batched(&mut history.0);
        let catalog = self.current().catalog.clone();
        let mut filler = Filler { pipeline: self, catalog, created: vec![], definitions: vec![], pending: None };
        let outcome = fill(&mut filler).and_then(|()| {
            filler.flush()?;
            let changes = ChangeSet { definitions: std::mem::take(&mut filler.definitions), ..ChangeSet::default() };
            Ok(self.publish(&mut history.0, [], [], &mut [changes])?)
        });
        if outcome.is_err() {
            let undone = ChangeSet { dropped: filler.created, ..ChangeSet::default() };
            // If even that fails, the rest stays invisible, and the next opening removes it.
            let _ = self.storage.commit(&mut [undone]);
        }
        outcome
    }
}

impl Filler<'_> {
    /// Creates a relation with its indices, all empty and with identities of this database.
    pub fn create(&mut self, schema: &RelationSchema) -> Result<SchemaRef, TxnError> {
        let is_new = self.definitions.iter().all(|(name, _)| *name != schema.name);
        if !is_new || self.catalog.find(&schema.name).is_some() {
            return Err(TxnError::NameTaken(schema.name.to_string()));
        }
        let mut schema = RelationSchema { id: self.pipeline.next_relation_id(), ..schema.clone() };
        for index in &mut schema.indices {
            let id = self.pipeline.next_relation_id();
            index.schema = Arc::new(RelationSchema { id, ..RelationSchema::clone(&index.schema) });
        }
        let with_ids = |search: &SearchIndex| search.with_ids(&schema, || self.pipeline.next_relation_id());
        schema.searches = schema.searches.iter().map(with_ids).collect();
        let schema = Arc::new(schema);
        let created: Vec<SchemaRef> = with_indices(&schema).cloned().collect();
        self.created.extend(created.iter().map(|schema| schema.id));
        self.pipeline.storage.commit(&mut [ChangeSet { created, ..ChangeSet::default() }])?;
        self.definitions.push((schema.name.clone(), Some(schema.clone())));
        Ok(schema)
    }

    /// Puts rows into a relation or an index created before. They are sorted by key, and each key occurs once.
    pub fn put(&mut self, relation: &SchemaRef, rows: Batch) -> Result<(), TxnError> {
        match &mut self.pending {
            Some((pending, before)) if pending.id == relation.id && follow(relation.keys.len(), before, &rows) => {
                before.append(&rows);
            }
            _ => {
                self.flush()?;
                self.pending = Some((relation.clone(), rows));
            }
        }
        let enough = self.pipeline.traits.rows_to_fill_with;
        let is_much = |rows: &Batch| rows.len >= enough || rows.memory_bytes() >= FILLED_BYTES;
        if self.pending.as_ref().is_some_and(|(_, rows)| is_much(rows)) { self.flush() } else { Ok(()) }
    }

    /// Counts the rows of a relation created before, by a scan.
    pub fn count(&mut self, relation: &SchemaRef) -> Result<usize, TxnError> {
        self.flush()?;
        let snapshot = self.pipeline.storage.snapshot();
        let mut cursor = snapshot.scan(relation.id, &KeyRange::all(), &[], None)?;
        let mut rows = 0;
        while let Some(batch) = cursor.next_batch(COUNTED_ROWS)? {
            rows += batch.len;
        }
        Ok(rows)
    }

    fn flush(&mut self) -> Result<(), TxnError> {
        let Some((relation, rows)) = self.pending.take() else { return Ok(()) };
        let rows = RowChanges::new(relation.id, ChangeKind::Put, rows);
        self.pipeline.storage.before_commit();
        self.pipeline.storage.commit(&mut [ChangeSet::of_rows(vec![rows])])?;
        Ok(())
    }
}

/// Whether all rows come after those of another batch, in the order of their first `keys` columns.
fn follow(keys: usize, before: &Batch, rows: &Batch) -> bool {
    let Some(last) = before.len.checked_sub(1) else { return true };
    rows.is_empty() || compare_columns(&before.columns[..keys], last, &rows.columns[..keys], 0).is_lt()
}
