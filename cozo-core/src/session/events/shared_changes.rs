//! The changes of a relation by all processes of a shared log, from a position that the host keeps.
//!
//! A message has the rows that were there before a change, but the log does not. So the state before each entry is needed:
//!
//! ```text
//!  position ──> Past: a database in a folder for temporary files, filled from the log up to the position
//!                 │  applies entry after entry, until it is where the replica was when it began
//!                 v
//!               Present: a version of the replica; each later version serves for the entries up to the next
//! ```
//!
//! Messages are counted within their entry as the entry has them, so that each process counts them alike.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use cozo_shared_log::LogError;
use tempfile::TempDir;

use super::callbacks::CallbackOp;
use super::elsewhere::change;
use crate::fork::Process;
use crate::replica::{BYTES_AT_ONCE, Content, LogEntry, Replica, ReplicaError, fill};
use crate::session::results::NamedRows;
use crate::storage::{self, ChangeSet, Options, RowChanges, Snapshot, Storage};
use crate::sync::Mutex;
use crate::txn::{Catalog, Pipeline, Version};
use crate::value::SmallStr;

/// A place in the shared log: after so many changes of an entry. As text, `17.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangePosition {
    /// The number of the entry.
    pub sequence: u64,
    /// The number of changes of the entry that come before.
    pub message: u64,
}

impl Display for ChangePosition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.sequence, self.message)
    }
}

impl FromStr for ChangePosition {
    type Err = miette::Report;

    fn from_str(text: &str) -> miette::Result<Self> {
        let parsed = text.split_once('.').and_then(|(sequence, message)| {
            Some(ChangePosition { sequence: sequence.parse().ok()?, message: message.parse().ok()? })
        });
        // No other spelling stands for the same position.
        let known = parsed.filter(|position| position.sequence > 0 && position.to_string() == text);
        Ok(known.ok_or_else(|| ReplicaError::BadPosition(text.to_string()))?)
    }
}

/// What a transaction has changed in a relation.
#[derive(Clone, Debug)]
pub struct SharedChange {
    /// The position after this change. Whoever has dealt with the change goes on from here.
    pub position: ChangePosition,
    /// Whether rows were put or removed.
    pub op: CallbackOp,
    /// The rows put, or the keys to be removed.
    pub new_rows: NamedRows,
    /// The rows that were there before.
    pub old_rows: NamedRows,
}

/// The changes of a relation by all processes of a shared log, in the order of the log, each once.
///
/// While a program holds this and takes no changes, its database keeps the rows that the next change replaces. The changes end with an
/// error, such as that the log cannot be reached, and when the database is closed. They can be asked for again, from the last position.
pub struct SharedChanges {
    /// Nothing once the changes have ended.
    reader: Arc<Mutex<Option<LogReader>>>,
    replica: Arc<Replica>,
    process: Process,
}

impl Drop for SharedChanges {
    fn drop(&mut self) {
        if !self.process.is_current() {
            // Files belong to another process. A leaked reference keeps them from being closed or removed here.
            std::mem::forget(self.reader.clone());
        }
    }
}

impl SharedChanges {
    /// Waits for the next change; none if none comes in time.
    pub fn next_within(&mut self, timeout: Duration) -> miette::Result<Option<SharedChange>> {
        self.process.check()?;
        let start = Instant::now();
        loop {
            let mut reader = self.reader.lock();
            let next = reader.as_mut().ok_or(ReplicaError::ChangesEnded)?.next();
            if next.is_err() {
                // It may have dealt with a part of an entry.
                *reader = None;
            }
            drop(reader);
            let awaited = match next? {
                Next::Change(change) => return Ok(Some(change)),
                Next::Awaited(number) => number,
            };
            if let Some(failure) = self.replica.failure().filter(|failure| !failure.may_pass()) {
                return Err(failure.into());
            }
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            self.replica.wait_applied(awaited, Instant::now() + left.min(LOOK));
        }
    }

    /// The position from which to go on when all changes that were taken are dealt with.
    pub fn position(&self) -> miette::Result<ChangePosition> {
        self.process.check()?;
        Ok(self.reader.lock().as_ref().ok_or(ReplicaError::ChangesEnded)?.known)
    }
}

/// The readers of changes of a database, which hold its files open.
#[derive(Default)]
pub struct ChangeReaders(Mutex<Vec<Weak<Mutex<Option<LogReader>>>>>);

