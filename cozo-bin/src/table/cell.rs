//! Values as the text of a cell.

use std::borrow::Cow;

use chrono::{DateTime, Datelike, Utc};
use cozo::{DataValue, Validity};

use super::ELLIPSIS;

/// How strings look in a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Strings {
    /// As in a script.
    Quoted,
    /// As they are.
    Plain,
}

/// A value to be shown.
pub struct Cell {
    /// Its text, on one line.
    pub text: String,
    /// Whether it stands on the right.
    pub is_number: bool,
    /// Whether it is never cut.
    pub is_whole: bool,
    is_string: bool,
}

impl Cell {
    /// The cell of a value.
    pub fn of(value: &DataValue, strings: Strings) -> Self {
        let text = match value {
            DataValue::Str(text) if strings == Strings::Plain => on_one_line(text),
            DataValue::List(items) if strings == Strings::Plain => on_one_line(&plain_list(items)),
            DataValue::Validity(validity) => time(*validity),
            _ => value.to_string(),
        };
        let is_whole = matches!(
            value,
            DataValue::Null | DataValue::Bool(_) | DataValue::Num(_) | DataValue::Validity(_) | DataValue::Uuid(_)
        );
        let (is_number, is_string) = (matches!(value, DataValue::Num(_)), matches!(value, DataValue::Str(_)));
        Cell { text, is_number, is_whole, is_string }
    }

    /// The text, cut if it is wider. Numbers in lists and vectors are shown as a whole or not at all.
    pub fn within(&self, width: usize) -> Cow<'_, str> {
        let shown = cut(&self.text, width);
        let Some(kept) = shown.strip_suffix(ELLIPSIS).filter(|_| !self.is_string && shown.len() != self.text.len())
        else {
            return shown;
        };
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '+');
        let is_within = self.text[kept.len()..].starts_with(is_part);
        let kept = if is_within { kept.trim_end_matches(is_part) } else { kept };
        Cow::Owned(format!("{kept}{ELLIPSIS}"))
    }
}

/// The text, cut if it is wider.
pub fn cut(text: &str, width: usize) -> Cow<'_, str> {
    console::truncate_str(text, width, ELLIPSIS)
}

fn on_one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

fn plain_list(items: &[DataValue]) -> String {
    let plain = |item: &DataValue| item.get_str().map_or_else(|| item.to_string(), str::to_string);
    items.iter().map(plain).collect::<Vec<_>>().join(" ")
}

/// Times within this distance of 1970 are numbers that somebody counts in, or times in milliseconds and seconds.
const IMPLAUSIBLE_MICROS: u64 = 31 * 24 * 60 * 60 * 1_000_000;

/// `2024-05-01 10:00:00Z`, with `~` before it where a fact ceases to hold; a number where it is no plausible time.
fn time(validity: Validity) -> String {
    let sign = if validity.asserts() { "" } else { "~" };
    let micros = validity.micros();
    let plausible = |time: &DateTime<Utc>| (1000..=9999).contains(&time.year());
    match DateTime::<Utc>::from_timestamp_micros(micros).filter(plausible) {
        Some(time) if micros.unsigned_abs() > IMPLAUSIBLE_MICROS => {
            format!("{sign}{}Z", time.format("%Y-%m-%d %H:%M:%S%.f"))
        }
        _ => format!("{sign}{micros}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: DataValue) -> String {
        Cell::of(&value, Strings::Quoted).text
    }

    #[test]
    fn times_can_be_read() {
        let at = |micros: i64, asserts: bool| text(DataValue::Validity((micros, asserts).into()));
        assert_eq!(at(1_714_557_600_000_000, true), "2024-05-01 10:00:00Z");
        assert_eq!(at(1_714_557_600_500_000, false), "~2024-05-01 10:00:00.500Z");
        assert_eq!([at(12, true), at(-3, false), at(i64::MAX, true)], ["12", "~-3", "9223372036854775807"]);
        assert_eq!(at(1_714_557_600_000, true), "1714557600000", "milliseconds are no microseconds");
        assert_eq!(at(-378_691_200_000_000, true), "1958-01-01 00:00:00Z");
    }

    #[test]
    fn numbers_in_lists_are_whole_or_not_there() {
        let list = Cell::of(&DataValue::List(vec![12_345.into(), 67_890.into()]), Strings::Quoted);
        let shown = |width| list.within(width).into_owned();
        assert_eq!(
            [shown(14), shown(13), shown(9), shown(8), shown(5)],
            ["[12345, 67890]", "[12345, …", "[12345, …", "[12345,…", "[…"]
        );
        assert_eq!(Cell::of(&"abcdef".into(), Strings::Quoted).within(5), "\"abc…");
    }
}
