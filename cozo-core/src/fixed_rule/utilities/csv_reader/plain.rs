//! Parsing blocks of lines. A field is the text between delimiters, with or without quotes. A record is a line, unless a quoted
//! field continues on the next line.
//!
//! The result is the same as that of the crate `csv` with its setting for flexible records.

use std::borrow::Cow;

use memchr::{memchr, memchr3};

use super::fields::{Field, FieldKind, Layout, Misfit, Piece, push};
use crate::value::{Batch, Column};

const QUOTE: u8 = b'"';

/// An integer with at most this many digits always fits an `i64`.
const FITTING_DIGITS: usize = 18;

/// Whether this delimiter separates fields regardless of their contents.
pub fn is_plain(delimiter: u8) -> bool {
    !matches!(delimiter, QUOTE | b'\n' | b'\r' | b'-' | b'0'..=b'9')
}

/// The records of some lines, without the first if `skip_first`. `None` if the lines end within quotes, or are not UTF-8.
pub fn parse(lines: &[u8], layout: &Layout, skip_first: bool) -> Option<Result<Piece, Misfit>> {
    let text = std::str::from_utf8(lines).ok()?;
    Lines { text, at: 0, delimiter: layout.delimiter }.read(&layout.fields, skip_first)
}

struct Lines<'a> {
    text: &'a str,
    /// The position of the next byte.
    at: usize,
    delimiter: u8,
}

impl<'a> Lines<'a> {
    fn read(mut self, fields: &[Field], skip_first: bool) -> Option<Result<Piece, Misfit>> {
        let mut rows = Batch::empty(fields.len());
        let mut skip = skip_first;
        while let Some(byte) = self.next_byte() {
            if is_line_end(byte) {
                // The end of the record before, the second byte of a line end of two, or an empty line.
                self.at += 1;
            } else if std::mem::take(&mut skip) {
                self.skip_fields()?;
            } else {
                let start = self.at;
                if let Err((field, reason)) = self.read_record(&mut rows.columns, fields)? {
                    let lines_before = line_ends(&self.text.as_bytes()[..start]);
                    return Some(Err(Misfit { row: rows.len, lines_before, field, reason }));
                }
                rows.len += 1;
            }
        }
        Some(Ok(Piece { rows, lines: line_ends(self.text.as_bytes()) }))
    }

    #[inline]
    fn next_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Reads a record. The error has the field that does not fit, and the reason. `None` if it ends within quotes.
    #[inline]
    fn read_record(&mut self, columns: &mut [Column], fields: &[Field]) -> Option<Result<(), (usize, String)>> {
        let mut more = true;
        for (i, (column, field)) in columns.iter_mut().zip(fields).enumerate() {
            let int = if more && field.kind == FieldKind::Int { self.take_int() } else { None };
            match int {
                Some(int) => column.push_int(int),
                None => {
                    let text = if more { Some(self.take_text()?) } else { None };
                    if let Err(reason) = push(column, field, text.as_deref()) {
                        return Some(Err((i, reason)));
                    }
                }
            }
            more = more && self.skip_delimiter();
        }
        if more {
            self.skip_fields()?;
        }
        Some(Ok(()))
    }

    /// Skips a delimiter, if it is the next byte.
    #[inline]
    fn skip_delimiter(&mut self) -> bool {
        let is_next = self.next_byte() == Some(self.delimiter);
        self.at += usize::from(is_next);
        is_next
    }

    /// A field that is only an integer, with few enough digits.
    #[inline]
    fn take_int(&mut self) -> Option<i64> {
        let bytes = &self.text.as_bytes()[self.at..];
        let is_negative = bytes.first() == Some(&b'-');
        let digits = &bytes[usize::from(is_negative)..];
        let (mut count, mut int) = (0, 0);
        let end = loop {
            let Some(byte) = digits.get(count).copied() else { break None };
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break Some(byte);
            }
            if count == FITTING_DIGITS {
                return None;
            }
            int = int * 10 + i64::from(digit);
            count += 1;
        };
        if count == 0 || end.is_some_and(|byte| byte != self.delimiter && !is_line_end(byte)) {
            return None;
        }
        self.at += count + usize::from(is_negative);
        Some(if is_negative { -int } else { int })
    }

    /// A field without its quotes. `None` if the text ends within them.
    #[inline]
    fn take_text(&mut self) -> Option<Cow<'a, str>> {
        if self.next_byte() == Some(QUOTE) { self.take_quoted() } else { Some(Cow::Borrowed(self.take_unquoted())) }
    }

    /// The text before the next delimiter or the end of the line. Quotes within it are part of it.
    #[inline]
    fn take_unquoted(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let end = memchr3(self.delimiter, b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// A field that begins with a quote. Two quotes stand for one. The text after the last quote belongs to the field too.
    fn take_quoted(&mut self) -> Option<Cow<'a, str>> {
        self.at += 1;
        let mut field = Cow::Borrowed("");
        loop {
            let rest = &self.text[self.at..];
            let end = memchr(QUOTE, rest.as_bytes())?;
            self.at += end + 1;
            field += &rest[..end];
            if self.next_byte() != Some(QUOTE) {
                field += self.take_unquoted();
                return Some(field);
            }
            field += "\"";
            self.at += 1;
        }
    }

    /// Skips the rest of the record. `None` if it ends within quotes.
    fn skip_fields(&mut self) -> Option<()> {
        loop {
            self.take_text()?;
            if !self.skip_delimiter() {
                return Some(());
            }
        }
    }
}

#[inline]
fn is_line_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

fn line_ends(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::DataValue;

    /// All texts of up to `len` of these characters.
    fn texts(characters: &[&str], len: usize) -> Vec<String> {
        let mut texts = vec![String::new()];
        let mut begin = 0;
        for _ in 0..len {
            let end = texts.len();
            for i in begin..end {
                let text = texts[i].clone();
                texts.extend(characters.iter().map(|character| format!("{text}{character}")));
            }
            begin = end;
        }
        texts
    }

    #[test]
    fn lines_are_read_as_crate_csv_reads_them() {
        let field = |kind| Field { kind, nullable: true };
        let layout = Layout { fields: vec![field(FieldKind::Int), field(FieldKind::Text)], delimiter: b',' };
        let mut read = 0;
        for text in texts(&["1", "a", "\"", ",", "\n", "\r"], 7) {
            for skip_first in [false, true] {
                let Some(Ok(piece)) = parse(text.as_bytes(), &layout, skip_first) else { continue };
                let mut reader =
                    csv::ReaderBuilder::new().flexible(true).has_headers(skip_first).from_reader(text.as_bytes());
                let expected: Vec<Vec<DataValue>> = reader
                    .records()
                    .map(|record| {
                        let record = record.expect("the text is UTF-8");
                        let mut row = Batch::empty(2);
                        for (i, column) in row.columns.iter_mut().enumerate() {
                            push(column, &layout.fields[i], record.get(i)).expect("null is allowed");
                        }
                        Batch { len: 1, ..row }.row(0)
                    })
                    .collect();
                assert!(piece.rows.rows().eq(expected.iter().cloned()), "{text:?}: {expected:?}");
                read += 1;
            }
        }
        assert!(read > 300_000, "but for quotes without end all is read: {read}");
    }
}
