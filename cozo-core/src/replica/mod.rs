//! Replicas: a database of many processes, each of which has all of it in an engine of its own.
//!
//! What the processes share is a log ([`cozo_shared_log`]). Its entry `n` is the `n`-th group of transactions. A process appends its
//! own group as entry `n + 1` once it has applied all before; of several that try, one succeeds, and the others apply its entry and
//! validate their transactions again. So the log alone decides the order, and every replica passes through the same states.
//!
//! ```text
//!  process A                          shared log                         process B
//!  pipeline: validate, append n+1 --> | n-1 | n | n+1 |  --> read ------ pipeline: apply
//!  replica at n+1 (mem, sqlite ..)                                       replica at n+1
//! ```
//!
//! | module | what |
//! |---|---|
//! | `entry` | an entry as bytes: changes, and the hashes of keys that others are validated against |
//! | `state` | [`Replica`]: the log, and the number of the last entry applied |
//! | `checkpoint` | the contents of a replica as a blob of the log |
//! | `start` | how a process begins: with its own file, with a checkpoint, or with an empty log |
//! | `history` | what the log says, and the database as it was |
//! | `error` | what can go wrong |
//!
//! The number of the last entry applied is a row of a relation of the replica that no script sees. So the engine stores it with the
//! changes themselves, and a replica never misses an entry nor applies one twice.
//!
//! **replica never validates**: that is the pipeline's work.

mod checkpoint;
mod entry;
mod error;
mod history;
mod start;
mod state;

pub use checkpoint::{checkpoints, last_checkpoint, put_checkpoint, remove_checkpoints};
pub use entry::{Content, LogEntry};
pub use error::ReplicaError;
pub use history::{EntrySummary, PointInTime, fill, restore_at, summaries};
pub use start::{is_mark, start};
pub use state::{BYTES_AT_ONCE, Replica, checksum_of};
