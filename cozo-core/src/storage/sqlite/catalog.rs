//! The catalog: the relations, and the tables that store them.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use rusqlite::{Connection, OptionalExtension, Row};

use super::error::failed;
use super::names::{CATALOG, LOG_MARK, table_name};
use super::table::Table;
use crate::schema::{RelationId, RelationSchema, SchemaRef};
use crate::storage::error::StorageError;
use crate::storage::log_mark::LogMark;

/// The relations of a database. Cheap to clone.
#[derive(Clone, Default)]
pub struct Tables {
    entries: OrdMap<RelationId, Entry>,
    /// The names in SQLite's schema, in lower case. SQLite itself would search the whole schema for a name.
    names: OrdSet<String>,
}

impl Deref for Tables {
    type Target = OrdMap<RelationId, Entry>;

    fn deref(&self) -> &Self::Target {
        &self.entries
    }
}

impl DerefMut for Tables {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.entries
    }
}

impl Tables {
    /// Chooses a free name for the table of a relation.
    pub fn name_for(&mut self, relation: &str) -> String {
        let name = table_name(relation, |name| self.names.contains(&name.to_ascii_lowercase()));
        self.names.insert(name.to_ascii_lowercase());
        name
    }

    /// Frees the name of a dropped table.
    pub fn free_name(&mut self, name: &str) {
        self.names.remove(&name.to_ascii_lowercase());
    }
}

/// A relation, or an index.
#[derive(Clone)]
pub struct Entry {
    /// The table that stores it.
    pub table: Arc<Table>,
    /// The number of its rows. The number in the catalog is older.
    pub rows: u64,
    /// The relation's definition; `None` for an index, which is part of its relation's definition.
    pub definition: Option<SchemaRef>,
}

/// Creates the catalog.
pub fn create(connection: &Connection) -> Result<(), StorageError> {
    let creation = format!(
        "create table {CATALOG} (
            id integer primary key,
            name text not null,        -- of the relation or the index
            table_name text not null,
            row_count integer not null, -- about
            is_index boolean not null,
            definition text not null   -- JSON
        )"
    );
    connection.execute_batch(&creation).map_err(failed("create the catalog"))?;
    create_log_mark(connection)
}

/// Creates the table for the mark of the commit log, if it does not exist.
pub fn create_log_mark(connection: &Connection) -> Result<(), StorageError> {
    let creation = format!("create table if not exists {LOG_MARK} (id integer primary key, mark text not null)");
    connection.execute_batch(&creation).map_err(failed("create the catalog"))
}

/// Reads the mark of the commit log.
pub fn log_mark(connection: &Connection) -> Result<Option<LogMark>, StorageError> {
    let read = || -> rusqlite::Result<Option<String>> {
        match is_taken(connection, LOG_MARK)? {
            true => connection.query_row(&format!("select mark from {LOG_MARK}"), [], |row| row.get(0)).optional(),
            false => Ok(None),
        }
    };
    read().map_err(failed("read the catalog"))?.map(|text| LogMark::of_text(&text)).transpose()
}

/// Writes the mark of the commit log.
pub fn save_log_mark(connection: &Connection, mark: LogMark) -> Result<(), StorageError> {
    let insertion = format!("insert or replace into {LOG_MARK} values (1, ?)");
    let save = || connection.prepare_cached(&insertion)?.execute([mark.to_text()]);
    save().map(drop).map_err(failed("write the catalog"))
}

/// Reads the catalog.
pub fn load(connection: &Connection) -> Result<Tables, StorageError> {
    let query = format!("select id, name, table_name, row_count, is_index, definition from {CATALOG}");
    let mut statement = connection.prepare(&query).map_err(failed("read the catalog"))?;
    let mut rows = statement.raw_query();
    let names = names(connection).map_err(failed("read the catalog"))?;
    let mut tables = Tables { entries: OrdMap::new(), names };
    while let Some(row) = rows.next().map_err(failed("read the catalog"))? {
        let stored = Stored::read(row).map_err(failed("read the catalog"))?;
        let entry = stored.entry()?;
        if !tables.names.contains(&entry.table.name.to_ascii_lowercase()) {
            return Err(StorageError::Damaged(format!("the table '{}' is missing", entry.table.name)));
        }
        tables.insert(entry.table.schema.id, entry);
    }
    Ok(tables)
}

/// A row of the catalog.
struct Stored {
    name: String,
    table_name: String,
    row_count: i64,
    is_index: bool,
    definition: String,
}

impl Stored {
    fn read(row: &Row) -> rusqlite::Result<Self> {
        Ok(Stored {
            name: row.get(1)?,
            table_name: row.get(2)?,
            row_count: row.get(3)?,
            is_index: row.get(4)?,
            definition: row.get(5)?,
        })
    }

    fn entry(self) -> Result<Entry, StorageError> {
        let schema: RelationSchema = serde_json::from_str(&self.definition)
            .map_err(|error| StorageError::Damaged(format!("the definition of '{}': {error}", self.name)))?;
        let schema = SchemaRef::new(schema);
        let definition = (!self.is_index).then(|| schema.clone());
        let table = Arc::new(Table::new(&schema, self.table_name)?);
        Ok(Entry { table, rows: self.row_count.max(0) as u64, definition })
    }
}

/// Writes the relation's row of the catalog.
pub fn save(connection: &Connection, entry: &Entry) -> Result<(), StorageError> {
    let schema = entry.definition.as_ref().unwrap_or(&entry.table.schema);
    let definition = serde_json::to_string(schema).expect("definitions are plain data");
    let insertion = format!("insert or replace into {CATALOG} values (?, ?, ?, ?, ?, ?)");
    let values = (
        schema.id.0 as i64,
        schema.name.as_str(),
        &entry.table.name,
        entry.rows as i64,
        entry.definition.is_none(),
        definition,
    );
    let save = || connection.prepare_cached(&insertion)?.execute(values);
    save().map(drop).map_err(failed("write the catalog"))
}

/// Saves the numbers of rows.
pub fn save_row_counts(connection: &Connection, tables: &Tables) -> Result<(), StorageError> {
    let save = || -> rusqlite::Result<()> {
        let update = format!("update {CATALOG} set row_count = ?1 where id = ?2 and row_count <> ?1");
        let mut statement = connection.prepare_cached(&update)?;
        for (relation, entry) in tables.iter() {
            statement.execute([entry.rows as i64, relation.0 as i64])?;
        }
        Ok(())
    };
    save().map_err(failed("write the catalog"))
}

/// Removes the relation's row of the catalog.
pub fn remove(connection: &Connection, relation: RelationId) -> Result<(), StorageError> {
    let removal = format!("delete from {CATALOG} where id = ?");
    let remove = || connection.prepare_cached(&removal)?.execute([relation.0 as i64]);
    remove().map(drop).map_err(failed("write the catalog"))
}

/// All names in the schema, in lower case.
fn names(connection: &Connection) -> rusqlite::Result<OrdSet<String>> {
    let mut statement = connection.prepare("select name from sqlite_schema")?;
    let names = statement.query_map([], |row| row.get(0).map(|name: String| name.to_ascii_lowercase()))?;
    names.collect()
}

fn is_taken(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("select 1 from sqlite_schema where name = ? collate nocase")?.exists([name])
}
