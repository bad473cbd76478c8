//! The two routes of a commit, to the log or to the engine together with all waiting commits, and the handling of failures.
//!
//! ```text
//!                 small, rows alone                      in doubt, or the file failed
//!   commit ----------------------------> log file 7  --------------------------------+
//!      |                                    |  every PERIOD                          |
//!      | many rows, definitions             v                                        v
//!      +-----------------------------> engine: waiting commits + the commit + the mark "8"
//!                                           |  fails
//!                                           v
//!                                      settle -- succeeds --> the commit is refused, later commits go on
//!                                           |
//!                                           +--- fails -----> UnknownOutcome, in doubt: refuse until it settles
//! ```
//!
//! [`Shared`] has two locks. `engine` is held by a thread that changes the engine, and is taken before `state`. `state` is held
//! only briefly, so that commits to the log go on while the thread applies earlier ones.
//!
//! | `Trust` | the engine and the log | next commit to the engine |
//! |---|---|---|
//! | `Known` | consistent | goes ahead |
//! | `EngineFailed` | the engine failed to apply a file of the log, which still has the commits | settles first |
//! | `InDoubt` | a commit may be there or not; the log takes no commits | settles first, or fails with `InDoubt` |
//!
//! Invariant: a record that may be torn is never followed by another one. After a failed append the file is not used again, and
//! the engine's next commit leaves it behind by a new mark.

use std::sync::Arc;

use super::file::{self, LogFile};
use super::leftover::Replay;
use super::record::Note;
use super::snapshot::{Era, LoggedSnapshot, Segment};
use super::{APPLIED_AT, MAX_BYTES, MAX_ROWS, Place, failed};
use crate::storage::changes::ChangeSet;
use crate::storage::error::StorageError;
use crate::storage::log_mark::LogMark;
use crate::storage::mem::empty_snapshot;
use crate::storage::options::{Durability, Options};
use crate::storage::traits::Storage;
use crate::sync::{Condvar, Mutex};

/// The state shared by commits and the thread that applies them.
pub(super) struct Shared {
    /// The state that each commit changes. It has snapshots of the engine, so it is dropped before the engine.
    pub state: Mutex<LogState>,
    /// Notified when there is something to apply, and when the log closes.
    pub news: Condvar,
    /// Held by a thread that changes the engine. It is locked before `state`.
    pub engine: Mutex<()>,
    pub base: Box<dyn Storage>,
    pub place: Place,
    /// The number of bytes that may wait to be applied.
    pub max_bytes: usize,
    pub durability: Durability,
    session: u128,
}

pub(super) struct LogState {
    pub newest: Arc<LoggedSnapshot>,
    /// The number of bytes that are not applied.
    pub bytes: usize,
    /// The file that commits are appended to. Without one the next commit goes to the engine and begins one.
    file: Option<LogFile>,
    /// The number of the next file.
    next: u64,
    /// The number of commits of the engine.
    commits: u64,
    trust: Trust,
    /// Whether a file of the log may have a record whose append failed.
    has_torn_record: bool,
    pub is_closed: bool,
    record: Vec<u8>,
}

/// Whether the contents of the engine and the log are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// The contents are known.
    Known,
    /// The engine failed to apply commits of the log, which still has them. No outcome is unknown, but the engine has to settle
    /// before its next commit.
    EngineFailed,
    /// A commit may be there or not.
    InDoubt,
}

/// Whether a commit should wake the thread.
pub(super) struct WakeApplier(pub bool);

/// The state of the log after a commit to the engine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// There is a new file.
    GoOn,
    /// The session ends, and there is no file.
    Close,
}

impl Shared {
    pub fn new(base: Box<dyn Storage>, place: Place, replay: Replay, options: &Options) -> Self {
        let Replay { records, next, .. } = replay;
        let bytes = records.len();
        let sealed = (bytes > 0).then(|| Arc::new(Segment::of(records)));
        let era = Era::new(base.snapshot(), sealed, Arc::default());
        let state = LogState {
            newest: Arc::new(LoggedSnapshot::new(era, 0)),
            bytes,
            file: None,
            next,
            commits: 0,
            trust: Trust::Known,
            has_torn_record: false,
            is_closed: false,
            record: vec![],
        };
        Shared {
            state: Mutex::new(state),
            news: Condvar::new(),
            engine: Mutex::new(()),
            base,
            place,
            max_bytes: if options.read_only { 0 } else { options.commit_log_bytes() },
            durability: options.durability,
            session: rand::random(),
        }
    }

