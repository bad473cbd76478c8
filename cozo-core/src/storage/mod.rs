//! Storage: relations as sorted rows, in snapshots that never change.
//!
//! The upper layers see two traits. A [`Storage`] hands out snapshots and applies change sets; a [`Snapshot`] is the
//! contents at one moment, read by key order or by key prefix, as batches of typed columns. Relations whose last key
//! column is a Validity keep histories, which are also read [as of a time](AsOf).
//!
//! | module | what |
//! |---|---|
//! | [`as_of`] | histories read as of a time, for engines that do not seek in them |
//! | [`cache`] | relations of a persistent engine as column trees in memory |
//! | [`commit_log`] | small commits of a persistent engine in a file of their own, until they are applied together |
//! | [`legacy`] | files of CozoDB 0.7, for importing them |
//! | [`codec`] | rows as bytes whose order is that of the rows |
//! | `folders` | the folder that a file is in, and its names on the disk |
//! | [`kv`] | storage over any engine that keeps ordered bytes |
//! | `lost` | files that could not be read as a whole, under other names |
//! | [`mem`] | the column tree: a persistent B+tree whose leaves hold typed columns |
//! | [`open`], [`ENGINES`] | the engines by name |
//! | [`overlay`] | changes that are not committed, over a snapshot of any engine |
//! | [`sqlite`] | an SQLite file with a table for each relation |
//! | [`Options`] | the options with which a database is opened |
//!
//! **storage never sees a rule, an expression or a transaction**: rows that reach it are already coerced, sorted
//! out of conflict, and final.

pub mod as_of;
pub mod cache;
mod changes;
pub mod codec;
pub mod commit_log;
mod content_version;
mod engines;
mod error;
mod folders;
pub mod kv;
mod lost;
pub mod mem;
mod options;
pub mod overlay;
#[cfg(feature = "storage-rocksdb")]
pub mod rocksdb;
pub mod sqlite;
#[cfg(test)]
pub mod tests;

use std::sync::Arc;

pub use as_of::AsOf;
pub use changes::{ChangeKind, ChangeSet, ChangedRows, RowChanges};
pub use commit_log::LogMark;
pub use content_version::{ContentVersion, Identity};
pub use engines::{ENGINES, Engine, open};
pub use error::StorageError;
pub use folders::sync_name;
pub use options::{Durability, NoOptions, Options};

use crate::schema::{RelationId, RelationSchema, SchemaRef};
use crate::value::{Batch, Column, DataValue};

/// An engine that keeps relations.
///
/// Calls to [`Storage::commit`] come one at a time (the commit pipeline sees to it); everything else may be called from
/// any thread at any time.
pub trait Storage: Send + Sync {
    /// The engine's name, as `DbInstance::new` takes it.
    fn name(&self) -> &'static str;

    /// The definitions of the relations that it holds; asked for once, when a database is opened.
    fn definitions(&self) -> Result<Vec<SchemaRef>, StorageError>;

    /// The mark of the commit log that the last commit with one left.
    fn log_mark(&self) -> Result<Option<LogMark>, StorageError> {
        Ok(None)
    }

    /// The contents as of the last commit. Cheap, and never waits for a commit.
    fn snapshot(&self) -> Arc<dyn Snapshot>;

    /// Applies the change sets in order, all or nothing. After an error nothing of them is visible; after reopening nothing is,
    /// once [`Storage::settle`] has succeeded, or all. Snapshots taken before do not change.
    fn commit(&self, changes: &[ChangeSet]) -> Result<(), StorageError>;

    /// [`Storage::commit`], and the contents after it. Rows that are committed may be taken out of the changes.
    fn commit_and_snapshot(&self, changes: &mut [ChangeSet]) -> (Result<(), StorageError>, Arc<dyn Snapshot>) {
        let committed = self.commit(changes);
        (committed, self.snapshot())
    }

    /// What is to be done now and then before a commit and may take long. Reads go on meanwhile.
    fn before_commit(&self) {}

