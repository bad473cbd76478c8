//! Stored relations as a run reads them: as they are, or as of a time.
//!
//! A [`Stored`] is a relation of the run's snapshot with the timestamp at which its history is read, if any. It forwards to
//! [`Snapshot`], and answers differently as of a time: no tree, no ranks and no content version, since the rows that are visible
//! then lie among others. A range is never divided within a history, so that each history is read by one thread.

use crate::index::search::Indexed;
use crate::program::{SearchCall, StoredRead};
use crate::schema::RelationId;
use crate::storage::ColumnTree;
use crate::storage::{AsOf, BatchCursor, ContentVersion, End, KeyRange, LookupCursor, Snapshot, StorageError};
use crate::txn::is_ephemeral;
use crate::value::Column;

use crate::exec::run::Run;

/// A search index as a run reads it.
pub fn indexed<'a>(call: &'a SearchCall, run: &'a Run<'a>) -> Indexed<'a> {
    let (relation, index, extractor) = (&*call.schema, &call.index, &call.extractor);
    Indexed { relation, index, extractor, snapshot: run.input.view.of(relation.id), cache: run.caches.searches }
}

/// A stored relation that a run reads.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    snapshot: &'a dyn Snapshot,
    relation: RelationId,
    as_of: Option<AsOf>,
}

impl<'a> Stored<'a> {
    /// The relation of a source.
    pub fn of(read: &StoredRead, run: &'a Run<'a>) -> Self {
        let relation = read.schema.id;
        let at = |time| AsOf { column: read.identifying_columns(), micros: run.timestamp(time) };
        let as_of = read.as_of.as_ref().map(at);
        Stored { snapshot: run.input.view.of(relation), relation, as_of }
    }

    /// A relation as it is in a snapshot, outside of a run.
    #[cfg(feature = "petgraph")]
    pub fn whole(snapshot: &'a dyn Snapshot, relation: RelationId) -> Self {
        Stored { snapshot, relation, as_of: None }
    }

    /// Tells it from other reads of the same run.
    pub fn identity(&self) -> (RelationId, Option<AsOf>) {
        (self.relation, self.as_of)
    }

    /// The relation and the version of its contents. `None` if it is read as of a time, lives in one transaction only, or the
    /// engine does not track changes.
    pub fn contents(&self) -> Option<(RelationId, ContentVersion)> {
        if self.as_of.is_some() || is_ephemeral(self.relation) {
            return None;
        }
        Some((self.relation, self.snapshot.describe(self.relation)?.contents()?))
    }

    /// The rows as a column tree, if the engine stores them so and all are read.
    pub fn tree(&self) -> Option<&'a ColumnTree> {
        if self.as_of.is_some() { None } else { self.snapshot.describe(self.relation)?.tree }
    }

    /// See [`Snapshot::scan`].
    pub fn scan(&self, range: &KeyRange, columns: &[usize]) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        self.snapshot.scan(self.relation, range, columns, self.as_of)
    }

    /// See [`Snapshot::lookup`].
    pub fn lookup<'c>(
        &self,
        prefixes: &'c [Column],
        columns: &[usize],
    ) -> Result<Box<dyn LookupCursor + 'c>, StorageError>
    where
        'a: 'c,
    {
        self.snapshot.lookup(self.relation, prefixes, columns, self.as_of)
    }

    /// See [`Snapshot::contains`].
    pub fn contains(&self, prefixes: &[Column]) -> Result<Vec<bool>, StorageError> {
        self.snapshot.contains(self.relation, prefixes, self.as_of)
    }

    /// The number of rows of a range; as of a time, the number of all rows of the histories.
    pub fn most_rows(&self, range: &KeyRange) -> u64 {
        self.snapshot.row_count_within(self.relation, range)
    }

    /// See [`RelationState::row_cost`](crate::storage::RelationState).
    pub fn row_cost(&self) -> u64 {
        self.snapshot.describe(self.relation).map_or(1, |state| state.row_cost)
    }

    /// See [`Snapshot::split_at_rank`]; `None` as of a time.
    pub fn split_at_rank(&self, range: &KeyRange, rows: u64, end: End) -> Option<(KeyRange, Option<KeyRange>)> {
        if self.as_of.is_some() { None } else { self.snapshot.split_at_rank(self.relation, range, rows, end) }
    }

    /// Divides a range into at most so many consecutive ranges; as of a time, never within a history.
    pub fn parts(&self, range: &KeyRange, parts: usize) -> Vec<KeyRange> {
        // How many key columns after the prefix all rows of a history share.
        let common = self.as_of.map(|as_of| as_of.column - range.prefix.len());
        if common == Some(0) {
            return vec![range.clone()];
        }
        let mut ranges = self.snapshot.partition(self.relation, range, parts);
        if let Some(common) = common {
            let bounds = ranges.iter_mut().flat_map(|range| [&mut range.lower, &mut range.upper]);
            bounds.flatten().for_each(|bound| bound.truncate(common));
        }
        ranges
    }
}
