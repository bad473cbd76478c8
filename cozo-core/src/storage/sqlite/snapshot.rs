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
use crate::storage::changes::ChangeSet;
use crate::storage::cursor::{BatchCursor, LookupCursor, Nothing, probe_count};
use crate::storage::error::StorageError;
use crate::storage::overlay::overlay;
use crate::storage::range::{AsOf, KeyRange};
use crate::storage::traits::{RelationState, Snapshot};
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
}

impl Snapshot for SqliteSnapshot {
    fn describe(&self, relation: RelationId) -> Option<RelationState<'_>> {
        let Entry { table, rows, .. } = self.tables.get(&relation)?;
        Some(RelationState { shape: table.shape, rows: *rows, row_cost: 1, identity: None, tree: None })
    }

    fn scan<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        let Some(table) = self.table(relation) else { return Ok(Box::new(Nothing)) };
        let range = Some(Range::of(table.key_forms(), range)?);
        let reading = Reading::new(table, columns, as_of.map(History::new).transpose()?);
        Ok(Box::new(Scan { snapshot: self, reading, range }))
    }

    fn lookup<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        let Some(table) = self.table(relation) else { return Ok(Box::new(Nothing)) };
        let reading = Reading::new(table, columns, as_of.map(History::new).transpose()?);
        Ok(Box::new(Lookup { snapshot: self, reading, prefixes, next: 0, range: None }))
    }

    fn contains(
        &self,
        relation: RelationId,
        prefixes: &[Column],
        as_of: Option<AsOf>,
    ) -> Result<Vec<bool>, StorageError> {
        let count = probe_count(prefixes);
        if as_of.is_some() {
            return self.lookup(relation, prefixes, &[], as_of)?.found(count);
        }
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

    fn with_changes(self: Arc<Self>, changes: ChangeSet) -> Result<Arc<dyn Snapshot>, StorageError> {
        overlay(self, &changes)
    }
}