    /// Commits of up to so many rows gain if nobody holds the latest snapshot, and are so quick that nobody need begin to
    /// read meanwhile.
    fn max_rows_in_place(&self) -> usize {
        0
    }

    /// Whether rows may be committed some time after their transaction has ended: no commit of rows alone fails, and none outlives
    /// the process.
    fn may_defer(&self) -> bool {
        false
    }

    /// How many rows at once an empty relation is filled with soonest; 0 where it makes no difference.
    fn rows_to_fill_with(&self) -> usize {
        0
    }

    /// What the engine itself finds wrong with what it has stored, in words.
    fn verify(&self) -> Result<Vec<String>, StorageError> {
        Ok(vec![])
    }

    /// After a commit that failed: makes sure that nothing of it comes back, now or after reopening. Fails if the engine cannot do
    /// that, so that only the next opening finds out.
    fn settle(&self) -> Result<(), StorageError> {
        Ok(())
    }

    /// What was found wrong when the database was opened, in words.
    fn warnings(&self) -> Vec<String> {
        vec![]
    }

    /// Gives back the space of what was removed or replaced. May take long; reads and commits go on meanwhile.
    fn compact(&self) -> Result<(), StorageError> {
        Ok(())
    }
}

/// The contents at one moment. A relation that was never created is empty.
pub trait Snapshot: Send + Sync {
    /// How many columns a relation has, if it exists.
    fn shape(&self, relation: RelationId) -> Option<RelationShape>;

    /// The number of rows; exact for mem, an estimate where counting would cost a scan.
    fn row_count(&self, relation: RelationId) -> u64;

    /// What tells the rows of a relation from those that it has before and after each change; nothing if nobody keeps count.
    fn contents(&self, _relation: RelationId) -> Option<ContentVersion> {
        None
    }

    /// The rows as a column tree, if that is how the engine keeps them.
    fn tree(&self, _relation: RelationId) -> Option<&mem::Tree> {
        None
    }

    /// The number of rows of the range, as exact as [`Snapshot::row_count`], or some number above it.
    fn row_count_within(&self, relation: RelationId, _range: &KeyRange) -> u64 {
        self.row_count(relation)
    }

    /// The number of rows whose leading key columns are identical to these, exactly; nothing if counting would cost a scan.
    fn count(&self, _relation: RelationId, _prefix: &[DataValue]) -> Option<u64> {
        None
    }

    /// All rows of the range in key order. `columns` says which columns the batches have, in which order.
    fn scan<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError>;

    /// About how many times as long as with a column tree it takes to read a row: what is slow is worth dividing among threads
    /// sooner.
    fn row_cost(&self, _relation: RelationId) -> u64 {
        1
    }

    /// Cuts a range into at most `parts` consecutive ranges of about equal size that together are the whole.
    fn partition(&self, relation: RelationId, range: &KeyRange, parts: usize) -> Vec<KeyRange>;

    /// Cuts off so many rows at an end of a range: their range, and that of the others, if there are any. Nothing if the engine does not
    /// know where that is.
    fn split_at_rank(
        &self,
        _relation: RelationId,
        _range: &KeyRange,
        _rows: u64,
        _end: End,
    ) -> Option<(KeyRange, Option<KeyRange>)> {
        None
    }

    /// For each row of `prefixes` (one column for each leading key column, at least one), all stored rows whose leading
    /// key columns are identical to it. `columns` as in [`Snapshot::scan`]. Fastest when the prefixes come sorted, but
    /// they need not; matches come in the order of the prefixes, then in key order.
    fn lookup<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError>;

    /// Finds the row with this key, which has a value for each key column; whether there is one. Each of `outputs` is a
    /// column and the place where its value goes.
    fn get(
        &self,
        relation: RelationId,
        key: &[DataValue],
        outputs: &[(usize, usize)],
        places: &mut [DataValue],
    ) -> Result<bool, StorageError> {
        let prefixes: Vec<Column> = key.iter().map(|value| Column::repeat(value, 1)).collect();
        let columns: Vec<usize> = outputs.iter().map(|(column, _)| *column).collect();
        let mut cursor = self.lookup(relation, &prefixes, &columns)?;
        let Some(found) = cursor.next_matches(1)? else { return Ok(false) };
        outputs.iter().zip(&found.batch.columns).for_each(|((_, place), column)| places[*place] = column.get(0));
        Ok(true)
    }

