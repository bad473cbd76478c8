//! The structs of the catalog as they are stored: each as a map by field or as an array in the order of the fields.
//!
//! The order of the fields below is part of the format.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::search::{FtsIndex, HnswIndex, LshIndex};
use super::value::Stored;
use crate::schema::{AccessLevel, BaseType, ColumnType};

/// The definition of a relation, or of an index as a relation.
#[derive(Deserialize)]
pub(super) struct Handle {
    pub name: String,
    pub id: u64,
    pub metadata: Metadata,
    pub put_triggers: Vec<String>,
    pub rm_triggers: Vec<String>,
    pub replace_triggers: Vec<String>,
    pub access_level: Level,
    #[serde(rename = "is_temp")]
    _is_temp: bool,
    // The handles in these maps are copies from the day the index was made.
    #[serde(default)]
    pub indices: BTreeMap<String, (Handle, Vec<usize>)>,
    #[serde(default)]
    pub hnsw_indices: BTreeMap<String, (Handle, HnswIndex)>,
    #[serde(default)]
    pub fts_indices: BTreeMap<String, (Handle, FtsIndex)>,
    #[serde(default)]
    pub lsh_indices: BTreeMap<String, (Handle, Handle, LshIndex)>,
    #[serde(default)]
    pub description: String,
}

/// The columns.
#[derive(Deserialize)]
pub(super) struct Metadata {
    pub keys: Vec<StoredColumn>,
    pub non_keys: Vec<StoredColumn>,
}

/// A column.
#[derive(Deserialize)]
pub(super) struct StoredColumn {
    pub name: String,
    pub typing: Typing,
    #[serde(default)]
    pub default_gen: Option<StoredExpr>,
}

/// A column type.
#[derive(Deserialize)]
pub(super) struct Typing {
    coltype: Coltype,
    nullable: bool,
}

#[derive(Deserialize)]
enum Coltype {
    Any,
    Bool,
    Int,
    Float,
    String,
    Bytes,
    Uuid,
    Validity,
    Json,
    List {
        eltype: Box<Typing>,
        #[serde(default)]
        len: Option<usize>,
    },
    Vec {
        eltype: ElementWidth,
        len: usize,
    },
    Tuple(Vec<Typing>),
}

/// The type of a vector's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum ElementWidth {
    /// 32-bit floats.
    F32,
    /// 64-bit floats.
    F64,
}

/// An access level.
#[derive(Clone, Copy, Deserialize)]
pub(super) enum Level {
    Hidden,
    ReadOnly,
    Protected,
    Normal,
}

/// An expression.
#[derive(Deserialize)]
pub(super) enum StoredExpr {
    Const { val: Stored },
    Apply { op: String, args: Vec<StoredExpr> },
    Cond { clauses: Vec<(StoredExpr, StoredExpr)> },
    UnboundApply { op: String, args: Vec<StoredExpr> },
    Binding { var: Variable },
}

/// A variable.
#[derive(Deserialize)]
pub(super) struct Variable {
    pub name: String,
}

impl From<Level> for AccessLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Hidden => AccessLevel::Hidden,
            Level::ReadOnly => AccessLevel::ReadOnly,
            Level::Protected => AccessLevel::Protected,
            Level::Normal => AccessLevel::Normal,
        }
    }
}

impl From<&Typing> for ColumnType {
    fn from(typing: &Typing) -> Self {
        let base = match &typing.coltype {
            Coltype::Any => BaseType::Any,
            Coltype::Bool => BaseType::Bool,
            Coltype::Int => BaseType::Int,
            Coltype::Float => BaseType::Float,
            Coltype::String => BaseType::String,
            Coltype::Bytes => BaseType::Bytes,
            Coltype::Uuid => BaseType::Uuid,
            Coltype::Validity => BaseType::Validity,
            Coltype::Json => BaseType::Json,
            Coltype::List { eltype, len } => BaseType::List(Box::new((&**eltype).into()), *len),
            Coltype::Vec { eltype, len } => BaseType::Vector { wide: *eltype == ElementWidth::F64, len: *len },
            Coltype::Tuple(elements) => BaseType::Tuple(elements.iter().map(ColumnType::from).collect()),
        };
        ColumnType { base, nullable: typing.nullable }
    }
}
