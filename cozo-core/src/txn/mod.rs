//! Transactions: snapshot isolation over any storage engine, implemented once.
//!
//! The database is a sequence of immutable [`Version`]s. A transaction picks up the current one, at the latest when it first
//! reads; it sees that version plus its own writes, whatever others commit meanwhile. At the end it hands its changes,
//! and the keys it relies on, to the [`Pipeline`], where whoever comes first leads: it validates all waiting
//! transactions that have read anything against the keys committed since their versions (the first committer wins, a loser
//! gets [`TxnError::Conflict`]), commits the engine once for all of them, publishes the next version, and lets them go.
//!
//! Two transactions may each read what the other writes and both commit (write skew), unless they `:ensure` what they
//! read.
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

/// Relations from this number on live in one transaction only.
pub const FIRST_EPHEMERAL_ID: u64 = 1 << 63;

/// Whether a relation lives in one transaction only.
pub fn is_ephemeral(relation: RelationId) -> bool {
    relation.0 >= FIRST_EPHEMERAL_ID
}
