//! What a host calls: the handle of a database, and what it gives out.
//!
//! | file | what |
//! |---|---|
//! | `db` | [`DbInstance`], the handle: opening, running scripts, closing |
//! | `relations`, `backups`, `json` | further calls of the handle: whole relations, backups, text of JSON |
//! | `extensions` | what the host adds: fixed rules, callbacks, a function for `%debug` |
//! | `counted` | a run that tells how many rows it wrote |
//! | `statement`, `multi` | a prepared script, and a transaction held open over several queries |
//! | `engine` | [`Db`], a database with its engine as a type parameter |
//! | `graph` | a relation as a graph of crate `petgraph` |
//! | `check` | the check of all stored data |
//! | `simple_rule` | fixed rules as plain functions |
//! | `expressions` | expressions on their own, without a database |
//! | `plan_json` | plans as JSON |
//!
//! **api never runs a query by itself**: it checks the process, and calls the folders below.

mod backups;
mod check;
mod counted;
mod db;
mod engine;
mod expressions;
mod extensions;
#[cfg(feature = "petgraph")]
mod graph;
mod json;
mod multi;
mod plan_json;
mod relations;
mod shared;
mod simple_rule;
mod statement;

pub use check::CheckReport;
pub use db::{DbInstance, ScriptMutability};
pub use engine::{Db, new_cozo_mem};
pub use expressions::{evaluate_expressions, get_variables};
pub use multi::{MultiTransaction, TransactionPayload};
pub use shared::{SharedState, read_shared_log, restore_from_log};
pub use simple_rule::{RuleRequest, SimpleFixedRule};
pub use statement::Statement;
