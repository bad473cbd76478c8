//! Commits of a database with a shared log, and the commits of others.
//!
//! ```text
//!  requests ──> validate ──> append to the log ─┬─ done ──> publish
//!                  ^                            └─ taken ─> read the entries of others, publish each
//!                  └────────────────────────────────────────────┘
//! ```
//!
//! The entries of others are published as local commits are, so their keys are remembered for the transactions that are active here.
//! They need no validation: their author had applied all entries before.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use cozo_shared_log::Appended;

use super::history::{Group, History, validate, validate_alike};
use super::observer::Observer;
use super::pipeline::Pipeline;
use super::request::CommitRequest;
use super::turns::Waiting;
use crate::clock::now_micros;
use crate::replica::{Content, LogEntry, Replica, ReplicaError, checksum_of};
use crate::schema::{RelationId, with_indices};
use crate::storage::ChangeSet;
use crate::txn::catalog::Catalog;
use crate::txn::error::TxnError;
use crate::txn::versions::version::Version;

impl Pipeline {
    /// The replica, if the database has a shared log.
    pub fn replica(&self) -> Option<&Arc<Replica>> {
        self.replica.as_ref()
    }

    /// Sets the observer of the changes of other processes, once.
    pub fn observe(&self, observer: Box<dyn Observer>) {
        let _ = self.observer.set(observer);
    }

    /// The current version, and the number of the last entry that it has.
    pub fn numbered_version(&self, replica: &Replica) -> (Arc<Version>, u64) {
        // While this thread leads, no entry is applied.
        let _leading = self.leader.lock();
        (self.current_version(), replica.applied())
    }

    /// Publishes what other processes have committed, up to the end of the log. Returns the number of the last entry.
    pub fn catch_up(&self) -> Result<u64, TxnError> {
        let Some(replica) = &self.replica else { return Ok(0) };
        let mut history = self.leader.lock();
        let outcome = self.catch_up_leading(replica, &mut history.0);
        drop(history);
        replica.note_failure(match &outcome {
            Err(TxnError::Replica(error)) => Some(error.clone()),
            _ => None,
        });
        self.observer.get().into_iter().for_each(|observer| observer.published());
        self.turns.end();
        outcome.map(|()| replica.applied())
    }

    /// Commits a request that waits, with all others that wait when nobody leads.
    pub(super) fn commit_shared(&self, waiting: &Waiting) -> Result<(), TxnError> {
        loop {
            if let Some(mut history) = self.leader.try_lock() {
                if waiting.outcome().is_none() {
                    self.lead_all(&mut history.0);
                }
                drop(history);
                self.turns.end();
            }
            if let Some(outcome) = self.turns.wait(waiting) {
                return outcome;
            }
        }
    }

    /// Validates and commits requests through the log. Each has an outcome.
    pub(super) fn commit_replicated(
        &self,
        replica: &Replica,
        history: &mut History,
        requests: &mut [CommitRequest],
    ) -> Vec<Result<(), TxnError>> {
        let mut outcomes: Vec<Option<TxnError>> = vec![None; requests.len()];
        let start = Instant::now();
        loop {
            self.validate_open(history, requests, &mut outcomes);
            let with_outcomes = requests.iter_mut().zip(&outcomes);
            let mut open: Vec<&mut CommitRequest> =
                with_outcomes.filter(|(_, outcome)| outcome.is_none()).map(|(request, _)| request).collect();
            if open.is_empty() {
                break;
            }
            let error = match self.append_and_publish(replica, history, &mut open) {
                Ok(Appended::Done) => break,
                Ok(Appended::Taken) if start.elapsed() < replica.timeout() => continue,
                Ok(Appended::Taken) => ReplicaError::Overtaken { seconds: start.elapsed().as_secs_f64() }.into(),
                Err(error) => error,
            };
            let left = outcomes.iter_mut().filter(|outcome| outcome.is_none());
            left.for_each(|outcome| *outcome = Some(error.clone()));
        }
        outcomes.into_iter().map(|outcome| outcome.map_or(Ok(()), Err)).collect()
    }

