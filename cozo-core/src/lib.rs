//! A relational-graph database queried with CozoScript (Datalog), embedded in a Rust program.
//!
//! ```
//! use std::collections::BTreeMap;
//! use cozo::{DataValue, DbInstance, ScriptMutability};
//!
//! # fn main() -> cozo::Result<()> {
//! let db = DbInstance::new("mem", "", "")?;
//! db.run_default("?[fr, to] <- [[1, 2], [2, 3], [3, 4]] :create edge {fr, to}")?;
//! let reachable = db.run_script(
//!     "path[x, y] := *edge[x, y]
//!      path[x, y] := path[x, z], *edge[z, y]
//!      ?[y] := path[$start, y]",
//!     BTreeMap::from([("start".to_string(), DataValue::from(2))]),
//!     ScriptMutability::Immutable,
//! )?;
//! assert_eq!(reachable.rows, vec![vec![DataValue::from(3)], vec![DataValue::from(4)]]);
//! # Ok(())
//! # }
//! ```
//!
//! A script flows one way, `parse -> program -> plan -> exec` over `txn` and `storage`, driven by `session`: see
//! [`session`] for the life of a script. In the repository, `ARCHITECTURE.md` is the map, and `docs/design` has the reasons.

// Docs of modules are read in the source, too, where private items are at hand.
#![allow(rustdoc::private_intra_doc_links)]

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: Mimalloc = Mimalloc;

mod allocator;
mod budget;
mod clock;
#[doc(hidden)]
pub mod data_file;
pub mod diag;
mod exec;
pub mod expr;
pub mod fixed_rule;
mod fork;
mod index;
#[doc(hidden)]
pub mod kernels;
#[doc(hidden)]
pub mod legacy;
pub mod parse;
mod plan;
mod program;
mod replica;
pub mod schema;
#[doc(hidden)]
pub mod search;
pub mod session;
mod spill;
pub mod storage;
mod sync;
#[doc(hidden)]
pub mod text;
mod threads;
mod txn;
pub mod value;

pub use allocator::Mimalloc;
pub use diag::{SourceSpan, format_error_as_json};
pub use expr::Expr;
#[cfg(feature = "petgraph")]
pub use fixed_rule::graph::StoredGraph;
pub use fixed_rule::{FixedRule, FixedRuleInputRelation, FixedRulePayload, Poison, RegularTempStore};
#[doc(hidden)]
pub use fork::PerProcess;
pub use fork::{Forked, Process};
pub use miette::{Report as Error, Result};
pub use parse::ast::{Script as CozoScript, Symbol};
#[cfg(feature = "petgraph")]
pub use petgraph;
pub use session::{
    BackupProgress, CallbackOp, ChangePosition, CheckReport, Db, DbInstance, EntrySummary, Interrupt, MultiTransaction,
    NamedColumns, NamedRows, NewRelation, NewRelations, PLAN_VERSION, PointInTime, PortableGroups, PortableRows,
    RelationReader, RelationSizes, ResultStream, ScriptAnswer, ScriptMutability, SharedChange, SharedChanges,
    SharedState, SimpleFixedRule, Statement, Strictness, TransactionPayload, decoded_value, encoded_value,
    evaluate_expressions, get_variables, new_cozo_mem, read_shared_log, restore_from_log,
};
pub use storage::mem::MemStorage;
pub use value::{DataValue, JsonData, Num, RegexWrapper, SmallStr, Tuple, UuidWrapper, Validity, ValidityTs, Vector};

/// The programs in the user's book, as tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[cfg(feature = "petgraph")]
    #[doc = include_str!("../../docs/rust.md")]
    struct Rust;
}
