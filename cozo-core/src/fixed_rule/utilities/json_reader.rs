//! `JsonReader`: the objects of a JSON file or web address.

use std::io::{BufRead, BufReader, Read};

use serde_json::{Map, Value};

use super::source::{self, Origin, PREPEND_INDEX, URL, why_no_json};
use crate::budget::temporary;
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, Gathering, OptionKind, OptionSpec, Options, Output, Settings,
};
use crate::value::{Batch, DataValue, ParsedJson, parse_json};

/// The objects of a JSON file or web address.
pub static JSON_READER: BuiltInRule = BuiltInRule {
    name: "JsonReader",
    aliases: &[],
    doc: "Reads JSON objects from a file or the web: one on each line, or an array of them.",
    cost: "",
    source: "",
    examples: &[],
    inputs: &[],
    options: &[
        URL,
        OptionSpec::required("fields", OptionKind::Value, "the names of the fields that become columns"),
        OptionSpec::new(
            "json_lines",
            OptionKind::Bool,
            DefaultValue::Bool(true),
            "one object on each line, blank lines are skipped; if false, one array of objects",
        ),
        OptionSpec::new(
            "null_if_absent",
            OptionKind::Bool,
            DefaultValue::Bool(false),
            "whether a missing field is null instead of an error",
        ),
        PREPEND_INDEX,
    ],
    output: Output::FromOptions("the index if it is asked for, then one for each field", arity),
    external_access: true,
    run,
};

fn arity(options: Options<'_>) -> Result<usize, FixedRuleError> {
    let fields = options.required("fields", OptionKind::Value)?;
    source::arity(names(&fields, options)?.len(), options)
}

fn names<'a>(fields: &'a DataValue, options: Options<'_>) -> Result<Vec<&'a str>, FixedRuleError> {
    let names: Option<Vec<&str>> = fields.get_slice().and_then(|list| list.iter().map(DataValue::get_str).collect());
    names.ok_or_else(|| options.wrong("fields", "a list of strings", fields.to_string()))
}

/// Converts objects to rows.
struct JsonRows<'a> {
    origin: Origin<'a>,
    names: Vec<&'a str>,
    null_if_absent: bool,
    rows: Gathering<'a>,
}

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let names = names(settings.value("fields"), call.options)?;
    let gathered = Gathering::result(call, names.len(), settings.bool(PREPEND_INDEX.name));
    let origin = Origin::new(call, settings.text("url"));
    let null_if_absent = settings.bool("null_if_absent");
    let mut rows = JsonRows { origin, names, null_if_absent, rows: gathered };
    if settings.bool("json_lines") {
        rows.read_lines(call)?
    } else {
        rows.read_array(call)?
    }
    rows.rows.finish()
}

impl JsonRows<'_> {
    fn read_lines(&mut self, call: &Call<'_>) -> Result<(), FixedRuleError> {
        let mut reader = BufReader::new(self.origin.open()?);
        let (mut line, mut number) = (vec![], 0);
        let mut pace = call.poison.pace();
        while reader.read_until(b'\n', &mut line).map_err(|error| self.origin.unreadable(error))? > 0 {
            pace.step()?;
            reader.get_mut().end_record();
            number += 1;
            if !line.trim_ascii().is_empty() {
                let reading = temporary();
                let place = || format!("line {number}");
                let object =
                    self.parse(&line, place, "every line is one JSON object; for an array write json_lines: false")?;
                self.push(object, place)?;
                drop(reading);
            }
            line.clear();
        }
        Ok(())
    }

    fn read_array(&mut self, call: &Call<'_>) -> Result<(), FixedRuleError> {
        const HELP: &str = "with json_lines: false, it is one array of objects";
        let mut text = vec![];
        self.origin.open()?.read_to_end(&mut text).map_err(|error| self.origin.unreadable(error))?;
        let place = || "the text".to_string();
        let Value::Array(objects) = self.parse(&text, place, HELP)? else {
            return Err(self.origin.bad_data(place(), "it is not an array", HELP));
        };
        let mut pace = call.poison.pace();
        for (i, object) in objects.into_iter().enumerate() {
            pace.step()?;
            self.push(object, || format!("element {i}"))?;
        }
        Ok(())
    }

    fn parse(&self, text: &[u8], place: impl Fn() -> String, help: &'static str) -> Result<Value, FixedRuleError> {
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        let text = std::str::from_utf8(text).map_err(|error| self.origin.bad_data(place(), error, help))?;
        match parse_json(text).map_err(miette::Report::from)? {
            ParsedJson::Value(value) => Ok(value),
            ParsedJson::Wrong(error) => Err(self.origin.bad_data(place(), why_no_json(&error), help)),
        }
    }

    fn push(&mut self, object: Value, place: impl Fn() -> String) -> Result<(), FixedRuleError> {
        let Value::Object(mut object) = object else {
            return Err(self.origin.bad_data(
                place(),
                "it is not an object",
                "rows are JSON objects with named fields",
            ));
        };
        let mut bytes = 0;
        for (i, name) in self.names.iter().enumerate() {
            let value = take(&mut object, name, self.names[i + 1..].contains(name));
            if value.is_none() && !self.null_if_absent {
                let reason = format!("there is no field '{name}'");
                return Err(self.origin.bad_data(place(), reason, "write null_if_absent: true to read null instead"));
            }
            let value = value.map_or(DataValue::Null, DataValue::from);
            bytes += value.memory_bytes();
            self.rows.next_row()[i].push_owned(value);
        }
        self.rows.end_row(bytes)
    }
}

/// The value of a field. It is moved out of the object, unless it is needed again.
fn take(object: &mut Map<String, Value>, name: &str, again: bool) -> Option<Value> {
    if again { object.get(name).cloned() } else { object.remove(name) }
}
