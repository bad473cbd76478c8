//! Databases with a shared log: the state of the replica, checkpoints, truncation, and the past.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cozo_shared_log::{Options as LogOptions, SharedLog};

use super::db::DbInstance;
use crate::budget::Interrupt;
use crate::replica::{
    EntrySummary, PointInTime, Replica, ReplicaError, checkpoints, last_checkpoint, put_checkpoint, remove_checkpoints,
    restore_at, summaries,
};
use crate::session::backup::write_version;
use crate::session::events::{ChangePosition, SharedChanges};
use crate::storage::{self, Options};

/// The state of the replica of a database with a shared log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedState {
    /// The log.
    pub log: String,
    /// The number of the last entry of the log that this process has applied.
    pub sequence: u64,
    /// How long ago the replica was seen to have all entries of the log.
    pub age: Duration,
    /// Why the replica cannot apply what the log has, if it cannot.
    pub failure: Option<String>,
}

/// Passes on what the entries of the shared log at an address say, from a number on, until `take` returns `false`. Checksums are
/// verified on the way.
pub fn read_shared_log(address: &str, from: u64, take: impl FnMut(EntrySummary) -> bool) -> miette::Result<()> {
    let (log, timeout) = open_log(address)?;
    Ok(summaries(&*log, from, timeout, take)?)
}

/// A log that exists, to read it, and how long an operation of it may take.
fn open_log(address: &str) -> Result<(Arc<dyn SharedLog>, Duration), ReplicaError> {
    let options = LogOptions { must_exist: true, ..LogOptions::default() };
    Ok((cozo_shared_log::open(address, &options)?, options.timeout))
}

/// Fills an empty database with what a shared log had at a point in time. It is a database of its own then. Returns the number of the
/// last entry that it has, and when that was made, in microseconds since the epoch; that is not known of an entry of which only a
/// checkpoint is left.
pub fn restore_from_log(
    engine: &str,
    path: impl AsRef<Path>,
    options: &str,
    address: &str,
    point: PointInTime,
) -> miette::Result<(u64, Option<i64>)> {
    let (log, timeout) = open_log(address)?;
    let storage = storage::open(engine, path.as_ref(), &Options::parse(options)?)?;
    Ok(restore_at(&*storage, &*log, point, timeout)?)
}

impl DbInstance {
    /// The state of the replica; none if the database has no shared log.
    pub fn shared_state(&self) -> miette::Result<Option<SharedState>> {
        let pipeline = self.pipeline()?;
        Ok(pipeline.replica().map(|replica| SharedState {
            log: replica.log().name(),
            sequence: replica.applied(),
            age: replica.age(),
            failure: replica.failure().map(|failure| failure.to_string()),
        }))
    }

    /// Applies all that the shared log has. Returns the number of its last entry; 0 if there is no shared log.
    pub fn catch_up(&self) -> miette::Result<u64> {
        Ok(self.pipeline()?.catch_up()?)
    }

    /// The changes of a relation by all processes of the shared log, in the order of the log, each once: those after a position that a
    /// change had, or, without a position, those from now on. A program that keeps the position of the last change with what it makes
    /// of the changes misses none, and deals with none twice, whatever ends.
    ///
    /// Each operation of a transaction that changed rows is a change of its own. The relation need not exist.
    ///
    /// ```
    /// # fn main() -> miette::Result<()> {
    /// use std::time::Duration;
    /// let folder = tempfile::tempdir().unwrap();
    /// let options = format!(r#"{{"shared": {:?}}}"#, folder.path());
    /// let db = cozo::DbInstance::new("mem", "", &options)?;
    /// let start = db.shared_changes("r", None)?.position()?;
    /// db.run_default("?[x] <- [[1]] :create r {x}")?;
    /// let other = cozo::DbInstance::new("mem", "", &options)?;
    /// let change = other.shared_changes("r", Some(start))?.next_within(Duration::from_secs(10))?.unwrap();
    /// assert_eq!(change.new_rows.rows, [[1.into()]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn shared_changes(&self, relation: &str, after: Option<ChangePosition>) -> miette::Result<SharedChanges> {
        let core = self.core()?;
        core.events.readers.begin(relation, after, &core.pipeline, core.spill.folder())
    }

    /// Stores the contents of the database in the shared log, so that another process can begin with them. Returns the number of the
    /// entry up to which they go.
    ///
    /// ```
    /// # fn main() -> miette::Result<()> {
    /// let folder = tempfile::tempdir().unwrap();
    /// let options = format!(r#"{{"shared": {:?}}}"#, folder.path());
    /// let db = cozo::DbInstance::new("mem", "", &options)?;
    /// db.run_default("?[x] <- [[1]] :create r {x}")?;
    /// db.truncate_log(db.checkpoint()?)?;
    /// let other = cozo::DbInstance::new("mem", "", &options)?;
    /// assert_eq!(other.run_default("?[x] := *r[x]")?.rows.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn checkpoint(&self) -> miette::Result<u64> {
        let pipeline = self.pipeline()?;
        let replica = pipeline.replica().ok_or(ReplicaError::NoLog)?;
        let (version, number) = pipeline.numbered_version(replica);
        let folder = tempfile::tempdir().map_err(ReplicaError::file)?;
        let file = folder.path().join("checkpoint");
        write_version(&version, &file, &Interrupt::default(), &mut |_| {})?;
        put_checkpoint(replica.log(), replica.identity(), number, &file, replica.timeout())?;
        Ok(number)
    }

    /// The entries of whose states the shared log has checkpoints, in ascending order.
    pub fn checkpoints(&self) -> miette::Result<Vec<u64>> {
        let pipeline = self.pipeline()?;
        let replica = pipeline.replica().ok_or(ReplicaError::NoLog)?;
        Ok(checkpoints(replica.log(), replica.identity(), replica.timeout()).map_err(ReplicaError::from)?)
    }

    /// Removes the entries of the shared log up to a checkpoint, and the checkpoints before it. Processes that lack some of them begin with the checkpoint when they
    /// open their database again, also those that run. So choose a checkpoint that all have.
    pub fn truncate_log(&self, checkpoint: u64) -> miette::Result<()> {
        let pipeline = self.pipeline()?;
        let replica = pipeline.replica().ok_or(ReplicaError::NoLog)?;
        Ok(truncate(replica, checkpoint)?)
    }
}

fn truncate(replica: &Replica, checkpoint: u64) -> Result<(), ReplicaError> {
    let newest = last_checkpoint(replica.log(), replica.identity(), replica.timeout())?;
    if newest.is_none_or(|newest| newest < checkpoint) {
        return Err(ReplicaError::NoSuchCheckpoint { asked: checkpoint, newest: newest.unwrap_or(0) });
    }
    replica.log().truncate(checkpoint + 1, replica.timeout())?;
    remove_checkpoints(replica.log(), replica.identity(), checkpoint, replica.timeout())
}