    /// Validates the requests without an outcome, one after another as if those before were committed.
    fn validate_open(&self, history: &History, requests: &mut [CommitRequest], outcomes: &mut [Option<TxnError>]) {
        let (mut catalog, mut before) = (history.catalog.clone(), Group::default());
        let open = requests.iter_mut().zip(outcomes).filter(|(_, outcome)| outcome.is_none());
        for (request, outcome) in open {
            let valid = validate(request, history, &before, &catalog)
                .and_then(|()| validate_alike(request, history))
                .and_then(|()| new_relations(request, &catalog));
            match valid {
                Ok(()) => {
                    before.add(request);
                    request.define();
                    catalog.apply(&request.changes, catalog.version + 1);
                }
                Err(error) => *outcome = Some(error),
            }
        }
    }

    /// Appends validated requests to the log and publishes them, or publishes what others have appended first.
    fn append_and_publish(
        &self,
        replica: &Replica,
        history: &mut History,
        open: &mut [&mut CommitRequest],
    ) -> Result<Appended, TxnError> {
        let mut keys = vec![];
        for request in open.iter() {
            keys.extend(request.shared_keys()?);
        }
        let entry = LogEntry::group(now_micros(), open.iter().map(|request| &request.changes), &keys)?;
        let appended = replica.append(&entry)?;
        if appended == Appended::Taken {
            self.catch_up_leading(replica, history)?;
            return Ok(appended);
        }
        // The requests are committed, whatever happens here.
        let entry = (replica.applied() + 1, checksum_of(&entry));
        let changes = open.iter_mut().map(|request| std::mem::take(&mut request.changes)).collect();
        let ended: Vec<u64> = open.iter().filter_map(|request| request.base).collect();
        self.publish_entry(replica, history, entry, &ended, &keys, changes)
            .map_err(|error| ReplicaError::Behind(error.to_string()))?;
        open.iter_mut().for_each(|request| request.call_back());
        Ok(appended)
    }

    /// Publishes the entries of others, up to the end of the log.
    fn catch_up_leading(&self, replica: &Replica, history: &mut History) -> Result<(), TxnError> {
        loop {
            let entries = replica.read()?;
            let Some((last, checksum, _)) = entries.last() else { return Ok(()) };
            let last = (*last, *checksum);
            let watched = self.observer.get().filter(|observer| observer.listens());
            let (mut all, mut all_keys) = (vec![], vec![]);
            for (number, checksum, entry) in entries {
                let (changes, keys) = match entry.content {
                    Content::First(_) => (vec![], vec![]),
                    Content::Group { changes, keys } => (changes, keys),
                };
                self.leave_numbers_to(&changes);
                all.extend(changes);
                all_keys.extend(keys);
                if let Some(observer) = watched {
                    let (before, changes) = (self.current_version(), std::mem::take(&mut all));
                    observer.changed(&before.catalog, &before.snapshot, &changes);
                    let keys = std::mem::take(&mut all_keys);
                    self.publish_entry(replica, history, (number, checksum), &[], &keys, changes)?;
                }
            }
            // Without an observer, many entries are one commit of the engine.
            if watched.is_none() {
                self.publish_entry(replica, history, last, &[], &all_keys, all)?;
            }
        }
    }

    fn publish_entry(
        &self,
        replica: &Replica,
        history: &mut History,
        (number, checksum): (u64, u32),
        ended: &[u64],
        keys: &[u64],
        mut changes: Vec<ChangeSet>,
    ) -> Result<(), TxnError> {
        changes.push(ChangeSet::of_rows(vec![replica.mark(number, checksum)]));
        self.publish(history, ended.iter().copied(), keys, &mut changes)?;
        replica.note_applied(number);
        Ok(())
    }

    /// Numbers relations of this process after those of others.
    fn leave_numbers_to(&self, changes: &[ChangeSet]) {
        for id in changes.iter().flat_map(|set| &set.created).map(|schema| schema.id) {
            self.next_relation.fetch_max(id.0 + 1, Ordering::Relaxed);
        }
    }
}

/// Refuses a request whose new relations have numbers that another process took first.
fn new_relations(request: &CommitRequest, catalog: &Catalog) -> Result<(), TxnError> {
    let created = &request.changes.created;
    if created.is_empty() {
        return Ok(());
    }
    let known: Vec<RelationId> = catalog.iter().flat_map(with_indices).map(|schema| schema.id).collect();
    match created.iter().find(|schema| known.contains(&schema.id)) {
        Some(schema) => Err(TxnError::SchemaConflict(schema.name.to_string())),
        None => Ok(()),
    }
}
