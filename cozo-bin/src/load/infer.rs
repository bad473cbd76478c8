//! The columns of a relation from the contents of a file.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

#[cfg(feature = "arrow")]
use cozo::data_file::is_exact_float;
use cozo::data_file::{GuessedKind, TypeGuess};
#[cfg(feature = "arrow")]
use cozo::value::{Batch, Column, DataValue, Vector, VectorColumn};
use indicatif::ProgressBar;

use super::files::{FileRecord, TextFiles};
use super::reader::Cell;
use super::rename;
use crate::error::CliError;

/// Longer keys are not looked for: then all columns are keys.
const MAX_KEYS: usize = 3;

/// The number of rows among which keys are looked for. All rows must be looked at, and the hashes of their keys be
/// held: 300 MB. In larger files, all columns are keys.
const KEY_SEARCH_ROWS: usize = 20_000_000;

/// What was found out about the columns.
pub struct Inferred {
    /// The columns as between braces.
    pub declaration: String,
    /// What the key is and why, as the rest of a sentence. Nothing if the file says itself what its keys are.
    pub key: Option<String>,
}

/// How the search for a key ended.
enum Key {
    /// This many leading columns tell all rows apart.
    Length(usize),
    /// No run of few columns does.
    NotFound,
    /// There are too many rows to look.
    TooManyRows,
}

impl Inferred {
    fn new(headers: &[String], types: &[String], key: &Key) -> Self {
        let length = if let Key::Length(length) = key { *length } else { headers.len() };
        let names = headers[..length].join(", ");
        let reason = match key {
            Key::Length(1) => format!("key {names}, which tells all rows apart"),
            Key::Length(_) => format!("key {names}: the first columns that tell all rows apart"),
            Key::NotFound if headers.len() <= MAX_KEYS => {
                "all columns are the key, as some rows are the same".to_string()
            }
            Key::NotFound => format!("all columns are the key, as the first {MAX_KEYS} do not tell all rows apart"),
            Key::TooManyRows => {
                format!("all columns are the key, which is not looked for in more than {KEY_SEARCH_ROWS} rows")
            }
        };
        Inferred { declaration: declaration(headers, types, length), key: Some(reason) }
    }
}

/// The columns for the files.
pub fn columns(files: &TextFiles, bar: &ProgressBar) -> miette::Result<Inferred> {
    check_names(&files.name(), &files.headers)?;
    bar.set_message("looking");
    let types = types(files, bar)?;
    let key = find_key(files, &types, bar)?;
    Ok(Inferred::new(&files.headers, &types.iter().map(TypeGuess::column_type).collect::<Vec<_>>(), &key))
}

/// The same for files that have columns of typed values.
#[cfg(feature = "arrow")]
pub fn columns_of_batches(
    name: &str,
    headers: &[String],
    batches: impl Iterator<Item = miette::Result<Batch>>,
) -> miette::Result<Inferred> {
    check_names(name, headers)?;
    let mut types = vec![SeenValues::default(); headers.len()];
    let mut keys = vec![Some(HashSet::new()); MAX_KEYS.min(headers.len())];
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        rows += batch.len;
        types.iter_mut().zip(&batch.columns).for_each(|(seen, column)| seen.add(column));
        if rows > KEY_SEARCH_ROWS {
            keys.clear();
        }
        let mut hashes = vec![0; batch.len];
        for (key, column) in keys.iter_mut().zip(&batch.columns) {
            column.hash_into(&mut hashes);
            // What does not tell all rows apart will not do so later.
            if key.as_mut().is_some_and(|seen| !hashes.iter().all(|hash| seen.insert(*hash))) {
                *key = None;
            }
        }
    }
    let key = match keys.iter().position(Option::is_some) {
        Some(position) => Key::Length(position + 1),
        None if keys.is_empty() => Key::TooManyRows,
        None => Key::NotFound,
    };
    Ok(Inferred::new(headers, &types.iter().map(SeenValues::text).collect::<Vec<_>>(), &key))
}

