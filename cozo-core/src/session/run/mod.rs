//! Running scripts: their queries and statements, in a transaction.
//!
//! | file | what |
//! |---|---|
//! | `carry` | the indices of a relation that is made anew |
//! | `context` | what queries and scripts run with: parameters, interrupt, the database |
//! | `query` | one query: bind, run, and apply its operation |
//! | `imperative` | several statements with control flow |
//!
//! **run never parses, and never sees a handle of the host.**

mod carry;
mod context;
mod imperative;
mod query;

pub use carry::{carry_indices, check_search};
pub use context::{QueryContext, ScriptContext};
pub use imperative::run_steps;
pub use query::{query_budget, run_plan, run_query, run_single};
