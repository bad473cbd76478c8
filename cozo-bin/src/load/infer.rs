//! The columns of a relation from the contents of a file.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use cozo::value::loses_digits;
#[cfg(feature = "arrow")]
use cozo::value::{Batch, Column, DataValue, Vector, VectorColumn};
use indicatif::ProgressBar;
use serde_json::Value;

use super::reader::{Cell, DataFile, Field, Record};
use crate::error::CliError;

/// Longer keys are not looked for: then all columns are keys.
const MAX_KEYS: usize = 3;

/// `a: Int, b: String => c: Float?` for the file.
pub fn columns(file: &DataFile, bar: &ProgressBar) -> miette::Result<String> {
    check_names(&file.name(), &file.headers)?;
    bar.set_message("looking");
    let types = types(file, bar)?;
    let keys = key_length(file, &types, bar)?;
    Ok(declaration(&file.headers, &types.iter().map(Seen::text).collect::<Vec<_>>(), keys))
}

/// The same for a file that has columns of typed values.
#[cfg(feature = "arrow")]
pub fn columns_of_batches(
    name: &str,
    headers: &[String],
    batches: impl Iterator<Item = miette::Result<Batch>>,
) -> miette::Result<String> {
    check_names(name, headers)?;
    let mut types = vec![SeenValues::default(); headers.len()];
    let mut keys = vec![Some(HashSet::new()); MAX_KEYS.min(headers.len())];
    for batch in batches {
        let batch = batch?;
        types.iter_mut().zip(&batch.columns).for_each(|(seen, column)| seen.add(column));
        let mut hashes = vec![0; batch.len];
        for (key, column) in keys.iter_mut().zip(&batch.columns) {
            column.hash_into(&mut hashes);
            // What does not tell all rows apart will not do so later.
            if key.as_mut().is_some_and(|seen| !hashes.iter().all(|hash| seen.insert(*hash))) {
                *key = None;
            }
        }
    }
    let keys = keys.iter().position(Option::is_some).map_or(headers.len(), |position| position + 1);
    Ok(declaration(headers, &types.iter().map(SeenValues::text).collect::<Vec<_>>(), keys))
}

/// `a: Int, b: String => c: Float?`, the first columns being keys.
pub fn declaration(headers: &[String], types: &[String], keys: usize) -> String {
    let typed: Vec<String> = headers.iter().zip(types).map(|(name, text)| format!("{name}: {text}")).collect();
    let (keys, values) = typed.split_at(keys);
    if values.is_empty() { keys.join(", ") } else { format!("{} => {}", keys.join(", "), values.join(", ")) }
}

fn check_names(file: &str, headers: &[String]) -> Result<(), CliError> {
    match headers.iter().find(|header| !is_name(header)) {
        Some(bad) => Err(CliError::ColumnName { path: file.to_string(), column: bad.clone() }),
        None => Ok(()),
    }
}

/// Whether a column may be called so.
pub fn is_name(text: &str) -> bool {
    text.starts_with(char::is_alphabetic)
        && text.chars().all(|character| character.is_alphanumeric() || character == '_')
}

fn types(file: &DataFile, bar: &ProgressBar) -> miette::Result<Vec<Seen>> {
    let mut columns = vec![Seen::default(); file.headers.len()];
    for (number, record) in (1..).zip(file.records(bar)?) {
        let record = record?;
        for (position, seen) in columns.iter_mut().enumerate() {
            let bad = |reason| file.bad_record(number, format!("column '{}': {reason}", file.headers[position]));
            seen.add(record.cell(position)).map_err(bad)?;
        }
    }
    Ok(columns)
}

/// How many leading columns tell all rows apart.
fn key_length(file: &DataFile, types: &[Seen], bar: &ProgressBar) -> miette::Result<usize> {
    let width = file.headers.len();
    for length in 1..=MAX_KEYS.min(width) {
        if is_unique(file, &types[..length], bar)? {
            return Ok(length);
        }
    }
    Ok(width)
}