/// `a: Int, b: String => c: Float?`, the first columns being keys.
pub fn declaration(headers: &[String], types: &[String], keys: usize) -> String {
    let typed: Vec<String> = headers.iter().zip(types).map(|(name, text)| format!("{name}: {text}")).collect();
    let (keys, values) = typed.split_at(keys);
    if values.is_empty() { keys.join(", ") } else { format!("{} => {}", keys.join(", "), values.join(", ")) }
}

fn check_names(file: &str, headers: &[String]) -> Result<(), CliError> {
    let renamed = rename::all(headers);
    let odd: Vec<(&String, &String)> = headers.iter().zip(&renamed).filter(|(old, new)| old != new).collect();
    if odd.is_empty() {
        return Ok(());
    }
    let columns = odd.iter().map(|(old, _)| format!("'{old}'")).collect::<Vec<_>>().join(", ");
    let names = odd.iter().map(|(_, new)| new.as_str()).collect::<Vec<_>>().join(", ");
    Err(CliError::ColumnName { path: file.to_string(), columns, names })
}

/// Whether a column may be called so.
pub fn is_name(text: &str) -> bool {
    text.starts_with(char::is_alphabetic)
        && text.chars().all(|character| character.is_alphanumeric() || character == '_')
}

fn types(files: &TextFiles, bar: &ProgressBar) -> miette::Result<Vec<TypeGuess>> {
    let mut columns = vec![TypeGuess::default(); files.headers.len()];
    for record in files.records(bar) {
        let record = record?;
        for (position, guess) in columns.iter_mut().enumerate() {
            let bad = |reason| record.bad(format!("column '{}': {reason}", files.headers[position]));
            match record.cell(position) {
                Cell::Missing => guess.add_null(),
                Cell::Text(text) => guess.add_text(text),
                Cell::Json(field) => match field.refusal() {
                    Some(reason) => return Err(bad(reason).into()),
                    None => guess.add_json(&field.value),
                },
            }
        }
    }
    Ok(columns)
}

/// How many leading columns tell all rows apart.
fn find_key(files: &TextFiles, types: &[TypeGuess], bar: &ProgressBar) -> miette::Result<Key> {
    for length in 1..=MAX_KEYS.min(files.headers.len()) {
        match tells_apart(files, &types[..length], bar)? {
            Some(true) => return Ok(Key::Length(length)),
            Some(false) => {}
            None => return Ok(Key::TooManyRows),
        }
    }
    Ok(Key::NotFound)
}

/// Whether the first columns tell all rows apart. `None` if there are too many rows to look.
fn tells_apart(files: &TextFiles, keys: &[TypeGuess], bar: &ProgressBar) -> miette::Result<Option<bool>> {
    let mut seen = HashSet::new();
    for record in files.records(bar) {
        if !seen.insert(key_hash(&record?, keys)) {
            return Ok(Some(false));
        }
        if seen.len() > KEY_SEARCH_ROWS {
            return Ok(None);
        }
    }
    Ok(Some(true))
}

/// Hashes stand for keys: should two collide, a column more becomes a key, which does no harm.
fn key_hash(record: &FileRecord<'_>, keys: &[TypeGuess]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (column, guess) in keys.iter().enumerate() {
        match (record.cell(column), guess.kind()) {
            (Cell::Missing, _) => 0.hash(&mut hasher),
            // `1` and `1.0` are the same number, and so are two that are nearest to one float.
            (Cell::Text(text), Some(GuessedKind::Float)) => hash_number(text.trim().parse().ok(), &mut hasher),
            (Cell::Json(field), Some(GuessedKind::Float)) => hash_number(field.value.as_f64(), &mut hasher),
            (Cell::Text(text), Some(GuessedKind::Int | GuessedKind::LargeInt)) => {
                text.trim().parse::<i64>().ok().hash(&mut hasher);
            }
            (Cell::Text(text), Some(GuessedKind::Bool)) => text.trim().hash(&mut hasher),
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
