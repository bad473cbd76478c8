//! The engine as a storage: commits become batches, and each publishes the next view.

use std::sync::Arc;

use arc_swap::ArcSwap;
use imbl::OrdMap;

use super::catalog::{self, FORMAT_VERSION, format_key};
use super::keys::ByteRange;
use super::snapshot::{KvView, Relation};
use super::write::Writer;
use super::{KvBatch, KvEngine};
use crate::schema::{SchemaRef, with_indices};
use crate::storage::{ChangeSet, LogMark, Snapshot, Storage, StorageError};

/// Relations in an engine of ordered bytes.
pub struct KvStorage<E: KvEngine> {
    engine: E,
    read_only: bool,
    /// As it was found.
    log_mark: Option<LogMark>,
    current: ArcSwap<KvView<E::Snapshot>>,
}

impl<E: KvEngine> KvStorage<E> {
    /// Opens the database that the engine holds, or begins one if it holds nothing.
    pub fn open(engine: E, read_only: bool) -> Result<Self, StorageError> {
        let mut snapshot = engine.snapshot();
        if !catalog::has_format(&engine, &snapshot)? && !read_only {
            let mut batch = engine.batch();
            batch.put(&format_key(), FORMAT_VERSION.to_string().as_bytes());
            engine.write(batch)?;
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
            let mut batch = engine.batch();
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

    /// Writes the numbers of rows that have changed since they were written.
    fn save_counts(&self) -> Result<(), StorageError> {
        let view = self.current.load_full();
        let mut writer = Writer::new(self.engine.batch(), &view);
        writer.save_counts(0);
        if writer.is_empty() { Ok(()) } else { self.engine.write(writer.finish().0) }
    }
}

impl<E: KvEngine> Storage for KvStorage<E> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn definitions(&self) -> Result<Vec<SchemaRef>, StorageError> {
        catalog::definitions(&self.current.load().bytes)
    }

    fn log_mark(&self) -> Result<Option<LogMark>, StorageError> {
        Ok(self.log_mark)
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.current.load_full()
    }

    fn commit(&self, changes: &[ChangeSet]) -> Result<(), StorageError> {
        if self.read_only {
            return Err(StorageError::ReadOnly);
        }
        let before = self.current.load_full();
        let mut writer = Writer::new(self.engine.batch(), &before);
        changes.iter().try_for_each(|changes| writer.apply(changes))?;
        if writer.is_empty() {
            return Ok(());
        }
        writer.save_counts(8);
        let (batch, relations) = writer.finish();
        self.engine.write(batch)?;
        self.current.store(Arc::new(KvView { bytes: self.engine.snapshot(), relations }));
        Ok(())
    }

    fn max_rows_in_place(&self) -> usize {
        self.engine.max_rows_in_place()
    }

    fn compact(&self) -> Result<(), StorageError> {
        if self.read_only { Err(StorageError::ReadOnly) } else { self.engine.compact() }
    }
}

impl<E: KvEngine> Drop for KvStorage<E> {
    fn drop(&mut self) {
        if !self.read_only {
            // They are estimates: not worth an error, and there is nobody to give it to.
            let _ = self.save_counts();
        }
    }
}
