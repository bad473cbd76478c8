//! The commit log: small commits of a persistent engine go to a file of their own, and are applied to the engine together.
//!
//! To append some bytes to a file takes a fraction of what a transaction of SQLite or a batch of RocksDB takes, and a
//! thousand commits applied as one take little more than one: rows that were changed again are written once, and all are
//! written in the order of their keys. So [`Logged`], a decorator over an engine, commits by appending to the log, and a
//! thread applies what is there every [`PERIOD`], or as soon as it is much. What is not applied yet is laid over the
//! snapshots of the engine, when somebody reads from one: where the column cache is on, hardly ever.
//!
//! What defines relations, and what changes many rows, is committed to the engine, with all before it in the same commit.
//!
//! # Why nothing is lost, or done twice
//! A file of the log belongs to a *session*: the time from one opening of the database for writing to the next. Each file has a number.
//! The engine knows the session and the number of the first file that it has not applied, the [`LogMark`], which every
//! commit to the engine brings up to date. When a database is opened, files of its session from that number on are applied, and no others:
//! neither a file that was applied when the process was killed before removing it, nor one that lies beside a copy of the
//! database. A record has a checksum, so that half a record is none.
//!
//! # The parts
//! | part | what |
//! |---|---|
//! | `file` | the files |
//! | `record` | commits as bytes |
//! | `merge` | many changes as few, sorted |
//! | `snapshot` | the engine's snapshots, and the commits after them |
//! | `apply` | the thread that applies them |

mod apply;
mod file;
mod merge;
mod record;
mod snapshot;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use self::apply::Applier;
use self::file::LogFile;
use self::snapshot::{Era, LoggedSnapshot, Segment};
use super::mem::MemSnapshot;
use super::{ChangeSet, Durability, Options, Snapshot, Storage, StorageError};
use crate::schema::SchemaRef;
use crate::sync::{Condvar, Mutex};

/// How far a log is applied: the session, and the number of the first file that is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogMark {
    /// A random number.
    pub session: u128,
    /// The number of a file.
    pub next: u64,
}

impl LogMark {
    /// The mark as text, for engines that keep text.
    pub fn to_text(self) -> String {
        format!("{:032x} {}", self.session, self.next)
    }

    /// The mark of a text.
    pub fn of_text(text: &str) -> Result<Self, StorageError> {
        let parse = || {
            let (session, next) = text.split_once(' ')?;
            Some(LogMark { session: u128::from_str_radix(session, 16).ok()?, next: next.parse().ok()? })
        };
        parse().ok_or_else(|| StorageError::Damaged("the mark of the commit log".to_string()))
    }
}

/// Where the files of a log are: a path that they have a number after.
#[derive(Clone, Debug)]
pub struct Place(pub PathBuf);

/// How long a commit is in the log at most before it is applied, if the engine keeps up.
const PERIOD: Duration = Duration::from_millis(100);

/// A commit of more rows goes to the engine.
const MAX_ROWS: usize = 4096;

/// Also one of more bytes, as its values have them in memory.
const MAX_BYTES: usize = 1 << 20;

/// The log is applied at once when it is this part of what it may be.
const APPLIED_AT: usize = 4;

/// Commits of so many rows are so quick that nobody need begin to read meanwhile.
const MAX_ROWS_IN_PLACE: usize = 1024;

/// An engine with a commit log.
pub struct Logged {
    shared: Arc<Shared>,
    /// Started with the first commit that goes to the log.
    applier: Mutex<Option<Applier>>,
}

/// What commits and the thread that applies them share.
struct Shared {
    /// What changes with each commit; it has snapshots of the engine, which go before it.
    state: Mutex<State>,
    /// Told when there is something to be applied, or nothing any more.
    news: Condvar,
    /// Held by whoever changes the engine; locked before `state`.
    engine: Mutex<()>,
    base: Box<dyn Storage>,
    place: Place,
    /// How many bytes may wait to be applied.
    max_bytes: usize,
    durability: Durability,
}

struct State {
    newest: Arc<LoggedSnapshot>,
    /// How many bytes are not applied.
    bytes: usize,
    file: Option<LogFile>,
    /// The file that is written, or will be next.
    mark: LogMark,
    /// Whether the engine knows the session.
    is_known: bool,
    is_closed: bool,
    record: Vec<u8>,
}

/// What was in the log when a database was opened.
pub struct Leftover(Vec<(u64, file::Found)>);

impl Leftover {
    /// Reads the files of a log.
    pub fn find(place: &Place) -> Result<Self, StorageError> {
        let read = || -> std::io::Result<_> {
            let mut found = vec![];
            for number in file::numbers(place)? {
                found.extend(file::find(&place.file(number))?.map(|file| (number, file)));
            }
            found.sort_by_key(|(number, _)| *number);
            Ok(Leftover(found))
        };
        read().map_err(|error| failed("read the commit log", &error))
    }

