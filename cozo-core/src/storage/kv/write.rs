//! Change sets as one batch of bytes.

use imbl::OrdMap;

use super::catalog::{count_key, definition_bytes, definition_key, log_mark_key};
use super::engine::{KvBatch, KvSnapshot};
use super::keys::{ByteRange, Keys, RELATION_BYTES, relation_prefix};
use super::snapshot::{KvView, Relation, Sample};
use crate::schema::RelationId;
use crate::storage::changes::{ChangeKind, ChangeSet, RowChanges};
use crate::storage::codec::RowCodec;
use crate::storage::error::StorageError;
use crate::value::Batch;

/// The number of changed keys that are looked up, to see how many of them are new.
const SAMPLED_KEYS: usize = 8;

/// The next sample is taken once a relation has changed by one part in this many.
const SAMPLED_EVERY: u64 = 1024;

/// A number of rows is saved again once it has changed by more than this many rows and a share.
const SAVED_AFTER: u64 = 64;

/// Collects a commit. Nothing is written before the commit is complete, so an error leaves nothing behind.
pub(super) struct Writer<'a, S, B> {
    before: &'a KvView<S>,
    relations: OrdMap<RelationId, Relation>,
    batch: B,
    empty: bool,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<'a, S: KvSnapshot, B: KvBatch> Writer<'a, S, B> {
    pub fn new(batch: B, before: &'a KvView<S>) -> Self {
        let relations = before.relations.clone();
        Writer { before, relations, batch, empty: true, key: vec![], value: vec![] }
    }

    /// Whether nothing would be written.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// The batch to write, and the relations after it.
    pub fn finish(self) -> (B, OrdMap<RelationId, Relation>) {
        (self.batch, self.relations)
    }

    pub fn apply(&mut self, changes: &ChangeSet) -> Result<(), StorageError> {
        for schema in &changes.created {
            // Rows may be left of a commit that failed.
            if self.before.bytes.last_key(&ByteRange::of_relation(schema.id))?.is_some() {
                self.batch.delete_range(&ByteRange::of_relation(schema.id));
            }
        }
        self.create(changes);
        for rows in &changes.rows {
            self.apply_rows(rows)?;
        }
        self.define(changes)
    }

    /// Applies changes whose rows the engine has already, all of them in relations that are created.
    pub fn apply_appended(&mut self, changes: &ChangeSet) -> Result<(), StorageError> {
        self.create(changes);
        count_appended(&mut self.relations, &changes.rows);
        self.define(changes)
    }

    fn create(&mut self, changes: &ChangeSet) {
        for schema in &changes.created {
            // The batch has no bytes for it, but the relation begins to exist.
            self.empty = false;
            self.relations.insert(schema.id, Relation::new(schema, 0));
        }
    }

    /// Applies all but created relations and rows.
    fn define(&mut self, changes: &ChangeSet) -> Result<(), StorageError> {
        for relation in &changes.dropped {
            self.drop_relation(*relation);
        }
        for (name, schema) in &changes.definitions {
            self.empty = false;
            match schema {
                Some(schema) => self.batch.put(&definition_key(name), &definition_bytes(schema)?),
                None => self.batch.delete(&definition_key(name)),
            }
        }
        if let Some(mark) = changes.log_mark {
            self.empty = false;
            self.batch.put(&log_mark_key(), mark.to_text().as_bytes());
        }
        Ok(())
    }

    fn drop_relation(&mut self, relation: RelationId) {
        if self.relations.remove(&relation).is_some() {
            self.empty = false;
            self.batch.delete_range(&ByteRange::of_relation(relation));
            self.batch.delete(&count_key(relation));
        }
    }

    fn apply_rows(&mut self, changes: &RowChanges) -> Result<(), StorageError> {
        let relation = changes.relation;
        let known = self.relations.get_mut(&relation).ok_or(StorageError::NoSuchRelation(relation.0))?;
        let codec = known.codec.clone();
        self.key.clear();
        self.key.extend_from_slice(&relation_prefix(relation));
        for rows in changes.rows.batches() {
            let rows = rows?;
            let known = self.relations.get_mut(&relation).ok_or(StorageError::NoSuchRelation(relation.0))?;
            self.before.count_change(relation, known, changes.kind, &rows)?;
            self.empty &= rows.is_empty();
            match changes.kind {
                ChangeKind::Put => self.put(&codec, &rows)?,
                ChangeKind::Remove => self.remove(&codec, &rows)?,
            }
        }
        Ok(())
    }

    fn put(&mut self, codec: &RowCodec, rows: &Batch) -> Result<(), StorageError> {
        for row in 0..rows.len {
            self.key.truncate(RELATION_BYTES);
            self.value.clear();
            codec.write_key(&rows.columns, row, &mut self.key)?;
            codec.write_value(&rows.columns, row, &mut self.value)?;
            self.batch.put(&self.key, &self.value);
        }
        Ok(())
    }

    fn remove(&mut self, codec: &RowCodec, rows: &Batch) -> Result<(), StorageError> {
        for row in 0..rows.len {
            self.key.truncate(RELATION_BYTES);
            codec.write_key(&rows.columns, row, &mut self.key)?;
            self.batch.delete(&self.key);
        }
        Ok(())
    }

    /// Saves the numbers of rows that have changed by more than one part in `parts`; with 0, all that have changed.
    pub fn save_counts(&mut self, parts: u64) {
        let stale = |relation: &Relation| {
            let allowed = relation.saved_rows.checked_div(parts).map_or(0, |share| share + SAVED_AFTER);
            relation.rows.abs_diff(relation.saved_rows) > allowed
        };
        let ids: Vec<RelationId> =
            self.relations.iter().filter(|(_, relation)| stale(relation)).map(|(id, _)| *id).collect();
        for id in ids {
            if let Some(relation) = self.relations.get_mut(&id) {
                self.empty = false;
                relation.saved_rows = relation.rows;
                self.batch.put(&count_key(id), relation.rows.to_string().as_bytes());
            }
        }
    }
}

