//! Files of CozoDB 0.7: its SQLite databases, and the backups that it makes on any engine. Read, never written.
//!
//! ```text
//! recognise(path)?                            what the path holds
//! let file = LegacyFile::open(path)?;         one moment of the file
//! let report = file.report(&knows)?;          row counts, remnants, losses, warnings
//! for relation in file.relations() {
//!     let mut rows = file.rows(relation);     a BatchCursor
//!     while let Some(batch) = rows.next_batch(1000)? { ... }
//!     rows.read().require_all(...)?;          every row of the file was given out
//! }
//! ```
//!
//! A file has one table of keys and values. A key is the id of a relation and the key columns in an encoding that keeps
//! their order ([`key`]), a value the value columns in MessagePack ([`value`]). The rows under id 0 are the catalog
//! ([`handle`], [`catalog`]). Index relations are not given out: what is in them follows from the relations.
//!
//! What the consumer may rely on:
//! * A relation comes in the order of its keys in the file, each key once. That is the order of keys everywhere else too where
//!   the key columns are Bool, Int, Float, String, Bytes, Uuid, Validity or Json, nullable or not, or lists of these. It may
//!   differ for vectors and in `Any`: there the file has vectors before numbers, Validity before Json, and compares
//!   integers beyond 2^53 with floats by their rounding.
//! * A row that is given out fits the columns of its relation. Keys are never converted; a value is where
//!   [`coerce`](crate::schema::coerce) can, and is counted.
//! * **No row disappears**: it is given out, belongs to another relation with the same id, or is counted and described.
//! * Two relations may have the same id, and an index relation another name than its relation.
//! * Bytes that mean nothing give [`StorageError::Damaged`] with the relation and the key, and never a panic.

mod catalog;
mod expression;
mod fit;
mod handle;
mod key;
mod malformed;
mod recognise;
mod report;
mod rows;
mod search;
mod source;
#[cfg(test)]
mod tests;
mod value;

use std::path::Path;

pub use handle::ElementWidth;
pub use recognise::{FileKind, recognise};
pub use report::{Note, RefusedRow, RelationReport, Remnant, Report, RowsRead};
pub use rows::Rows;
pub use search::{Distance, FtsIndex, HnswIndex, LshIndex, SearchDefinition, SearchIndex, TokenStep};

use crate::schema::RelationSchema;
use crate::storage::StorageError;
use crate::value::SmallStr;
use catalog::Catalog;
use recognise::identify;
use source::FileSource;

/// How deep values may be nested.
const MAX_DEPTH: usize = 128;

/// An open file of CozoDB 0.7.
pub struct LegacyFile {
    source: FileSource,
    relations: Vec<LegacyRelation>,
    index_relations: Vec<RelationSchema>,
    lost: Vec<Note>,
    warnings: Vec<Note>,
    /// What the current time is where a value is converted.
    now_micros: i64,
}

/// A relation of the user.
#[derive(Clone, Debug)]
pub struct LegacyRelation {
    /// Its definition, with the id of the file, and without indices.
    pub schema: RelationSchema,
    /// Its ordinary indices.
    pub indices: Vec<LegacyIndex>,
    /// Its search indices.
    pub search_indices: Vec<SearchIndex>,
}

/// An ordinary index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyIndex {
    /// Its name, without that of the relation.
    pub name: SmallStr,
    /// The positions of its columns in the relation, keys first: what [`crate::schema::IndexDefinition::new`] takes.
    pub columns: Vec<usize>,
    /// The relation that keeps it in the file; it may have kept the relation's name of old.
    relation: SmallStr,
}

impl LegacyFile {
    /// Opens a file and reads its catalog; fails if it is something else, and says what. The file stays as it is, also
    /// where a process was killed while it wrote to it.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        let (kind, source) = identify(path)?;
        kind.require(path)?;
        let source = source.expect("a file of CozoDB 0.7 is an SQLite file");
        let Catalog { relations, index_relations, lost, warnings } = Catalog::read(&source)?;
        let now_micros = chrono::Utc::now().timestamp_micros();
        Ok(LegacyFile { source, relations, index_relations, lost, warnings, now_micros })
    }

    /// The relations by name, without those of indices.
    pub fn relations(&self) -> &[LegacyRelation] {
        &self.relations
    }

    /// The rows of a relation of this file. Batches have all columns, keys first.
    pub fn rows<'a>(&'a self, relation: &'a LegacyRelation) -> Rows<'a> {
        Rows::new(self, &relation.schema)
    }

    /// All relations, those of indices too.
    fn schemas(&self) -> impl Iterator<Item = &RelationSchema> {
        self.relations.iter().map(|relation| &relation.schema).chain(&self.index_relations)
    }
}

impl LegacyRelation {
    /// Whether an index of this relation is kept in a relation of this name.
    fn keeps_index_in(&self, name: &SmallStr) -> bool {
        let ordinary = self.indices.iter().map(|index| &index.relation);
        ordinary.chain(self.search_indices.iter().flat_map(|index| &index.relations)).any(|kept| kept == name)
    }
}
