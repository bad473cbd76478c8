//! The ways of a commit: appended to the log, or to the engine with all that waits; and what follows when one fails.
//!
//! ```text
//!                 small, rows alone                      in doubt, or the file failed
//!   commit ----------------------------> log file 7  --------------------------------+
//!      |                                    |  every PERIOD                          |
//!      | many rows, definitions             v                                        v
//!      +-----------------------------> engine: what waits + the commit + the mark "8"
//!                                           |  fails
//!                                           v
//!                                      settle -- succeeds --> the commit is refused, all goes on
//!                                           |
//!                                           +--- fails -----> UnknownOutcome, in doubt: refuse until it settles
//! ```

use std::sync::Arc;

use super::file::{self, LogFile};
use super::leftover::Replay;
use super::record::Note;
use super::snapshot::{Era, LoggedSnapshot, Segment};
use super::{APPLIED_AT, LogMark, MAX_BYTES, MAX_ROWS, Place, failed};
use crate::storage::mem::MemSnapshot;
use crate::storage::{ChangeSet, Durability, Options, Storage, StorageError};
use crate::sync::{Condvar, Mutex};

/// What commits and the thread that applies them share.
pub(super) struct Shared {
    /// What changes with each commit; it has snapshots of the engine, which go before it.
    pub state: Mutex<LogState>,
    /// Told when there is something to be applied, or nothing any more.
    pub news: Condvar,
    /// Held by whoever changes the engine; locked before `state`.
    pub engine: Mutex<()>,
    pub base: Box<dyn Storage>,
    pub place: Place,
    /// How many bytes may wait to be applied.
    pub max_bytes: usize,
    pub durability: Durability,
    session: u128,
}

pub(super) struct LogState {
    pub newest: Arc<LoggedSnapshot>,
    /// How many bytes are not applied.
    pub bytes: usize,
    /// The file that commits are appended to. Without one they go to the engine, the first of which begins one.
    file: Option<LogFile>,
    /// The number of the file that is begun next.
    next: u64,
    /// How many commits the engine has taken.
    commits: u64,
    trust: Trust,
    /// Whether a record that could not be appended may be in a file of the log nevertheless.
    has_torn_record: bool,
    pub is_closed: bool,
    record: Vec<u8>,
}

/// Whether it is known what the engine and the log hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// It is.
    Known,
    /// The engine failed to apply commits of the log, which are still there. No outcome is in question, but the engine has to
    /// settle before the next commit.
    EngineFailed,
    /// A commit may be there or not.
    InDoubt,
}

/// Whether the thread should be told of a commit.
pub(super) struct WakeApplier(pub bool);

