//! The commit log: small commits of a persistent engine go to a file of their own, and are applied to the engine together.
//!
//! Appending to a file takes a fraction of the time of an SQLite transaction or a RocksDB batch. Many commits applied as one
//! take little more than one commit: a row that changed several times is written once, and all rows are written in key order.
//! So [`Logged`], a decorator over an engine, commits by appending to the log. A thread applies the log every [`PERIOD`], or
//! earlier if it is long. A snapshot overlays the unapplied commits on a snapshot of the engine. It does so only when it is read,
//! which is rare with a column cache.
//!
//! A commit that defines relations or changes many rows goes to the engine, together with all waiting commits.
//!
//! # Why no commit is lost or applied twice
//! A file of the log belongs to a *session*: the time from one opening of the database for writing to the next. Each file has a
//! number. The engine stores the [`LogMark`](super::LogMark): the session, and the number of the first file that it has not applied. The order of
//! steps is always the same:
//! ```text
//!   1. begin file 8                       file 7: commits that wait     file 8: empty
//!   2. the engine commits file 7 and      a crash before: the mark says 7, files 7 and 8 are applied at the next opening
//!      the mark "8", in one commit        a crash after:  the mark says 8, file 8 is applied
//!   3. remove file 7
//! ```
//! So a commit that is acknowledged after step 1 lies in file 8, which both marks include. Files of other sessions and files
//! before the mark are not applied. Each record has a checksum.
//!
//! # Unknown outcomes
//! When a write or a sync of the log fails, the data may be on the disk or not. The file is given up, and the commit goes to the engine, with
//! a mark that leaves the file behind. If the engine fails, too, `Shared::after_failure` makes it
//! [settle](Storage::settle): a commit without changes, after which the failed commit cannot come back. If that succeeds, the
//! failed commit is certainly refused. If not, the host gets [`StorageError::UnknownOutcome`], and the database is *in doubt*. It
//! refuses all commits until the engine can settle, or until the next opening, which finds the outcome.
//!
//! # Losses are reported
//! At the opening `leftover` checks whether files or commits are missing. The engine counts its commits in the mark, and notes in
//! the log repeat that number, so a loss of the engine's own log is noticed too. A file that could not be applied is renamed
//! ([`lost`]). [`Opened::warnings`] reports it once, and [`Storage::verify`] until the file is removed.
//!
//! # The parts
//! | part | what |
//! |---|---|
//! | `file` | the files |
//! | `record` | commits and notes as bytes |
//! | `leftover` | reading the log when a database is opened |
//! | `commit` | the routes of a commit, and the handling of failures |
//! | `merge` | many changes combined into few, sorted |
//! | `snapshot` | snapshots of the engine with the commits after them |
//! | `apply` | the thread that applies the log |

mod apply;
mod commit;
mod file;
mod leftover;
mod merge;
mod record;
mod snapshot;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use self::apply::Applier;
use self::commit::{Shared, WakeApplier};
pub use self::leftover::Leftover;
use self::leftover::Replay;
use super::changes::ChangeSet;
use super::error::StorageError;
use super::folders::folder_of;
use super::lost::{self, name_of};
use super::options::{Durability, Options};
use super::traits::{EngineTraits, Opened, Snapshot, Storage};
use crate::sync::Mutex;

/// The path of the files of a log, without their number.
#[derive(Clone, Debug)]
pub struct Place(pub PathBuf);

/// The beginning of the names of the files of a log, after the name of the database.
const FILES: &str = "commits";

/// The longest time that a commit waits in the log, if the engine keeps up.
const PERIOD: Duration = Duration::from_millis(100);

/// A commit of more rows goes to the engine.
const MAX_ROWS: usize = 4096;

/// A commit of more bytes, by the size of its values in memory, goes to the engine.
const MAX_BYTES: usize = 1 << 20;

/// The log is applied without delay when it has this fraction of its greatest size.
const APPLIED_AT: usize = 4;

/// Commits of this many rows are quick enough for new readers to wait for them.
const MAX_ROWS_IN_PLACE: usize = 1024;

/// An engine with a commit log.
pub struct Logged {
    shared: Arc<Shared>,
    /// Started with the first commit that goes to the log.
    applier: Mutex<Option<Applier>>,
    /// The problems found at the opening.
    warnings: Vec<String>,
}

fn failed(action: &'static str) -> impl Fn(std::io::Error) -> StorageError {
    move |error| StorageError::Engine { engine: "the commit log", action, message: error.to_string() }
}

/// A copy of the engine's own log from before the opening, which may have rewritten the log.
pub type OwnLog = Option<(PathBuf, Vec<u8>)>;