    /// Appends a commit to the log, and returns whether to wake the thread. None if the commit has to go to the engine.
    pub fn commit_to_log(&self, changes: &[ChangeSet]) -> Option<WakeApplier> {
        let mut state = self.state.lock();
        let rows = || changes.iter().flat_map(|set| &set.rows);
        let is_small = changes.iter().all(ChangeSet::has_rows_alone)
            && rows().map(|rows| rows.rows.len()).sum::<usize>() <= MAX_ROWS
            && rows().map(|rows| rows.rows.memory_bytes()).sum::<usize>() <= MAX_BYTES
            && rows().all(|rows| state.newest.era.base.describe(rows.relation).is_some());
        if !is_small || state.trust == Trust::InDoubt || state.bytes >= self.max_bytes {
            return None;
        }
        let LogState { file, record, has_torn_record, .. } = &mut *state;
        let log = file.as_mut()?;
        log.encode(changes, record).ok()?;
        if let Err(error) = log.append(record) {
            // The engine's next commit leaves the file behind by a new mark.
            *has_torn_record |= !error.is_undone;
            *file = None;
            return None;
        }
        let LogState { newest, bytes, record, .. } = &mut *state;
        let (was, is) = (newest.end(), newest.era.active.append(record));
        *bytes += record.len();
        LoggedSnapshot::advance(newest, is);
        let at_once = self.max_bytes / APPLIED_AT;
        Some(WakeApplier(was == 0 || (was < at_once && is >= at_once)))
    }

    /// Commits to the engine, in one commit with all commits of the log, which come first.
    pub fn commit_to_engine(&self, changes: &mut [ChangeSet]) -> Result<(), StorageError> {
        let _engine = self.engine.lock();
        if self.max_bytes > 0 {
            self.base.before_commit();
        }
        self.be_ready()?;
        let is_alone = {
            let state = self.state.lock();
            state.bytes == 0 && !state.has_torn_record && (state.file.is_some() || self.max_bytes == 0)
        };
        let outcome = if is_alone { self.commit_alone(changes) } else { self.commit_and_move_on(changes, Then::GoOn) };
        outcome.map_err(|failure| self.after_failure(failure))
    }

    /// Commits to the engine when the log is empty.
    fn commit_alone(&self, changes: &mut [ChangeSet]) -> Result<(), Failure> {
        let mut state = self.state.lock();
        if Arc::get_mut(&mut state.newest).is_some() {
            // The state gives up its snapshot of the engine, so that the engine can change its contents in place.
            state.newest = Arc::new(LoggedSnapshot::new(Era::new(empty_snapshot().clone(), None, Arc::default()), 0));
        }
        let mark = state.file.as_ref().map(|file| self.mark(file.number, state.commits + 1, Then::GoOn));
        let committed = match mark {
            Some(mark) => {
                let mark = ChangeSet { log_mark: Some(mark), ..ChangeSet::default() };
                let mut all: Vec<ChangeSet> = std::iter::once(mark).chain(changes.iter().cloned()).collect();
                self.base.commit(&mut all)
            }
            None => self.base.commit(changes),
        };
        state.newest = LoggedSnapshot::of_engine(&*self.base);
        committed.map_err(Failure::Engine)?;
        state.engine_has_committed();
        Ok(())
    }

    /// Commits the waiting commits and some changes to the engine, with a mark that leaves all files of the log behind.
    fn commit_and_move_on(&self, changes: &[ChangeSet], then: Then) -> Result<(), Failure> {
        let (era, number, commits) = {
            let state = self.state.lock();
            (state.newest.era.clone(), state.next, state.commits + 1)
        };
        let then = if self.max_bytes == 0 { Then::Close } else { then };
        let file = (then == Then::GoOn).then(|| self.begin_file(number)).transpose().map_err(Failure::Before)?;
        let rows = era.pending().map_err(Failure::Before)?;
        let pending = ChangeSet { log_mark: Some(self.mark(number, commits, then)), ..ChangeSet::of_rows(rows) };
        let mut all: Vec<ChangeSet> = std::iter::once(pending).chain(changes.iter().cloned()).collect();
        self.base.commit(&mut all).map_err(Failure::Engine)?;
        let mut state = self.state.lock();
        state.newest = LoggedSnapshot::of_engine(&*self.base);
        (state.file, state.next, state.bytes) = (file, number + 1, 0);
        (state.trust, state.has_torn_record) = (Trust::Known, false);
        state.engine_has_committed();
        drop(state);
        self.remove_files(number);
        Ok(())
    }

    /// The error for the host after a failed commit. Makes sure that the failed commit does not come back, if that is possible.
    fn after_failure(&self, failure: Failure) -> StorageError {
        let has_torn_record = self.state.lock().has_torn_record;
        let error = match failure {
            Failure::Before(error) if !has_torn_record => return error,
            Failure::Engine(error) if !error.is_of_engine() && !has_torn_record => return error,
            Failure::Before(error) | Failure::Engine(error) => error,
        };
        match self.settle() {
            Ok(()) => error,
            Err(_) => {
                self.state.lock().trust = Trust::InDoubt;
                StorageError::UnknownOutcome(error.to_string())
            }
        }
    }

    /// Makes sure that no part of a failed commit comes back.
    fn settle(&self) -> Result<(), StorageError> {
        self.base.settle()?;
        if self.state.lock().has_torn_record {
            self.commit_and_move_on(&[], Then::GoOn).map_err(Failure::into_error)?;
        }
        self.state.lock().trust = Trust::Known;
        Ok(())
    }