/// What a commit to the engine leaves behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// A new file of the log.
    GoOn,
    /// None: the session ends.
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

    /// Appends a commit to the log; whether it is there, and whether somebody should apply it. What is not there is for the
    /// engine.
    pub fn commit_to_log(&self, changes: &[ChangeSet]) -> Option<WakeApplier> {
        let mut state = self.state.lock();
        let rows = || changes.iter().flat_map(|set| &set.rows);
        let is_small = changes.iter().all(ChangeSet::has_rows_alone)
            && rows().map(|rows| rows.rows.len()).sum::<usize>() <= MAX_ROWS
            && rows().map(|rows| rows.rows.memory_bytes()).sum::<usize>() <= MAX_BYTES
            && rows().all(|rows| state.newest.era.base.shape(rows.relation).is_some());
        if !is_small || state.trust == Trust::InDoubt || state.bytes >= self.max_bytes {
            return None;
        }
        let LogState { file, record, has_torn_record, .. } = &mut *state;
        let log = file.as_mut()?;
        log.encode(changes, record).ok()?;
        if let Err(error) = log.append(record) {
            // The engine's next commit leaves the file behind, by a new mark.
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

    /// Commits to the engine, after all that is in the log and together with it.
    pub fn commit_to_engine(&self, changes: &[ChangeSet]) -> Result<(), StorageError> {
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

    /// Commits to the engine where nothing is in the log.
    fn commit_alone(&self, changes: &[ChangeSet]) -> Result<(), Failure> {
        let mut state = self.state.lock();
        if Arc::get_mut(&mut state.newest).is_some() {
            // Then nobody has the latest snapshot of the engine.
            state.newest =
                Arc::new(LoggedSnapshot::new(Era::new(MemSnapshot::empty().clone(), None, Arc::default()), 0));
        }
        let mark = state.file.as_ref().map(|file| self.mark(file.number, state.commits + 1, Then::GoOn));
        let committed = match mark {
            Some(mark) => {
                let mark = ChangeSet { log_mark: Some(mark), ..ChangeSet::default() };
                let all: Vec<ChangeSet> = std::iter::once(mark).chain(changes.iter().cloned()).collect();
                self.base.commit(&all)
            }
            None => self.base.commit(changes),
        };
        state.newest = LoggedSnapshot::of_engine(&*self.base);
        committed.map_err(Failure::Engine)?;
        state.engine_has_committed();
        Ok(())
    }

    /// Commits to the engine what waits and some changes, with a mark that leaves all files of the log behind.
    fn commit_and_move_on(&self, changes: &[ChangeSet], then: Then) -> Result<(), Failure> {
        let (era, number, commits) = {
            let state = self.state.lock();
            (state.newest.era.clone(), state.next, state.commits + 1)
        };
        let then = if self.max_bytes == 0 { Then::Close } else { then };
        let file = (then == Then::GoOn).then(|| self.begin_file(number)).transpose().map_err(Failure::Before)?;
        let rows = era.pending().map_err(Failure::Before)?;
        let pending = ChangeSet { log_mark: Some(self.mark(number, commits, then)), ..ChangeSet::of_rows(rows) };
        let all: Vec<ChangeSet> = std::iter::once(pending).chain(changes.iter().cloned()).collect();
        self.base.commit(&all).map_err(Failure::Engine)?;
        let mut state = self.state.lock();
        state.newest = LoggedSnapshot::of_engine(&*self.base);
        (state.file, state.next, state.bytes) = (file, number + 1, 0);
        (state.trust, state.has_torn_record) = (Trust::Known, false);
        state.engine_has_committed();
        drop(state);
        self.remove_files(number);
        Ok(())
    }

    /// What the host is told of a commit that failed; sees to it that the failed commit does not come back, if that is possible.
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

    /// Makes sure that nothing of a commit that failed comes back.
    fn settle(&self) -> Result<(), StorageError> {
        self.base.settle()?;
        if self.state.lock().has_torn_record {
            self.commit_and_move_on(&[], Then::GoOn).map_err(Failure::into_error)?;
        }
        self.state.lock().trust = Trust::Known;
        Ok(())
    }

    /// Fails if the engine cannot take a commit before it has settled the last one.
    fn be_ready(&self) -> Result<(), StorageError> {
        let trust = self.state.lock().trust;
        match trust {
            Trust::Known => Ok(()),
            Trust::EngineFailed => self.settle(),
            Trust::InDoubt => self.settle().map_err(|error| StorageError::InDoubt(error.to_string())),
        }
    }

    /// Applies what is in the log; commits go on meanwhile. After an error it is still there.
    pub fn apply(&self) -> Result<(), StorageError> {
        let _engine = self.engine.lock();
        self.be_ready()?;
        let Some((era, number)) = self.seal()? else { return Ok(()) };
        self.base.before_commit();
        let rows = era.sealed_changes()?;
        let mark = self.mark(number, self.state.lock().commits + 1, Then::GoOn);
        if let Err(error) = self.base.commit(&[ChangeSet { log_mark: Some(mark), ..ChangeSet::of_rows(rows) }]) {
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

    /// Begins a new segment and a new file, unless the last one that was sealed is not applied yet; the era then, and the number of
    /// the first file that is not sealed. Nothing if there is nothing to apply any more.
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
            // The file failed: all that waits goes to the engine at once.
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
            // Half a note would hide the commits of later files from the next opening.
            state.file = None;
        }
        state.note(sealed_len);
        Ok(Some((era, number)))
    }

    /// Commits to the engine what waits, and the end of the session.
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

    /// Removes the files that are applied. One that cannot be removed does no harm: its number has passed.
    fn remove_files(&self, next: u64) {
        let applied = file::numbers(&self.place).unwrap_or_default();
        for number in applied.into_iter().filter(|number| *number < next) {
            let _ = std::fs::remove_file(self.place.file(number));
        }
    }
}

impl LogState {
    /// Counts a commit of the engine, and notes it in the log.
    fn engine_has_committed(&mut self) {
        self.commits += 1;
        self.note(0);
    }

    /// Notes how many commits the engine has taken, and the length of the file before. A file that takes no note takes no commits,
    /// either.
    fn note(&mut self, previous_len: u64) {
        let note = Note::Before { commits: self.commits, previous_len };
        if self.file.as_mut().is_some_and(|file| file.append_note(note).is_err()) {
            self.file = None;
        }
    }
}

/// A commit failed.
enum Failure {
    /// Before the engine was asked.
    Before(StorageError),
    /// The engine was asked.
    Engine(StorageError),
}

impl Failure {
    fn into_error(self) -> StorageError {
        match self {
            Failure::Before(error) | Failure::Engine(error) => error,
        }
    }
}