    /// The records that come after what an engine has applied, and the number of the file after them.
    fn after(self, mark: LogMark) -> (Vec<u8>, u64) {
        let (mut records, mut next) = (vec![], mark.next);
        for (number, file) in self.0 {
            if number == next
                && let Some((more, is_whole)) = file.records(LogMark { next, ..mark })
            {
                records.extend(more);
                next += 1;
                if !is_whole {
                    // Commits are missing here: those of later files, if power left any, came after them.
                    break;
                }
            }
        }
        (records, next)
    }
}

fn failed(action: &'static str, error: &std::io::Error) -> StorageError {
    StorageError::Engine { engine: "the commit log", action, message: error.to_string() }
}

impl Logged {
    /// An engine with a log, of which something may be left from before. With `read_only` that is shown and not applied.
    pub fn new(
        base: Box<dyn Storage>,
        place: Place,
        leftover: Leftover,
        options: &Options,
    ) -> Result<Self, StorageError> {
        let mark = base.log_mark()?;
        let (records, next) = mark.map_or((vec![], 0), |mark| leftover.after(mark));
        let bytes = records.len();
        let sealed = (bytes > 0).then(|| Arc::new(Segment::of(records)));
        let era = Era::new(base.snapshot(), sealed, Arc::default());
        let state = State {
            newest: Arc::new(LoggedSnapshot::new(era, 0)),
            bytes,
            file: None,
            mark: LogMark { session: rand::random(), next },
            is_known: false,
            is_closed: false,
            record: vec![],
        };
        let shared = Shared {
            state: Mutex::new(state),
            news: Condvar::new(),
            engine: Mutex::new(()),
            base,
            place,
            max_bytes: if options.read_only { 0 } else { options.commit_log_bytes() },
            durability: options.durability,
        };
        if bytes > 0 && !options.read_only {
            shared.commit_to_engine(&[])?;
        }
        Ok(Logged { shared: Arc::new(shared), applier: Mutex::default() })
    }

    /// Has the log applied from time to time.
    fn wake_applier(&self) {
        let mut applier = self.applier.lock();
        if applier.is_none() {
            *applier = Applier::start(&self.shared);
        }
        self.shared.news.notify_all();
    }
}

impl Shared {
    /// Appends a commit to the log; whether it is there, and whether somebody should apply it. What is not there is for the
    /// engine.
    fn commit_to_log(&self, changes: &[ChangeSet]) -> Option<WakeApplier> {
        let mut state = self.state.lock();
        let rows = || changes.iter().flat_map(|set| &set.rows);
        let is_small = changes.iter().all(ChangeSet::has_rows_alone)
            && rows().map(|rows| rows.rows.len()).sum::<usize>() <= MAX_ROWS
            && rows().map(|rows| rows.rows.memory_bytes()).sum::<usize>() <= MAX_BYTES
            && rows().all(|rows| state.newest.era.base.shape(rows.relation).is_some());
        if !is_small || !state.is_known || state.bytes >= self.max_bytes {
            return None;
        }
        let State { file, record, mark, .. } = &mut *state;
        if file.is_none() {
            *file = Some(LogFile::create(&self.place, *mark, self.durability == Durability::Disk).ok()?);
        }
        let file = file.as_mut().expect("just made");
        file.encode(changes, record).ok()?;
        if file.append(record).is_err() {
            // Nobody knows what is in the file now. The engine's next commit leaves it behind, by a new mark.
            (state.file, state.is_known) = (None, false);
            return None;
        }
        let State { newest, bytes, record, .. } = &mut *state;
        let (was, is) = (newest.end(), newest.era.active.append(record));
        *bytes += record.len();
        LoggedSnapshot::advance(newest, is);
        let at_once = self.max_bytes / APPLIED_AT;
        Some(WakeApplier(was == 0 || (was < at_once && is >= at_once)))
    }

    /// Commits to the engine, after all that is in the log and together with it.
    fn commit_to_engine(&self, changes: &[ChangeSet]) -> Result<(), StorageError> {
        let _engine = self.engine.lock();
        if self.max_bytes > 0 {
            self.base.tend();
        }
        let (era, mark) = {
            let mut state = self.state.lock();
            if state.bytes == 0 && (state.is_known || self.max_bytes == 0) {
                return self.commit_alone(&mut state, changes);
            }
            (state.newest.era.clone(), LogMark { next: state.mark.next + 1, ..state.mark })
        };
        let pending = ChangeSet { log_mark: Some(mark), ..ChangeSet::of_rows(era.pending()?) };
        let all: Vec<ChangeSet> = std::iter::once(pending).chain(changes.iter().cloned()).collect();
        self.base.commit(&all)?;
        let mut state = self.state.lock();
        state.newest = LoggedSnapshot::of_engine(&*self.base);
        (state.file, state.bytes) = (None, 0);
        (state.mark, state.is_known) = (mark, true);
        drop(state);
        self.remove_files(mark.next);
        Ok(())
    }

