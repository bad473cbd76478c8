//! Execution: plans become rows, and rows are written.
//!
//! [`single_row`] runs a plan that gives one row at most on single values. [`answer`] runs any other: it fills a table for each
//! predicate of the plan, component by component. A recursive component runs in rounds until a round adds nothing. Each rule
//! pushes batches through its operators, depth first, into a sink, so that the batches in flight stay small however large the
//! result is. The sink drops duplicates or aggregates. The table of the entry is then sorted and cut. [`write`](write()) writes
//! rows into a stored relation; [`Rows`] are one or many all the way to the storage.
//!
//! ```text
//!  driver      answer -> fixpoint -> rule                     row     single values
//!                                     | batches                       (one row, counts, recursion of few rows)
//!  operators     scan -> look-up -> filter -> ...  -> sink
//!                  |        |                           |
//!  access       stored    build_side                    |
//!                  |        | index                     v
//!  storage      Snapshot  hash_index, clustered_rows   rowset: Table
//! ```
//!
//! The plan chooses how it runs (`plan/passes`). A [`Run`] holds the state of one execution, a `Worker` the state of one thread.
//!
//! | a plan or a rule runs | when | file |
//! |---|---|---|
//! | on single values | the plan gives one row at most, or a count that the engine knows | `row/point` |
//! | row by row | recursion: each row gives one new row at most, and few rows are new | `row/recursion` |
//! | chunk by chunk | an end of a key order is enough: `min`, `max`, `:order` with `:limit` | `driver/ordered` |
//! | in batches, on several threads | the first scan is large, and all rows are wanted | `driver/rule` |
//! | in batches, on one thread | otherwise | `driver/rule` |
//!
//! | from a key to rows | when | file |
//! |---|---|---|
//! | a look-up in the engine | leading key columns are bound | `operators/lookup` |
//! | the leaf directory of a tree | many look-ups by an integer key, in a large relation | `access/build_side` |
//! | rows clustered by key | the same, in a smaller relation | `index/clustered_rows` |
//! | a hash table, or an array by packed key | any other columns are bound; derived tables | `index/hash_index` |
//! | sorted lists | several relations must agree on a value | `access/sorted_lists` |
//!
//! Each batch boundary checks the budget. **exec never sees text, names or the catalog.**

mod access;
mod driver;
mod error;
mod index;
mod operators;
mod piece;
mod profile;
mod row;
mod rows;
mod rowset;
mod run;
mod sink;
mod sorting;
mod thresholds;
mod write;

#[cfg(feature = "petgraph")]
pub use access::stored::Stored;
pub use driver::answer::{answer, non_negative, timeout_seconds};
pub use error::ExecError;
pub use index::cache::IndexCache;
pub use profile::{OperatorProfile, Profile};
pub use row::point::single_row;
pub use rows::{RowStream, Rows};
pub use run::Run;
pub use sink::GroupSink;
pub use thresholds::MAX_BATCH_ROWS;
pub use write::{Mutated, build_index, write};
