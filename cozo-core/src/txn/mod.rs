//! Transactions: snapshot isolation over any storage engine, implemented once.
//!
//! The database is a sequence of immutable [`Version`]s: a number, a catalog and a snapshot of the rows. A read transaction
//! takes the current version when it begins. A write transaction takes it when it first reads. A transaction sees its
//! version plus its own writes, whatever other transactions commit.
//!
//! To commit, a transaction hands its changes and the keys that it relies on to the [`Pipeline`]. One thread at a time
//! leads. The leader validates the waiting transactions, commits the engine once for all that pass, and publishes the next
//! version. A transaction fails with [`TxnError::Conflict`] if one of its keys was committed after its version: the first
//! committer wins. A transaction that has read nothing has no version and cannot conflict.
//!
//! Two transactions may each read what the other writes and both commit (write skew), unless they `:ensure` what they
//! read.
//!
//! | file | what |
//! |---|---|
//! | `transaction` | a version, the writes since, savepoints |
//! | `pipeline` | commits: leader, groups, publication, filling an empty database |
//! | `write_batcher` | blind puts of several transactions, committed together |
//! | `history`, `keys` | the keys of recent commits, and validation against them |
//! | `current` | the current version, with a handle for each thread |
//! | `active` | the write transactions that have not ended |
//! | `catalog` | schemas by name |
//! | `sync` | locks and atomics; the model checker's with the feature `shuttle` |
//!
//! Locks are taken in this order: the leader's, the shards of the batcher, the current version, and then the handles of
//! threads or a lock of `active`.
//!
//! **txn never parses or evaluates**: it moves batches of rows and schemas.

mod active;
mod catalog;
mod current;
mod error;
mod history;
mod keys;
mod pipeline;
mod sync;
#[cfg(all(test, feature = "shuttle"))]
mod tests;
mod transaction;
mod write_batcher;

pub use catalog::Catalog;
pub use current::{THREAD_PARTS, VersionRef, thread_shard};
pub use error::TxnError;
pub use pipeline::{AfterCommit, Filler, Pipeline, Version};
pub use sync::CachePadded;
pub use transaction::{Transaction, View};

use crate::schema::RelationId;

/// Relations with this number or a greater one live in one transaction only.
pub const FIRST_EPHEMERAL_ID: u64 = 1 << 63;

/// Whether a relation lives in one transaction only.
pub fn is_ephemeral(relation: RelationId) -> bool {
    relation.0 >= FIRST_EPHEMERAL_ID
}
