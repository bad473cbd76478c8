//! How a process begins with a replica.
//!
//! | the database | the log | then |
//! |---|---|---|
//! | a replica of the log | has the entries after it | goes on from there |
//! | a replica of the log | has lost some of them | takes the last checkpoint instead of its contents |
//! | empty | has entries | takes the last checkpoint, or begins with the first entry |
//! | anything | empty | gives its contents as the first checkpoint, and begins the log |

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use cozo_shared_log::{Appended, Bounds, LogError, SharedLog};

use super::checkpoint::{checkpoints, put_checkpoint, take_checkpoint, write_file};
use super::entry::{Content, LogEntry};
use super::error::ReplicaError;
use super::state::{MARK_NAME, Mark, Replica, checksum_of};
use crate::clock::now_micros;
use crate::schema::SchemaRef;
use crate::storage::Storage;

/// The blob with the identity of the log, once its first entry may be gone.
const IDENTITY: &str = "identity";

/// Makes a database a replica of a log, or finds that it is one. Returns its definitions, which an engine in memory does not keep.
pub fn start(
    storage: &dyn Storage,
    log: Arc<dyn SharedLog>,
    timeout: Duration,
) -> Result<(Replica, Vec<SchemaRef>), ReplicaError> {
    let own = Mark::read(&*storage.snapshot())?;
    let mut bounds = log.bounds(timeout)?;
    if bounds.last == 0 {
        if let Some((identity, checksum)) = begin_log(storage, &*log, &own, timeout)? {
            let mark = Mark { identity, applied: 1, checksum: Some(checksum) };
            storage.commit(&mut [mark.created()])?;
            return Ok((Replica::new(log, mark, timeout), storage.opened()?.definitions));
        }
        bounds = log.bounds(timeout)?;
    }
    let identity = identity_of(&*log, bounds, timeout)?;
    match &own {
        Some(own) => check_own(own, &identity, bounds, &*log, timeout)?,
        None => check_empty(storage, &*log)?,
    }
    let applied = own.as_ref().map_or(0, |own| own.applied);
    let lacks_some = bounds.first > applied + 1;
    if own.is_none() || lacks_some {
        // A replica that lacks nothing reads on; the others take a checkpoint.
        if let Some(begun) = from_checkpoint(storage, &log, &identity, applied, timeout)? {
            return Ok(begun);
        }
    }
    let mark = match own {
        Some(own) => own,
        None => {
            let mark = Mark { identity, applied: 0, checksum: None };
            storage.commit(&mut [mark.created()])?;
            mark
        }
    };
    Ok((Replica::new(log, mark, timeout), storage.opened()?.definitions))
}

/// Begins with the newest checkpoint after an entry; none if there is no checkpoint, and none is needed. Behind a damaged one, an
/// earlier one serves, or all entries, if they are there.
fn from_checkpoint(
    storage: &dyn Storage,
    log: &Arc<dyn SharedLog>,
    identity: &str,
    applied: u64,
    timeout: Duration,
) -> Result<Option<(Replica, Vec<SchemaRef>)>, ReplicaError> {
    let first = log.bounds(timeout)?.first;
    let usable = |number: &u64| *number > applied && number + 1 >= first;
    let mut damaged = None;
    for number in checkpoints(&**log, identity, timeout)?.into_iter().rev().filter(usable) {
        let mark = Mark { identity: identity.to_string(), applied: number, checksum: None };
        let taken = take_checkpoint(storage, &**log, &mark, timeout);
        if log.bounds(timeout)?.first > number + 1 {
            // The log was truncated meanwhile behind a later checkpoint, and this one may be gone.
            return start(storage, log.clone(), timeout).map(Some);
        }
        match taken {
            Err(error @ ReplicaError::DamagedCheckpoint { .. }) => damaged = Some(error),
            taken => return Ok(Some((Replica::new(log.clone(), mark, timeout), taken?))),
        }
    }
    match first > applied + 1 {
        true => Err(damaged.unwrap_or(ReplicaError::NoCheckpoint { applied, first })),
        false => Ok(None),
    }
}