    /// Commits to the engine where nothing is in the log.
    fn commit_alone(&self, state: &mut State, changes: &[ChangeSet]) -> Result<(), StorageError> {
        if Arc::get_mut(&mut state.newest).is_some() {
            // Then nobody has the latest snapshot of the engine.
            state.newest =
                Arc::new(LoggedSnapshot::new(Era::new(MemSnapshot::empty().clone(), None, Arc::default()), 0));
        }
        let committed = self.base.commit(changes);
        state.newest = LoggedSnapshot::of_engine(&*self.base);
        committed
    }

    /// Applies what is in the log; commits go on meanwhile. After an error it is still there.
    fn apply(&self) -> Result<(), StorageError> {
        let _engine = self.engine.lock();
        let (era, applied) = self.seal();
        if era.sealed.is_none() {
            return Ok(());
        }
        self.base.tend();
        let rows = era.sealed_changes()?;
        self.base.commit(&[ChangeSet { log_mark: Some(applied), ..ChangeSet::of_rows(rows) }])?;
        let mut state = self.state.lock();
        let era = Era::new(self.base.snapshot(), None, era.active.clone());
        let end = state.newest.end();
        LoggedSnapshot::renew(&mut state.newest, era, end);
        state.bytes = end;
        drop(state);
        self.remove_files(applied.next);
        Ok(())
    }

    /// Begins a new segment, unless the last one that was sealed is not applied yet; the era then, and the mark for when what
    /// is sealed is applied.
    fn seal(&self) -> (Arc<Era>, LogMark) {
        let mut state = self.state.lock();
        let era = state.newest.era.clone();
        if era.sealed.is_some() || state.newest.end() == 0 {
            return (era, state.mark);
        }
        let era = Era::new(era.base.clone(), Some(era.active.clone()), Arc::default());
        LoggedSnapshot::renew(&mut state.newest, era.clone(), 0);
        state.file = None;
        state.mark.next += 1;
        (era, state.mark)
    }

    /// Removes the files that are applied. One that cannot be removed does no harm: its number has passed.
    fn remove_files(&self, next: u64) {
        let applied = file::numbers(&self.place).unwrap_or_default();
        for number in applied.into_iter().filter(|number| *number < next) {
            let _ = std::fs::remove_file(self.place.file(number));
        }
    }
}

/// Whether the thread should be told of a commit.
struct WakeApplier(bool);

impl Storage for Logged {
    fn name(&self) -> &'static str {
        self.shared.base.name()
    }

    fn definitions(&self) -> Result<Vec<SchemaRef>, StorageError> {
        self.shared.base.definitions()
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.shared.state.lock().newest.clone()
    }

    fn commit(&self, changes: &[ChangeSet]) -> Result<(), StorageError> {
        match self.shared.commit_to_log(changes) {
            Some(WakeApplier(true)) => self.wake_applier(),
            Some(WakeApplier(false)) => {}
            None => self.shared.commit_to_engine(changes)?,
        }
        Ok(())
    }

    /// Applies a log that the thread does not keep short.
    fn tend(&self) {
        let Shared { max_bytes, state, engine, base, .. } = &*self.shared;
        if *max_bytes == 0 {
            let _engine = engine.lock();
            base.tend();
        } else if state.lock().bytes >= *max_bytes {
            // If it fails, the commit that comes next does, too.
            let _ = self.shared.apply();
        }
    }

    fn max_rows_in_place(&self) -> usize {
        match self.shared.max_bytes {
            0 => self.shared.base.max_rows_in_place(),
            _ if self.shared.durability == Durability::Disk => 0,
            _ => MAX_ROWS_IN_PLACE,
        }
    }

    fn rows_to_fill_with(&self) -> usize {
        self.shared.base.rows_to_fill_with()
    }

    fn verify(&self) -> Result<Vec<String>, StorageError> {
        self.shared.base.verify()
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
        let is_left = self.shared.state.lock().bytes > 0;
        if is_left && self.shared.max_bytes > 0 {
            // What cannot be applied now is when the database is opened again.
            let _ = self.shared.commit_to_engine(&[]);
        }
    }
}

/// Where an engine with a file, or with a folder, has its log.
impl Place {
    /// Beside a file.
    pub fn beside(path: &Path) -> Self {
        let mut name = path.as_os_str().to_owned();
        name.push("-commits");
        Place(name.into())
    }

    /// In a folder.
    pub fn within(folder: &Path) -> Self {
        Place(folder.join("commits"))
    }
}
