//! The engine as a storage: each commit becomes a batch, and publishes the next view.

use std::sync::Arc;

use arc_swap::ArcSwap;
use imbl::OrdMap;

use super::append::AppendedRows;
use super::catalog::{self, FORMAT_VERSION, format_key};
use super::engine::{KvBatch, KvEngine, KvSnapshot, KvTraits};
use super::keys::{ByteRange, relation_prefix};
use super::snapshot::{KvView, Relation};
use super::write::{Writer, count_appended};
use crate::schema::{RelationId, with_indices};
use crate::storage::changes::{ChangeKind, ChangeSet, RowChanges};
use crate::storage::error::StorageError;
use crate::storage::log_mark::LogMark;
use crate::storage::traits::{EngineTraits, Opened, Snapshot, Storage};

/// Commits of at least this many rows are appended, if they come after all others.
const MANY_ROWS: usize = 16 * 1024;

/// The rows of one append when an empty relation is filled. Each append becomes a file of RocksDB, so few large ones are fastest.
const ROWS_TO_FILL_WITH: usize = 256 * 1024;

/// Commits save a number of rows again when it has changed by one part in this many.
const SAVED_SHARE: u64 = 8;

/// Relations in an engine of ordered bytes.
pub struct KvStorage<E: KvEngine> {
    engine: E,
    read_only: bool,
    /// The mark found at the opening.
    log_mark: Option<LogMark>,
    current: ArcSwap<KvView<E::Snapshot>>,
}

impl<E: KvEngine> KvStorage<E> {
    /// Opens the database in the engine, or creates one if the engine is empty.
    pub fn open(engine: E, read_only: bool) -> Result<Self, StorageError> {
        let mut snapshot = engine.snapshot();
        if !catalog::has_format(&engine, &snapshot)? && !read_only {
            write_format(&engine)?;
            snapshot = engine.snapshot();
        }
        let counts = catalog::counts(&snapshot)?;
        let mut relations = OrdMap::new();
        for schema in catalog::definitions(&snapshot)? {
            for schema in with_indices(&schema) {
                let rows = counts.get(&schema.id).copied().unwrap_or(0);
                relations.insert(schema.id, Relation::new(schema, rows));
            }
        }
        let strays = catalog::strays(&snapshot, |relation| relations.contains_key(&relation))?;
        if !strays.is_empty() && !read_only {
            let mut batch = E::Batch::default();
            for relation in strays {
                batch.delete_range(&ByteRange::of_relation(relation));
            }
            engine.write(batch)?;
            snapshot = engine.snapshot();
        }
        let log_mark = catalog::log_mark(&snapshot)?;
        let current = ArcSwap::from_pointee(KvView { bytes: snapshot, relations });
        Ok(KvStorage { engine, read_only, log_mark, current })
    }

    /// Appends the rows of a commit, if they are many and come after all others of their relations. Returns whether it did.
    fn append(&self, before: &KvView<E::Snapshot>, changes: &mut [ChangeSet]) -> Result<bool, StorageError> {
        let (mark, changes) = match changes {
            [changes] => (None, changes),
            // A change set with the mark of the commit log alone.
            [mark, changes] if mark.has_mark_alone() => (Some(&*mark), changes),
            _ => return Ok(false),
        };
        if self.engine.traits().appendable_bytes == 0 || !are_many_puts(&changes.rows) {
            return Ok(false);
        }
        // The rows of indices come before those of their relation.
        changes.rows.sort_by_key(|change| change.relation);
        if changes.rows.windows(2).any(|pair| pair[0].relation == pair[1].relation) {
            return Ok(false);
        }
        let changes = &*changes;
        let mut relations = before.relations.clone();
        changes.created.iter().for_each(|schema| drop(relations.insert(schema.id, Relation::new(schema, 0))));
        if !come_last(before, &relations, &changes.rows)? {
            return Ok(false);
        }
        if !changes.has_rows_alone() {
            let appended = self.append_to_new(before, &relations, mark, changes);
            if appended.is_err() {
                // So that the next commit sees what is left of this one.
                self.publish(before.relations.clone());
            }
            return appended;
        }
        if let Some(mark) = mark {
            // The log has no waiting commits, so the mark may come before the rows.
            let mut writer = Writer::new(E::Batch::default(), before);
            writer.apply(mark)?;
            self.engine.write(writer.finish().0)?;
        }
        if !self.engine.append(&mut AppendedRows::new(&relations, &changes.rows))? {
            return Ok(false);
        }
        count_appended(&mut relations, &changes.rows);
        self.publish(relations);
        // An error is harmless: the counts are estimates, and are saved again later.
        let _ = self.save_counts(SAVED_SHARE);
        Ok(true)
    }

