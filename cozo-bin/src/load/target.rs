//! The relation that a file goes to.

use std::collections::BTreeMap;
use std::path::Path;

use cozo::data_file::beyond_numbers;
use cozo::value::lost_integer;
use cozo::{DataValue, DbInstance, ScriptMutability};
use serde_json::Value;

use super::infer::{self, is_name};
use super::reader::{Cell, Field};
use crate::error::CliError;

/// A relation by name, with the columns to create it with if they were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The relation.
    pub name: &'a str,
    /// What stands between braces.
    pub columns: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// `name` or `name {key: Type => column: Type}`.
    pub fn parse(text: &'a str) -> Result<Self, CliError> {
        let (name, rest) = match text.split_once('{') {
            None => (text.trim(), None),
            Some((name, rest)) => (name.trim(), Some(rest.trim_end())),
        };
        check_name(name)?;
        let closed = |rest: &'a str| rest.strip_suffix('}').ok_or_else(|| CliError::Columns(text.to_string()));
        Ok(Target { name, columns: rest.map(closed).transpose()? })
    }
}

/// Refuses what cannot be the name of a stored relation, of which scripts would say it in other words.
fn check_name(name: &str) -> Result<(), CliError> {
    let is_relation = |name: &str| name.split('.').all(is_name);
    match name.split_once(':') {
        _ if is_relation(name) => Ok(()),
        Some((relation, _)) if is_relation(relation) => {
            Err(CliError::IsIndex { index: name.to_string(), relation: relation.to_string() })
        }
        _ => Err(CliError::RelationName(name.to_string())),
    }
}

/// `RELATION=FILE`, where the relation may have columns in braces, and these a `=>`.
pub fn split(text: &str) -> Result<(Target<'_>, &Path), CliError> {
    let bad = || CliError::Load(text.to_string());
    let after_columns = text.rfind('}').map_or(0, |brace| brace + 1);
    let equals = after_columns + text[after_columns..].find('=').ok_or_else(bad)?;
    let (target, file) = (text[..equals].trim(), &text[equals + 1..]);
    if target.is_empty() || file.is_empty() {
        return Err(bad());
    }
    Ok((Target::parse(target)?, Path::new(file)))
}

/// A column of a stored relation.
#[derive(PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    is_key: bool,
    /// Its type as in a script.
    column_type: String,
    /// How cells become its values.
    pub kind: Kind,
    /// Whether it takes nulls.
    pub nullable: bool,
}

/// How a cell becomes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// `true` or `false`.
    Bool,
    /// The text as it is.
    Text,
    /// JSON where it can be read as such, else the text.
    Json,
}

/// Whether text in a column of this type is taken for JSON where it can be read as such.
pub fn takes_json(column_type: &str) -> bool {
    matches!(Kind::of(column_type), Kind::Json)
}

impl Kind {
    /// By the text of a column type.
    fn of(column_type: &str) -> Self {
        match column_type.trim_end_matches('?') {
            "Int" => Kind::Int,
            "Float" => Kind::Float,
            "Bool" => Kind::Bool,
            "String" | "Bytes" | "Uuid" => Kind::Text,
            _ => Kind::Json,
        }
    }

    /// The value; text that is empty is null where the column takes nulls. JSON cells are left to the database.
    pub fn convert(self, cell: Cell<'_>, nullable: bool) -> Result<DataValue, String> {
        let text = match cell {
            Cell::Missing => return Ok(DataValue::Null),
            Cell::Json(field) => return self.of_json(field),
            Cell::Text("") if nullable => return Ok(DataValue::Null),
            Cell::Text(text) => text,
        };
        let parsed = match self {
            Kind::Int => text.trim().parse::<i64>().ok().map(DataValue::from),
            Kind::Float => text.trim().parse::<f64>().ok().map(DataValue::from),
            Kind::Bool => text.trim().parse::<bool>().ok().map(DataValue::from),
            Kind::Text => Some(DataValue::from(text)),
            Kind::Json => match (serde_json::from_str::<Value>(text), lost_integer(text)) {
                (Ok(_), Some(lost)) if lost != text.trim() => return Err(beyond_numbers(lost)),
                (Ok(json), None) => Some(DataValue::from(json)),
                _ => Some(DataValue::from(text)),
            },
        };
        parsed.ok_or_else(|| format!("'{text}' is no {self:?}"))
    }

