//! The state of a replica: its log, and the number of the last entry that it has applied.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cozo_shared_log::{Appended, SharedLog};

use super::entry::LogEntry;
use super::error::ReplicaError;
use crate::schema::{
    AccessLevel, BaseType, ColumnDefinition, ColumnType, RelationId, RelationSchema, SchemaRef, Triggers,
};
use crate::storage::{ChangeKind, ChangeSet, ChangedRows, KeyRange, RowChanges, Snapshot, StorageError};
use crate::sync::{Condvar, Mutex};
use crate::value::DataValue;

/// The name of the relation with the mark. No script can name it.
pub const MARK_NAME: &str = "cozo replica";

/// Its identity. Relations of scripts are numbered from 1.
const MARK_ID: RelationId = RelationId(1 << 62);

/// About the bytes of entries that are read at a time.
pub const BYTES_AT_ONCE: usize = 8 << 20;

/// Stands for no checksum in a mark.
const NO_CHECKSUM: i64 = -1;

/// The checksum of an entry, by which it is told from another with the same number.
pub fn checksum_of(entry: &[u8]) -> u32 {
    crc32fast::hash(entry)
}

/// A replica of a shared log.
pub struct Replica {
    log: Arc<dyn SharedLog>,
    identity: String,
    timeout: Duration,
    applied: AtomicU64,
    /// Notified, under the lock, when entries were applied.
    grown: (Mutex<()>, Condvar),
    /// When the replica was last seen to have all entries of the log.
    complete: Mutex<Instant>,
    /// Why the replica cannot apply what the log has, if it cannot.
    failure: Mutex<Option<ReplicaError>>,
}

/// What a replica knows of itself from its file.
#[derive(Debug, PartialEq, Eq)]
pub struct Mark {
    /// The identity of its log.
    pub identity: String,
    /// The number of the last entry applied.
    pub applied: u64,
    /// The checksum of that entry, by which a log is known that has another one there; none if the replica began with a checkpoint.
    pub checksum: Option<u32>,
}

impl Mark {
    /// The relation with the mark.
    pub fn schema() -> SchemaRef {
        let column = |name: &str, base| ColumnDefinition {
            name: name.into(),
            column_type: ColumnType { base, nullable: false },
            default: None,
        };
        Arc::new(RelationSchema {
            id: MARK_ID,
            name: MARK_NAME.into(),
            keys: vec![column("log", BaseType::String)],
            values: vec![column("applied", BaseType::Int), column("checksum", BaseType::Int)],
            access_level: AccessLevel::Hidden,
            description: String::new(),
            triggers: Triggers::default(),
            indices: vec![],
            searches: vec![],
        })
    }

    /// The mark in a snapshot of a replica.
    pub fn read(snapshot: &dyn Snapshot) -> Result<Option<Mark>, StorageError> {
        if snapshot.describe(MARK_ID).is_none() {
            return Ok(None);
        }
        let mut cursor = snapshot.scan(MARK_ID, &KeyRange::all(), &[0, 1, 2], None)?;
        let Some(row) = cursor.next_batch(1)? else { return Ok(None) };
        let (identity, applied) = (row.columns[0].get(0), row.columns[1].get(0).get_int().unwrap_or_default());
        let identity = identity.get_str().unwrap_or_default().to_string();
        let checksum = row.columns[2].get(0).get_int().and_then(|checksum| u32::try_from(checksum).ok());
        Ok(Some(Mark { identity, applied: applied as u64, checksum }))
    }

    /// The change that stores the mark.
    pub fn change(&self) -> RowChanges {
        let checksum = self.checksum.map_or(NO_CHECKSUM, i64::from);
        let row = vec![self.identity.as_str().into(), DataValue::from(self.applied as i64), checksum.into()];
        RowChanges::new(MARK_ID, ChangeKind::Put, ChangedRows::One(row))
    }

    /// The changes that make a replica a database of its own.
    pub fn removed() -> ChangeSet {
        ChangeSet { dropped: vec![MARK_ID], definitions: vec![(MARK_NAME.into(), None)], ..ChangeSet::default() }
    }