    /// Appends the rows of a commit that puts rows only into relations that it creates, and then writes all else. Until then the rows
    /// are those of a relation that does not exist, so they may be appended in several parts. If the rest is never written, the next
    /// opening removes them, or the next relation with the same number does.
    fn append_to_new(
        &self,
        before: &KvView<E::Snapshot>,
        relations: &OrdMap<RelationId, Relation>,
        mark: Option<&ChangeSet>,
        changes: &ChangeSet,
    ) -> Result<bool, StorageError> {
        for RowChanges { relation, .. } in &changes.rows {
            let is_new = !before.relations.contains_key(relation);
            if !is_new || before.bytes.last_key(&ByteRange::of_relation(*relation))?.is_some() {
                return Ok(false);
            }
        }
        let mut rows = AppendedRows::new(relations, &changes.rows);
        while rows.go_on(ROWS_TO_FILL_WITH) {
            if !self.engine.append(&mut rows)? {
                let mut batch = E::Batch::default();
                changes.rows.iter().for_each(|rows| batch.delete_range(&ByteRange::of_relation(rows.relation)));
                self.engine.write(batch)?;
                return Ok(false);
            }
        }
        let mut writer = Writer::new(E::Batch::default(), before);
        mark.map_or(Ok(()), |mark| writer.apply(mark))?;
        writer.apply_appended(changes)?;
        writer.save_counts(SAVED_SHARE);
        self.write(writer)?;
        Ok(true)
    }

    /// Saves the numbers of rows that have changed by more than one part in `parts` since they were saved.
    fn save_counts(&self, parts: u64) -> Result<(), StorageError> {
        let view = self.current.load_full();
        let mut writer = Writer::new(E::Batch::default(), &view);
        writer.save_counts(parts);
        if writer.is_empty() { Ok(()) } else { self.write(writer) }
    }

    /// Writes what a writer has collected, and publishes the next view.
    fn write(&self, writer: Writer<'_, E::Snapshot, E::Batch>) -> Result<(), StorageError> {
        let (batch, relations) = writer.finish();
        self.engine.write(batch)?;
        self.publish(relations);
        Ok(())
    }

    fn publish(&self, relations: OrdMap<RelationId, Relation>) {
        self.current.store(Arc::new(KvView { bytes: self.engine.snapshot(), relations }));
    }
}

fn write_format<E: KvEngine>(engine: &E) -> Result<(), StorageError> {
    let mut batch = E::Batch::default();
    batch.put(&format_key(), FORMAT_VERSION.to_string().as_bytes());
    engine.write(batch)
}

/// Whether these are puts of [many](MANY_ROWS) rows.
fn are_many_puts(changes: &[RowChanges]) -> bool {
    let are_many = changes.iter().map(|change| change.rows.len()).sum::<usize>() >= MANY_ROWS;
    let are_puts = changes.iter().all(|change| change.kind == ChangeKind::Put && !change.rows.is_empty());
    are_many && are_puts
}

/// Whether rows come after all others of their relations.
fn come_last<S: KvSnapshot>(
    before: &KvView<S>,
    relations: &OrdMap<RelationId, Relation>,
    changes: &[RowChanges],
) -> Result<bool, StorageError> {
    for RowChanges { relation, rows, .. } in changes {
        let Some(Relation { codec, .. }) = relations.get(relation) else { return Ok(false) };
        let mut first = relation_prefix(*relation).to_vec();
        let Some(rows) = rows.batches().next() else { return Ok(false) };
        codec.write_key(&rows?.columns, 0, &mut first)?;
        if before.bytes.last_key(&ByteRange::of_relation(*relation))?.is_some_and(|last| last >= first) {
            return Ok(false);
        }
    }
    Ok(true)
}

impl<E: KvEngine> Storage for KvStorage<E> {
    fn opened(&self) -> Result<Opened, StorageError> {
        let definitions = catalog::definitions(&self.current.load().bytes)?;
        Ok(Opened { definitions, log_mark: self.log_mark, warnings: self.engine.warnings() })
    }

    fn traits(&self) -> EngineTraits {
        let KvTraits { max_rows_in_place, appendable_bytes, .. } = self.engine.traits();
        let rows_to_fill_with = if appendable_bytes > 0 { ROWS_TO_FILL_WITH } else { 0 };
        EngineTraits { max_rows_in_place, rows_to_fill_with, ..EngineTraits::default() }
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.current.load_full()
    }

    fn commit(&self, changes: &mut [ChangeSet]) -> Result<Arc<dyn Snapshot>, StorageError> {
        if self.read_only {
            return Err(StorageError::ReadOnly);
        }
        let before = self.current.load_full();
        if !self.append(&before, changes)? {
            let mut writer = Writer::new(E::Batch::default(), &before);
            changes.iter().try_for_each(|changes| writer.apply(changes))?;
            if !writer.is_empty() {
                writer.save_counts(SAVED_SHARE);
                self.write(writer)?;
            }
        }
        Ok(self.snapshot())
    }

    fn settle(&self) -> Result<(), StorageError> {
        write_format(&self.engine)?;
        self.engine.settle()
    }

    fn compact(&self) -> Result<(), StorageError> {
        if self.read_only { Err(StorageError::ReadOnly) } else { self.engine.compact() }
    }
}

impl<E: KvEngine> Drop for KvStorage<E> {
    fn drop(&mut self) {
        if !self.read_only {
            // The counts are estimates, and a drop cannot return an error.
            let _ = self.save_counts(0);
            // After a flush the next opening does not need the engine's log, which might be damaged until then.
            let _ = self.engine.flush();
        }
    }
}