    /// The value, of which JSON has no infinities. A column of floats takes the nearest one to any number.
    fn of_json(self, field: &Field) -> Result<DataValue, String> {
        match (self, &field.value) {
            (Kind::Float, Value::String(text)) if text == "INFINITY" => Ok(f64::INFINITY.into()),
            (Kind::Float, Value::String(text)) if text == "NEGATIVE_INFINITY" => Ok(f64::NEG_INFINITY.into()),
            (Kind::Float, value @ Value::Number(_)) => Ok(value.into()),
            (_, value) => field.refusal().map_or_else(|| Ok(value.into()), Err),
        }
    }
}

/// Whether the relation is there.
pub fn exists(db: &DbInstance, relation: &str) -> miette::Result<bool> {
    let relations = db.run_script("::relations", BTreeMap::new(), ScriptMutability::Immutable)?;
    Ok(relations.rows.iter().any(|row| row.first().and_then(DataValue::get_str) == Some(relation)))
}

/// Creates the relation, empty.
pub fn create(db: &DbInstance, relation: &str, columns: &str) -> miette::Result<()> {
    db.run_default(&format!(":create {relation} {{{columns}}}")).map(drop)
}

/// Refuses columns that are not those of the relation.
pub fn check_columns(db: &DbInstance, relation: &str, columns: &str) -> miette::Result<()> {
    let given = DbInstance::default();
    create(&given, relation, columns)?;
    let found = columns_of(db, relation)?;
    match columns_of(&given, relation)? == found {
        true => Ok(()),
        false => Err(CliError::OtherColumns { relation: relation.to_string(), found: declaration(&found) }.into()),
    }
}

/// The columns as between braces.
fn declaration(columns: &[Column]) -> String {
    let headers: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let types: Vec<String> = columns.iter().map(|column| column.column_type.clone()).collect();
    infer::declaration(&headers, &types, columns.iter().filter(|column| column.is_key).count())
}

/// The columns of the relation.
pub fn columns_of(db: &DbInstance, relation: &str) -> miette::Result<Vec<Column>> {
    let listed = db.run_script(&format!("::columns {relation}"), BTreeMap::new(), ScriptMutability::Immutable)?;
    let position = |header: &str| listed.headers.iter().position(|name| name == header);
    let text = |row: &[DataValue], header: &str| {
        position(header).and_then(|position| row[position].get_str()).unwrap_or_default().to_string()
    };
    let is_key = |row: &[DataValue]| position("is_key").and_then(|position| row[position].get_bool()).unwrap_or(false);
    let column = |row: &Vec<DataValue>| {
        let column_type = text(row, "type");
        let (kind, nullable) = (Kind::of(&column_type), column_type.ends_with('?'));
        Column { name: text(row, "column"), is_key: is_key(row), kind, nullable, column_type }
    };
    Ok(listed.rows.iter().map(column).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_split_after_the_columns() {
        let target = |name, columns| Target { name, columns };
        assert_eq!(split("r=a=b.csv").ok(), Some((target("r", None), Path::new("a=b.csv"))));
        let given = "r {a: Int, b => c: String}=f.csv";
        assert_eq!(split(given).ok(), Some((target("r", Some("a: Int, b => c: String")), Path::new("f.csv"))));
        assert!(split("r").is_err() && split("r=").is_err() && split("=f.csv").is_err());
        assert!(split("r {a: Int, b => c: String=f.csv").is_err());
    }

    #[test]
    fn relations_have_names() {
        assert!(["t", "a.b", "é_2", " t {a}"].iter().all(|text| Target::parse(text).is_ok()));
        assert!(
            ["", "_t", "t:idx", "bad name", "2t", "a.", "{a}", "t}"].iter().all(|text| Target::parse(text).is_err())
        );
    }

    #[test]
    fn cells_become_values() {
        assert_eq!(Kind::Int.convert(Cell::Text("7"), false), Ok(DataValue::from(7)));
        assert_eq!(Kind::Int.convert(Cell::Text(""), true), Ok(DataValue::Null));
        assert!(Kind::Int.convert(Cell::Text("7.5"), true).is_err());
        assert_eq!(Kind::Text.convert(Cell::Text(""), false), Ok(DataValue::from("")));
        assert_eq!(Kind::Json.convert(Cell::Text("[1]"), false), Ok(DataValue::List(vec![1.into()])));
        assert_eq!(Kind::Json.convert(Cell::Text("x"), false), Ok(DataValue::from("x")));
    }
}
