//! Changes of relations, in the form that engines apply.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use super::cursor::BatchCursor;
use super::error::StorageError;
use super::log_mark::LogMark;
use crate::schema::{RelationId, SchemaRef};
use crate::value::{Batch, DataValue, SmallStr, Tuple};

/// Changes to relations, applied together.
#[derive(Clone, Debug, Default)]
pub struct ChangeSet {
    /// Relations and indices that begin to exist. They are empty.
    pub created: Vec<SchemaRef>,
    /// Relations and indices that cease to exist.
    pub dropped: Vec<RelationId>,
    /// Changed rows. They are applied in order, after `created` and before `dropped`.
    pub rows: SmallVec<[RowChanges; 2]>,
    /// The names in the catalog whose definition changes, with the new definition and its indices; `None` if the name becomes
    /// free. Persistent engines store them. They do not change rows.
    pub definitions: Vec<(SmallStr, Option<SchemaRef>)>,
    /// The position up to which the commit log is applied with these changes. Persistent engines store it.
    pub log_mark: Option<LogMark>,
}

impl ChangeSet {
    /// Changes of rows alone.
    pub fn of_rows(rows: Vec<RowChanges>) -> Self {
        ChangeSet { rows: rows.into(), ..ChangeSet::default() }
    }

    /// Whether only rows change.
    pub fn has_rows_alone(&self) -> bool {
        self.created.is_empty() && self.dropped.is_empty() && self.definitions.is_empty() && self.log_mark.is_none()
    }

    /// Whether only the mark of the commit log changes.
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
    /// All columns for puts, the key columns for removals; sorted by key in the total order, each key once.
    pub rows: ChangedRows,
}

/// The rows of a [`RowChanges`].
#[derive(Clone, Debug)]
pub enum ChangedRows {
    /// One row, as in most changes. Making columns of it would take as long as writing it into a tree.
    One(Tuple),
    /// Any number of rows.
    Many(Arc<Batch>),
    /// More rows than memory should hold.
    Source(Arc<dyn RowSource>),
}

/// Rows that are read batch by batch, any number of times.
pub trait RowSource: std::fmt::Debug + Send + Sync {
    /// The number of rows.
    fn row_count(&self) -> usize;

    /// Begins to read the rows.
    fn read(&self) -> Box<dyn BatchCursor + '_>;
}

/// The rows of a batch, or of each batch of a source.
pub enum Batches<'c> {
    /// One batch, or none.
    One(Option<Cow<'c, Batch>>),
    /// A source.
    Source(Box<dyn BatchCursor + 'c>),
}

/// The rows that are read of a source at a time.
const SOURCE_ROWS: usize = 1 << 14;

impl<'c> Iterator for Batches<'c> {
    type Item = Result<Cow<'c, Batch>, StorageError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Batches::One(batch) => batch.take().map(Ok),
            Batches::Source(cursor) => Some(cursor.next_batch(SOURCE_ROWS).transpose()?.map(Cow::Owned)),
        }
    }
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
            ChangedRows::Source(rows) => rows.row_count(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The approximate size of the values in memory.
    pub fn memory_bytes(&self) -> usize {
        match self {
            ChangedRows::One(row) => row.iter().map(DataValue::memory_bytes).sum(),
            ChangedRows::Many(rows) => rows.memory_bytes(),
            ChangedRows::Source(_) => 0,
        }
    }

    /// The rows as columns.
    pub fn batches(&self) -> Batches<'_> {
        match self {
            ChangedRows::One(row) => Batches::One(Some(Cow::Owned(Batch::of_row(row.iter().map(Cow::Borrowed))))),
            ChangedRows::Many(rows) => Batches::One(Some(Cow::Borrowed(rows))),
            ChangedRows::Source(rows) => Batches::Source(rows.read()),
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
    /// The rows are stored, and replace rows with the same keys.
    Put,
    /// The rows are removed. Missing rows are ignored.
    Remove,
}