fn is_unique(file: &DataFile, keys: &[Seen], bar: &ProgressBar) -> miette::Result<bool> {
    let mut seen = HashSet::new();
    for record in file.records(bar)? {
        if !seen.insert(key_hash(&record?, keys)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Hashes stand for keys: should two collide, a column more becomes a key, which does no harm.
fn key_hash(record: &Record, keys: &[Seen]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (column, seen) in keys.iter().enumerate() {
        match (record.cell(column), seen.kind) {
            (Cell::Missing, _) => 0.hash(&mut hasher),
            // `1` and `1.0` are the same number, and so are two that are nearest to one float.
            (Cell::Text(text), Some(Found::Float)) => hash_number(text.trim().parse().ok(), &mut hasher),
            (Cell::Json(field), Some(Found::Float)) => hash_number(field.value.as_f64(), &mut hasher),
            (Cell::Text(text), Some(Found::Int | Found::LargeInt)) => {
                text.trim().parse::<i64>().ok().hash(&mut hasher);
            }
            (Cell::Text(text), Some(Found::Bool)) => text.trim().hash(&mut hasher),
            (Cell::Text(text), _) => text.hash(&mut hasher),
            (Cell::Json(field), _) => field.value.to_string().hash(&mut hasher),
        }
    }
    hasher.finish()
}

fn hash_number(number: Option<f64>, hasher: &mut DefaultHasher) {
    // Zero has two signs, and one place in a key.
    number.map(|number| (number + 0.0).to_bits()).hash(hasher);
}

/// What a column holds, as far as was seen.
#[derive(Clone, Default)]
struct Seen {
    nulls: bool,
    kind: Option<Found>,
}

/// The narrowest type of what was found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Int,
    /// Integers, some of which would lose digits as floats.
    LargeInt,
    Float,
    Bool,
    String,
    Json,
}

impl Seen {
    /// Takes note of a cell; an error says what no type holds.
    fn add(&mut self, cell: Cell<'_>) -> Result<(), String> {
        let found = match cell {
            Cell::Missing | Cell::Text("") | Cell::Json(Field { value: Value::Null, .. }) => {
                self.nulls = true;
                return Ok(());
            }
            // Once text, always text: nothing more to learn.
            Cell::Text(_) if self.kind == Some(Found::String) => return Ok(()),
            Cell::Text(text) => Found::of_text(text.trim()),
            Cell::Json(field) => Found::of_json(field)?,
        };
        let mixed = if matches!(cell, Cell::Text(_)) { Found::String } else { Found::Json };
        self.kind = Some(self.kind.map_or(found, |kind| kind.union(found, mixed)));
        Ok(())
    }

    /// The type as in a script.
    fn text(&self) -> String {
        let name = match self.kind {
            Some(Found::Int | Found::LargeInt) => "Int",
            Some(Found::Float) => "Float",
            Some(Found::Bool) => "Bool",
            Some(Found::String) => "String",
            Some(Found::Json) | None => "Any",
        };
        format!("{name}{}", if self.nulls { "?" } else { "" })
    }
}

/// What a column of values holds, as far as was seen.
#[cfg(feature = "arrow")]
#[derive(Clone, Default)]
struct SeenValues {
    nulls: bool,
    /// Whether there are integers that would lose digits as floats.
    large_ints: bool,
    column_type: Option<String>,
}

#[cfg(feature = "arrow")]
impl SeenValues {
    fn add(&mut self, column: &Column) {
        self.nulls |= column.has_nulls();
        match column {
            Column::Null(_) => {}
            Column::Bool(_) => self.join("Bool"),
            Column::Int(ints) => {
                self.large_ints |= ints.values.iter().any(|value| !is_exact_float(*value));
                self.join("Int");
            }
            Column::Float(_) => self.join("Float"),
            Column::Str(_) => self.join("String"),
            Column::Vec(VectorColumn::F32(vectors)) => self.join(&format!("<F32; {}>", vectors.dim())),
            Column::Vec(VectorColumn::F64(vectors)) => self.join(&format!("<F64; {}>", vectors.dim())),
            Column::Any(values) => values.iter().filter(|value| !value.is_null()).for_each(|value| match value {
                DataValue::Vec(Vector::F32(vector)) => self.join(&format!("<F32; {}>", vector.len())),
                DataValue::Vec(Vector::F64(vector)) => self.join(&format!("<F64; {}>", vector.len())),
                DataValue::List(_) => self.join("Any"),
                value => {
                    self.large_ints |= value.get_int().is_some_and(|value| !is_exact_float(value));
                    self.join(value.type_name());
                }
            }),
        }
    }

    fn join(&mut self, found: &str) {
        match self.column_type.as_deref() {
            None => self.column_type = Some(found.to_string()),
            Some(before) if before == found => {}
            Some("Int" | "Float") if found == "Int" || found == "Float" => self.column_type = Some("Float".to_string()),
            Some(_) => self.column_type = Some("Any".to_string()),
        }
    }

    fn text(&self) -> String {
        let name = match self.column_type.as_deref() {
            // Integers and floats are held as themselves.
            Some("Float") if self.large_ints => "Any",
            found => found.unwrap_or("Any"),
        };
        format!("{name}{}", if self.nulls { "?" } else { "" })
    }
}

impl Found {
    fn of_text(text: &str) -> Self {
        // Leading zeros and plus signs are for codes and telephone numbers, which must stay as they are.
        let digits = text.trim_start_matches('-');
        let plain = digits.starts_with(|first: char| first.is_ascii_digit())
            && !(digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0."));
        let int = || text.parse::<i64>().ok();
        let float = || text.parse::<f64>().ok().filter(|value| value.is_finite() && !loses_digits(text));
        match text {
            "true" | "false" => Found::Bool,
            _ if !plain => Found::String,
            _ => int().map(Found::of_int).or_else(|| float().map(|_| Found::Float)).unwrap_or(Found::String),
        }
    }

    fn of_json(field: &Field) -> Result<Self, String> {
        if let Some(reason) = field.refusal() {
            return Err(reason);
        }
        Ok(match &field.value {
            Value::Number(number) => number.as_i64().map_or(Found::Float, Found::of_int),
            Value::Bool(_) => Found::Bool,
            Value::String(_) => Found::String,
            _ => Found::Json,
        })
    }

    fn of_int(value: i64) -> Self {
        if is_exact_float(value) { Found::Int } else { Found::LargeInt }
    }

    /// The narrowest type of both, `mixed` if they have nothing in common.
    fn union(self, other: Found, mixed: Found) -> Found {
        match (self, other) {
            _ if self == other => self,
            (Found::Int, Found::LargeInt) | (Found::LargeInt, Found::Int) => Found::LargeInt,
            (Found::Int, Found::Float) | (Found::Float, Found::Int) => Found::Float,
            _ => mixed,
        }
    }
}

/// Whether an integer is the same as a float.
fn is_exact_float(value: i64) -> bool {
    value as f64 as i128 == i128::from(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_of(cells: &[&str]) -> String {
        let mut seen = Seen::default();
        cells.iter().for_each(|cell| seen.add(Cell::Text(cell)).expect("text holds everything"));
        seen.text()
    }

    #[test]
    fn types_of_text() {
        assert_eq!(type_of(&["1", "-2"]), "Int");
        assert_eq!(type_of(&["1", "", "2.5"]), "Float?");
        assert_eq!(type_of(&["true", "false"]), "Bool");
        assert_eq!(type_of(&["true", "1"]), "String");
        assert_eq!(type_of(&["007"]), "String");
        assert_eq!(type_of(&["nan", "inf"]), "String");
        assert_eq!(type_of(&["100000000000000000000"]), "Float");
        assert_eq!(type_of(&["99999999999999999999"]), "String");
        assert_eq!(type_of(&["9007199254740993", "1"]), "Int");
        assert_eq!(type_of(&["9007199254740993", "0.5"]), "String");
        assert_eq!(type_of(&["0.5", "1", "9007199254740993"]), "String");
        assert_eq!(type_of(&["9007199254740992", "0.5"]), "Float");
        assert_eq!(type_of(&[""]), "Any?");
    }

    #[test]
    fn types_of_json() {
        let type_of = |texts: &[&str]| {
            let mut seen = Seen::default();
            let fields = texts.iter().map(|text| Field::parse(text).expect("it is JSON"));
            fields.into_iter().try_for_each(|field| seen.add(Cell::Json(&field))).map(|()| seen.text())
        };
        assert_eq!(type_of(&["1", "\"a\""]).as_deref(), Ok("Any"));
        assert_eq!(type_of(&["9007199254740993", "0.5"]).as_deref(), Ok("Any"));
        assert_eq!(type_of(&["9223372036854775808"]).as_deref(), Ok("Float"));
        assert!(type_of(&["9223372036854775809"]).is_err());
        assert!(type_of(&["18446744073709551617"]).is_err());
        assert!(type_of(&["[1, {\"a\": -18446744073709551617}]"]).is_err());
    }
}
