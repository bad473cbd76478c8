//! Keeping SQLite's write-ahead log short.
//!
//! The log is written back to the database by *checkpoints*, and begins anew once all of it is there and nobody reads from it. By itself
//! SQLite would never come to that point here, since the newest snapshot nearly always reads. So checkpoints are made
//! by hand before a commit, when the newest snapshot can be [renewed](SqliteSnapshot::renew) and then reads from
//! the database alone. Older snapshots that are in use hold the log up; where snapshots come and go all the time, a commit
//! waits a little for a moment without old ones, more and more seldom.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::wal::CheckpointMode;

use super::snapshot::SqliteSnapshot;

/// After how many pages in the log there is a checkpoint.
const PAGES: i32 = 4_000;

/// From how many times as many pages on it is waited for readers of old snapshots.
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
}

impl Default for LogKeeper {
    fn default() -> Self {
        LogKeeper::new(PAGES)
    }
}

impl LogKeeper {
    /// Lets the log have about so many pages.
    pub fn new(pages: i32) -> Self {
        LogKeeper { pages, checkpoint_at: pages, wait_at: pages * MANY }
    }

    /// Called before commits, with the newest snapshot; says whether it was time to do something. A checkpoint that
    /// fails is tried again later: the log keeps what is not in the database.
    pub fn tend(&mut self, writer: &Connection, newest: &SqliteSnapshot) -> bool {
        let pages = checkpoint(writer, CheckpointMode::NOOP).map_or(0, |(pages, _)| pages);
        if pages < self.checkpoint_at {
            return false;
        }
        let is_done = write_back(writer) || (pages >= self.wait_at && wait_and_write_back(writer));
        if is_done {
            newest.renew();
            *self = LogKeeper::new(self.pages);
            return true;
        }
        self.checkpoint_at = pages + self.pages;
        if pages >= self.wait_at {
            self.wait_at = pages.saturating_mul(2);
        }
        true
    }

    /// Writes all of the log back and cuts it off, if no old snapshot is in use.
    pub fn empty(&mut self, writer: &Connection, newest: &SqliteSnapshot) {
        if write_back(writer) {
            newest.renew();
            checkpoint(writer, CheckpointMode::TRUNCATE);
            *self = LogKeeper::new(self.pages);
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
