//! CSV and JSON, row by row.

use std::io::Write;

use cozo::DataValue;
use indicatif::ProgressBar;
use serde_json::Value;

use super::table::Table;
use crate::error::CliError;
use crate::output;

/// Writes a header and a line for each row.
pub fn separated(table: &Table, delimiter: u8, out: impl Write, bar: &ProgressBar) -> miette::Result<usize> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    let (mut rows, json_columns) = (0, table.json_columns());
    writer.write_record(&table.headers).map_err(output::csv_error)?;
    for batch in table.batches()? {
        let batch = batch?;
        for row in batch.rows() {
            let fields = row.iter().zip(&json_columns).map(|(value, is_json)| field(value, *is_json));
            writer.write_record(fields).map_err(output::csv_error)?;
        }
        rows += batch.len;
        bar.set_position(rows as u64);
    }
    writer.flush().map_err(CliError::Stream)?;
    Ok(rows)
}

/// A field of CSV. In a column that is read as JSON, a text that would be taken for JSON stands between quotes.
fn field(value: &DataValue, is_json: bool) -> String {
    let text = output::csv_field(value);
    let is_text = || matches!(Value::from(value.clone()), Value::String(_));
    match is_json && is_text() && serde_json::from_str::<Value>(&text).is_ok() {
        true => Value::from(text).to_string(),
        false => text,
    }
}

/// Writes an object for each row, its fields in the order of the columns.
pub fn json_lines(table: &Table, out: impl Write, bar: &ProgressBar) -> miette::Result<usize> {
    objects(table, out, bar, ["", "", "\n", "\n", ""])
}

/// Writes an array with an object for each row, one a line.
pub fn json_array(table: &Table, out: impl Write, bar: &ProgressBar) -> miette::Result<usize> {
    objects(table, out, bar, ["[", "\n", ",\n", "", "\n]\n"])
}

/// Writes an object for each row, with texts before all and before the first, between two, behind the last and behind all.
fn objects(
    table: &Table,
    mut out: impl Write,
    bar: &ProgressBar,
    [begin, before, between, behind, end]: [&str; 5],
) -> miette::Result<usize> {
    let names: Vec<String> = table.headers.iter().map(|header| format!("{}:", Value::from(header.as_str()))).collect();
    let mut put = |text: &str| out.write_all(text.as_bytes()).map_err(CliError::Stream);
    let mut rows = 0;
    put(begin)?;
    for batch in table.batches()? {
        let batch = batch?;
        for (row, number) in batch.rows().zip(rows..) {
            put(if number == 0 { before } else { between })?;
            put(&object(&names, row))?;
        }
        rows += batch.len;
        bar.set_position(rows as u64);
    }
    put(if rows > 0 { behind } else { "" })?;
    put(end)?;
    out.flush().map_err(CliError::Stream)?;
    Ok(rows)
}

fn object(names: &[String], row: Vec<DataValue>) -> String {
    let mut text = String::from("{");
    for (position, (name, value)) in names.iter().zip(row).enumerate() {
        text.push_str(if position > 0 { "," } else { "" });
        text.push_str(name);
        text.push_str(&Value::from(value).to_string());
    }
    text.push('}');
    text
}
