//! Records of CSV and JSON files, one interface for both.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use cozo::data_file::{
    RecordError, START_BYTES, SeparatedReader, beyond_numbers, decompressed, find_delimiter, line_of,
};
use cozo::value::lost_integer;
use csv::StringRecord;
use indicatif::ProgressBar;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::CliError;
use crate::format::{FileFormat, without_mark};
use crate::output;

/// A data file whose columns are known.
pub struct DataFile {
    path: PathBuf,
    format: FileFormat,
    /// What separates values; nothing where lines are JSON.
    delimiter: Option<u8>,
    /// The names of the columns.
    pub headers: Vec<String>,
}

/// Where a record is.
#[derive(Clone, Copy)]
pub struct Place {
    /// Its number, from 1; a header does not count.
    number: u64,
    /// The line at which it begins, from 1, if records are lines.
    line: Option<u64>,
}

/// The place of a header.
const HEADER: Place = Place { number: 0, line: None };

/// A record of a file.
pub struct Record {
    /// Where it is.
    pub place: Place,
    fields: Fields,
}

enum Fields {
    /// A line of CSV.
    Separated(StringRecord),
    /// The fields of an object, by column.
    Json(Vec<Option<Field>>),
}

/// The fields of objects.
type Objects<'a> = Box<dyn Iterator<Item = miette::Result<(Place, Vec<(String, Field)>)>> + 'a>;

/// The records of a file.
pub type Records<'a> = Box<dyn Iterator<Item = miette::Result<Record>> + 'a>;

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

impl Record {
    /// The field of a column.
    pub fn cell(&self, column: usize) -> Cell<'_> {
        match &self.fields {
            Fields::Separated(record) => record.get(column).map_or(Cell::Missing, Cell::Text),
            Fields::Json(fields) => fields.get(column).and_then(Option::as_ref).map_or(Cell::Missing, Cell::Json),
        }
    }
}

