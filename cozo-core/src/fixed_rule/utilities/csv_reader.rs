//! `CsvReader`: the records of a CSV file or web address.

use csv::{ReaderBuilder, StringRecord};

use super::source::Origin;
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, OptionKind, OptionSpec, Options, Output, Settings,
};
use crate::parse::ast::BaseTypeSpec;
use crate::parse::parse_column_type;
use crate::value::{Batch, Column, DataValue, parse_uuid};

/// The records of a CSV file or web address.
pub static CSV_READER: BuiltInRule = BuiltInRule {
    name: "CsvReader",
    aliases: &[],
    doc: "Reads CSV from a file or the web. Columns are told apart by position; records may be shorter or longer.",
    cost: "",
    source: "",
    examples: &[],
    inputs: &[],
    options: &[
        OptionSpec::required("url", OptionKind::Text, "`file://` and a path, or an `http://` or `https://` address"),
        OptionSpec::required(
            "types",
            OptionKind::Value,
            "the type of each column: `'String'`, `'Any'`, `'Int'`, `'Float'` or `'Uuid'`. With `?`, what is missing or \
             does not convert is null; without, it is an error",
        ),
        OptionSpec::new("delimiter", OptionKind::Text, DefaultValue::Text(","), "the byte between fields"),
        OptionSpec::new(
            "prepend_index",
            OptionKind::Bool,
            DefaultValue::Bool(false),
            "begin rows with their number from 0",
        ),
        OptionSpec::new("has_headers", OptionKind::Bool, DefaultValue::Bool(true), "skip the first record"),
    ],
    output: Output::FromOptions("the index if it is asked for, then one for each type", arity),
    external_access: true,
    run,
};

/// A column to read.
struct Field {
    kind: FieldKind,
    nullable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FieldKind {
    Text,
    Int,
    Float,
    Uuid,
}

fn arity(options: Options<'_>) -> Result<usize, FixedRuleError> {
    let types = options.required("types", OptionKind::Value)?;
    let index = options.value("prepend_index", OptionKind::Bool)?.is_some_and(|value| value == DataValue::from(true));
    Ok(fields(&types, options)?.len() + usize::from(index))
}

/// The columns that the option `types` asks for.
fn fields(types: &DataValue, options: Options<'_>) -> Result<Vec<Field>, FixedRuleError> {
    let field = |text: &DataValue| -> Option<Field> {
        let spec = parse_column_type(text.get_str()?).ok()?;
        let BaseTypeSpec::Named(name) = &spec.base else { return None };
        let kind = match name.as_str() {
            "Any" | "String" => FieldKind::Text,
            "Int" => FieldKind::Int,
            "Float" => FieldKind::Float,
            "Uuid" => FieldKind::Uuid,
            _ => return None,
        };
        Some(Field { kind, nullable: spec.nullable })
    };
    let wrong = |found: &DataValue| {
        options.wrong(
            "types",
            "a list of 'String', 'Any', 'Int', 'Float' and 'Uuid', each perhaps with '?'",
            found.to_string(),
        )
    };
    let list = types.get_slice().ok_or_else(|| wrong(types))?;
    list.iter().map(|text| field(text).ok_or_else(|| wrong(text))).collect()
}

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let fields = fields(settings.value("types"), call.options)?;
    let &[delimiter] = settings.text("delimiter").as_bytes() else {
        return Err(call.options.wrong("delimiter", "one byte", settings.value("delimiter").to_string()));
    };
    let origin = Origin::new(call, settings.text("url"));
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(settings.bool("has_headers"))
        .flexible(true)
        .from_reader(origin.open());
    let index = usize::from(settings.bool("prepend_index"));
    let mut batch = Batch::empty(fields.len() + index);
    let mut record = StringRecord::new();
    let mut pace = call.poison.pace();
    while reader.read_record(&mut record).map_err(|error| read_error(&origin, &error))? {
        pace.step()?;
        if index == 1 {
            batch.columns[0].push_owned(DataValue::from(batch.len as i64));
        }
        for (i, field) in fields.iter().enumerate() {
            push(&mut batch.columns[i + index], field, record.get(i))
                .map_err(|reason| bad_field(&origin, &record, batch.len, i, &reason))?;
        }
        batch.len += 1;
    }
    Ok(batch)
}

/// Appends a field to its column; or says why it does not fit.
fn push(column: &mut Column, field: &Field, text: Option<&str>) -> Result<(), String> {
    let value = match (field.kind, text) {
        (FieldKind::Text, Some(text)) => {
            column.push_str(text);
            return Ok(());
        }
        (kind, Some(text)) => convert(kind, text),
        (_, None) => None,
    };
    match (value, text) {
        (Some(value), _) => column.push_owned(value),
        (None, _) if field.nullable => column.push_owned(DataValue::Null),
        (None, Some(text)) => return Err(format!("{text:?} is not of the type {:?}", field.kind)),
        (None, None) => return Err("the field is missing".to_string()),
    }
    Ok(())
}

fn convert(kind: FieldKind, text: &str) -> Option<DataValue> {
    match kind {
        FieldKind::Text => Some(text.into()),
        // What is written as a float but is a whole number is an integer too.
        FieldKind::Int => match text.parse::<i64>() {
            Ok(int) => Some(int.into()),
            Err(_) => text.parse::<f64>().ok().and_then(|float| DataValue::from(float).get_int()).map(DataValue::from),
        },
        FieldKind::Float => text.parse::<f64>().ok().map(DataValue::from),
        FieldKind::Uuid => parse_uuid(text).ok().map(DataValue::Uuid),
    }
}

fn read_error(origin: &Origin<'_>, error: &csv::Error) -> FixedRuleError {
    match error.kind() {
        csv::ErrorKind::Io(reason) => origin.unreadable(reason),
        csv::ErrorKind::Utf8 { pos, err } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            origin.bad_data(format!("line {line}"), err, "the text must be UTF-8")
        }
        _ => origin.unreadable(error),
    }
}

fn bad_field(origin: &Origin<'_>, record: &StringRecord, row: usize, field: usize, reason: &str) -> FixedRuleError {
    let line = record.position().map_or(0, csv::Position::line);
    let place = format!("row {row} (line {line}), field {field}");
    origin.bad_data(
        place,
        reason,
        "add '?' to its type to read null instead, as in 'Int?'; rows and fields count from 0",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_converts_as_its_type_says() {
        let table: [(FieldKind, &str, Option<DataValue>); 9] = [
            (FieldKind::Int, "7", Some(7.into())),
            (FieldKind::Int, "7.0", Some(7.into())),
            (FieldKind::Int, "9007199254740993", Some(9_007_199_254_740_993_i64.into())),
            (FieldKind::Int, "7.5", None),
            (FieldKind::Int, "", None),
            (FieldKind::Float, "1e3", Some(1000.0.into())),
            (FieldKind::Float, "much", None),
            (FieldKind::Uuid, "not one", None),
            (FieldKind::Text, "", Some("".into())),
        ];
        for (kind, text, expected) in table {
            assert_eq!(convert(kind, text), expected, "{text:?} as {kind:?}");
        }
    }
}