impl Logged {
    /// An engine with a log. `leftover` has the log of earlier sessions. With `read_only` its commits are visible, but not
    /// applied to the engine.
    pub fn new(
        base: Box<dyn Storage>,
        place: Place,
        leftover: Leftover,
        own_log: OwnLog,
        options: &Options,
    ) -> Result<Self, StorageError> {
        let mut replay = leftover.after(base.opened()?.log_mark);
        if options.read_only {
            // Another process may be writing: it moves on to other files, and may have written a part of a record.
            replay.losses.retain(|loss| loss.file.is_some());
        }
        let is_whole = replay.records.is_empty() && replay.losses.is_empty();
        let warnings = keep_lost(&place, &replay, own_log, options.read_only);
        let shared = Shared::new(base, place, replay, options);
        if !is_whole && !options.read_only {
            shared.commit_to_engine(&mut [])?;
        }
        Ok(Logged { shared: Arc::new(shared), applier: Mutex::default(), warnings })
    }

    /// Wakes the thread that applies the log. Starts it if needed.
    fn wake_applier(&self) {
        let mut applier = self.applier.lock();
        if applier.is_none() {
            *applier = Applier::start(&self.shared);
        }
        self.shared.news.notify_all();
    }
}

/// Renames the files that are not applied, and describes the losses in words.
fn keep_lost(place: &Place, replay: &Replay, own_log: OwnLog, read_only: bool) -> Vec<String> {
    let kept_as = |kept: std::io::Result<PathBuf>| match kept {
        Ok(path) => format!("it is kept as '{}'", name_of(&path)),
        Err(error) => format!("it could not be kept under another name: {error}"),
    };
    let mut warnings = vec![];
    for loss in &replay.losses {
        warnings.push(match loss.file.map(|number| place.file(number)) {
            None => format!("the commit log is not complete: {}", loss.reason),
            Some(file) if read_only => {
                format!("the commit log '{}' was not applied as a whole: {}", name_of(&file), loss.reason)
            }
            Some(file) => format!(
                "the commit log '{}' was not applied as a whole: {}; {}",
                name_of(&file),
                loss.reason,
                kept_as(lost::keep(&file))
            ),
        });
    }
    if let Some((path, bytes)) = own_log.filter(|_| replay.is_engine_behind || !replay.losses.is_empty()) {
        let kept = kept_as(lost::keep_bytes(&path, &bytes));
        warnings.push(format!("'{}' may have the missing commits: {kept}", name_of(&path)));
    }
    warnings
}

impl Storage for Logged {
    fn opened(&self) -> Result<Opened, StorageError> {
        let mut opened = self.shared.base.opened()?;
        opened.warnings.extend_from_slice(&self.warnings);
        Ok(opened)
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.shared.state.lock().newest.clone()
    }

    fn commit(&self, changes: &mut [ChangeSet]) -> Result<Arc<dyn Snapshot>, StorageError> {
        match self.shared.commit_to_log(changes) {
            Some(WakeApplier(true)) => self.wake_applier(),
            Some(WakeApplier(false)) => {}
            None => self.shared.commit_to_engine(changes)?,
        }
        Ok(self.snapshot())
    }

    /// Applies the log if the thread does not keep up.
    fn before_commit(&self) {
        let Shared { max_bytes, state, engine, base, .. } = &*self.shared;
        if *max_bytes == 0 {
            let _engine = engine.lock();
            base.before_commit();
        } else if state.lock().bytes >= *max_bytes {
            // If it fails, the next commit fails too, and reports the error.
            let _ = self.shared.apply();
        }
    }

    fn traits(&self) -> EngineTraits {
        let base = self.shared.base.traits();
        let max_rows_in_place = match self.shared.max_bytes {
            0 => base.max_rows_in_place,
            _ if self.shared.durability == Durability::Disk => 0,
            _ => MAX_ROWS_IN_PLACE,
        };
        EngineTraits { max_rows_in_place, ..base }
    }

    fn verify(&self) -> Result<Vec<String>, StorageError> {
        let mut problems = self.shared.base.verify()?;
        let lost = self.shared.place.lost_files().map_err(failed("look for files beside the database"))?;
        problems.extend(lost.iter().map(|file| {
            format!(
                "'{}' has commits that could not be applied when the database was opened; remove it when it is not needed any more",
                name_of(file)
            )
        }));
        Ok(problems)
    }

    fn compact(&self) -> Result<(), StorageError> {
        self.shared.apply()?;
        let _engine = self.shared.engine.lock();
        self.shared.base.compact()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        self.shared.state.lock().is_closed = true;
        self.shared.news.notify_all();
        if let Some(applier) = self.applier.lock().take() {
            applier.join();
        }
        // Commits that cannot be applied now are applied when the database is opened again.
        let _ = self.shared.close();
    }
}

/// The places of the log of an engine with a file and of one with a folder.
impl Place {
    /// Beside a file.
    pub fn beside(path: &Path) -> Self {
        let mut name = path.as_os_str().to_owned();
        name.push("-");
        name.push(FILES);
        Place(name.into())
    }

    /// In a folder.
    pub fn within(folder: &Path) -> Self {
        Place(folder.join(FILES))
    }

    /// The files of the database that could not be read as a whole at an opening, and were renamed.
    fn lost_files(&self) -> std::io::Result<Vec<PathBuf>> {
        let name = name_of(&self.0);
        lost::find(folder_of(&self.0), name.strip_suffix(FILES).unwrap_or(&name))
    }
}
