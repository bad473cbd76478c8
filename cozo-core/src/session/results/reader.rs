//! The contents of a stored relation, for exports.

use std::sync::Arc;

use super::rows::NamedRows;
use crate::budget::make_room;
use crate::exec::MAX_BATCH_ROWS;
use crate::fork::Process;
use crate::schema::{RelationSchema, SchemaRef};
use crate::storage::{KeyRange, Snapshot};
use crate::txn::{Transaction, TxnError};
use crate::value::Batch;

/// A stored relation at one moment. It can be read batch by batch, any number of times.
pub struct RelationReader {
    schema: SchemaRef,
    snapshot: Arc<dyn Snapshot>,
    /// The process that has the files of the snapshot open.
    process: Process,
}

impl Drop for RelationReader {
    fn drop(&mut self) {
        if !self.process.is_current() {
            std::mem::forget(self.snapshot.clone());
        }
    }
}

impl RelationReader {
    pub(crate) fn new(schema: SchemaRef, txn: &mut Transaction) -> Result<Self, TxnError> {
        let snapshot = txn.view(&[schema.id])?.shared(schema.id).clone();
        Ok(RelationReader { schema, snapshot, process: Process::current() })
    }

    /// The definition of the relation.
    pub fn definition(&self) -> &RelationSchema {
        &self.schema
    }

    /// The names of the columns, keys first.
    pub fn headers(&self) -> Vec<String> {
        self.schema.columns().map(|column| column.name.to_string()).collect()
    }

    /// The types of the columns, as a script spells them.
    pub fn types(&self) -> Vec<String> {
        self.schema.columns().map(|column| column.column_type.to_string()).collect()
    }

    /// The number of key columns.
    pub fn keys(&self) -> usize {
        self.schema.keys.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> miette::Result<bool> {
        self.process.check()?;
        let mut cursor = self.snapshot.scan(self.schema.id, &KeyRange::all(), &[], None)?;
        Ok(cursor.next_batch(1)?.is_none())
    }

    /// All rows in the order of their keys, some thousand at a time.
    pub fn batches(&self) -> miette::Result<impl Iterator<Item = miette::Result<Batch>> + '_> {
        self.process.check()?;
        let columns: Vec<usize> = (0..self.schema.arity()).collect();
        let mut cursor = self.snapshot.scan(self.schema.id, &KeyRange::all(), &columns, None)?;
        Ok(std::iter::from_fn(move || cursor.next_batch(MAX_BATCH_ROWS).map_err(Into::into).transpose()))
    }

    /// All rows at once.
    pub(crate) fn named_rows(&self) -> miette::Result<NamedRows> {
        let mut rows = Batch::empty(self.schema.arity());
        for batch in self.batches()? {
            let batch = batch?;
            make_room(batch.memory_bytes())?;
            rows.append(&batch);
        }
        Ok(NamedRows::from_batch(self.headers(), &rows)?)
    }
}
