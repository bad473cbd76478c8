//! What the upper layers see of an engine.
//!
//! ```text
//!  Storage ──snapshot──> Snapshot ──describe────────────> RelationState: shape, rows, cost, identity, tree
//!     │                     ├─scan, lookup ───────────> BatchCursor, LookupCursor
//!     │                     ├─get, contains, count ───> one value, one answer for each probe
//!     │                     ├─partition, split_at_rank> KeyRange
//!     │                     └─with_changes ───────────> Snapshot
//!     └──commit(changes)──> the next Snapshot
//! ```
//!
//! A decorator implements both traits and forwards what it does not change: [`cache`](super::cache) over
//! [`commit_log`](super::commit_log) over an engine. So each method is one that a decorator has something to say about, and
//! facts go together: [`Opened`], [`EngineTraits`], [`RelationState`].

use std::sync::Arc;

use super::changes::ChangeSet;
use super::column_tree::Tree;
use super::content_version::{ContentVersion, Identity};
use super::cursor::{BatchCursor, LookupCursor, probe_count};
use super::error::StorageError;
use super::log_mark::LogMark;
use super::range::{AsOf, End, KeyRange};
use super::shape::RelationShape;
use crate::schema::{RelationId, SchemaRef};
use crate::value::{Column, DataValue};

/// An engine that stores relations.
///
/// The commit pipeline calls [`Storage::commit`] from one thread at a time. Everything else may be called from any thread at
/// any time.
pub trait Storage: Send + Sync {
    /// The definitions of the relations, and what else the opening of the database has found.
    fn opened(&self) -> Result<Opened, StorageError>;

    /// The traits of the engine, which never change.
    fn traits(&self) -> EngineTraits {
        EngineTraits::default()
    }

    /// The contents after the last commit. The call is cheap and never waits for a commit.
    fn snapshot(&self) -> Arc<dyn Snapshot>;

    /// Called before each commit, for occasional work that may take long. Reads go on meanwhile.
    fn before_commit(&self) {}

    /// Applies the change sets in order, all or nothing, and returns the contents after them. After an error none of them is
    /// visible. After reopening, either all are visible or none; none if [`Storage::settle`] has succeeded. Earlier snapshots
    /// do not change. An engine that has the rows in memory may move them out of the changes, others leave the changes as they
    /// are.
    fn commit(&self, changes: &mut [ChangeSet]) -> Result<Arc<dyn Snapshot>, StorageError>;

    /// After a failed commit: makes sure that none of it comes back, now or after reopening. Fails if the engine cannot do
    /// that; then only the next opening shows the outcome.
    fn settle(&self) -> Result<(), StorageError> {
        Ok(())
    }

    /// The problems that the engine finds in its stored data, in words.
    fn verify(&self) -> Result<Vec<String>, StorageError> {
        Ok(vec![])
    }

    /// Gives back the space of removed and replaced rows. It may take long; reads and commits go on meanwhile.
    fn compact(&self) -> Result<(), StorageError> {
        Ok(())
    }
}

/// What the opening of a database finds.
#[derive(Debug, Default)]
pub struct Opened {
    /// The definitions of the stored relations.
    pub definitions: Vec<SchemaRef>,
    /// The mark of the commit log in the last commit that had one.
    pub log_mark: Option<LogMark>,
    /// The problems found, in words.
    pub warnings: Vec<String>,
}

/// The traits of an engine that decide how transactions are committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineTraits {
    /// A commit of at most this many rows is faster if the latest snapshot has no other holder. It is also quick enough for new
    /// readers to wait for it. It is 0 if there is no difference.
    pub max_rows_in_place: usize,
    /// Whether rows may be committed after their transaction has ended. That requires that a commit of rows alone cannot fail,
    /// and that no commit outlives the process.
    pub may_batch: bool,
    /// The number of rows for one commit with which an empty relation is filled fastest; 0 if there is no difference.
    pub rows_to_fill_with: usize,
}

/// The contents at one moment. A relation that was never created is empty.
pub trait Snapshot: Send + Sync {
    /// The facts about a relation, if it exists. They are found without reading rows.
    fn describe(&self, relation: RelationId) -> Option<RelationState<'_>>;

    /// The number of rows of the range, as exact as [`RelationState::rows`], or some greater number.
    fn row_count_within(&self, relation: RelationId, _range: &KeyRange) -> u64 {
        self.describe(relation).map_or(0, |state| state.rows)
    }