impl ChangeReaders {
    /// The changes of a relation after a position, or from now on.
    pub fn begin(
        &self,
        relation: &str,
        after: Option<ChangePosition>,
        pipeline: &Arc<Pipeline>,
        temp_folder: &Path,
    ) -> miette::Result<SharedChanges> {
        let reader = LogReader::begin(relation, after, pipeline, temp_folder)?;
        let replica = reader.replica.clone();
        let reader = Arc::new(Mutex::new(Some(reader)));
        let mut all = self.0.lock();
        all.retain(|reader| reader.strong_count() > 0);
        all.push(Arc::downgrade(&reader));
        Ok(SharedChanges { reader, replica, process: Process::current() })
    }

    /// Ends all of them.
    pub fn close(&self) {
        for reader in self.0.lock().drain(..).filter_map(|reader| reader.upgrade()) {
            drop(reader.lock().take());
        }
    }
}

/// How long a thread waits before it looks whether the database is closed.
const LOOK: Duration = Duration::from_millis(100);

/// Reads the changes of a relation in the log.
struct LogReader {
    relation: SmallStr,
    pipeline: Weak<Pipeline>,
    replica: Arc<Replica>,
    state: RowsBefore,
    /// The definitions before the entry `next`.
    catalog: Catalog,
    /// Changes before the entry `next` that the state does not have.
    unapplied: Vec<ChangeSet>,
    /// The first entry that was not read.
    next: u64,
    /// A version of the replica, and the last entry that it has. Beyond that entry, it is the state.
    target: (Arc<Version>, u64),
    /// Messages up to here are known to the host.
    known: ChangePosition,
    waiting: VecDeque<SharedChange>,
}

/// What a reader has next.
enum Next {
    Change(SharedChange),
    /// Nothing before the replica has this entry.
    Awaited(u64),
}

/// Where the rows are that were there before a change.
enum RowsBefore {
    /// In the replica.
    Present(Arc<dyn Snapshot>),
    /// In a database of this state alone.
    Past(Past),
}

struct Past {
    storage: Box<dyn Storage>,
    /// Removed after the storage is closed.
    _folder: TempDir,
}

impl LogReader {
    fn begin(
        relation: &str,
        after: Option<ChangePosition>,
        pipeline: &Arc<Pipeline>,
        temp_folder: &Path,
    ) -> miette::Result<Self> {
        let replica = pipeline.replica().ok_or(ReplicaError::NoLog)?.clone();
        let mut target = pipeline.numbered_version(&replica);
        if after.is_some_and(|after| after.sequence > target.1 + 1) {
            pipeline.catch_up()?;
            target = pipeline.numbered_version(&replica);
        }
        let known = after.unwrap_or(ChangePosition { sequence: target.1 + 1, message: 0 });
        let last = known.sequence.saturating_sub(1);
        let (state, catalog) = if last == target.1 {
            (RowsBefore::Present(target.0.snapshot.clone()), target.0.catalog.clone())
        } else if last > target.1 {
            return Err(ReplicaError::ChangesAhead { asked: last, last: target.1 }.into());
        } else {
            past(&replica, last, temp_folder)?
        };
        Ok(LogReader {
            relation: relation.into(),
            pipeline: Arc::downgrade(pipeline),
            replica,
            state,
            catalog,
            unapplied: vec![],
            next: known.sequence,
            target,
            known,
            waiting: VecDeque::new(),
        })
    }

    /// The next change, if the replica has its entry.
    fn next(&mut self) -> miette::Result<Next> {
        loop {
            if let Some(change) = self.waiting.pop_front() {
                self.known = change.position;
                return Ok(Next::Change(change));
            }
            // Entries without a message need not be read again.
            self.known = self.known.max(ChangePosition { sequence: self.next, message: 0 });
            if self.next > self.target.1 {
                self.find_target()?;
                if self.next > self.target.1 {
                    return Ok(Next::Awaited(self.next));
                }
            }
            self.read()?;
        }
    }

    /// Takes the present version of the replica as the target. Its last one is the state from now on, if all before it was read.
    fn find_target(&mut self) -> miette::Result<()> {
        let pipeline = self.pipeline.upgrade().ok_or(ReplicaError::ChangesEnded)?;
        let target = pipeline.numbered_version(&self.replica);
        let (version, last) = std::mem::replace(&mut self.target, target);
        if last + 1 == self.next {
            self.state = RowsBefore::Present(version.snapshot.clone());
            self.catalog = version.catalog.clone();
            self.unapplied.clear();
        }
        Ok(())
    }

