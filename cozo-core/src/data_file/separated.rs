//! Records of values between delimiters.

use std::io::{self, Chain, Cursor, Read};

use csv::{ReaderBuilder, StringRecord};

/// What follows the last record, as a record of its own: if it comes out as a part of another, a quote was not
/// closed, which the crate `csv` does not tell. The text means nothing, and is hardly in a file by chance.
const END: &str = "\u{3}end of the file\u{3}";

/// The size of the buffer of a reader.
const BUFFER_BYTES: usize = 64 * 1024;

/// Reads records, the first included. Empty lines are skipped, and a byte order mark. Records may have different lengths.
pub struct SeparatedReader<R> {
    reader: csv::Reader<Chain<R, Cursor<String>>>,
    ended: bool,
}

/// A record that cannot be read.
#[derive(Debug)]
pub enum RecordError {
    /// The file cannot be read.
    Io(io::Error),
    /// The text is wrong.
    Text {
        /// The line, from 1.
        line: u64,
        /// The reason.
        reason: String,
    },
}

impl<R: Read> SeparatedReader<R> {
    /// A reader of records whose fields are separated by a byte.
    pub fn new(reader: R, delimiter: u8) -> Self {
        let reader = reader.chain(Cursor::new(format!("\n{END}")));
        let mut builder = ReaderBuilder::new();
        builder.delimiter(delimiter).has_headers(false).flexible(true).buffer_capacity(BUFFER_BYTES);
        SeparatedReader { reader: builder.from_reader(reader), ended: false }
    }

    /// Reads the next record. Returns false at the end.
    pub fn read(&mut self, record: &mut StringRecord) -> Result<bool, RecordError> {
        if self.ended {
            return Ok(false);
        }
        let before = self.reader.position().line();
        let found = self.reader.read_record(record).map_err(|error| record_error(error, before))?;
        self.ended = !found || *record == [END][..];
        if !self.ended && record.iter().next_back().is_some_and(|last| last.ends_with(END)) {
            let reason = "a quote begins here that is not closed".to_string();
            return Err(RecordError::Text { line: line_of(record), reason });
        }
        Ok(!self.ended)
    }

    /// The source of the records.
    pub fn source(&mut self) -> &mut R {
        self.reader.get_mut().get_mut().0
    }
}

/// The line at which a record begins, from 1.
pub fn line_of(record: &StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

fn record_error(error: csv::Error, before: u64) -> RecordError {
    let line = error.position().map_or(before, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(error) => RecordError::Io(error),
        csv::ErrorKind::Utf8 { err, .. } => {
            RecordError::Text { line, reason: format!("field {} is no UTF-8 text", err.field() + 1) }
        }
        other => RecordError::Text { line, reason: format!("{other:?}") },
    }
}
