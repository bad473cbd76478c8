//! Column types, the coercion of values to them, and the definition of relations.
//!
//! ```text
//! {fr: Int, to: Int => since: Float?}   two Int keys, one nullable Float value
//! ```
//!
//! The input is column types as the parser read them, and values on their way into a relation. The output is a
//! [`RelationSchema`], and values that fit it. **schema never evaluates an expression**: a default is stored as text.

mod coerce;
mod column_type;
mod index;
mod refusal;
mod scripts;
mod search_index;

pub use coerce::{
    CoercionError, coerce, coerce_column, coerce_to_vectors, surely_fits, time_to_read, value_surely_fits,
};
pub use column_type::{BaseType, ColumnType};
pub use index::{IndexDefinition, with_indices};
pub use refusal::RelationError;
pub use search_index::{
    AnalyzerPart, DuplicateOptions, Metric, SearchIndex, SearchOptions, TextOptions, VectorOptions,
};

use std::sync::Arc;

use crate::value::SmallStr;

/// Identifies a relation for as long as it exists; never reused within a database.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct RelationId(pub u64);

/// One column of a stored relation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ColumnDefinition {
    /// The column's name.
    pub name: SmallStr,
    /// Its type.
    pub column_type: ColumnType,
    /// The CozoScript text of its default, evaluated anew for every row.
    pub default: Option<SmallStr>,
}

/// What may be done with a relation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum AccessLevel {
    /// Neither read nor written.
    Hidden,
    /// Read only.
    ReadOnly,
    /// Written, but not dropped or replaced.
    Protected,
    /// Anything.
    #[default]
    Normal,
}

impl AccessLevel {
    /// The name that scripts and `::relations` use.
    pub fn name(self) -> &'static str {
        match self {
            AccessLevel::Hidden => "hidden",
            AccessLevel::ReadOnly => "read_only",
            AccessLevel::Protected => "protected",
            AccessLevel::Normal => "normal",
        }
    }
}

/// The definition of a stored relation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RelationSchema {
    /// Its identity in storage.
    pub id: RelationId,
    /// Its name.
    pub name: SmallStr,
    /// The key columns; rows are kept sorted by them.
    pub keys: Vec<ColumnDefinition>,
    /// The columns that depend on the key.
    pub values: Vec<ColumnDefinition>,
    /// What may be done with it.
    pub access_level: AccessLevel,
    /// The text that `::describe` set; empty if none.
    pub description: String,
    /// The queries that run when it changes.
    pub triggers: Triggers,
    /// Its indices by name.
    pub indices: Vec<IndexDefinition>,
    /// Its search indices by name. Absent in catalogs of earlier versions.
    #[serde(default)]
    pub searches: Vec<SearchIndex>,
}

/// The triggers of a relation as CozoScript text, in the order in which they run.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Triggers {
    /// Run after rows were put.
    pub put: Vec<String>,
    /// Run after rows were removed.
    pub rm: Vec<String>,
    /// Run before the relation is replaced.
    pub replace: Vec<String>,
}

impl RelationSchema {
    /// The number of columns.
    pub fn arity(&self) -> usize {
        self.keys.len() + self.values.len()
    }

    /// All columns, keys first.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &ColumnDefinition> + Clone {
        let keys = self.keys.len();
        (0..self.arity()).map(move |i| if i < keys { &self.keys[i] } else { &self.values[i - keys] })
    }

    /// Whether its rows are histories: the last key column is a Validity, and never null.
    pub fn keeps_history(&self) -> bool {
        let validity = ColumnType { base: BaseType::Validity, nullable: false };
        self.keys.last().is_some_and(|key| key.column_type == validity)
    }

    /// The position of a column, keys first.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns().position(|column| column.name == name)
    }
}

/// A schema as the catalog shares it.
pub type SchemaRef = Arc<RelationSchema>;