    /// Reads some entries up to the target.
    fn read(&mut self) -> miette::Result<()> {
        let log = self.replica.log();
        let entries = log.read(self.next, BYTES_AT_ONCE, self.replica.timeout()).map_err(|error| match error {
            LogError::Truncated { first } => ReplicaError::ChangesGone { asked: self.next, first },
            error => error.into(),
        })?;
        for entry in entries {
            if entry.number > self.target.1 {
                break;
            }
            if let Content::Group { changes, .. } = LogEntry::read(entry.number, &entry.bytes)?.content {
                self.take(entry.number, changes)?;
            }
            self.next = entry.number + 1;
        }
        if matches!(self.state, RowsBefore::Past(_)) {
            self.apply()?;
        }
        Ok(())
    }

    /// Makes the messages of an entry.
    fn take(&mut self, sequence: u64, changes: Vec<ChangeSet>) -> miette::Result<()> {
        let mut message = 0;
        let known_before = self.waiting.len();
        for set in changes {
            self.catalog.apply(&set, self.catalog.version + 1);
            let schema = self.catalog.find(&self.relation).cloned();
            let own = |rows: &RowChanges| schema.as_ref().filter(|schema| schema.id == rows.relation);
            let of_own = set.rows.iter().filter(|rows| own(rows).is_some()).count();
            for rows in &set.rows {
                let Some(schema) = own(rows) else { continue };
                message += 1;
                let position = ChangePosition { sequence, message };
                let before = self.apply()?;
                if position > self.known
                    && let Some((op, new_rows, old_rows)) = change(schema, &*before, rows)?
                {
                    self.waiting.push_back(SharedChange { position, op, new_rows, old_rows });
                }
                if of_own > 1 {
                    // The next one finds what this one leaves. To apply it again with the others changes nothing.
                    let created = if message == 1 { set.created.clone() } else { vec![] };
                    self.unapplied.push(ChangeSet { created, ..ChangeSet::of_rows(vec![rows.clone()]) });
                }
            }
            self.unapplied.push(set);
        }
        // Whoever has all of an entry does not need it again.
        if let Some(last) = self.waiting.iter_mut().skip(known_before).next_back() {
            last.position = ChangePosition { sequence: sequence + 1, message: 0 };
        }
        Ok(())
    }

    /// Brings the state up to date, and returns it.
    fn apply(&mut self) -> miette::Result<Arc<dyn Snapshot>> {
        let mut sets = std::mem::take(&mut self.unapplied);
        match &mut self.state {
            RowsBefore::Present(state) => {
                for set in sets {
                    *state = state.clone().with_changes(set)?;
                }
                Ok(state.clone())
            }
            RowsBefore::Past(past) => {
                if !sets.is_empty() {
                    past.storage.before_commit();
                    past.storage.commit(&mut sets)?;
                }
                Ok(past.storage.snapshot())
            }
        }
    }
}

/// The state after an entry before the last one of the replica, and its definitions.
fn past(replica: &Replica, last: u64, temp_folder: &Path) -> miette::Result<(RowsBefore, Catalog)> {
    let asked = last + 1;
    let first = replica.log().bounds(replica.timeout()).map_err(ReplicaError::from)?.first;
    if asked < first {
        return Err(ReplicaError::ChangesGone { asked, first }.into());
    }
    let cannot = |why: String| ReplicaError::CannotRebuild { asked, folder: temp_folder.display().to_string(), why };
    let folder = tempfile::tempdir_in(temp_folder).map_err(|error| cannot(error.to_string()))?;
    let own = Options { cache_mb: Some(0.0), ..Options::default() };
    let storage =
        storage::open("sqlite", &folder.path().join("past"), &own).map_err(|error| cannot(error.to_string()))?;
    if last > 0 {
        fill(&*storage, replica.log(), last, replica.timeout()).map_err(|error| match error {
            ReplicaError::NoCheckpoint { first, .. } => ReplicaError::ChangesGone { asked, first },
            ReplicaError::Storage(error) => cannot(error.to_string()),
            error => error,
        })?;
    }
    let mut catalog = Catalog::default();
    storage.opened()?.definitions.into_iter().for_each(|schema| catalog.insert(schema));
    Ok((RowsBefore::Past(Past { storage, _folder: folder }), catalog))
}
