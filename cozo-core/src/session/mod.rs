//! The database: scripts in, results out. All stages are called from here.
//!
//! # The life of a script
//!
//! `path[x, y] := *edge[x, y]  path[x, y] := path[x, z], *edge[z, y]  ?[y] := path[$a, y]`
//!
//! 1. [`DbInstance::run_script`](api::DbInstance::run_script) looks up the text in the script cache. A new text is parsed
//!    by [`parse_script`](crate::parse::parse_script) into a [`Script`](crate::parse::ast::Script).
//! 2. [`Transaction::begin`](crate::txn::Transaction::begin) takes the current version.
//! 3. If the script is not compiled for this catalog yet, [`compile`](script::CompiledQuery::compile) compiles it in three
//!    steps. It resolves names into a [`Program`](crate::program::Program) of formulas. [`prepare`](crate::program::prepare)
//!    rewrites the program; here magic sets restrict `path` to `$a`. [`build`](crate::plan::build) makes a
//!    [`Plan`](crate::plan::Plan) of operators.
//! 4. The parameters are bound, and [`answer`](crate::exec::answer) runs the plan. The first rule of `path` fills its table
//!    from `*edge`. Each further round joins the rows that the round before added to `path` with `*edge` by key prefix, until
//!    no row is new. The entry's rows are sorted and cut.
//! 5. If the query writes, [`exec::write`](crate::exec::write()) hands the rows to the transaction. Its
//!    [`Hooks`](events::Hooks) run the triggers of the relation, and record the messages for its callbacks.
//! 6. [`Transaction::commit`](crate::txn::Transaction::commit) hands all changes to the commit pipeline. Then the callbacks
//!    get their messages.
//! 7. The columns of the answer become [`NamedRows`].
//!
//! | folder or file | what |
//! |---|---|
//! | `api` | what the host calls: the handles of a database, of a prepared script, of an open transaction |
//! | `sys` | system operations, such as `::relations` |
//! | `run` | running the queries and statements of a script |
//! | `core` | the parts of an open database |
//! | `events` | triggers, callbacks and debug output |
//! | `script` | scripts ready to run: parsed, compiled and cached |
//! | `backup`, `transfer`, `filling` | backups; exports and imports of relations; new relations as a whole |
//! | `portable` | plans as JSON for other engines, and the parts of them that are evaluated here |
//! | `results` | rows and columns under headers |
//! | `opening`, `follower` | the pipeline of a database that is opened; what other processes commit to a shared log |
//! | `running` | the running scripts, for `::running` and `::kill` |
//! | `error` | the errors of requests that the database refuses |
//!
//! `tests/tidy/levels.rs` has the levels of these folders and of their files. Three things would go round in a circle: a query sets
//! off triggers, which are queries; a script runs system operations, which explain queries; and both use the caches of the database.
//! So what is kept (`script`, `events`, `core`) is below what runs (`run`, `sys`), which gets functions of higher levels passed in.
//!
//! **No stage calls the next one**: this module calls them one after the other.

mod api;
mod backup;
mod core;
mod error;
mod events;
mod filling;
mod follower;
mod opening;
mod portable;
mod results;
mod run;
mod running;
mod script;
mod sealer;
mod sys;
mod transfer;

pub use crate::budget::Interrupt;
pub use crate::program::{SEARCH_PARAMETERS, SearchParameter};
pub use crate::replica::{EntrySummary, PointInTime};
pub use crate::txn::Written;
pub use api::{
    CheckReport, Db, DbInstance, MultiTransaction, RuleRequest, ScriptMutability, SharedState, SimpleFixedRule,
    Statement, TransactionPayload, evaluate_expressions, get_variables, new_cozo_mem, read_shared_log,
    restore_from_log,
};
pub use backup::{BackupProgress, Strictness};
pub use error::SessionError;
pub use events::{CallbackOp, Change, ChangePosition, SharedChange, SharedChanges};
pub use filling::{NewRelation, NewRelations};
pub use portable::{PLAN_VERSION, PortableGroups, PortableRows, RelationSizes, decoded_value, encoded_value};
pub use results::{NamedColumns, NamedRows, RelationReader, ResultStream, ScriptAnswer};
pub use sys::SYSTEM_OPS;
