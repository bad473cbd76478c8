//! The log: lines for standard error, written by a thread of its own.
//!
//! Whoever reads standard error may stop reading, and a request must not wait for that. A line that finds no room in the queue is
//! dropped, and how many were is said in the next one.

use std::io::{self, IsTerminal, Write, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use super::arguments::{LogFormat, ServerArguments};
use crate::output;

/// How many lines wait to be written.
const WAITING_LINES: usize = 1024;

/// Longer lines are cut.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// How long the program waits at its end until the lines are written.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where lines go. Clones are the same queue.
#[derive(Clone)]
pub struct Log {
    /// The queue; none where there is no thread to write.
    queue: Option<SyncSender<Entry>>,
    dropped: Arc<AtomicU64>,
}

enum Entry {
    Line(Vec<u8>),
    /// Asks to be answered when all before is written.
    Flush(Sender<()>),
}

impl Log {
    /// Begins the log of the program, as the arguments say.
    pub fn start(arguments: &ServerArguments) -> Self {
        let log = Log::begin(arguments.log_format);
        let to = tracing_subscriber::fmt().with_writer(log.clone()).with_max_level(arguments.log).with_target(false);
        let to = to.log_internal_errors(false);
        match arguments.log_format {
            LogFormat::Text => to.with_ansi(output::wants_color(stderr().is_terminal())).init(),
            LogFormat::Json => to.json().flatten_event(true).init(),
        }
        log
    }

    fn begin(format: LogFormat) -> Self {
        let (queue, entries) = sync_channel(WAITING_LINES);
        let dropped = Arc::<AtomicU64>::default();
        let counter = dropped.clone();
        let started =
            thread::Builder::new().name("log".to_string()).spawn(move || write_all(entries, &counter, format));
        Log { queue: started.is_ok().then_some(queue), dropped }
    }

    /// Waits until all lines are written, but not for long.
    pub fn flush(&self) {
        let (done, written) = channel();
        let asked = self.queue.as_ref().is_some_and(|queue| queue.try_send(Entry::Flush(done)).is_ok());
        if asked {
            let _ = written.recv_timeout(PATIENCE);
        }
    }

    fn put(&self, line: Vec<u8>) {
        let Some(queue) = &self.queue else { return write(&line) };
        if let Err(TrySendError::Full(_)) = queue.try_send(Entry::Line(line)) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn write_all(entries: Receiver<Entry>, dropped: &AtomicU64, format: LogFormat) {
    for entry in entries {
        match entry {
            Entry::Line(line) => write(&line),
            // Nobody may wait any more.
            Entry::Flush(done) => drop(done.send(())),
        }
        match (dropped.swap(0, Ordering::Relaxed), format) {
            (0, _) => {}
            (lines, LogFormat::Text) => write(format!("{lines} lines of the log were dropped\n").as_bytes()),
            (lines, LogFormat::Json) => {
                let line = serde_json::json!({"level": "WARN", "message": "lines were dropped", "lines": lines});
                write(format!("{line}\n").as_bytes());
            }
        }
    }
}

/// A log that nobody can read is no reason to end.
fn write(line: &[u8]) {
    let _ = stderr().write_all(line);
}

impl MakeWriter<'_> for Log {
    type Writer = Line;

    fn make_writer(&self) -> Line {
        Line { text: vec![], log: self.clone() }
    }
}

/// A line being made; it is put on the queue when it is dropped.
pub struct Line {
    text: Vec<u8>,
    log: Log,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        if text.len() > MAX_LINE_BYTES {
            text.truncate(MAX_LINE_BYTES);
            text.extend_from_slice(" ...\n".as_bytes());
        }
        if !text.is_empty() {
            self.log.put(text);
        }
    }
}
