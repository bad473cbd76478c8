//! Transactions: snapshot isolation over any storage engine, implemented once.
//!
//! The database is a sequence of immutable [`Version`](versions::version::Version)s: a number, a catalog and a snapshot of the rows. A read transaction
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
//! | `transaction` | one transaction, from beginning to commit |
//! | `definitions` | the definitions that it changes |
//! | `writes`, `ephemeral`, `view` | its writes and savepoints, its own relations, what a query of it sees |
//! | `commit` | pipeline, validation, write batcher |
//! | `versions` | the current version, and the transactions that read older ones |
//! | `keys` | hashes of keys |
//! | `written` | how many rows a script wrote, for people |
//! | `catalog` | schemas by name |
//! | `sync` | locks and atomics; the model checker's with the feature `shuttle` |
//!
//! Locks are taken in this order: the leader's, the shards of the batcher, the current version, and then the handles of
//! threads or a lock of `active`.
//!
//! **txn never parses or evaluates**: it moves batches of rows and schemas.

mod catalog;
mod commit;
mod definitions;
mod ephemeral;
mod error;
mod keys;
mod sync;
#[cfg(all(test, feature = "shuttle"))]
mod tests;
mod transaction;
mod versions;
mod view;
mod writes;
mod written;

pub use catalog::Catalog;
pub use commit::filler::Filler;
pub use commit::observer::Observer;
pub use commit::pipeline::Pipeline;
pub use ephemeral::is_ephemeral;
pub use error::TxnError;
pub use sync::CachePadded;
pub use transaction::Transaction;
pub use versions::current::{THREAD_PARTS, thread_shard};
pub use versions::version::Version;
pub use view::View;
pub use written::Written;
