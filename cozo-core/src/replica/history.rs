//! The past of a shared log: what its entries say, and the database as it was after one of them.

use std::collections::BTreeMap;
use std::time::Duration;

use cozo_shared_log::{Bounds, SharedLog};

use super::checkpoint::{checkpoints, take_checkpoint};
use super::entry::{Content, LogEntry};
use super::error::ReplicaError;
use super::start::identity_of;
use super::state::{BYTES_AT_ONCE, Mark};
use crate::schema::SchemaRef;
use crate::storage::{ChangeKind, Storage};

/// What an entry of a shared log says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrySummary {
    /// Its number.
    pub number: u64,
    /// When it was made, by the clock of its author, in microseconds since the epoch.
    pub micros: i64,
    /// Its size.
    pub bytes: usize,
    /// The number of its transactions; 0 for the first entry, which begins the log.
    pub transactions: usize,
    /// The rows put and removed, by the number of the relation. Rows of indices count, too.
    pub rows: BTreeMap<u64, (usize, usize)>,
    /// The names whose definition changed, with the number of the relation; none if the name became free.
    pub definitions: Vec<(String, Option<u64>)>,
}

/// A point in the past of a shared log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointInTime {
    /// After the entry with this number.
    Sequence(u64),
    /// Before the first entry that is later than this, in microseconds since the epoch.
    Micros(i64),
}

/// Passes on what entries say, from a number on. Checksums are verified on the way.
pub fn summaries(
    log: &dyn SharedLog,
    from: u64,
    timeout: Duration,
    mut take: impl FnMut(EntrySummary) -> bool,
) -> Result<(), ReplicaError> {
    each_entry(log, from.max(log.bounds(timeout)?.first), timeout, |number, bytes, entry| {
        Ok(take(summary(number, bytes, entry)))
    })
}

fn summary(number: u64, bytes: usize, entry: LogEntry) -> EntrySummary {
    let mut summary = EntrySummary {
        number,
        micros: entry.micros,
        bytes,
        transactions: 0,
        rows: BTreeMap::new(),
        definitions: vec![],
    };
    if let Content::Group { changes, .. } = entry.content {
        summary.transactions = changes.len();
        for set in changes {
            for rows in &set.rows {
                let (put, removed) = summary.rows.entry(rows.relation.0).or_default();
                *(if rows.kind == ChangeKind::Put { put } else { removed }) += rows.rows.len();
            }
            let id = |schema: SchemaRef| schema.id.0;
            let changed = set.definitions.into_iter().map(|(name, schema)| (name.to_string(), schema.map(id)));
            summary.definitions.extend(changed);
        }
    }
    summary
}

/// Passes on entries from a number on, until `take` returns `false` or there are no more.
fn each_entry(
    log: &dyn SharedLog,
    mut next: u64,
    timeout: Duration,
    mut take: impl FnMut(u64, usize, LogEntry) -> Result<bool, ReplicaError>,
) -> Result<(), ReplicaError> {
    loop {
        let entries = log.read(next, BYTES_AT_ONCE, timeout)?;
        if entries.is_empty() {
            return Ok(());
        }
        for entry in entries {
            next = entry.number + 1;
            if !take(entry.number, entry.bytes.len(), LogEntry::read(entry.number, &entry.bytes)?)? {
                return Ok(());
            }
        }
    }
}

/// Fills an empty engine with the contents of the database at a point. Returns the number of the last entry that it has, and when
/// that was made, unless only a checkpoint is left of it.
pub fn restore_at(
    storage: &dyn Storage,
    log: &dyn SharedLog,
    point: PointInTime,
    timeout: Duration,
) -> Result<(u64, Option<i64>), ReplicaError> {
    if let Some(relation) = storage.opened()?.definitions.first() {
        return Err(ReplicaError::NotEmpty { relation: relation.name.to_string() });
    }
    let bounds = log.bounds(timeout)?;
    if let PointInTime::Sequence(number) = point
        && number + 1 == bounds.first
        && checkpoints(log, &identity_of(log, bounds, timeout)?, timeout)?.contains(&number)
    {
        fill(storage, log, number, timeout)?;
        return Ok((number, None));
    }
    let (last, micros) = last_entry(log, bounds, point, timeout)?;
    fill(storage, log, last, timeout)?;
    Ok((last, Some(micros)))
}

/// Fills an empty engine with the contents of the database after an entry.
pub fn fill(storage: &dyn Storage, log: &dyn SharedLog, last: u64, timeout: Duration) -> Result<(), ReplicaError> {
    let bounds = log.bounds(timeout)?;
    let identity = identity_of(log, bounds, timeout)?;
    let before = checkpoints(log, &identity, timeout)?.into_iter().filter(|number| *number <= last).max();
    let begun = before.unwrap_or(0);
    if bounds.first > begun + 1 {
        return Err(ReplicaError::NoCheckpoint { applied: begun, first: bounds.first });
    }
    let mark = Mark { identity, applied: begun, checksum: None };
    if before.is_some() {
        take_checkpoint(storage, log, &mark, timeout)?;
        // What is restored is a database of its own.
        storage.commit(&mut [Mark::removed()])?;
    }
    if begun < last {
        each_entry(log, begun + 1, timeout, |number, _, entry| {
            if let Content::Group { mut changes, .. } = entry.content {
                storage.before_commit();
                storage.commit(&mut changes)?;
            }
            Ok(number < last)
        })?;
    }
    Ok(())
}

/// The last entry up to a point, and when it was made.
fn last_entry(
    log: &dyn SharedLog,
    bounds: Bounds,
    point: PointInTime,
    timeout: Duration,
) -> Result<(u64, i64), ReplicaError> {
    let mut found = None;
    let from = match point {
        PointInTime::Sequence(number) => number.max(bounds.first),
        PointInTime::Micros(_) => bounds.first,
    };
    each_entry(log, from, timeout, |number, _, entry| {
        let is_within = match point {
            PointInTime::Sequence(wanted) => number <= wanted,
            PointInTime::Micros(wanted) => entry.micros <= wanted,
        };
        if is_within {
            found = Some((number, entry.micros));
        }
        Ok(is_within)
    })?;
    match (found, point) {
        (Some(found), PointInTime::Sequence(wanted)) if found.0 < wanted => Err(beyond(bounds)),
        (Some(found), _) => Ok(found),
        (None, _) => Err(beyond(bounds)),
    }
}

fn beyond(bounds: Bounds) -> ReplicaError {
    ReplicaError::BeyondLog { first: bounds.first, last: bounds.last }
}
