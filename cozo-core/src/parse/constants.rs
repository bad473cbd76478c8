//! Reads runs of constants in lists by a loop: the same values as by the grammar, without a tree.
//!
//! In `[1, 'a', [null, -2.5], x]` the run is `1, 'a', [null, -2.5],`. Anything that is not a constant, or cannot be read, ends
//! the run before it. The grammar reads the rest, and words the errors.

use super::condensed::Elements;
use super::expr::{float, integer};
use super::prescan::MAX_BRACKETS;
use super::strings::{skip_raw_string, skip_string, text_of};
use crate::budget::{self, Stop};
use crate::value::{Batch, DataValue, JsonData, json_value_of};

/// Shorter runs are left to the grammar. The length is counted in constants, so that it does not depend on how a script
/// is laid out.
const MIN_CONSTANTS: usize = 64;

/// A run of constants.
pub(super) struct Run {
    pub elements: Elements,
    /// Where the script goes on.
    pub end: usize,
}

/// Reads constants of one script.
pub(super) struct Constants<'s> {
    source: &'s str,
    at: usize,
    /// How many brackets are open.
    depth: usize,
    /// How many constants have been read.
    count: usize,
    /// Where the open brackets stand.
    open: Vec<usize>,
    /// Where lists and objects begin that are known to be no constants.
    no_constants: Vec<usize>,
}

impl<'s> Constants<'s> {
    /// Reads from this script.
    pub fn new(source: &'s str) -> Self {
        Constants { source, at: 0, depth: 0, count: 0, open: vec![], no_constants: vec![] }
    }

    /// The elements of a list from `at` on, where `depth` brackets are open, as far as they are constants; none if there are few.
    pub fn run(&mut self, at: usize, depth: usize) -> Result<Option<Run>, Stop> {
        self.begin(at, depth);
        let attempt = budget::temporary();
        let mut values = vec![];
        let mut end = at;
        while let Some(value) = self.element()? {
            values.push(value);
            end = self.at;
        }
        if self.count < MIN_CONSTANTS || values.is_empty() {
            return Ok(None);
        }
        values.shrink_to_fit();
        drop(attempt);
        budget::make_room(values.iter().map(DataValue::memory_bytes).sum())?;
        Ok(Some(Run { elements: Elements::Constants(values), end }))
    }

    /// All elements of a list, if they are rows of constants of one width.
    pub fn rows(&mut self, at: usize, depth: usize) -> Result<Option<Run>, Stop> {
        self.begin(at, depth);
        let attempt = budget::temporary();
        let mut rows: Option<Batch> = None;
        while self.peek() == Some(b'[') {
            let cells = budget::temporary();
            let Some(DataValue::List(row)) = self.element()? else { return Ok(None) };
            let rows = rows.get_or_insert_with(|| Batch::empty(row.len()));
            if row.len() != rows.columns.len() || row.is_empty() {
                return Ok(None);
            }
            drop(cells);
            budget::make_room(row.iter().map(cell_bytes).sum())?;
            rows.columns.iter_mut().zip(row).for_each(|(column, value)| column.push_owned(value));
            rows.len += 1;
        }
        if self.peek() != Some(b']') || self.count < MIN_CONSTANTS {
            return Ok(None);
        }
        drop(attempt);
        let Some(rows) = rows else { return Ok(None) };
        budget::make_room(rows.memory_bytes())?;
        Ok(Some(Run { elements: Elements::Rows(rows), end: self.at }))
    }

    fn begin(&mut self, at: usize, depth: usize) {
        (self.at, self.depth, self.count) = (at, depth, 0);
        self.open.clear();
    }

    /// A constant that is an element of a list, and the comma behind it.
    fn element(&mut self) -> Result<Option<DataValue>, Stop> {
        let Some(value) = self.constant()? else { return Ok(None) };
        match self.peek() {
            Some(b',') => self.at += 1,
            Some(b']') => {}
            _ => return Ok(None),
        }
        Ok(Some(value))
    }

