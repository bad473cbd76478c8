//! `ReadCsv`: CSV files whose delimiter and types are found out.

use std::io::{Cursor, Read};

use csv::StringRecord;

use super::{COLUMNS, Choice, LIMIT, OUTPUT, PATH, addresses, convert, limit};
use crate::data_file::{RecordError, START_BYTES, SeparatedReader, TypeGuess, find_delimiter, line_of, without_gzip};
use crate::fixed_rule::utilities::source::Origin;
use crate::fixed_rule::{BuiltInRule, Call, DefaultValue, FixedRuleError, Gathering, OptionKind, OptionSpec, Settings};
use crate::value::{Batch, DataValue};

/// CSV files whose delimiter and types are found out.
pub static READ_CSV: BuiltInRule = BuiltInRule {
    name: "ReadCsv",
    aliases: &[],
    doc: "Reads CSV files. The type of a column is the narrowest that holds all values read: Int, \
          Float, Bool or String. Empty fields are null.",
    cost: "",
    source: "",
    examples: &[],
    inputs: &[],
    options: &[
        PATH,
        COLUMNS,
        OptionSpec::new(
            "delimiter",
            OptionKind::Text,
            DefaultValue::Null,
            "the byte between fields; by default a comma, semicolon, tab or `|`, whichever divides the first lines evenly",
        ),
        OptionSpec::new(
            "has_headers",
            OptionKind::Bool,
            DefaultValue::Bool(true),
            "whether the first record has the names of the columns; if not, the names in the head count by position",
        ),
        LIMIT,
    ],
    output: OUTPUT,
    external_access: true,
    run,
};

/// Reads files one after the other.
struct CsvReading<'a> {
    choice: Choice,
    delimiter: Option<u8>,
    has_headers: bool,
    limit: usize,
    /// The fields read so far, as text.
    rows: Gathering<'a>,
    guesses: Vec<TypeGuess>,
}

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let choice = Choice::of(call.options)?;
    let width = choice.columns.len();
    let mut reading = CsvReading {
        choice,
        delimiter: delimiter(call, settings)?,
        has_headers: settings.bool("has_headers"),
        limit: limit(settings),
        rows: Gathering::kept(call, width),
        guesses: vec![TypeGuess::default(); width],
    };
    for address in addresses(call, settings)? {
        reading.read(&Origin::new(call, &address), &address)?;
    }
    let CsvReading { rows, guesses, .. } = reading;
    let wants = |guess: &TypeGuess| guess.column_type() != "String";
    let value =
        |guess: &TypeGuess, text: DataValue| text.get_str().map_or(DataValue::Null, |text| guess.value_of_text(text));
    rows.into_kept()?.converted(call, |rows| convert(rows, &guesses, wants, value, call))
}

fn delimiter(call: &Call<'_>, settings: &Settings) -> Result<Option<u8>, FixedRuleError> {
    match settings.value("delimiter").get_str().map(str::as_bytes) {
        None => Ok(None),
        Some(&[byte]) => Ok(Some(byte)),
        Some(b"tab") => Ok(Some(b'\t')),
        Some(_) => Err(call.options.wrong("delimiter", "one byte, or 'tab'", settings.value("delimiter").to_string())),
    }
}

impl CsvReading<'_> {
    fn read(&mut self, origin: &Origin<'_>, address: &str) -> Result<(), FixedRuleError> {
        if self.rows.len() >= self.limit {
            return Ok(());
        }
        let (mut source, mut start) = (origin.open()?, vec![]);
        while start.len() < START_BYTES && source.append_to(&mut start).map_err(|error| origin.unreadable(error))? > 0 {
        }
        let delimiter = match self.delimiter {
            Some(delimiter) => delimiter,
            None if without_gzip(address).ends_with(".tsv") => b'\t',
            None => find_delimiter(&start),
        };
        let mut reader = SeparatedReader::new(Cursor::new(start).chain(source), delimiter);
        let mut record = StringRecord::new();
        let mut next = |record: &mut StringRecord| -> Result<bool, FixedRuleError> {
            let found = reader.read(record).map_err(|error| record_error(origin, error))?;
            reader.source().get_mut().1.end_record();
            Ok(found)
        };
        if !next(&mut record)? {
            let help = "write has_headers: false for files without names, which may be empty";
            return if self.has_headers { Err(no_header(origin, help)) } else { Ok(()) };
        }
        let width = record.len();
        let names: Option<Vec<String>> =
            self.has_headers.then(|| record.iter().map(|name| name.trim().to_string()).collect());
        let positions = self.choice.positions(names.as_deref(), width, origin)?;
        let mut is_row = !self.has_headers || next(&mut record)?;
        let mut pace = origin.poison().pace();
        while is_row && self.rows.len() < self.limit {
            pace.step()?;
            self.push(&record, width, &positions, origin)?;
            is_row = next(&mut record)?;
        }
        Ok(())
    }

    fn push(
        &mut self,
        record: &StringRecord,
        width: usize,
        positions: &[usize],
        origin: &Origin<'_>,
    ) -> Result<(), FixedRuleError> {
        if record.len() != width {
            let reason = format!("the number of fields is {}, but {width} in the first line", record.len());
            let help = "fields with the delimiter in them stand between quotes; the option delimiter names another one";
            return Err(origin.bad_data(format!("line {}", line_of(record)), reason, help));
        }
        for (i, position) in positions.iter().enumerate() {
            let text = record.get(*position).unwrap_or_default();
            self.guesses[i].add_text(text);
            self.rows.next_row()[i].push_str(text);
        }
        self.rows.end_row(record.as_slice().len() + positions.len() * size_of::<DataValue>())
    }
}

fn no_header(origin: &Origin<'_>, help: &'static str) -> FixedRuleError {
    origin.bad_data("the start".to_string(), "there is no line with the names of the columns", help)
}

fn record_error(origin: &Origin<'_>, error: RecordError) -> FixedRuleError {
    match error {
        RecordError::Io(error) => origin.unreadable(error),
        RecordError::Text { line, reason } => {
            origin.bad_data(format!("line {line}"), reason, "the text must be UTF-8, and quotes in a field are doubled")
        }
    }
}
