//! The database: scripts in, results out. All stages are called from here.
//!
//! # The life of a script
//!
//! `path[x, y] := *edge[x, y]  path[x, y] := path[x, z], *edge[z, y]  ?[y] := path[$a, y]`
//!
//! 1. [`DbInstance::run_script`](db::DbInstance::run_script) looks up the text in the script cache. A new text is parsed
//!    by [`parse_script`](crate::parse::parse_script) into a [`Script`](crate::parse::ast::Script).
//! 2. [`Transaction::begin`](crate::txn::Transaction::begin) takes the current version.
//! 3. If the script is not compiled for this catalog yet, [`compile`](compile::CompiledQuery::compile) compiles it in three
//!    steps. It resolves names into a [`Program`](crate::program::Program) of formulas. [`prepare`](crate::program::prepare)
//!    rewrites the program; here magic sets restrict `path` to `$a`. [`build`](crate::plan::build) makes a
//!    [`Plan`](crate::plan::Plan) of operators.
//! 4. The parameters are bound, and [`answer`](crate::exec::answer) runs the plan. The first rule of `path` fills its table
//!    from `*edge`. Each further round joins the rows that the round before added to `path` with `*edge` by key prefix, until
//!    no row is new. The entry's rows are sorted and cut.
//! 5. If the query writes, [`exec::write`](crate::exec::write()) hands the rows to the transaction. The [`triggers`] of the
//!    relation run, and the messages for its [`callbacks`] are recorded.
//! 6. [`Transaction::commit`](crate::txn::Transaction::commit) hands all changes to the commit pipeline. Then the callbacks
//!    get their messages.
//! 7. The columns of the answer become [`NamedRows`].
//!
//! | file | what |
//! |---|---|
//! | `db`, `statement`, `multi`, `engine` | the handles of the host: a database, a prepared script, an open transaction |
//! | `core` | the parts of an open database, and the script cache |
//! | `imperative` | scripts of several statements |
//! | `compile`, `query` | compiling one query, and running it in a transaction |
//! | `sys` | system operations, such as `::relations` |
//! | `hooks`, `triggers`, `callbacks` | the consequences of a write |
//! | `rows`, `columns`, `transfer`, `backup` | results, imports, exports and backups |
//! | `running` | the running scripts, for `::running` and `::kill` |
//! | `backups`, `extensions`, `json`, `simple_rule`, `expressions`, `debug`, `check` | further services for the host |
//!
//! **No stage calls the next one**: this module calls them one after the other.

mod backup;
mod backups;
mod cached_ref;
mod callbacks;
mod check;
mod columns;
mod compile;
mod core;
mod db;
mod debug;
mod engine;
mod error;
mod expressions;
mod extensions;
mod hooks;
mod imperative;
mod json;
mod multi;
mod query;
mod rows;
mod running;
mod simple_rule;
mod statement;
mod statistics;
mod sys;
mod transfer;
mod triggers;

pub use crate::budget::Interrupt;
pub use backup::{BackupProgress, Strictness};
pub use callbacks::{CallbackOp, Change};
pub use check::CheckReport;
pub use columns::{NamedColumns, RelationReader};
pub use db::{DbInstance, ScriptMutability};
pub use engine::{Db, new_cozo_mem};
pub use error::SessionError;
pub use expressions::{evaluate_expressions, get_variables};
pub use multi::{MultiTransaction, TransactionPayload};
pub use rows::NamedRows;
pub use simple_rule::{RuleRequest, SimpleFixedRule};
pub use statement::Statement;
pub use sys::SYSTEM_OPS;

use columns::ScriptResult;