    /// The changes that make a database a replica.
    pub fn created(&self) -> ChangeSet {
        let schema = Mark::schema();
        ChangeSet {
            created: vec![schema.clone()],
            definitions: vec![(schema.name.clone(), Some(schema))],
            ..ChangeSet::of_rows(vec![self.change()])
        }
    }
}

impl Replica {
    /// A replica that has applied entries up to this number.
    pub fn new(log: Arc<dyn SharedLog>, mark: Mark, timeout: Duration) -> Self {
        let Mark { identity, applied, .. } = mark;
        Replica {
            log,
            identity,
            timeout,
            applied: applied.into(),
            grown: Default::default(),
            complete: Mutex::new(Instant::now()),
            failure: Mutex::default(),
        }
    }

    /// The shared log.
    pub fn log(&self) -> &dyn SharedLog {
        &*self.log
    }

    /// How long an operation of the log may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The identity of the log.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The number of the last entry applied.
    pub fn applied(&self) -> u64 {
        self.applied.load(Ordering::Acquire)
    }

    /// How long ago the replica was seen to have all entries of the log.
    pub fn age(&self) -> Duration {
        self.complete.lock().elapsed()
    }

    /// Notes that the log had no more entries at a moment.
    pub fn note_complete(&self, since: Instant) {
        let mut complete = self.complete.lock();
        *complete = since.max(*complete);
    }

    /// Why the replica cannot go on, if it cannot.
    pub fn failure(&self) -> Option<ReplicaError> {
        self.failure.lock().clone()
    }

    /// Notes whether the replica could go on.
    pub fn note_failure(&self, failure: Option<ReplicaError>) {
        *self.failure.lock() = failure;
    }

    /// The change that stores with an entry that it is applied.
    pub fn mark(&self, applied: u64, checksum: u32) -> RowChanges {
        Mark { identity: self.identity.clone(), applied, checksum: Some(checksum) }.change()
    }

    /// Notes that entries up to a number are applied and stored.
    pub fn note_applied(&self, number: u64) {
        self.applied.store(number, Ordering::Release);
        drop(self.grown.0.lock());
        self.grown.1.notify_all();
    }

    /// Waits until an entry is applied that has this number or a later one. Returns whether there is one.
    pub fn wait_applied(&self, number: u64, deadline: Instant) -> bool {
        let mut guard = self.grown.0.lock();
        while self.applied() < number {
            let (again, is_late) = self.grown.1.wait_until(guard, deadline);
            if is_late {
                return self.applied() >= number;
            }
            guard = again;
        }
        true
    }

    /// Appends the entry after the last one applied, unless another process was first.
    pub fn append(&self, entry: &[u8]) -> Result<Appended, ReplicaError> {
        Ok(self.log.append(self.applied() + 1, entry, self.timeout)?)
    }

    /// The entries after the last one applied, some megabytes of them, with their numbers and checksums.
    pub fn read(&self) -> Result<Vec<(u64, u32, LogEntry)>, ReplicaError> {
        let applied = self.applied();
        let since = Instant::now();
        let entries = self.log.read(applied + 1, BYTES_AT_ONCE, self.timeout).map_err(|error| match error {
            cozo_shared_log::LogError::Truncated { first } => ReplicaError::LeftBehind { applied, first },
            error => error.into(),
        })?;
        if entries.is_empty() {
            self.note_complete(since);
        }
        let read = |entry: cozo_shared_log::Entry| {
            Ok((entry.number, checksum_of(&entry.bytes), LogEntry::read(entry.number, &entry.bytes)?))
        };
        entries.into_iter().map(read).collect()
    }

    /// Waits for an entry that is not applied yet. Returns whether there is one.
    pub fn wait(&self, timeout: Duration) -> Result<bool, ReplicaError> {
        let (applied, since) = (self.applied(), Instant::now());
        let last = self.log.wait(applied, timeout)?;
        if last <= applied {
            self.note_complete(since);
        }
        Ok(last > applied)
    }
}
