//! `ReadJsonLines`: files with a JSON object a line, whose types are found out.

use std::io::{BufRead, BufReader};

use serde_json::{Map, Value};

use super::{COLUMNS, Choice, LIMIT, OUTPUT, PATH, addresses, convert, limit};
use crate::budget::temporary;
use crate::data_file::{GuessedKind, TypeGuess, beyond_numbers};
use crate::fixed_rule::utilities::source::{Origin, why_no_json};
use crate::fixed_rule::{BuiltInRule, Call, DefaultValue, FixedRuleError, Gathering, OptionKind, OptionSpec, Settings};
use crate::value::{Batch, DataValue, ParsedJson, lost_integer, parse_json};

const FIELDS: OptionSpec = OptionSpec::new(
    COLUMNS.name,
    OptionKind::Value,
    DefaultValue::Null,
    "the names of the fields to read, in order; by default the names in the head of the rule",
);

/// Files with a JSON object a line.
pub static READ_JSON_LINES: BuiltInRule = BuiltInRule {
    name: "ReadJsonLines",
    aliases: &[],
    doc: "Reads files with one JSON object in each line. The columns are fields of the objects, by name. Missing fields are \
          null.",
    cost: "",
    source: "",
    examples: &[],
    inputs: &[],
    options: &[PATH, FIELDS, LIMIT],
    output: OUTPUT,
    external_access: true,
    run,
};

/// Reads files one after the other.
struct JsonReading<'a> {
    names: Vec<String>,
    limit: usize,
    rows: Gathering<'a>,
    guesses: Vec<TypeGuess>,
    /// Which fields some object has.
    found: Vec<bool>,
}

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let columns = Choice::of(call.options)?.columns;
    let names: Option<Vec<String>> = columns.iter().map(|name| name.get_str().map(str::to_string)).collect();
    let names = names.ok_or_else(|| {
        call.options.wrong(COLUMNS.name, "a list of names of fields", DataValue::List(columns).to_string())
    })?;
    let width = names.len();
    let (guesses, found) = (vec![TypeGuess::default(); width], vec![false; width]);
    let mut reading = JsonReading { names, limit: limit(settings), rows: Gathering::kept(call, width), guesses, found };
    for address in addresses(call, settings)? {
        reading.read(&Origin::new(call, &address))?;
    }
    if let Some(missing) = reading.found.iter().position(|found| !found).filter(|_| !reading.rows.is_empty()) {
        let (reason, help) =
            (format!("no object has a field '{}'", reading.names[missing]), "name fields as the file does");
        return Err(Origin::new(call, settings.text(PATH.name)).bad_data("the text".to_string(), reason, help));
    }
    let JsonReading { rows, guesses, .. } = reading;
    let wants = |guess: &TypeGuess| guess.kind() == Some(GuessedKind::Float);
    rows.into_kept()?.converted(call, |rows| convert(rows, &guesses, wants, TypeGuess::value_of_json, call))
}

impl JsonReading<'_> {
    fn read(&mut self, origin: &Origin<'_>) -> Result<(), FixedRuleError> {
        if self.rows.len() >= self.limit {
            return Ok(());
        }
        let mut reader = BufReader::new(origin.open()?);
        let (mut line, mut number) = (vec![], 0);
        let mut pace = origin.poison().pace();
        while self.rows.len() < self.limit
            && reader.read_until(b'\n', &mut line).map_err(|error| origin.unreadable(error))? > 0
        {
            pace.step()?;
            reader.get_mut().end_record();
            number += 1;
            // Files that were joined have several byte order marks.
            let text = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line).trim_ascii();
            if !text.is_empty() {
                let reading = temporary();
                let object = object(text).map_err(|wrong| match wrong {
                    Wrong::Data(reason) => {
                        origin.bad_data(format!("line {number}"), reason, "every line is one JSON object")
                    }
                    Wrong::Stop(report) => report.into(),
                })?;
                self.push(object)?;
                drop(reading);
            }
            line.clear();
        }
        Ok(())
    }

    fn push(&mut self, object: Map<String, Value>) -> Result<(), FixedRuleError> {
        let mut bytes = 0;
        for (i, name) in self.names.iter().enumerate() {
            let value = object.get(name);
            self.found[i] |= value.is_some();
            match value {
                Some(value) => self.guesses[i].add_json(value),
                None => self.guesses[i].add_null(),
            }
            let value = value.map_or(DataValue::Null, DataValue::from);
            bytes += value.memory_bytes();
            self.rows.next_row()[i].push_owned(value);
        }
        self.rows.end_row(bytes)
    }
}

/// Why a line is no object.
enum Wrong {
    Data(String),
    Stop(miette::Report),
}

fn object(text: &[u8]) -> Result<Map<String, Value>, Wrong> {
    let text = std::str::from_utf8(text).map_err(|error| Wrong::Data(error.to_string()))?;
    if let Some(lost) = lost_integer(text) {
        return Err(Wrong::Data(beyond_numbers(lost)));
    }
    match parse_json(text).map_err(|stop| Wrong::Stop(stop.into()))? {
        ParsedJson::Value(Value::Object(object)) => Ok(object),
        ParsedJson::Value(_) => Err(Wrong::Data("it is not an object".to_string())),
        ParsedJson::Wrong(error) => Err(Wrong::Data(why_no_json(&error))),
    }
}
