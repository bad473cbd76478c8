//! Rows that are appended: as keys and values, one after the other, so that only a batch of them is in memory.

use std::borrow::Cow;
use std::slice::Iter;
use std::sync::Arc;

use imbl::OrdMap;

use super::engine::KvPairs;
use super::keys::relation_prefix;
use super::snapshot::Relation;
use crate::schema::RelationId;
use crate::storage::changes::{Batches, RowChanges};
use crate::storage::codec::RowCodec;
use crate::storage::error::StorageError;
use crate::value::Batch;

/// The rows of changes, all of which are puts.
pub(super) struct AppendedRows<'c> {
    relations: &'c OrdMap<RelationId, Relation>,
    changes: Iter<'c, RowChanges>,
    /// The rows of one relation that are not read yet.
    batches: Batches<'c>,
    /// That relation, and the codec of its rows.
    relation: Option<(RelationId, Arc<RowCodec>)>,
    /// The rows that were read last, and the first of them that was not given yet.
    batch: Cow<'c, Batch>,
    row: usize,
    /// How many rows are given before the next [`AppendedRows::go_on`].
    left: usize,
    is_done: bool,
}

impl<'c> AppendedRows<'c> {
    /// All rows of changes of known relations.
    pub fn new(relations: &'c OrdMap<RelationId, Relation>, changes: &'c [RowChanges]) -> Self {
        AppendedRows {
            relations,
            changes: changes.iter(),
            batches: Batches::One(None),
            relation: None,
            batch: Cow::Owned(Batch::default()),
            row: 0,
            left: usize::MAX,
            is_done: false,
        }
    }

    /// Whether there may be more rows. If so, at most so many of them are given next.
    pub fn go_on(&mut self, at_a_time: usize) -> bool {
        self.left = at_a_time;
        !self.is_done
    }

    /// Reads until there is a row that was not given yet, or to the end.
    fn fill(&mut self) -> Result<(), StorageError> {
        while self.row == self.batch.len {
            if let Some(rows) = self.batches.next() {
                (self.batch, self.row) = (rows?, 0);
                continue;
            }
            let Some(RowChanges { relation, rows, .. }) = self.changes.next() else { return Ok(()) };
            let known = self.relations.get(relation).ok_or(StorageError::NoSuchRelation(relation.0))?;
            self.relation = Some((*relation, known.codec.clone()));
            self.batches = rows.batches();
        }
        Ok(())
    }
}

impl KvPairs for AppendedRows<'_> {
    fn next(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, StorageError> {
        if self.left == 0 {
            return Ok(false);
        }
        self.fill()?;
        let Some((relation, codec)) = self.relation.as_ref().filter(|_| self.row < self.batch.len) else {
            self.is_done = true;
            return Ok(false);
        };
        key.clear();
        value.clear();
        key.extend_from_slice(&relation_prefix(*relation));
        codec.write_key(&self.batch.columns, self.row, key)?;
        codec.write_value(&self.batch.columns, self.row, value)?;
        self.row += 1;
        self.left -= 1;
        Ok(true)
    }
}
