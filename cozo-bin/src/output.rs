//! Text for standard output and standard error: results, sizes and times, reports of errors.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::time::Duration;

use cozo::{DataValue, NamedRows, Num};
use serde_json::Value;

use crate::error::CliError;
use crate::table::{Look, Strings, layout};

/// Whether to color, for a stream that is a terminal or not.
pub fn wants_color(is_terminal: bool) -> bool {
    is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The text in bold where standard output is a terminal.
pub fn bold(text: &str) -> String {
    styled("1", text)
}

/// The text dimmed where standard output is a terminal.
pub fn dim(text: &str) -> String {
    styled("2", text)
}

fn styled(code: &str, text: &str) -> String {
    if wants_color(stdout().is_terminal()) { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_string() }
}

/// Writes text and a line break to standard output; fails where `println!` would panic.
pub fn line(text: impl std::fmt::Display) -> Result<(), CliError> {
    Ok(writeln!(stdout(), "{text}")?)
}

/// Writes text to standard output as it is.
pub fn text(text: &[u8]) -> Result<(), CliError> {
    stdout().write_all(text)?;
    Ok(stdout().flush()?)
}

/// Writes text and a line break to standard error. What it is about goes on if nobody can read it, where `eprintln!` would panic.
pub fn note(text: impl std::fmt::Display) {
    let _ = writeln!(stderr(), "{text}");
}

/// Writes the warnings about a script to standard error.
pub fn warn(warnings: &[String]) {
    warnings.iter().for_each(|warning| note(format_args!("warning: {warning}")));
}

/// Writes the report of an error to standard error.
pub fn report(report: &miette::Report) {
    note(cozo::diag::render_report(report, wants_color(stderr().is_terminal())).trim_end());
}

/// Writes up to `limit` rows as a table that fits the terminal.
pub fn table(rows: &NamedRows, limit: usize, strings: Strings) -> Result<(), CliError> {
    let shown = layout(rows, Look::of_terminal(limit, strings));
    line(shown.text)?;
    shown.hidden.map_or(Ok(()), |hidden| line(dim(&hidden)))
}

/// `3 rows in 1.2 ms`.
pub fn summary(rows: usize, took: Duration) -> String {
    format!("{} in {}", count(rows, "row"), duration(took))
}

/// `3 rows in 1.2 ms, 2,500 rows/s`.
pub fn summary_with_rate(rows: usize, took: Duration) -> String {
    format!("{}, {}", summary(rows, took), rate(rows, took))
}

/// `2,500 rows/s`, rounded down.
pub fn rate(rows: usize, took: Duration) -> String {
    format!("{} rows/s", thousands((rows as f64 / took.as_secs_f64().max(1e-9)) as usize))
}

/// `1 row`, `2,000 rows`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// The number with a comma between thousands.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The time with a unit that suits it.
pub fn duration(took: Duration) -> String {
    let seconds = took.as_secs_f64();
    match seconds {
        _ if seconds < 1e-3 => format!("{:.0} µs", seconds * 1e6),
        _ if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// Writes rows as CSV with a header.
pub fn csv(rows: &NamedRows) -> miette::Result<()> {
    let mut writer = csv::Writer::from_writer(stdout().lock());
    let write = |writer: &mut csv::Writer<_>| -> csv::Result<()> {
        if !rows.headers.is_empty() {
            writer.write_record(&rows.headers)?;
        }
        rows.rows.iter().try_for_each(|row| writer.write_record(row.iter().map(csv_field)))?;
        Ok(writer.flush()?)
    };
    write(&mut writer).map_err(csv_error)
}

/// The report of what became of writing CSV.
pub fn csv_error(error: csv::Error) -> miette::Report {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => CliError::Stream(error).into(),
        other => miette::miette!(code = "cli::csv", "cannot write CSV: {other:?}"),
    }
}

/// Strings as they are, null as nothing, all else as its JSON; floats that JSON lacks as `NaN`, `inf` and `-inf`.
pub fn csv_field(value: &DataValue) -> String {
    if let DataValue::Num(Num::Float(float)) = value
        && !float.is_finite()
    {
        return float.to_string();
    }
    match Value::from(value.clone()) {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_read_well() {
        assert_eq!(
            ["0", "999", "1,000", "1,234,567"],
            [0, 999, 1000, 1_234_567].map(thousands).each_ref().map(String::as_str)
        );
        assert_eq!(summary(1, Duration::from_micros(15)), "1 row in 15 µs");
        assert_eq!(summary(2000, Duration::from_millis(1500)), "2,000 rows in 1.50 s");
    }

    #[test]
    fn csv_fields_are_plain() {
        assert_eq!(csv_field(&DataValue::Null), "");
        assert_eq!(csv_field(&DataValue::from("a,b")), "a,b");
        assert_eq!(csv_field(&DataValue::from(1.0)), "1.0");
        assert_eq!(csv_field(&DataValue::List(vec![1.into(), "x".into()])), "[1,\"x\"]");
    }
}