    /// The next byte that is not blank and not in a comment.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.source.as_bytes();
        loop {
            match bytes.get(self.at)? {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'#' => self.at += bytes[self.at..].iter().position(|byte| *byte == b'\n')?,
                byte => return Some(*byte),
            }
        }
    }

    fn constant(&mut self) -> Result<Option<DataValue>, Stop> {
        self.count += 1;
        let Some(byte) = self.peek() else { return Ok(None) };
        let value = match byte {
            b'0'..=b'9' => self.number(),
            b'-' => {
                self.at += 1;
                self.number().and_then(negative)
            }
            b'"' | b'\'' | b'_' => self.string(),
            b'[' => return self.bracketed(Self::list),
            b'{' => return self.bracketed(Self::object),
            _ => self.word(),
        };
        // The content of a list has been counted before the list.
        let held = value.as_ref().and_then(DataValue::get_str).map_or(0, str::len);
        budget::make_room(size_of::<DataValue>() + held)?;
        Ok(value)
    }

    fn number(&mut self) -> Option<DataValue> {
        let rest = &self.source.as_bytes()[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        let mut len = rest.iter().take_while(|byte| is_part(byte)).count();
        let is_exponent = |sign: usize| matches!(rest[sign - 1], b'e' | b'E') && !rest.starts_with(b"0x");
        if matches!(rest.get(len), Some(b'+' | b'-')) && len > 0 && is_exponent(len) {
            len += 1 + rest[len + 1..].iter().take_while(|byte| is_part(byte)).count();
        }
        let text = &self.source[self.at..self.at + len];
        self.at += len;
        if is_float(text) { Some(float(text).into()) } else { is_integer(text).then(|| integer(text))?.map(Into::into) }
    }

    fn string(&mut self) -> Option<DataValue> {
        let (bytes, start) = (self.source.as_bytes(), self.at);
        self.at = match bytes[start] {
            b'_' => {
                let underscores = bytes[start..].iter().take_while(|byte| **byte == b'_').count();
                (bytes.get(start + underscores) == Some(&b'"')).then(|| skip_raw_string(bytes, start, underscores))?
            }
            _ => skip_string(bytes, start),
        }?;
        text_of(&self.source[start..self.at]).ok().map(DataValue::Str)
    }

    fn word(&mut self) -> Option<DataValue> {
        let rest = &self.source[self.at..];
        let words = [("null", DataValue::Null), ("true", true.into()), ("false", false.into())];
        let (word, value) = words.into_iter().find(|(word, _)| rest.starts_with(word))?;
        self.at += word.len();
        Some(value)
    }

    /// The constant in the brackets that open here. If it is not one, neither are the lists around it.
    fn bracketed(&mut self, read: fn(&mut Self) -> Result<Option<DataValue>, Stop>) -> Result<Option<DataValue>, Stop> {
        if self.depth + self.open.len() >= MAX_BRACKETS || self.no_constants.contains(&self.at) {
            return Ok(None);
        }
        self.open.push(self.at);
        self.at += 1;
        let value = read(self)?;
        if value.is_none() {
            self.no_constants.clone_from(&self.open);
            return Ok(None);
        }
        self.open.pop();
        Ok(value)
    }

    fn list(&mut self) -> Result<Option<DataValue>, Stop> {
        let mut items = vec![];
        while self.peek() != Some(b']') {
            match self.element()? {
                Some(item) => items.push(item),
                None => return Ok(None),
            }
        }
        self.at += 1;
        items.shrink_to_fit();
        Ok(Some(DataValue::List(items)))
    }

    fn object(&mut self) -> Result<Option<DataValue>, Stop> {
        let mut pairs = vec![];
        while self.peek() != Some(b'}') {
            let Some(DataValue::Str(key)) = self.constant()? else { return Ok(None) };
            if self.peek() != Some(b':') {
                return Ok(None);
            }
            self.at += 1;
            let Some(value) = self.constant()? else { return Ok(None) };
            pairs.push((String::from(key), json_value_of(&value)?));
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {}
                _ => return Ok(None),
            }
        }
        self.at += 1;
        Ok(Some(DataValue::Json(pairs.into_iter().collect::<JsonData>())))
    }
}

/// About how many bytes a value takes in a column that grows.
fn cell_bytes(value: &DataValue) -> usize {
    match value {
        DataValue::Null | DataValue::Bool(_) | DataValue::Num(_) => 2 * size_of::<i64>(),
        DataValue::Str(text) => 2 * (size_of::<u32>() + text.len()),
        other => 2 * other.memory_bytes(),
    }
}

fn negative(number: DataValue) -> Option<DataValue> {
    match number.get_int() {
        Some(int) if number.type_name() == "Int" => int.checked_neg().map(DataValue::from),
        _ => number.get_float().map(|float| DataValue::from(-float)),
    }
}

/// Whether the grammar reads a text as a float, if nothing but a sign follows.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    is_digits(whole, 10)
        && fraction.is_none_or(|fraction| fraction.is_empty() || is_digits(fraction, 10))
        && exponent.is_none_or(|exponent| is_digits(exponent, 10))
        && (fraction.is_some() || exponent.is_some())
}

fn is_integer(text: &str) -> bool {
    match text.get(..2) {
        Some("0x") => is_digits(&text[2..], 16),
        Some("0o") => is_digits(&text[2..], 8),
        Some("0b") => is_digits(&text[2..], 2),
        _ => is_digits(text, 10),
    }
}

/// Digits with underscores among them, the first one a digit.
fn is_digits(text: &str, radix: u32) -> bool {
    let is_digit = |character: char| character.is_digit(radix);
    text.starts_with(is_digit) && text.chars().all(|character| character == '_' || is_digit(character))
}
