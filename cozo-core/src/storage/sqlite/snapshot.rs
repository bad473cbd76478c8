//! Snapshots: read transactions of pooled connections, begun on the first read.
//!
//! A new snapshot has no connection. It shows the database as it is, and reads open connections on demand. Before the next commit
//! changes anything, it *pins* the newest snapshot: the snapshot then has a connection that does not see the change. So reads and
//! commits do not wait for each other, and a snapshot without reads costs little.

use std::sync::Arc;

use rusqlite::Connection;

use super::bounds::{Range, Shape};
use super::catalog::{Entry, Tables};
use super::connection::Pool;
use super::cursor::{Lookup, Scan};
use super::history::History;
use super::read_connections::Lanes;
use super::reading::Reading;
use super::table::Table;
use crate::schema::RelationId;
use crate::storage::overlay::overlay;
use crate::storage::{
    AsOf, BatchCursor, ChangeSet, KeyRange, LookupCursor, Nothing, RelationShape, Snapshot, StorageError, probe_count,
};
use crate::value::Column;

/// The relations at one moment.
pub struct SqliteSnapshot {
    /// The relations.
    pub(super) tables: Tables,
    lanes: Lanes,
}

impl SqliteSnapshot {
    /// A snapshot of the database as it is now, with these tables. The caller pins it before the database changes.
    pub fn new(pool: Arc<Pool>, tables: Tables) -> Self {
        SqliteSnapshot { tables, lanes: Lanes::new(pool) }
    }

    /// A snapshot of the state that a connection of the pool sees.
    pub fn pinned(pool: Arc<Pool>, tables: Tables, connection: Connection) -> Self {
        SqliteSnapshot { tables, lanes: Lanes::sealed(pool, connection) }
    }

    /// Makes later changes invisible to the snapshot.
    pub fn pin(&self) -> Result<(), StorageError> {
        self.lanes.seal()
    }

    /// Lets the snapshot read written-back pages from the database instead of the log. The database must still be as the snapshot
    /// shows it.
    pub fn renew(&self) {
        self.lanes.renew();
    }

    /// Reads with one of the snapshot's connections.
    pub fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StorageError>) -> Result<T, StorageError> {
        self.lanes.read(work)
    }

    fn table(&self, relation: RelationId) -> Option<&Arc<Table>> {
        self.tables.get(&relation).map(|entry| &entry.table)
    }

    fn boxed_scan<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
        history: Option<History>,
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        let Some(table) = self.table(relation) else { return Ok(Box::new(Nothing)) };
        let range = Some(Range::of(table.key_forms(), range)?);
        Ok(Box::new(Scan { snapshot: self, reading: Reading::new(table, columns, history), range }))
    }

    fn boxed_lookup<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
        history: Option<History>,
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        let Some(table) = self.table(relation) else { return Ok(Box::new(Nothing)) };
        let reading = Reading::new(table, columns, history);
        Ok(Box::new(Lookup { snapshot: self, reading, prefixes, next: 0, range: None }))
    }
}

impl Snapshot for SqliteSnapshot {
    fn shape(&self, relation: RelationId) -> Option<RelationShape> {
        self.table(relation).map(|table| table.shape)
    }

    fn row_count(&self, relation: RelationId) -> u64 {
        self.tables.get(&relation).map_or(0, |entry: &Entry| entry.rows)
    }

    fn scan<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        self.boxed_scan(relation, range, columns, None)
    }

    fn partition(&self, _: RelationId, range: &KeyRange, _: usize) -> Vec<KeyRange> {
        vec![range.clone()]
    }

    fn lookup<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        self.boxed_lookup(relation, prefixes, columns, None)
    }

    fn contains(&self, relation: RelationId, prefixes: &[Column]) -> Result<Vec<bool>, StorageError> {
        let count = probe_count(prefixes);
        let Some(table) = self.table(relation) else { return Ok(vec![false; count]) };
        let mut reading = Reading::new(table, &[], None);
        self.read(|connection| {
            let mut statement = reading.prepare(connection, Shape::Prefix(prefixes.len()))?;
            let found = |row| match Range::of_probe(table.key_forms(), prefixes, row)? {
                Some(range) => Reading::has_rows(&mut statement, &range),
                None => Ok(false),
            };
            (0..count).map(found).collect()
        })
    }

    fn scan_as_of<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
        as_of: AsOf,
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        self.boxed_scan(relation, range, columns, Some(History::new(as_of)?))
    }

    fn lookup_as_of<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
        as_of: AsOf,
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        self.boxed_lookup(relation, prefixes, columns, Some(History::new(as_of)?))
    }

    fn with_changes(self: Arc<Self>, changes: &ChangeSet) -> Result<Arc<dyn Snapshot>, StorageError> {
        overlay(self, changes)
    }
}