    /// For each row of `prefixes`, whether any stored row has it as its leading key columns.
    fn contains(&self, relation: RelationId, prefixes: &[Column]) -> Result<Vec<bool>, StorageError>;

    /// As [`Snapshot::scan`], with only the rows that are visible at a time; see [`AsOf`]. The range says nothing about the
    /// Validity column. An engine should find the visible version of a history, and the end of the history, by seeking.
    fn scan_as_of<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
        as_of: AsOf,
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        as_of::scan(self, relation, range, columns, as_of)
    }

    /// As [`Snapshot::lookup`], with only the rows that are visible at a time; see [`AsOf`]. The prefixes say nothing
    /// about the Validity column. A prefix of all key columns before it should cost an engine one seek.
    fn lookup_as_of<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
        as_of: AsOf,
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        as_of::lookup(self, relation, prefixes, columns, as_of)
    }

    /// As [`Snapshot::contains`], asking for rows that are visible at a time; see [`Snapshot::lookup_as_of`].
    fn contains_as_of(
        &self,
        relation: RelationId,
        prefixes: &[Column],
        as_of: AsOf,
    ) -> Result<Vec<bool>, StorageError> {
        as_of::contains(self, relation, prefixes, as_of)
    }

    /// These contents with changes applied that are not committed: what a transaction sees of its own writes.
    fn with_changes(self: Arc<Self>, changes: &ChangeSet) -> Result<Arc<dyn Snapshot>, StorageError>;
}

/// Gives batches until there are no more.
pub trait BatchCursor {
    /// The next rows, about `max_rows` of them and never many more; `None` after the last.
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError>;
}

/// Gives matches until there are no more.
pub trait LookupCursor {
    /// The next matches, about `max_rows` of them and never many more; `None` after the last.
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError>;
}

/// Rows found by a look-up.
#[derive(Debug, Default)]
pub struct Matches {
    /// For each match, the row of the prefixes that it belongs to; ascending.
    pub probe_rows: Vec<u32>,
    /// The columns asked for.
    pub batch: Batch,
}

/// A cursor of what a relation that does not exist holds.
pub struct Nothing;

impl BatchCursor for Nothing {
    fn next_batch(&mut self, _: usize) -> Result<Option<Batch>, StorageError> {
        Ok(None)
    }
}

impl LookupCursor for Nothing {
    fn next_matches(&mut self, _: usize) -> Result<Option<Matches>, StorageError> {
        Ok(None)
    }
}

/// The number of prefixes of a look-up, which come as columns.
pub fn probe_count(prefixes: &[Column]) -> usize {
    prefixes.first().map_or(0, Column::len)
}

/// A range of keys: those that begin with `prefix` and whose next key column lies between the bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyRange {
    /// The leading key columns.
    pub prefix: Vec<DataValue>,
    /// The first key in the range: the key columns after the prefix, perhaps only some of them.
    pub lower: Option<Vec<DataValue>>,
    /// The first key after the range, likewise: rows at or after it are not in the range.
    pub upper: Option<Vec<DataValue>>,
}

impl KeyRange {
    /// Every row.
    pub fn all() -> Self {
        KeyRange::default()
    }

    /// The rows whose keys begin with these values.
    pub fn prefix(prefix: Vec<DataValue>) -> Self {
        KeyRange { prefix, ..KeyRange::default() }
    }
}

/// An end of what lies in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The smallest.
    First,
    /// The greatest.
    Last,
}

/// How many columns a relation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelationShape {
    /// The number of key columns.
    pub keys: usize,
    /// The number of all columns.
    pub arity: usize,
}

impl From<&RelationSchema> for RelationShape {
    fn from(schema: &RelationSchema) -> Self {
        RelationShape { keys: schema.keys.len(), arity: schema.arity() }
    }
}
