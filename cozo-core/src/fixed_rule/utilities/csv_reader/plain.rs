//! Records without quotes: a field is what is between delimiters, a record what is on a line, so that any part of a file
//! that begins and ends with lines is read by itself.

use memchr::{memchr, memchr2, memchr3};

use super::fields::{Field, FieldKind, Layout, Misfit, Piece, push};
use crate::value::{Batch, Column};

const QUOTE: u8 = b'"';

/// Digits of a number that surely is an `i64`.
const FITTING_DIGITS: usize = 18;

/// Whether fields can be told apart by this delimiter without looking at what else is in them.
pub fn is_plain(delimiter: u8) -> bool {
    !matches!(delimiter, QUOTE | b'\n' | b'\r' | b'-' | b'0'..=b'9')
}

/// The records of some lines, without the first if it is to be skipped; `None` if there are quotes, or the text is not
/// UTF-8.
pub fn parse(lines: &[u8], layout: &Layout, skip_first: bool) -> Option<Result<Piece, Misfit>> {
    if memchr(QUOTE, lines).is_some() {
        return None;
    }
    let text = std::str::from_utf8(lines).ok()?;
    Some(Lines { text, at: 0, delimiter: layout.delimiter }.read(&layout.fields, skip_first))
}

struct Lines<'a> {
    text: &'a str,
    /// The byte that is read next.
    at: usize,
    delimiter: u8,
}

impl Lines<'_> {
    fn read(mut self, fields: &[Field], skip_first: bool) -> Result<Piece, Misfit> {
        let mut rows = Batch::empty(fields.len());
        let mut skip = skip_first;
        while let Some(byte) = self.next_byte() {
            if is_line_end(byte) {
                // That of the record before, the second byte of two, or an empty line.
                self.at += 1;
            } else if std::mem::take(&mut skip) {
                self.skip_line();
            } else {
                let start = self.at;
                self.read_record(&mut rows.columns, fields).map_err(|(field, reason)| Misfit {
                    row: rows.len,
                    lines_before: line_ends(&self.text.as_bytes()[..start]),
                    field,
                    reason,
                })?;
                rows.len += 1;
            }
        }
        Ok(Piece { rows, lines: line_ends(self.text.as_bytes()) })
    }

    #[inline]
    fn next_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn read_record(&mut self, columns: &mut [Column], fields: &[Field]) -> Result<(), (usize, String)> {
        let mut more = true;
        for (i, (column, field)) in columns.iter_mut().zip(fields).enumerate() {
            let int = if more && field.kind == FieldKind::Int { self.take_int() } else { None };
            match int {
                Some(int) => column.push_int(int),
                None => {
                    let text = more.then(|| self.take_text());
                    push(column, field, text).map_err(|reason| (i, reason))?;
                }
            }
            more = more && self.next_byte() == Some(self.delimiter);
            self.at += usize::from(more);
        }
        if more {
            self.skip_line();
        }
        Ok(())
    }

    /// A field that is an integer of not too many digits, and nothing else.
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

    fn take_text(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let end = memchr3(self.delimiter, b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Goes on to the end of the line.
    fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    }
}

#[inline]
fn is_line_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

fn line_ends(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