impl DataFile {
    /// Finds out the columns: from the header of CSV, from all objects of JSON. The delimiter of CSV is found, if
    /// none is given.
    pub fn open(path: &Path, format: FileFormat, delimiter: Option<u8>, bar: &ProgressBar) -> miette::Result<Self> {
        let mut file = DataFile { path: path.to_path_buf(), format, delimiter: None, headers: vec![] };
        bar.set_message("reading");
        file.delimiter = match format {
            FileFormat::Csv => Some(delimiter.map_or_else(|| file.find_delimiter(), Ok)?),
            FileFormat::Tsv => Some(delimiter.unwrap_or(b'\t')),
            _ => None,
        };
        file.headers = match file.delimiter {
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

    /// Whether a header names the columns, so that each record has all of them.
    pub fn has_header(&self) -> bool {
        self.delimiter.is_some()
    }

    fn find_delimiter(&self) -> Result<u8, CliError> {
        let mut start = vec![];
        let reader = self.read(&ProgressBar::hidden())?;
        reader.take(START_BYTES as u64).read_to_end(&mut start).map_err(CliError::reading(&self.path))?;
        Ok(find_delimiter(&start))
    }

    /// An error about a record.
    pub fn bad_record(&self, place: Place, reason: String) -> CliError {
        let (path, record) = (self.name(), place.number);
        CliError::Record {
            path,
            record,
            line: place.line.map_or_else(String::new, |line| format!(", line {line}")),
            reason,
        }
    }

    /// The records from the first on; the bar follows.
    pub fn records(&self, bar: &ProgressBar) -> miette::Result<Records<'_>> {
        let Some(delimiter) = self.delimiter else {
            let columns: HashMap<String, usize> = self.headers.iter().cloned().zip(0..).collect();
            return Ok(Box::new(self.objects(bar)?.map(move |object| {
                let (place, object) = object?;
                let mut fields = vec![None; columns.len()];
                object.into_iter().for_each(|(name, value)| fields[columns[&name]] = Some(value));
                Ok(Record { place, fields: Fields::Json(fields) })
            })));
        };
        let mut reader = self.separated(delimiter, bar)?;
        self.next_separated(&mut reader, 0)?;
        let mut numbers = 1..;
        Ok(Box::new(std::iter::from_fn(move || {
            let number = numbers.next()?;
            self.next_separated(&mut reader, number).and_then(|record| self.checked(record, number)).transpose()
        })))
    }

    /// A file, decompressed; the bar follows the compressed bytes.
    fn read(&self, bar: &ProgressBar) -> Result<Box<dyn Read>, CliError> {
        let file = File::open(&self.path).map_err(CliError::reading(&self.path))?;
        // The reader buffers in pieces that are large enough for the bar to cost nothing.
        decompressed(&self.path.to_string_lossy(), bar.wrap_read(file)).map_err(CliError::reading(&self.path))
    }

    fn next_separated(
        &self,
        reader: &mut SeparatedReader<Box<dyn Read>>,
        number: u64,
    ) -> miette::Result<Option<StringRecord>> {
        let mut record = StringRecord::new();
        match reader.read(&mut record) {
            Ok(found) => Ok(found.then_some(record)),
            Err(RecordError::Io(error)) => Err(CliError::reading(&self.path)(error).into()),
            Err(RecordError::Text { line, reason }) => {
                Err(self.bad_record(Place { number, line: Some(line) }, reason).into())
            }
        }
    }

    /// A record of values between separators, which must be as many as the header has.
    fn checked(&self, record: Option<StringRecord>, number: u64) -> miette::Result<Option<Record>> {
        let Some(record) = record else { return Ok(None) };
        let place = Place { number, line: Some(line_of(&record)) };
        let (found, wanted) = (record.len(), self.headers.len());
        if found != wanted {
            let fields = output::count(found, "field");
            return Err(self.bad_record(place, format!("it has {fields}, and the header has {wanted}")).into());
        }
        Ok(Some(Record { place, fields: Fields::Separated(record) }))
    }

    fn separated_headers(&self, delimiter: u8, bar: &ProgressBar) -> miette::Result<Vec<String>> {
        let header = self.next_separated(&mut self.separated(delimiter, bar)?, 0)?.unwrap_or_default();
        Ok(header.iter().map(|header| without_mark(header.trim()).to_string()).collect())
    }

    fn separated(&self, delimiter: u8, bar: &ProgressBar) -> Result<SeparatedReader<Box<dyn Read>>, CliError> {
        Ok(SeparatedReader::new(self.read(bar)?, delimiter))
    }

    fn json_headers(&self, bar: &ProgressBar) -> miette::Result<Vec<String>> {
        let mut headers = Vec::<String>::new();
        let mut seen = std::collections::HashSet::<String>::new();
        for object in self.objects(bar)? {
            for (name, _) in object?.1 {
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
        let is_filled =
            |line: &std::io::Result<String>| line.as_ref().map_or(true, |line| !without_mark(line).trim().is_empty());
        let filled = (1..).zip(lines).filter(move |(_, line)| is_filled(line));
        Ok(Box::new((1..).zip(filled).map(|(number, (line_number, line))| {
            let line = line.map_err(CliError::reading(&self.path))?;
            // No JSON begins with the mark, so that it can be taken off each line: files that were joined have several.
            self.object(Place { number, line: Some(line_number) }, without_mark(&line))
        })))
    }

    /// The objects of an array, whose text is held in memory.
    fn objects_of_array(&self, bar: &ProgressBar) -> miette::Result<Objects<'_>> {
        let mut text = String::new();
        self.read(bar)?.read_to_string(&mut text).map_err(CliError::reading(&self.path))?;
        let objects: Vec<Box<RawValue>> =
            serde_json::from_str(without_mark(&text)).map_err(|error| self.bad_record(HEADER, error.to_string()))?;
        Ok(Box::new((1..).zip(objects).map(|(number, object)| self.object(Place { number, line: None }, object.get()))))
    }

    /// The fields of the object in a text.
    fn object(&self, place: Place, text: &str) -> miette::Result<(Place, Vec<(String, Field)>)> {
        // Of a text by itself the number of the line says nothing.
        let reason = |error: serde_json::Error| error.to_string().replace(" at line 1 column ", " at column ");
        let fields = serde_json::from_str::<NamedFields>(text);
        Ok((place, fields.map_err(|error| self.bad_record(place, reason(error)))?.0))
    }
}

/// The fields of an object in the order in which they are written, which a map of JSON would forget.
struct NamedFields(Vec<(String, Field)>);

impl<'de> serde::Deserialize<'de> for NamedFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = NamedFields;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NamedFields, A::Error> {
        let mut fields = vec![];
        while let Some((name, text)) = map.next_entry::<String, Box<RawValue>>()? {
            fields.push((name, Field::parse(text.get()).map_err(A::Error::custom)?));
        }
        Ok(NamedFields(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_no_number_holds_are_refused() {
        let refusal = |text: &str| Field::parse(text).expect("it is JSON").refusal();
        for text in ["9223372036854775809", "18446744073709551617", "[1, {\"a\": -18446744073709551617}]"] {
            assert!(refusal(text).is_some(), "{text}");
        }
        assert!(refusal("9223372036854775808").is_none());
    }
}
