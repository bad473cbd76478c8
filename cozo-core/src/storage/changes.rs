//! Changes of relations, as engines are given them.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use super::LogMark;
use crate::schema::{RelationId, SchemaRef};
use crate::value::{Batch, DataValue, SmallStr, Tuple, combine_hashes, hash_value};

/// Changes to relations, applied together.
#[derive(Clone, Debug, Default)]
pub struct ChangeSet {
    /// Relations and indices that begin to exist, empty.
    pub created: Vec<SchemaRef>,
    /// Relations and indices that cease to exist.
    pub dropped: Vec<RelationId>,
    /// Changed rows, applied after `created` and before `dropped`, in order.
    pub rows: SmallVec<[RowChanges; 2]>,
    /// The names in the catalog whose definition changes, with the new one (its indices are in it), `None` where the name
    /// is free afterwards. What outlives the process keeps them; they never say anything about rows.
    pub definitions: Vec<(SmallStr, Option<SchemaRef>)>,
    /// How far the commit log is applied with these changes. What outlives the process keeps it.
    pub log_mark: Option<LogMark>,
}

impl ChangeSet {
    /// Changes of rows alone.
    pub fn of_rows(rows: Vec<RowChanges>) -> Self {
        ChangeSet { rows: rows.into(), ..ChangeSet::default() }
    }

    /// Whether nothing changes but rows.
    pub fn has_rows_alone(&self) -> bool {
        self.created.is_empty() && self.dropped.is_empty() && self.definitions.is_empty() && self.log_mark.is_none()
    }

    /// Whether nothing changes but how far the commit log is applied.
    pub fn has_mark_alone(&self) -> bool {
        let is_empty = self.created.is_empty() && self.dropped.is_empty() && self.definitions.is_empty();
        is_empty && self.rows.is_empty() && self.log_mark.is_some()
    }
}

/// Changed rows of one relation.
#[derive(Clone, Debug)]
pub struct RowChanges {
    /// The relation.
    pub relation: RelationId,
    /// Whether the rows are put or removed.
    pub kind: ChangeKind,
    /// For puts all columns, for removals the key columns; sorted by key in the total order, each key once.
    pub rows: ChangedRows,
}

/// The rows of a [`RowChanges`].
#[derive(Clone, Debug)]
pub enum ChangedRows {
    /// One row, as most changes have: to make columns of it takes as long as to write it into a tree.
    One(Tuple),
    /// Any number.
    Many(Arc<Batch>),
}

impl RowChanges {
    /// Changes of rows that are sorted by key, each key once.
    pub fn new(relation: RelationId, kind: ChangeKind, rows: impl Into<ChangedRows>) -> Self {
        RowChanges { relation, kind, rows: rows.into() }
    }
}

impl ChangedRows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            ChangedRows::One(_) => 1,
            ChangedRows::Many(rows) => rows.len,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// About how many bytes the values take.
    pub fn memory_bytes(&self) -> usize {
        match self {
            ChangedRows::One(row) => row.iter().map(DataValue::memory_bytes).sum(),
            ChangedRows::Many(rows) => rows.memory_bytes(),
        }
    }

    /// The rows as columns.
    pub fn batch(&self) -> Cow<'_, Batch> {
        match self {
            ChangedRows::One(row) => Cow::Owned(Batch::of_row(row.iter().map(Cow::Borrowed))),
            ChangedRows::Many(rows) => Cow::Borrowed(rows),
        }
    }

    /// Mixes the values of the key columns into a hash for each row.
    pub fn hash_keys_into(&self, keys: usize, hashes: &mut [u64]) {
        match self {
            ChangedRows::One(row) => {
                row[..keys].iter().for_each(|value| hashes[0] = combine_hashes(hashes[0], hash_value(value)));
            }
            ChangedRows::Many(rows) => rows.columns[..keys].iter().for_each(|column| column.hash_into(hashes)),
        }
    }
}

impl From<Batch> for ChangedRows {
    fn from(rows: Batch) -> Self {
        ChangedRows::Many(Arc::new(rows))
    }
}

/// What happens to the rows of a [`RowChanges`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// They are there afterwards, in place of rows with the same keys.
    Put,
    /// They are gone afterwards; missing ones are ignored.
    Remove,
}