    /// Settles the last commit if it has to be settled. Fails if that is not possible.
    fn be_ready(&self) -> Result<(), StorageError> {
        let trust = self.state.lock().trust;
        match trust {
            Trust::Known => Ok(()),
            Trust::EngineFailed => self.settle(),
            Trust::InDoubt => self.settle().map_err(|error| StorageError::InDoubt(error.to_string())),
        }
    }

    /// Applies the log. Commits go on meanwhile. After an error the log still has its commits.
    pub fn apply(&self) -> Result<(), StorageError> {
        let _engine = self.engine.lock();
        self.be_ready()?;
        let Some((era, number)) = self.seal()? else { return Ok(()) };
        self.base.before_commit();
        let rows = era.sealed_changes()?;
        let mark = self.mark(number, self.state.lock().commits + 1, Then::GoOn);
        if let Err(error) = self.base.commit(&mut [ChangeSet { log_mark: Some(mark), ..ChangeSet::of_rows(rows) }]) {
            self.state.lock().trust = Trust::EngineFailed;
            return Err(error);
        }
        let mut state = self.state.lock();
        let era = Era::new(self.base.snapshot(), None, era.active.clone());
        let end = state.newest.end();
        LoggedSnapshot::renew(&mut state.newest, era, end);
        state.bytes = end;
        state.engine_has_committed();
        drop(state);
        self.remove_files(number);
        Ok(())
    }

    /// Seals the active segment and begins a new one with a new file, unless an earlier sealed segment is not applied yet. Returns
    /// the new era and the number of the first file that is not sealed. None if there is nothing to apply.
    fn seal(&self) -> Result<Option<(Arc<Era>, u64)>, StorageError> {
        let (era, end, current, number) = {
            let state = self.state.lock();
            let current = state.file.as_ref().map(|file| file.number);
            (state.newest.era.clone(), state.newest.end(), current, state.next)
        };
        if era.sealed.is_none() && end == 0 {
            return Ok(None);
        }
        let Some(current) = current else {
            // The file failed, so all waiting commits go to the engine now.
            return self.commit_and_move_on(&[], Then::GoOn).map(|()| None).map_err(Failure::into_error);
        };
        if era.sealed.is_some() {
            return Ok(Some((era, current)));
        }
        let file = self.begin_file(number)?;
        let mut state = self.state.lock();
        let era = Era::new(era.base.clone(), Some(era.active.clone()), Arc::default());
        LoggedSnapshot::renew(&mut state.newest, era.clone(), 0);
        let mut sealed = state.file.replace(file);
        state.next = number + 1;
        let sealed_len = sealed.as_ref().map_or(0, LogFile::len);
        let noted = sealed.as_mut().map(|file| file.append_note(Note::Sealed));
        if noted.is_some_and(|noted| noted.is_err_and(|error| !error.is_undone)) {
            // A torn note would hide the commits of later files from the next opening.
            state.file = None;
        }
        state.note(sealed_len);
        Ok(Some((era, number)))
    }

    /// Commits the waiting commits to the engine, with a mark that ends the session.
    pub fn close(&self) -> Result<(), StorageError> {
        let _engine = self.engine.lock();
        let is_left = {
            let state = self.state.lock();
            state.file.is_some() || state.bytes > 0 || state.has_torn_record
        };
        if !is_left || self.max_bytes == 0 {
            return Ok(());
        }
        self.be_ready()?;
        self.commit_and_move_on(&[], Then::Close).map_err(Failure::into_error)
    }

    fn mark(&self, next: u64, commits: u64, then: Then) -> LogMark {
        LogMark { session: self.session, next, commits, is_open: Some(then == Then::GoOn) }
    }

    fn begin_file(&self, number: u64) -> Result<LogFile, StorageError> {
        let is_synced = self.durability == Durability::Disk;
        LogFile::create(&self.place, self.session, number, is_synced).map_err(failed("begin a file"))
    }

    /// Removes the applied files. One that cannot be removed is harmless, since its number is below the mark.
    fn remove_files(&self, next: u64) {
        let applied = file::numbers(&self.place).unwrap_or_default();
        for number in applied.into_iter().filter(|number| *number < next) {
            let _ = std::fs::remove_file(self.place.file(number));
        }
    }
}

impl LogState {
    /// Counts a commit of the engine, and writes the number to the log.
    fn engine_has_committed(&mut self) {
        self.commits += 1;
        self.note(0);
    }

    /// Writes a note with the number of the engine's commits and the length of the file before. If that fails, the file takes no
    /// more commits.
    fn note(&mut self, previous_len: u64) {
        let note = Note::Before { commits: self.commits, previous_len };
        if self.file.as_mut().is_some_and(|file| file.append_note(note).is_err()) {
            self.file = None;
        }
    }
}

/// A failed commit.
enum Failure {
    /// The failure came before the engine's commit.
    Before(StorageError),
    /// The engine's commit failed.
    Engine(StorageError),
}

impl Failure {
    fn into_error(self) -> StorageError {
        match self {
            Failure::Before(error) | Failure::Engine(error) => error,
        }
    }
}
