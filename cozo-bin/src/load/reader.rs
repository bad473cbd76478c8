//! Records of CSV and JSON files, one interface for both.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use cozo::value::lost_integer;
use csv::StringRecord;
use indicatif::ProgressBar;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::CliError;
use crate::format::{FileFormat, without_mark};
use crate::output;

/// What follows the last record of a file with separators, as a record of its own: if it comes out as a part of another, a quote
/// was not closed, which the reader does not tell. The text means nothing, and is hardly in a file by chance.
const END: &str = "\u{3}end of the file\u{3}";

/// A data file whose columns are known.
pub struct DataFile {
    path: PathBuf,
    format: FileFormat,
    /// The names of the columns.
    pub headers: Vec<String>,
}

/// A record of a file.
pub enum Record {
    /// A line of CSV.
    Separated(StringRecord),
    /// The fields of an object, by column.
    Json(Vec<Option<Field>>),
}

/// The fields of objects.
type Objects<'a> = Box<dyn Iterator<Item = miette::Result<Vec<(String, Field)>>> + 'a>;

/// A field of a record.
#[derive(Clone)]
pub enum Cell<'a> {
    /// The record has no such field.
    Missing,
    /// Text, from CSV.
    Text(&'a str),
    /// A value, from JSON.
    Json(&'a Field),
}

/// A field of a JSON object.
#[derive(Clone)]
pub struct Field {
    /// Its value.
    pub value: Value,
    /// An integer in its text that no number holds, so that the value has another one.
    lost: Option<String>,
}

impl Field {
    /// The field of this text.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        Ok(Field { value: serde_json::from_str(text)?, lost: lost_integer(text).map(str::to_string) })
    }

    /// Why its value is not what its text says, if it is not.
    pub fn refusal(&self) -> Option<String> {
        self.lost.as_deref().map(beyond_numbers)
    }
}

/// Why an integer is refused.
pub fn beyond_numbers(integer: &str) -> String {
    format!("{integer} is beyond Int, and Float would not keep its digits: write it as a string")
}

impl Record {
    /// The field of a column.
    pub fn cell(&self, column: usize) -> Cell<'_> {
        match self {
            Record::Separated(record) => record.get(column).map_or(Cell::Missing, Cell::Text),
            Record::Json(fields) => fields.get(column).and_then(Option::as_ref).map_or(Cell::Missing, Cell::Json),
        }
    }
}

impl DataFile {
    /// Finds out the columns: from the header of CSV, from all objects of JSON.
    pub fn open(path: &Path, format: FileFormat, bar: &ProgressBar) -> miette::Result<Self> {
        let mut file = DataFile { path: path.to_path_buf(), format, headers: vec![] };
        bar.set_message("reading");
        file.headers = match file.delimiter() {
            Some(delimiter) => file.separated_headers(delimiter, bar)?,
            None => file.json_headers(bar)?,
        };
        if file.headers.iter().all(String::is_empty) {
            return Err(CliError::NoColumns(file.name()).into());
        }
        Ok(file)
    }

    /// The path, to show.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// What separates values; nothing where lines are JSON.
    fn delimiter(&self) -> Option<u8> {
        match self.format {
            FileFormat::Csv => Some(b','),
            FileFormat::Tsv => Some(b'\t'),
            _ => None,
        }
    }

    /// An error about a record, which is counted from 1.
    pub fn bad_record(&self, record: u64, reason: String) -> CliError {
        CliError::Record { path: self.name(), record, reason }
    }

