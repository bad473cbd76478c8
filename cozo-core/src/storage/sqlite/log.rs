//! Checkpoints, which keep SQLite's write-ahead log short.
//!
//! A *checkpoint* writes the log back to the database. The log restarts at its beginning once all of it is written back and no
//! reader uses it. SQLite alone would never reach that point here, since the newest snapshot nearly always reads. So checkpoints
//! are explicit. Before a commit the newest snapshot is [renewed](SqliteSnapshot::renew), and then reads from the database alone.
//! Older snapshots in use delay the restart. If there are always such snapshots, a commit waits briefly for them, and each time
//! more rarely.
//!
//! A checkpoint waits for the disk twice: the log must be on it before the database changes, and the database before the log
//! restarts. A thread, the [`Helper`], does most of the work beside commits. A commit does the rest once it is little.
//!
//! | pages in the log, before a commit | [`LogKeeper::before_commit`] |
//! |---|---|
//! | fewer than `checkpoint_at` | does nothing |
//! | at least `checkpoint_at`, many not written back | asks the helper, at most [`MAX_ASKED`] times |
//! | at least `checkpoint_at`, few not written back | writes the rest back; if all is written, renews the newest snapshot |
//! | at least `wait_at` | writes back, and waits up to [`PATIENCE`] for old snapshots |
//!
//! Invariant: a failed or partial checkpoint loses nothing, since the log retains every page that is not in the database.

use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, TrySendError, bounded};
use rusqlite::Connection;
use rusqlite::wal::CheckpointMode;

use super::connection::open_writer;
use super::snapshot::SqliteSnapshot;
use crate::storage::options::Durability;
use crate::threads;

/// The number of pages in the log after which there is a checkpoint.
const PAGES: i32 = 4_000;

/// A part in this many of those pages counts as little. The log is checked again after as many further pages.
const PARTS: i32 = 8;

/// The number of requests to the helper before a commit does the rest. Commits go on during a checkpoint of the helper, so it
/// might never reach the end of the log.
const MAX_ASKED: u32 = 3;

/// At this multiple of the pages a commit waits for readers of old snapshots and for the helper.
const MANY: i32 = 4;

/// The longest wait for them.
const PATIENCE: Duration = Duration::from_millis(100);

/// The decision when to make a checkpoint.
pub struct LogKeeper {
    /// The number of pages between two checkpoints.
    pages: i32,
    /// The number of pages in the log from which on there is a checkpoint.
    checkpoint_at: i32,
    /// The number of pages in the log from which on a commit waits for readers.
    wait_at: i32,
    /// The number of requests to the helper since the log restarted.
    asked: u32,
    /// The thread that makes checkpoints beside commits, started on the first request.
    helper: Option<Helper>,
}

impl Default for LogKeeper {
    fn default() -> Self {
        LogKeeper::new(PAGES)
    }
}

impl LogKeeper {
    /// A keeper that lets the log have about this many pages.
    pub fn new(pages: i32) -> Self {
        LogKeeper { pages, checkpoint_at: pages, wait_at: pages.saturating_mul(MANY), asked: 0, helper: None }
    }

    /// Called before commits, with the newest snapshot. Returns whether a checkpoint was due. A failed checkpoint is tried again
    /// later.
    pub fn before_commit(&mut self, writer: &Connection, newest: &SqliteSnapshot) -> bool {
        let (pages, written) = checkpoint(writer, CheckpointMode::NOOP).unwrap_or_default();
        if pages < self.checkpoint_at {
            return false;
        }
        let waits = pages >= self.wait_at;
        let little = self.pages / PARTS;
        if !waits && pages - written > little && self.asked < MAX_ASKED && self.ask_helper(writer) {
            self.asked += 1;
            self.checkpoint_at = pages + little;
            return true;
        }
        if write_back(writer) || (waits && wait_and_write_back(writer)) {
            newest.renew();
            self.begin_anew();
            return true;
        }
        self.checkpoint_at = pages + self.pages;
        if waits {
            self.wait_at = pages.saturating_mul(2);
        }
        true
    }

    /// Requests a checkpoint from the helper. Returns whether there is one to serve it.
    fn ask_helper(&mut self, writer: &Connection) -> bool {
        if self.helper.is_none() {
            self.helper = writer.path().and_then(|path| Helper::begin(Path::new(path)));
        }
        self.helper.as_ref().is_some_and(Helper::ask)
    }

    fn begin_anew(&mut self) {
        *self = LogKeeper { helper: self.helper.take(), ..LogKeeper::new(self.pages) };
    }

    /// Writes all of the log back and truncates it, if no old snapshot is in use.
    pub fn empty(&mut self, writer: &Connection, newest: &SqliteSnapshot) {
        // Ends the helper, so that no other checkpoint runs.
        self.helper.take();
        if write_back(writer) {
            newest.renew();
            checkpoint(writer, CheckpointMode::TRUNCATE);
            self.begin_anew();
        }
    }
}

/// A thread that makes checkpoints on request. It ends when this is dropped.
struct Helper(Option<(Sender<()>, JoinHandle<()>)>);

impl Helper {
    /// Starts a thread with a connection of its own, if possible.
    fn begin(path: &Path) -> Option<Self> {
        // Checkpoints are the same with both durabilities.
        let connection = open_writer(path, Durability::Os).ok()?;
        // One request may wait during a checkpoint.
        let (sender, requests) = bounded(1);
        let work = move || {
            for () in requests {
                write_back(&connection);
            }
        };
        let thread = threads::start("cozo-checkpoint", work).ok()?;
        Some(Helper(Some((sender, thread))))
    }

    /// Requests a checkpoint. Returns whether there will be one.
    fn ask(&self) -> bool {
        let sent = self.0.as_ref().map(|(sender, _)| sender.try_send(()));
        matches!(sent, Some(Ok(()) | Err(TrySendError::Full(()))))
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// Writes back all pages that no reader prevents. Returns whether that was the whole log.
fn write_back(writer: &Connection) -> bool {
    checkpoint(writer, CheckpointMode::PASSIVE).is_some_and(|(pages, written)| pages == written)
}

fn wait_and_write_back(writer: &Connection) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
        if write_back(writer) {
            return true;
        }
    }
    false
}

/// Runs a checkpoint. Returns the number of pages in the log, and how many of them are in the database too.
fn checkpoint(writer: &Connection, mode: CheckpointMode) -> Option<(i32, i32)> {
    writer.wal_checkpoint_v2(None::<&str>, mode).ok()
}
