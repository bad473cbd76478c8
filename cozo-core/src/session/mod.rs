//! The database: where the stages meet.
//!
//! # The life of a script
//!
//! `path[x, y] := *edge[x, y]  path[x, y] := path[x, z], *edge[z, y]  ?[y] := path[$a, y]`
//!
//! 1. [`DbInstance::run_script`](db::DbInstance::run_script) finds the text in the script cache. If it is new,
//!    [`parse_script`](crate::parse::parse_script) makes a [`Script`](crate::parse::ast::Script) of it.
//! 2. [`Transaction::begin`](crate::txn::Transaction::begin) picks up the current version.
//! 3. If the script was not compiled for this catalog yet, [`compile`](compile::CompiledQuery::compile) resolves names
//!    into a [`Program`](crate::program::Program) of formulas, [`prepare`](crate::program::prepare) rewrites it (here
//!    `path` is restricted to `$a` by magic sets), and [`build`](crate::plan::build) makes a
//!    [`Plan`](crate::plan::Plan) of operators.
//! 4. The parameters are bound, and [`answer`](crate::exec::answer) runs the plan: the first rule of `path` fills its
//!    table from `*edge`; then each round joins the rows of `path` that the round before added with `*edge` by key
//!    prefix, until none are new. The entry's rows are sorted and cut.
//! 5. If the query writes, [`exec::write`](crate::exec::write()) hands the rows to the transaction; the
//!    [`triggers`] of the relation run, and what its [`callbacks`] are to be told is noted.
//! 6. [`Transaction::commit`](crate::txn::Transaction::commit) hands all changes to the commit pipeline, and the callbacks
//!    are told.
//! 7. The columns of the answer become [`NamedRows`].
//!
//! **No stage calls the next one**: they are called here, one after the other.

mod backup;
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
mod hooks;
mod imperative;
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
