//! A relation as a table, and the statements that write it.

use super::bounds::Shape;
use super::column_encoding::Form;
use super::names::{column_names, quoted};
use crate::schema::SchemaRef;
use crate::storage::error::StorageError;
use crate::storage::shape::RelationShape;
use crate::value::Batch;

/// The most columns of a table in SQLite.
const MAX_COLUMNS: usize = 2000;

/// The approximate number of values that one statement puts. A statement for each row would be slower, and larger statements are
/// not faster.
const VALUES_A_STATEMENT: usize = 40;

/// A row of this size fills a page.
const LARGE_ROW_BYTES: usize = 4096;

/// The table of a relation.
#[derive(Debug)]
pub struct Table {
    /// The relation as it was created.
    pub schema: SchemaRef,
    /// The table's name, not quoted.
    pub name: String,
    /// The number of columns.
    pub shape: RelationShape,
    /// The stored form of each column.
    pub forms: Vec<Form>,
    /// The names of the columns, quoted.
    columns: Vec<String>,
}

impl Table {
    /// The table of this name for a relation.
    pub fn new(schema: &SchemaRef, name: String) -> Result<Self, StorageError> {
        if schema.arity() > MAX_COLUMNS {
            return Err(StorageError::CannotHold {
                engine: super::NAME,
                relation: schema.name.to_string(),
                reason: format!("it has {} columns, and a table has {MAX_COLUMNS} at most", schema.arity()),
            });
        }
        let keys = schema.keys.iter().map(|column| Form::of_key(&column.column_type));
        let values = schema.values.iter().map(|column| Form::of_value(&column.column_type));
        let names = column_names(schema.columns().map(|column| column.name.as_str()));
        Ok(Table {
            schema: schema.clone(),
            name,
            shape: RelationShape::from(&**schema),
            forms: keys.chain(values).collect(),
            columns: names.iter().map(|name| quoted(name)).collect(),
        })
    }

    /// The stored forms of the key columns.
    pub fn key_forms(&self) -> &[Form] {
        &self.forms[..self.shape.keys]
    }

    /// The statement that creates the table. A key of a single integer is SQLite's row number, by which a row is found without
    /// reading other rows. All other statements are the same for both kinds of tables.
    pub fn creation(&self) -> String {
        let columns: Vec<String> =
            self.columns.iter().zip(&self.forms).map(|(name, form)| format!("{name}{}", form.declaration())).collect();
        let (table, columns, keys) = (quoted(&self.name), columns.join(", "), self.key_names().join(", "));
        let kind = if self.key_forms() == [Form::Int] { "" } else { " without rowid" };
        format!("create table {table} ({columns}, primary key ({keys})){kind}")
    }

    /// The statement that reads some columns of the rows of a range, in key order.
    pub fn selection(&self, columns: &[usize], shape: Shape) -> String {
        let selected: Vec<&str> = columns.iter().map(|column| self.columns[*column].as_str()).collect();
        let selected = if selected.is_empty() { "1".to_string() } else { selected.join(", ") };
        let (table, keys) = (quoted(&self.name), self.key_names());
        format!("select {selected} from {table} where {} order by {}", shape.condition(keys), keys.join(", "))
    }

    /// The number of these rows that one statement puts. For a statement of several rows SQLite journals each page, so large rows
    /// go one by one.
    pub fn rows_a_statement(&self, rows: &Batch) -> usize {
        let are_large = rows.memory_bytes() / LARGE_ROW_BYTES >= rows.len;
        if are_large { 1 } else { (VALUES_A_STATEMENT / self.shape.arity).max(1) }
    }

    /// The statement that puts `rows` rows, and ignores or replaces existing ones.
    pub fn insertion(&self, rows: usize, or: &str) -> String {
        let row = format!("({})", vec!["?"; self.shape.arity].join(", "));
        format!("insert or {or} into {} values {}", quoted(&self.name), vec![row.as_str(); rows].join(", "))
    }

    /// The statement that removes a row.
    pub fn removal(&self) -> String {
        let whole_key = Shape::Prefix(self.shape.keys);
        format!("delete from {} where {}", quoted(&self.name), whole_key.condition(self.key_names()))
    }

    /// The statement that removes the table.
    pub fn dropping(&self) -> String {
        format!("drop table {}", quoted(&self.name))
    }

    fn key_names(&self) -> &[String] {
        &self.columns[..self.shape.keys]
    }
}