    /// The exact number of rows whose leading key columns are identical to these; none if counting would need a scan.
    fn count(&self, _relation: RelationId, _prefix: &[DataValue]) -> Option<u64> {
        None
    }

    /// All rows of the range in key order. `columns` lists the columns of the batches, in their order.
    ///
    /// With `as_of` only the rows that are visible at that time; see [`AsOf`]. The range then does not restrict the Validity
    /// column. An engine should find the visible version of a history, and the end of the history, by seeking.
    fn scan<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError>;

    /// Cuts a range into at most `parts` consecutive ranges of about equal size that together are the whole.
    fn partition(&self, _relation: RelationId, range: &KeyRange, _parts: usize) -> Vec<KeyRange> {
        vec![range.clone()]
    }

    /// Cuts off `rows` rows at an end of a range. Returns their range, and the range of the other rows, if there are any. None if
    /// the engine cannot find the cut without a scan.
    fn split_at_rank(
        &self,
        _relation: RelationId,
        _range: &KeyRange,
        _rows: u64,
        _end: End,
    ) -> Option<(KeyRange, Option<KeyRange>)> {
        None
    }

    /// For each row of `prefixes`, all stored rows whose leading key columns are identical to it. `prefixes` has one column for
    /// each leading key column, at least one. `columns` is as in [`Snapshot::scan`]. Matches come in the order of the prefixes,
    /// then in key order. Sorted prefixes are fastest but not required.
    ///
    /// With `as_of` the prefixes do not include the Validity column. A prefix of all key columns before it should cost an engine
    /// one seek.
    fn lookup<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError>;

    /// Finds the row with this key, which has a value for each key column. Returns whether there is one. Each of `outputs` is a
    /// column and the index in `places` for its value.
    fn get(
        &self,
        relation: RelationId,
        key: &[DataValue],
        outputs: &[(usize, usize)],
        places: &mut [DataValue],
    ) -> Result<bool, StorageError> {
        let prefixes: Vec<Column> = key.iter().map(|value| Column::repeat(value, 1)).collect();
        let columns: Vec<usize> = outputs.iter().map(|(column, _)| *column).collect();
        let mut cursor = self.lookup(relation, &prefixes, &columns, None)?;
        let Some(found) = cursor.next_matches(1)? else { return Ok(false) };
        outputs.iter().zip(&found.batch.columns).for_each(|((_, place), column)| places[*place] = column.get(0));
        Ok(true)
    }

    /// For each row of `prefixes`, whether [`Snapshot::lookup`] would find any row.
    fn contains(
        &self,
        relation: RelationId,
        prefixes: &[Column],
        as_of: Option<AsOf>,
    ) -> Result<Vec<bool>, StorageError> {
        self.lookup(relation, prefixes, &[], as_of)?.found(probe_count(prefixes))
    }

    /// These contents with uncommitted changes applied, as the transaction that made the changes sees them.
    fn with_changes(self: Arc<Self>, changes: ChangeSet) -> Result<Arc<dyn Snapshot>, StorageError>;
}

impl dyn Snapshot + '_ {
    /// The number of rows of a relation; see [`RelationState::rows`].
    pub fn row_count(&self, relation: RelationId) -> u64 {
        self.describe(relation).map_or(0, |state| state.rows)
    }
}

/// The facts about a relation in a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct RelationState<'s> {
    /// The number of columns.
    pub shape: RelationShape,
    /// The number of rows. It is an estimate if counting would need a scan.
    pub rows: u64,
    /// The approximate cost of reading a row, relative to a column tree. A scan with costly rows is divided among threads at
    /// fewer rows.
    pub row_cost: u64,
    /// The identity of the contents; none if the engine does not track changes.
    pub identity: Option<&'s Identity>,
    /// The rows as a column tree, if they are stored as one.
    pub tree: Option<&'s Tree>,
}

impl<'s> RelationState<'s> {
    /// The state of a relation that is stored as a column tree.
    pub(super) fn of(tree: &'s Tree) -> Self {
        let identity = Some(tree.identity());
        RelationState { shape: tree.shape(), rows: tree.row_count(), row_cost: 1, identity, tree: Some(tree) }
    }

    /// The version of the contents, which changes with every change.
    pub fn contents(&self) -> Option<ContentVersion> {
        self.identity.map(Identity::id)
    }
}