/// Adds rows that were appended to the numbers of rows of their relations.
pub(super) fn count_appended(relations: &mut OrdMap<RelationId, Relation>, changes: &[RowChanges]) {
    for RowChanges { relation, rows, .. } in changes {
        if let Some(known) = relations.get_mut(relation) {
            known.rows += rows.len() as u64;
        }
    }
}

impl<S: KvSnapshot> KvView<S> {
    /// Updates the approximate number of rows of a relation for a change.
    fn count_change(
        &self,
        id: RelationId,
        relation: &mut Relation,
        kind: ChangeKind,
        rows: &Batch,
    ) -> Result<(), StorageError> {
        let changed = rows.len as u64;
        let sample = match kind {
            ChangeKind::Put => &mut relation.put,
            ChangeKind::Remove => &mut relation.removed,
        };
        match sample.rows_left.checked_sub(changed) {
            Some(rows_left) => sample.rows_left = rows_left,
            None => {
                let share_present = self.share_present(id, &relation.codec, rows)?;
                *sample = Sample { share_present, rows_left: relation.rows / SAMPLED_EVERY };
            }
        }
        let present = (sample.share_present * changed as f64).round() as u64;
        relation.rows = match kind {
            ChangeKind::Put => relation.rows + changed - present,
            ChangeKind::Remove => relation.rows.saturating_sub(present),
        };
        Ok(())
    }

    /// The share of the rows whose keys exist, by a sample.
    fn share_present(&self, id: RelationId, codec: &RowCodec, rows: &Batch) -> Result<f64, StorageError> {
        if rows.is_empty() || !self.relations.contains_key(&id) {
            return Ok(0.0);
        }
        let mut keys = Keys::default();
        let sampled = rows.len.min(SAMPLED_KEYS);
        for sample in 0..sampled {
            keys.push_with(|out| {
                out.extend_from_slice(&relation_prefix(id));
                codec.write_key(&rows.columns, sample * rows.len / sampled, out)?;
                Ok(true)
            })?;
        }
        let mut present = 0;
        self.bytes.get_all(&keys, &mut |_, _| {
            present += 1;
            Ok(())
        })?;
        Ok(f64::from(present) / sampled as f64)
    }
}
