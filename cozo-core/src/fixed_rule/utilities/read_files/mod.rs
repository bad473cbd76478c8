//! `ReadCsv`, `ReadJsonLines` and `ReadParquet`: files whose types are found out.
//!
//! A path may be a pattern of several files, whose rows come one after the other. The columns are chosen by the
//! option `columns`, or by the head of the rule. CSV and JSON are read once: fields are kept as they are, and
//! converted at the end to the narrowest type that holds all values of their column
//! ([`TypeGuess`](crate::data_file::TypeGuess)), as `cozo import` does it.

mod csv;
mod json_lines;
mod parquet;

pub use csv::READ_CSV;
pub use json_lines::READ_JSON_LINES;
pub use parquet::READ_PARQUET;

use super::source::{FILE_SCHEME, Origin};
use crate::data_file::{TypeGuess, files_of};
use crate::fixed_rule::{Call, DefaultValue, FixedRuleError, HEAD, OptionKind, OptionSpec, Options, Output, Settings};
use crate::value::{Batch, DataValue};

const PATH: OptionSpec = OptionSpec::required(
    "path",
    OptionKind::Text,
    "the path of a file, a pattern for several files such as `'data/*.csv'`, or an `http://` or `https://` address; files \
     whose names end in `.gz` are decompressed",
);

const COLUMNS: OptionSpec = OptionSpec::new(
    "columns",
    OptionKind::Value,
    DefaultValue::Null,
    "the columns to read, in order: a list of names, or of positions from 0; by default the names in the head of the rule",
);

const LIMIT: OptionSpec =
    OptionSpec::new("limit", OptionKind::NonNegativeInt, DefaultValue::Null, "the maximum number of rows to read");

const OUTPUT: Output =
    Output::FromHead("one column for each element of `columns`, or for each name in the head", arity);

const COLUMNS_WANTED: &str = "a list of names of columns, or of their positions from 0";

fn arity(options: Options<'_>) -> Result<usize, FixedRuleError> {
    Ok(Choice::of(options)?.columns.len())
}

/// The columns to read.
struct Choice {
    /// Names, or positions from 0.
    columns: Vec<DataValue>,
    /// Whether they are the names of the head, which count by position where a file has no names.
    by_head: bool,
}

impl Choice {
    fn of(options: Options<'_>) -> Result<Self, FixedRuleError> {
        let given = options.value(COLUMNS.name, OptionKind::Value)?.filter(|value| !value.is_null());
        let by_head = given.is_none();
        let columns = match given {
            Some(columns) => columns,
            None => options.value(HEAD, OptionKind::Value)?.unwrap_or(DataValue::Null),
        };
        let is_column = |value: &DataValue| value.get_str().is_some() || value.get_int().is_some_and(|at| at >= 0);
        match columns.get_slice() {
            Some([]) | None if by_head => Err(options.missing(COLUMNS.name)),
            Some(list) if list.iter().all(is_column) => Ok(Choice { columns: list.to_vec(), by_head }),
            _ => Err(options.wrong(COLUMNS.name, COLUMNS_WANTED, columns.to_string())),
        }
    }

    /// The positions of the columns in a file with these names, or in one without names.
    fn positions(
        &self,
        names: Option<&[String]>,
        width: usize,
        origin: &Origin<'_>,
    ) -> Result<Vec<usize>, FixedRuleError> {
        let position = |(i, column): (usize, &DataValue)| {
            let name = column.get_str();
            let found = match (name, names) {
                (Some(name), Some(names)) => names.iter().position(|header| header == name),
                (Some(_), None) => self.by_head.then_some(i),
                (None, _) => column.get_int().and_then(|at| usize::try_from(at).ok()),
            };
            found.filter(|at| *at < width).ok_or_else(|| {
                let found = match names {
                    Some(names) => format!("the file has {}", names.join(", ")),
                    None => format!("a record has {width} fields"),
                };
                let reason = format!("there is no column {column}; {found}");
                origin.bad_data(
                    "the start".to_string(),
                    reason,
                    "name columns as the file does, as in columns: ['Order ID']",
                )
            })
        };
        self.columns.iter().enumerate().map(position).collect()
    }
}

/// The greatest number of rows.
fn limit(settings: &Settings) -> usize {
    settings.value(LIMIT.name).get_int().map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

/// The addresses of the files.
fn addresses(call: &Call<'_>, settings: &Settings) -> Result<Vec<String>, FixedRuleError> {
    let path = settings.text(PATH.name);
    if path.starts_with("http://") || path.starts_with("https://") {
        return Ok(vec![path.to_string()]);
    }
    let path = path.strip_prefix(FILE_SCHEME).unwrap_or(path);
    let files = files_of(path).map_err(|error| Origin::new(call, path).unreadable(error))?;
    Ok(files.iter().map(|file| format!("{FILE_SCHEME}{}", file.display())).collect())
}

/// The rows, with the values converted of those columns whose guess `wants` that.
fn convert(
    mut rows: Batch,
    guesses: &[TypeGuess],
    wants: impl Fn(&TypeGuess) -> bool,
    value: impl Fn(&TypeGuess, DataValue) -> DataValue,
    call: &Call<'_>,
) -> Result<Batch, FixedRuleError> {
    let meanwhile = call.poison.for_a_while();
    for (column, guess) in rows.columns.iter_mut().zip(guesses).filter(|(_, guess)| wants(guess)) {
        let mut converted = Batch::empty(1);
        let mut pace = meanwhile.pace();
        for old in column.iter() {
            pace.step()?;
            converted.columns[0].push_owned(value(guess, old));
        }
        *column = converted.columns.swap_remove(0);
        meanwhile.make_room(column.memory_bytes())?;
    }
    Ok(rows)
}
