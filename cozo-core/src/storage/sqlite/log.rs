//! Keeping SQLite's write-ahead log short.
//!
//! The log is written back to the database by *checkpoints*, and begins anew once all of it is there and nobody reads from it. By itself
//! SQLite would never come to that point here, since the newest snapshot nearly always reads. So checkpoints are made
//! by hand, and before a commit the newest snapshot can be [renewed](SqliteSnapshot::renew) and then reads from
//! the database alone. Older snapshots that are in use hold the log up; where snapshots come and go all the time, a commit
//! waits a little for a moment without old ones, more and more seldom.
//!
//! A checkpoint waits for the disk twice: the log must be there before the database changes, and the database before the log
//! begins anew. A thread does most of it beside commits, and a commit what is little when it looks.

use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, TrySendError, bounded};
use rusqlite::Connection;
use rusqlite::wal::CheckpointMode;

use super::connection::open_writer;
use super::snapshot::SqliteSnapshot;
use crate::storage::Durability;
use crate::threads;

/// After how many pages in the log there is a checkpoint.
const PAGES: i32 = 4_000;

/// One part in so many of those is little, and after so many more it is looked again.
const PARTS: i32 = 8;

/// So often the thread is asked before a commit does what is left: while one is made others go on, so that the log may never be
/// at its end.
const MAX_ASKED: u32 = 3;

/// From how many times as many pages on it is waited for readers of old snapshots, and for the thread.
const MANY: i32 = 4;

/// How long it is waited for them.
const PATIENCE: Duration = Duration::from_millis(100);

/// When to do something about the log.
pub struct LogKeeper {
    /// After how many pages there is a checkpoint.
    pages: i32,
    /// From how many pages on there is a checkpoint.
    checkpoint_at: i32,
    /// From how many pages on it is waited for readers.
    wait_at: i32,
    /// How often the helper was asked since the log began.
    asked: u32,
    /// Who makes checkpoints beside commits, once there was one to be made.
    helper: Option<Helper>,
}

impl Default for LogKeeper {
    fn default() -> Self {
        LogKeeper::new(PAGES)
    }
}

impl LogKeeper {
    /// Lets the log have about so many pages.
    pub fn new(pages: i32) -> Self {
        LogKeeper { pages, checkpoint_at: pages, wait_at: pages.saturating_mul(MANY), asked: 0, helper: None }
    }

    /// Called before commits, with the newest snapshot; says whether it was time to do something. A checkpoint that
    /// fails is tried again later: the log keeps what is not in the database.
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

    /// Has a checkpoint made beside commits, if that is possible.
    fn ask_helper(&mut self, writer: &Connection) -> bool {
        if self.helper.is_none() {
            self.helper = writer.path().and_then(|path| Helper::begin(Path::new(path)));
        }
        self.helper.as_ref().is_some_and(Helper::ask)
    }

    fn begin_anew(&mut self) {
        *self = LogKeeper { helper: self.helper.take(), ..LogKeeper::new(self.pages) };
    }

    /// Writes all of the log back and cuts it off, if no old snapshot is in use.
    pub fn empty(&mut self, writer: &Connection, newest: &SqliteSnapshot) {
        // Once it has ended, nobody else makes a checkpoint.
        self.helper.take();
        if write_back(writer) {
            newest.renew();
            checkpoint(writer, CheckpointMode::TRUNCATE);
            self.begin_anew();
        }
    }
}

/// A thread that makes checkpoints when it is asked to. It ends when this is dropped.
struct Helper(Option<(Sender<()>, JoinHandle<()>)>);

impl Helper {
    /// Begins a thread with a connection of its own, if there can be one.
    fn begin(path: &Path) -> Option<Self> {
        // Checkpoints are the same with both durabilities.
        let connection = open_writer(path, Durability::Os).ok()?;
        // One may wait while another is made.
        let (sender, requests) = bounded(1);
        let work = move || {
            for () in requests {
                write_back(&connection);
            }
        };
        let thread = threads::start("cozo-checkpoint", work).ok()?;
        Some(Helper(Some((sender, thread))))
    }

    /// Says whether there will be a checkpoint.
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

/// Writes back what no reader hinders, and says whether it was all.
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

/// The pages in the log, and how many of them are in the database too.
fn checkpoint(writer: &Connection, mode: CheckpointMode) -> Option<(i32, i32)> {
    writer.wal_checkpoint_v2(None::<&str>, mode).ok()
}
