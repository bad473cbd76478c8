//! The relations at one moment.

use std::sync::Arc;

use imbl::OrdMap;

use super::as_of::{HistoryLookup, HistoryScan, VersionLookup};
use super::engine::{KvCursor, KvSnapshot};
use super::keys::ByteRange;
use super::lookup::{PointLookup, PrefixLookup, contained};
use super::probes::Probes;
use super::scan::Scan;
use crate::schema::{RelationId, RelationSchema};
use crate::storage::changes::ChangeSet;
use crate::storage::codec::{RowCodec, RowReader};
use crate::storage::cursor::{BatchCursor, LookupCursor, Nothing, probe_count};
use crate::storage::error::StorageError;
use crate::storage::range::{AsOf, KeyRange};
use crate::storage::shape::RelationShape;
use crate::storage::traits::{RelationState, Snapshot};
use crate::storage::{as_of, overlay};
use crate::value::Column;

/// The relations at one moment: the engine's snapshot, and the codec and row count of each relation.
pub struct KvView<S> {
    pub(super) bytes: S,
    pub(super) relations: OrdMap<RelationId, Relation>,
}

/// A relation that exists.
#[derive(Clone)]
pub(super) struct Relation {
    pub codec: Arc<RowCodec>,
    /// The approximate number of rows.
    pub rows: u64,
    /// The number of rows that was saved last.
    pub saved_rows: u64,
    /// The last sample of rows put.
    pub put: Sample,
    /// The last sample of rows removed.
    pub removed: Sample,
}

/// The share of changed rows that existed before, by the last sample.
#[derive(Clone, Copy, Default)]
pub(super) struct Sample {
    pub share_present: f64,
    /// The number of rows to change before the next sample.
    pub rows_left: u64,
}

impl Relation {
    pub fn new(schema: &RelationSchema, rows: u64) -> Self {
        let codec = Arc::new(RowCodec::new(schema));
        Relation { codec, rows, saved_rows: rows, put: Sample::default(), removed: Sample::default() }
    }
}

/// Ranges of up to this many rows are counted.
const COUNTED_ROWS: u64 = 64;

/// The cost of a row relative to a column tree: a cursor of RocksDB is some tens of times slower.
const ROW_COST: u64 = 32;

impl<S: KvSnapshot> KvView<S> {
    /// The codec of a relation, if it exists.
    pub(super) fn codec(&self, relation: RelationId) -> Option<&RowCodec> {
        self.relations.get(&relation).map(|relation| &*relation.codec)
    }

    /// A cursor over all rows of a relation.
    pub(super) fn rows_of(&self, relation: RelationId) -> S::Cursor<'_> {
        self.bytes.cursor(&ByteRange::of_relation(relation))
    }

    /// A cursor at the first key of a range.
    pub(super) fn start(&self, range: &ByteRange) -> S::Cursor<'_> {
        let mut cursor = self.bytes.cursor(range);
        cursor.seek(&range.lower);
        cursor
    }

    /// The number of rows of a range if there are at most [`COUNTED_ROWS`].
    fn count(&self, relation: RelationId, range: &KeyRange) -> Result<Option<u64>, StorageError> {
        let Some(codec) = self.codec(relation) else { return Ok(Some(0)) };
        let Some(range) = ByteRange::of_rows(relation, codec, range)? else { return Ok(Some(0)) };
        let mut cursor = self.start(&range);
        for count in 0..=COUNTED_ROWS {
            if cursor.entry()?.is_none() {
                return Ok(Some(count));
            }
            cursor.next();
        }
        Ok(None)
    }
}