    /// The records from the first on; the bar follows.
    pub fn records(&self, bar: &ProgressBar) -> miette::Result<Box<dyn Iterator<Item = miette::Result<Record>> + '_>> {
        bar.set_position(0);
        let numbered = 1..;
        Ok(match self.delimiter() {
            Some(delimiter) => {
                let mut records = self.separated(delimiter, bar)?.into_records().zip(numbered).peekable();
                Box::new(std::iter::from_fn(move || {
                    let (record, number) = records.next()?;
                    let is_last = records.peek().is_none();
                    self.separated_record(record, number, is_last).transpose()
                }))
            }
            None => {
                let columns: HashMap<String, usize> = self.headers.iter().cloned().zip(0..).collect();
                Box::new(self.objects(bar)?.map(move |object| {
                    let mut fields = vec![None; columns.len()];
                    object?.into_iter().for_each(|(name, value)| fields[columns[&name]] = Some(value));
                    Ok(Record::Json(fields))
                }))
            }
        })
    }

    fn read(&self, bar: &ProgressBar) -> Result<impl Read + use<>, CliError> {
        let file = File::open(&self.path).map_err(CliError::reading(&self.path))?;
        // The reader buffers in pieces that are large enough for the bar to cost nothing.
        Ok(bar.wrap_read(file))
    }

    /// A record of values between separators, or nothing if it is [`END`].
    fn separated_record(
        &self,
        record: csv::Result<StringRecord>,
        number: u64,
        is_last: bool,
    ) -> miette::Result<Option<Record>> {
        let record = record.map_err(|error| self.bad_record(number, reason(&error)))?;
        if is_last && record == [END][..] {
            return Ok(None);
        }
        if is_last && swallows_end(&record) {
            return Err(self.bad_record(number, NOT_CLOSED.to_string()).into());
        }
        let (found, wanted) = (record.len(), self.headers.len());
        if found != wanted {
            let fields = output::count(found, "field");
            return Err(self.bad_record(number, format!("it has {fields}, and the header has {wanted}")).into());
        }
        Ok(Some(Record::Separated(record)))
    }

    fn separated_headers(&self, delimiter: u8, bar: &ProgressBar) -> miette::Result<Vec<String>> {
        let mut reader = self.separated(delimiter, bar)?;
        let headers = reader.headers().map_err(|error| self.bad_record(0, reason(&error)))?;
        if *headers == [END][..] {
            return Ok(vec![]);
        }
        if swallows_end(headers) {
            return Err(self.bad_record(0, NOT_CLOSED.to_string()).into());
        }
        Ok(headers.iter().map(|header| without_mark(header.trim()).to_string()).collect())
    }

    /// The records of the file, then [`END`].
    fn separated(&self, delimiter: u8, bar: &ProgressBar) -> Result<csv::Reader<impl Read + use<>>, CliError> {
        let reader = self.read(bar)?.chain(Cursor::new(format!("\n{END}")));
        // The end has another number of fields than the records, which are compared with the header later.
        Ok(csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).buffer_capacity(1 << 16).from_reader(reader))
    }

    fn json_headers(&self, bar: &ProgressBar) -> miette::Result<Vec<String>> {
        let mut headers = Vec::<String>::new();
        let mut seen = std::collections::HashSet::<String>::new();
        for object in self.objects(bar)? {
            for (name, _) in object? {
                if seen.insert(name.clone()) {
                    headers.push(name);
                }
            }
        }
        Ok(headers)
    }

    /// The objects of a file of JSON, their fields in order.
    fn objects(&self, bar: &ProgressBar) -> miette::Result<Objects<'_>> {
        match self.format {
            FileFormat::Json => self.objects_of_array(bar),
            _ => self.objects_of_lines(bar),
        }
    }

    /// The objects of a JSON Lines file; blank lines are skipped.
    fn objects_of_lines(&self, bar: &ProgressBar) -> miette::Result<Objects<'_>> {
        let lines = BufReader::with_capacity(1 << 16, self.read(bar)?).lines();
        let filled = lines.filter(|line| line.as_ref().map_or(true, |line| !without_mark(line).trim().is_empty()));
        Ok(Box::new((1..).zip(filled).map(|(number, line)| {
            let line = line.map_err(CliError::reading(&self.path))?;
            // No JSON begins with the mark, so that it can be taken off each line: files that were joined have several.
            self.object(number, without_mark(&line))
        })))
    }

    /// The objects of an array, whose text is held in memory.
    fn objects_of_array(&self, bar: &ProgressBar) -> miette::Result<Objects<'_>> {
        let mut text = String::new();
        self.read(bar)?.read_to_string(&mut text).map_err(CliError::reading(&self.path))?;
        let objects: Vec<Box<RawValue>> =
            serde_json::from_str(without_mark(&text)).map_err(|error| self.bad_record(0, error.to_string()))?;
        Ok(Box::new((1..).zip(objects).map(|(number, object)| self.object(number, object.get()))))
    }

    /// The fields of the object in a text.
    fn object(&self, number: u64, text: &str) -> miette::Result<Vec<(String, Field)>> {
        // Of a text by itself the number of the line says nothing.
        let reason = |error: serde_json::Error| error.to_string().replace(" at line 1 column ", " at column ");
        let fields = serde_json::from_str::<Fields>(text);
        Ok(fields.map_err(|error| self.bad_record(number, reason(error)))?.0)
    }
}

/// Why a record cannot be read. The reader's own text counts records and lines in another way.
fn reason(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Utf8 { err, .. } => format!("field {} is no UTF-8 text", err.field() + 1),
        _ => error.to_string(),
    }
}

/// What is wrong with a record that begins a quote which goes on to the end of the file.
const NOT_CLOSED: &str = "a quote begins here that is not closed";

/// Whether the end of the file is a part of the record.
fn swallows_end(record: &StringRecord) -> bool {
    record.iter().next_back().is_some_and(|last| last.ends_with(END))
}

/// The fields of an object in the order in which they are written, which a map of JSON would forget.
struct Fields(Vec<(String, Field)>);

impl<'de> serde::Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = vec![];
        while let Some((name, text)) = map.next_entry::<String, Box<RawValue>>()? {
            fields.push((name, Field::parse(text.get()).map_err(A::Error::custom)?));
        }
        Ok(Fields(fields))
    }
}
