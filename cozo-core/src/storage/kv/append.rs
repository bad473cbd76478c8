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
    relation: RelationId,
    codec: Option<Arc<RowCodec>>,
    /// The rows that were read last, and the first of them that was not given yet.
    batch: Cow<'c, Batch>,
    row: usize,
    /// How many rows are given before the next [`AppendedRows::go_on`].
    left: usize,
    is_done: bool,
}

impl<'c> AppendedRows<'c> {
    /// The rows of changes of known relations, at most so many at a time.
    pub fn new(relations: &'c OrdMap<RelationId, Relation>, changes: &'c [RowChanges], at_a_time: usize) -> Self {
        AppendedRows {
            relations,
            changes: changes.iter(),
            batches: Batches::One(None),
            relation: RelationId(0),
            codec: None,
            batch: Cow::Owned(Batch::default()),
            row: 0,
            left: at_a_time,
            is_done: false,
        }
    }

    /// Whether there may be more rows. If so, at most so many of them are given next.
    pub fn go_on(&mut self, at_a_time: usize) -> bool {
        self.left = at_a_time;
        !self.is_done
    }

    /// Reads until there is a row; returns whether there is.
    fn fill(&mut self) -> Result<bool, StorageError> {
        while self.row == self.batch.len {
            if let Some(rows) = self.batches.next() {
                (self.batch, self.row) = (rows?, 0);
                continue;
            }
            let Some(changes) = self.changes.next() else { return Ok(false) };
            let known = self.relations.get(&changes.relation);
            let known = known.ok_or(StorageError::NoSuchRelation(changes.relation.0))?;
            (self.relation, self.codec) = (changes.relation, Some(known.codec.clone()));
            self.batches = changes.rows.batches();
        }
        Ok(true)
    }
}

impl KvPairs for AppendedRows<'_> {
    fn next(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, StorageError> {
        if self.left == 0 {
            return Ok(false);
        }
        if !self.fill()? {
            self.is_done = true;
            return Ok(false);
        }
        key.clear();
        value.clear();
        key.extend_from_slice(&relation_prefix(self.relation));
        let codec = self.codec.as_ref().expect("there is a row, so there is a relation");
        codec.write_key(&self.batch.columns, self.row, key)?;
        codec.write_value(&self.batch.columns, self.row, value)?;
        self.row += 1;
        self.left -= 1;
        Ok(true)
    }
}
