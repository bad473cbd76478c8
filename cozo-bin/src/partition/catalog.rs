//! The catalog of a partition: `catalog.json`, which says what its files hold.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

use cozo::RelationReader;
use cozo::schema::{ColumnDefinition, RelationSchema};

use super::error::PartitionError;
use super::form::Form;
use super::names::CATALOG;
use super::part::writing;
use crate::error::CliError;

/// What the file says it is.
const FORMAT: &str = "cozo partition";

/// The version of the format. It grows with every change that earlier versions of the program would read wrongly.
const VERSION: u64 = 1;

/// What a partition holds.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct PartitionCatalog {
    format: String,
    format_version: u64,
    /// The program that wrote it, with its version.
    program: String,
    /// The moment at which all relations were read.
    snapshot_time: String,
    pub relations: Vec<RelationEntry>,
}

/// A relation.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct RelationEntry {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub access_level: String,
    pub keys: Vec<ColumnEntry>,
    pub values: Vec<ColumnEntry>,
    pub rows: u64,
    pub files: Vec<FileEntry>,
    /// The scripts that make its indices.
    #[serde(default)]
    pub indices: Vec<String>,
    /// The script that sets its triggers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggers: Option<String>,
}

/// A column.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ColumnEntry {
    pub name: String,
    /// The type as in a script.
    #[serde(rename = "type")]
    pub column_type: String,
    /// The expression of its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    pub stored_as: Form,
}

/// A file of rows.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct FileEntry {
    /// Where it is, from the folder of the catalog on, with slashes.
    pub path: String,
    pub rows: u64,
}

/// What every version of the format has.
#[derive(serde::Deserialize)]
struct Head {
    format: String,
    format_version: u64,
    #[serde(default)]
    program: String,
}

impl PartitionCatalog {
    /// The catalog of relations that were read at this time.
    pub fn new(snapshot_time: String, relations: Vec<RelationEntry>) -> Self {
        let program = concat!("cozo ", env!("CARGO_PKG_VERSION")).to_string();
        PartitionCatalog { format: FORMAT.to_string(), format_version: VERSION, program, snapshot_time, relations }
    }

    /// Writes the catalog into a folder.
    pub fn write(&self, folder: &Path) -> miette::Result<()> {
        let path = folder.join(CATALOG);
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::from).map_err(writing(&path))?;
        let write = || -> std::io::Result<()> {
            let mut file = fs::File::create(&path)?;
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
            file.sync_all()
        };
        write().map_err(writing(&path))
    }

    /// Reads the catalog of a folder.
    pub fn read(folder: &Path) -> miette::Result<Self> {
        let path = folder.join(CATALOG);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(PartitionError::NoCatalog(path.display().to_string()).into());
            }
            read => read.map_err(CliError::reading(&path))?,
        };
        let bad = |error: serde_json::Error| bad(&path, error);
        let head: Head = serde_json::from_str(&text).map_err(bad)?;
        if head.format != FORMAT {
            return Err(self::bad(&path, format!("its format is '{}', not '{FORMAT}'", head.format)).into());
        }
        if head.format_version > VERSION {
            let (found, program) = (head.format_version, head.program);
            return Err(PartitionError::Newer { found, known: VERSION, program }.into());
        }
        let catalog: PartitionCatalog = serde_json::from_str(&text).map_err(bad)?;
        catalog.check(&path)?;
        Ok(catalog)
    }

    /// Refuses what contradicts itself.
    fn check(&self, path: &Path) -> Result<(), PartitionError> {
        for (number, relation) in self.relations.iter().enumerate() {
            let name = &relation.name;
            if self.relations[..number].iter().any(|other| other.name == *name) {
                return Err(bad(path, format!("it has '{name}' twice")));
            }
            let sum = relation.files.iter().try_fold(0_u64, |sum, file| sum.checked_add(file.rows));
            if sum != Some(relation.rows) {
                return Err(bad(path, format!("'{name}' has {} rows, but its files do not", relation.rows)));
            }
            if let Some(file) = relation.files.iter().find(|file| file.place().is_none()) {
                return Err(bad(path, format!("'{}' is outside of the folder", file.path)));
            }
        }
        Ok(())
    }

    /// The relations of these names, or all of them.
    pub fn select(self, names: &[String]) -> Result<Vec<RelationEntry>, PartitionError> {
        let known = || self.relations.iter().map(|relation| relation.name.as_str()).collect::<Vec<_>>().join(", ");
        let is_known = |name: &&String| self.relations.iter().any(|relation| relation.name == **name);
        if let Some(name) = names.iter().find(|name| !is_known(name)) {
            return Err(PartitionError::NoRelation { relation: name.clone(), known: known() });
        }
        let is_wanted = |relation: &RelationEntry| names.is_empty() || names.contains(&relation.name);
        Ok(self.relations.into_iter().filter(is_wanted).collect())
    }
}

/// The error for a catalog that makes no sense.
pub fn bad(path: &Path, reason: impl ToString) -> PartitionError {
    PartitionError::BadCatalog { path: path.display().to_string(), reason: reason.to_string() }
}

impl RelationEntry {
    /// The entry of a relation, without rows yet.
    pub fn new(reader: &RelationReader) -> Self {
        let definition: &RelationSchema = reader.definition();
        let column = |column: &ColumnDefinition| ColumnEntry {
            name: column.name.to_string(),
            column_type: column.column_type.to_string(),
            default: column.default.as_ref().map(ToString::to_string),
            stored_as: Form::of(&column.column_type),
        };
        RelationEntry {
            name: definition.name.to_string(),
            description: definition.description.clone(),
            access_level: definition.access_level.name().to_string(),
            keys: definition.keys.iter().map(column).collect(),
            values: definition.values.iter().map(column).collect(),
            rows: 0,
            files: vec![],
            indices: definition.index_scripts(),
            triggers: definition.trigger_script(),
        }
    }

    /// All columns, keys first.
    pub fn columns(&self) -> impl Iterator<Item = &ColumnEntry> {
        self.keys.iter().chain(&self.values)
    }
}

impl FileEntry {
    /// The path from the folder of the catalog on, unless it leads out of it.
    pub fn place(&self) -> Option<PathBuf> {
        let path = PathBuf::from(&self.path);
        path.components().all(|part| matches!(part, Component::Normal(_))).then_some(path)
    }
}
