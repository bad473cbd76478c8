//! Files and web addresses as streams of bytes. A stopped query does not wait for them.
//!
//! A separate thread reads ahead and sends chunks. The query receives them, and checks its poison while it waits.

use std::fs::File;
use std::io::{self, Read};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use crate::data_file::decompressed;
use crate::fixed_rule::{Call, DefaultValue, FixedRuleError, OptionKind, OptionSpec, Options, Poison};
use crate::threads;
use crate::value::DataValue;

/// The address to read.
pub const URL: OptionSpec =
    OptionSpec::required("url", OptionKind::Text, "`file://` and a path, or an `http://` or `https://` address");

/// Whether rows are numbered.
pub const PREPEND_INDEX: OptionSpec = OptionSpec::new(
    "prepend_index",
    OptionKind::Bool,
    DefaultValue::Bool(false),
    "begin rows with their number from 0",
);

/// The number of columns of the result, for `read` columns of the data.
pub fn arity(read: usize, options: Options<'_>) -> Result<usize, FixedRuleError> {
    let index = options.value(PREPEND_INDEX.name, OptionKind::Bool)?;
    Ok(read + usize::from(index == Some(DataValue::from(true))))
}

/// The most bytes of a chunk.
pub const CHUNK_BYTES: usize = 64 * 1024;

/// The prefix of the address of a file.
pub const FILE_SCHEME: &str = "file://";

/// The number of chunks that are read ahead.
const CHUNKS_AHEAD: usize = 4;

/// The interval at which a waiting query checks its poison.
const POISON_INTERVAL: Duration = Duration::from_millis(20);

/// The time limit for finding a server, for connecting to it, and for the beginning of its answer.
#[cfg(feature = "requests")]
const HTTP_TIMEOUT: Duration = Duration::from_secs(60);

/// A file or web address that is being read.
pub struct TextSource {
    chunks: Receiver<io::Result<Vec<u8>>>,
    current: Vec<u8>,
    position: usize,
    poison: Poison,
    /// The bytes read of the current record, and the greatest size of a record so far.
    record_bytes: usize,
    longest_record: usize,
}

/// A file or web address that a rule of the call reads, with the errors that name it.
pub struct Origin<'a> {
    call: &'a Call<'a>,
    url: &'a str,
}

impl<'a> Origin<'a> {
    /// The origin of a call's data.
    pub fn new(call: &'a Call<'a>, url: &'a str) -> Self {
        Origin { call, url }
    }

    /// Starts reading.
    pub fn open(&self) -> Result<TextSource, FixedRuleError> {
        let (sender, chunks) = bounded(CHUNKS_AHEAD);
        let url = self.url.to_string();
        let started = threads::start("cozo-reader", move || read_ahead(&url, &sender));
        started.map_err(|error| self.unreadable(format!("the system gives no thread to read it: {error}")))?;
        let poison = self.call.poison.clone();
        Ok(TextSource { chunks, current: vec![], position: 0, poison, record_bytes: 0, longest_record: 0 })
    }

    /// The size of a file, if the address is one.
    pub fn file_bytes(&self) -> Option<u64> {
        let path = self.url.strip_prefix(FILE_SCHEME)?;
        std::fs::metadata(path).ok().map(|metadata| metadata.len())
    }

    /// The poison of the query.
    pub fn poison(&self) -> &'a Poison {
        &self.call.poison
    }

    /// The error for a failed read, or that of the poison if the query must stop.
    pub fn unreadable(&self, reason: impl ToString) -> FixedRuleError {
        if let Err(stopped) = self.call.poison.check() {
            return stopped.into();
        }
        FixedRuleError::Unreadable {
            url: self.url.to_string(),
            reason: reason.to_string(),
            span: self.call.options.span,
        }
    }

    /// The error for invalid data.
    pub fn bad_data(&self, place: String, reason: impl ToString, help: &'static str) -> FixedRuleError {
        let (url, reason) = (self.url.to_string(), reason.to_string());
        FixedRuleError::BadData { url, place, reason, help, span: self.call.options.span }
    }
}

/// Why a text is no JSON. The number of the line is left out in the first line: whoever reads lines knows it, and this one is of the
/// text alone.
pub fn why_no_json(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

impl TextSource {
    /// The received bytes that are not read yet. Waits for some. Empty at the end.
    fn current(&mut self) -> io::Result<&[u8]> {
        while self.position == self.current.len() {
            self.poison.check().map_err(io::Error::other)?;
            match self.chunks.recv_timeout(POISON_INTERVAL) {
                Ok(chunk) => (self.current, self.position) = (chunk?, 0),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(&[]),
            }
        }
        Ok(&self.current[self.position..])
    }

    /// Marks the end of a record. The bytes of a record are counted, since it is held in memory as a whole, and an endless file may be
    /// one record.
    pub fn end_record(&mut self) {
        self.record_bytes = 0;
    }

    /// Makes room for the bytes of a record beyond the longest one so far.
    fn make_room(&mut self, bytes: usize) -> io::Result<()> {
        self.record_bytes += bytes;
        if self.record_bytes > self.longest_record {
            let more = self.record_bytes - self.longest_record;
            self.longest_record = self.record_bytes;
            self.poison.make_room(more).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Appends the next bytes, at most [`CHUNK_BYTES`]. Returns their number, which is 0 at the end.
    pub fn append_to(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let bytes = self.current()?;
        buffer.extend_from_slice(bytes);
        let count = bytes.len();
        self.position += count;
        Ok(count)
    }
}

impl Read for TextSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.current()?;
        let count = buffer.len().min(bytes.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        self.position += count;
        self.make_room(count)?;
        Ok(count)
    }
}

/// Sends all data, or the error. Stops when the receiver is dropped.
fn read_ahead(url: &str, chunks: &Sender<io::Result<Vec<u8>>>) {
    let read = || -> io::Result<()> {
        let mut reader = decompressed(url, open(url)?)?;
        loop {
            let mut chunk = vec![0; CHUNK_BYTES];
            let count = match reader.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                outcome => outcome?,
            };
            chunk.truncate(count);
            if count == 0 || chunks.send(Ok(chunk)).is_err() {
                return Ok(());
            }
        }
    };
    if let Err(error) = read() {
        // The receiver is dropped if the query was stopped.
        let _ = chunks.send(Err(error));
    }
}

fn open(url: &str) -> io::Result<Box<dyn Read>> {
    if let Some(path) = url.strip_prefix(FILE_SCHEME) {
        return Ok(Box::new(File::open(path)?));
    }
    if url.starts_with("http://") || url.starts_with("https://") {
        return open_http(url);
    }
    Err(io::Error::other("an address begins with file://, http:// or https://"))
}

#[cfg(feature = "requests")]
fn open_http(url: &str) -> io::Result<Box<dyn Read>> {
    let config = ureq::Agent::config_builder()
        .timeout_resolve(Some(HTTP_TIMEOUT))
        .timeout_connect(Some(HTTP_TIMEOUT))
        .timeout_recv_response(Some(HTTP_TIMEOUT));
    let response = ureq::Agent::from(config.build()).get(url).call().map_err(io::Error::other)?;
    Ok(Box::new(response.into_body().into_reader()))
}

#[cfg(not(feature = "requests"))]
fn open_http(_url: &str) -> io::Result<Box<dyn Read>> {
    Err(io::Error::other("web addresses need the feature 'requests', which was left out of this build"))
}