/// Refuses a database that has relations and is no replica.
fn check_empty(storage: &dyn Storage, log: &dyn SharedLog) -> Result<(), ReplicaError> {
    match storage.opened()?.definitions.first() {
        Some(relation) => Err(ReplicaError::NotAReplica { relation: relation.name.to_string(), log: log.name() }),
        None => Ok(()),
    }
}

/// Begins an empty log with the contents of the database as its first checkpoint. Returns the identity of the log and the checksum of
/// its first entry, if no other process was faster.
fn begin_log(
    storage: &dyn Storage,
    log: &dyn SharedLog,
    own: &Option<Mark>,
    timeout: Duration,
) -> Result<Option<(String, u32)>, ReplicaError> {
    if let Some(own) = own {
        let why = format!("the replica has entries up to {}, and the log has none", own.applied);
        return Err(ReplicaError::OtherLog { log: log.name(), why });
    }
    let identity = uuid::Uuid::new_v4().simple().to_string();
    let definitions = storage.opened()?.definitions;
    if !definitions.is_empty() {
        let folder = tempfile::tempdir().map_err(ReplicaError::file)?;
        let file = folder.path().join("checkpoint");
        write_file(&file, &definitions, &*storage.snapshot())?;
        put_checkpoint(log, &identity, 1, &file, timeout)?;
    }
    let first = LogEntry::first(now_micros(), &identity);
    match log.append(1, &first, timeout)? {
        Appended::Done => {
            log.put_blob(IDENTITY, &mut identity.as_bytes(), timeout)?;
            Ok(Some((identity, checksum_of(&first))))
        }
        Appended::Taken => Ok(None),
    }
}

/// The identity of a log that has begun.
pub fn identity_of(log: &dyn SharedLog, bounds: Bounds, timeout: Duration) -> Result<String, ReplicaError> {
    if let Some(mut blob) = log.get_blob(IDENTITY, timeout)? {
        let mut identity = String::new();
        blob.read_to_string(&mut identity).map_err(ReplicaError::file)?;
        return Ok(identity);
    }
    let damaged = |what: &str| ReplicaError::DamagedEntry { number: 1, what: what.to_string() };
    if bounds.first > 1 {
        return Err(damaged("it was removed, and the log has lost its identity"));
    }
    let first = log.read(1, 1, timeout)?.into_iter().next().ok_or_else(|| damaged("it is missing"))?;
    match LogEntry::read(1, &first.bytes)?.content {
        Content::First(identity) => {
            // All processes write the same, so that it does not matter which of them is last.
            log.put_blob(IDENTITY, &mut identity.as_bytes(), timeout)?;
            Ok(identity)
        }
        Content::Group { .. } => Err(damaged("the log does not begin with its identity")),
    }
}

fn check_own(
    own: &Mark,
    identity: &str,
    bounds: Bounds,
    log: &dyn SharedLog,
    timeout: Duration,
) -> Result<(), ReplicaError> {
    let other = |why: String| Err(ReplicaError::OtherLog { log: log.name(), why });
    if own.identity != identity {
        return other(format!("its own has the identity {}, and this one {identity}", own.identity));
    }
    if own.applied > bounds.last {
        return other(format!("the replica has entries up to {}, and the log up to {}", own.applied, bounds.last));
    }
    let Some(checksum) = own.checksum.filter(|_| own.applied >= bounds.first) else { return Ok(()) };
    // A log that was copied, or set back, may have gone on with other entries.
    match log.read(own.applied, 1, timeout) {
        Ok(entries) if entries.first().is_some_and(|entry| checksum_of(&entry.bytes) != checksum) => {
            other(format!("entry {} of the log is not the one that the replica has applied", own.applied))
        }
        // The replica does not need it: it can make a checkpoint for those that do.
        Err(LogError::Damaged { .. }) | Ok(_) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a definition is that of the mark, which no script sees.
pub fn is_mark(schema: &SchemaRef) -> bool {
    schema.name == MARK_NAME
}
