//! Records of values between delimiters.

use std::io::{self, Chain, Cursor, Read};
use std::mem;

use csv::{ByteRecord, ReaderBuilder, StringRecord};

/// The number of control characters that follow the last record, as a record of its own: if they come out as a part of another, a
/// quote was not closed, which the crate `csv` does not report. No file has so many of them by chance.
const END_LENGTH: usize = 16;

/// The size of the buffer of a reader.
const BUFFER_BYTES: usize = 64 * 1024;

/// Reads records, the first included. Empty lines are skipped, and a byte order mark. Records may have different lengths.
pub struct SeparatedReader<R> {
    reader: csv::Reader<Chain<LineEnds<R>, Cursor<String>>>,
    /// What follows the last record.
    end: String,
    ended: bool,
}

/// A source of lines, and whether the first of them ends in CR LF.
struct LineEnds<R> {
    source: R,
    last: u8,
    crlf: Option<bool>,
    /// The number of bytes read.
    length: u64,
}

impl<R: Read> Read for LineEnds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.length += read as u64;
        if self.crlf.is_none() && read > 0 {
            let end = memchr::memchr(b'\n', &buffer[..read]);
            let before = end.map(|end| if end > 0 { buffer[end - 1] } else { self.last });
            self.crlf = before.map(|before| before == b'\r');
            self.last = buffer[read - 1];
        }
        Ok(read)
    }
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
        let end = if delimiter == 3 { "\u{4}" } else { "\u{3}" }.repeat(END_LENGTH);
        let reader = LineEnds { source: reader, last: 0, crlf: None, length: 0 }.chain(Cursor::new(format!("\n{end}")));
        let mut builder = ReaderBuilder::new();
        builder.delimiter(delimiter).has_headers(false).flexible(true).buffer_capacity(BUFFER_BYTES);
        SeparatedReader { reader: builder.from_reader(reader), end, ended: false }
    }

    /// Reads the next record. Returns false at the end.
    pub fn read(&mut self, record: &mut StringRecord) -> Result<bool, RecordError> {
        if self.ended {
            return Ok(false);
        }
        let mut bytes = mem::take(record).into_byte_record();
        let found = self.reader.read_byte_record(&mut bytes).map_err(unreadable)?;
        let line = self.line_of_last(&bytes);
        *record = StringRecord::from_byte_record(bytes).map_err(|error| {
            let reason = format!("field {} is no UTF-8 text", error.utf8_error().field() + 1);
            RecordError::Text { line, reason }
        })?;
        let mut position = csv::Position::new();
        position.set_line(line);
        record.set_position(Some(position));
        self.ended = !found || *record == [self.end.as_str()][..];
        if !self.ended && record.iter().next_back().is_some_and(|last| last.ends_with(&self.end)) {
            return Err(RecordError::Text { line, reason: "a quote begins here that is not closed".to_string() });
        }
        Ok(!self.ended)
    }

    /// The line at which the record that was read last begins. The crate `csv` counts empty lines before a record as a part of it,
    /// and leaves the LF after a CR to the next one. The last record may end with the LF before
    /// the end.
    fn line_of_last(&self, record: &ByteRecord) -> u64 {
        let within = memchr::memchr_iter(b'\n', record.as_slice()).count() as u64;
        let source = &self.reader.get_ref().get_ref().0;
        let past_end = self.reader.position().byte() > source.length;
        let is_open = record.as_slice().ends_with(self.end.as_bytes());
        let has_lf = !is_open && (past_end || source.crlf != Some(true));
        self.reader.position().line().saturating_sub(within + u64::from(has_lf)).max(1)
    }

    /// The source of the records.
    pub fn source(&mut self) -> &mut R {
        &mut self.reader.get_mut().get_mut().0.source
    }
}

/// The line at which a record begins, from 1.
pub fn line_of(record: &StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

fn unreadable(error: csv::Error) -> RecordError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => RecordError::Io(error),
        other => RecordError::Io(io::Error::other(format!("{other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_know_their_lines() {
        let text = "\n\na,b\n1,\"x\ny\"\n\n2,z\n3,";
        let expected = [3, 4, 7, 8];
        for text in [text.to_string(), text.replace('\n', "\r\n")] {
            let mut reader = SeparatedReader::new(text.as_bytes(), b',');
            let (mut record, mut lines) = (StringRecord::new(), vec![]);
            while reader.read(&mut record).expect("it is valid") {
                lines.push(line_of(&record));
            }
            assert_eq!(lines, expected, "{text:?}");
        }
    }

    #[test]
    fn odd_ends_and_delimiters_are_read() {
        for (text, delimiter, expected) in [
            ("a,b\r1,2\r", b',', vec![vec!["a", "b"], vec!["1", "2"]]),
            ("\u{feff}", b',', vec![]),
            ("\r\n\r\n", b',', vec![]),
            ("a b\n1 2", b' ', vec![vec!["a", "b"], vec!["1", "2"]]),
            ("a\u{3}b\n", 3, vec![vec!["a", "b"]]),
            ("e\n", b'e', vec![vec!["", ""]]),
        ] {
            let mut reader = SeparatedReader::new(text.as_bytes(), delimiter);
            let (mut record, mut found) = (StringRecord::new(), vec![]);
            while reader.read(&mut record).expect("it is valid") {
                assert!(line_of(&record) > 0, "{text:?}");
                found.push(record.iter().map(str::to_string).collect::<Vec<_>>());
            }
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