impl<S: KvSnapshot> Snapshot for KvView<S> {
    fn describe(&self, relation: RelationId) -> Option<RelationState<'_>> {
        let Relation { codec, rows, .. } = self.relations.get(&relation)?;
        let shape = RelationShape { keys: codec.keys(), arity: codec.arity() };
        Some(RelationState { shape, rows: *rows, row_cost: ROW_COST, identity: None, tree: None })
    }

    fn row_count_within(&self, relation: RelationId, range: &KeyRange) -> u64 {
        let rows = self.relations.get(&relation).map_or(0, |relation| relation.rows);
        if *range == KeyRange::all() || rows <= COUNTED_ROWS {
            return rows;
        }
        // An error here is also an error of the scan, which reports it.
        self.count(relation, range).ok().flatten().unwrap_or(rows)
    }

    fn scan<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        let Some(codec) = self.codec(relation) else { return Ok(Box::new(Nothing)) };
        if let Some(as_of) = as_of.filter(|as_of| !codec.ends_with_validity(*as_of)) {
            return as_of::scan(self, relation, range, columns, as_of);
        }
        let Some(range) = ByteRange::of_rows(relation, codec, range)? else { return Ok(Box::new(Nothing)) };
        let (cursor, rows) = (self.start(&range), RowReader::new(codec, columns));
        Ok(match as_of {
            None => Box::new(Scan { cursor, rows }),
            Some(as_of) => Box::new(HistoryScan::new(cursor, rows, as_of)),
        })
    }

    fn partition(&self, relation: RelationId, range: &KeyRange, parts: usize) -> Vec<KeyRange> {
        self.parts(relation, range, parts).unwrap_or_else(|_| vec![range.clone()])
    }

    fn lookup<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        let Some(codec) = self.codec(relation) else { return Ok(Box::new(Nothing)) };
        if let Some(as_of) = as_of.filter(|as_of| !codec.ends_with_validity(*as_of)) {
            return as_of::lookup(self, relation, prefixes, columns, as_of);
        }
        let probes = Probes::new(relation, codec, prefixes);
        let (cursor, rows) = (|| self.rows_of(relation), RowReader::new(codec, columns));
        Ok(match as_of {
            None if prefixes.len() == codec.keys() => Box::new(PointLookup::new(&self.bytes, probes, codec, columns)),
            None => Box::new(PrefixLookup::new(cursor(), probes, rows)),
            Some(as_of) if prefixes.len() == as_of.column => {
                Box::new(VersionLookup::new(cursor(), probes, rows, as_of))
            }
            Some(as_of) => Box::new(HistoryLookup::new(cursor(), probes, rows, as_of)),
        })
    }

    fn contains(
        &self,
        relation: RelationId,
        prefixes: &[Column],
        as_of: Option<AsOf>,
    ) -> Result<Vec<bool>, StorageError> {
        let count = probe_count(prefixes);
        let Some(codec) = self.codec(relation) else { return Ok(vec![false; count]) };
        if as_of.is_some_and(|as_of| !codec.ends_with_validity(as_of)) {
            return self.lookup(relation, prefixes, &[], as_of)?.found(count);
        }
        let probes = Probes::new(relation, codec, prefixes);
        if as_of.is_none() && prefixes.len() == codec.keys() {
            return contained(&self.bytes, &probes);
        }
        let (cursor, rows) = (self.rows_of(relation), RowReader::new(codec, &[]));
        match as_of {
            None => {
                let mut lookup = PrefixLookup::new(cursor, probes, rows);
                (0..count).map(|probe| lookup.seek(probe)).collect()
            }
            Some(as_of) if prefixes.len() == as_of.column => {
                let mut lookup = VersionLookup::new(cursor, probes, rows, as_of);
                (0..count).map(|probe| lookup.seek(probe)).collect()
            }
            Some(as_of) => {
                let mut lookup = HistoryLookup::new(cursor, probes, rows, as_of);
                (0..count).map(|probe| lookup.seek(probe)).collect()
            }
        }
    }

    fn with_changes(self: Arc<Self>, changes: ChangeSet) -> Result<Arc<dyn Snapshot>, StorageError> {
        overlay::overlay(self, &changes)
    }
}
