//! System operations, a file for each kind.
//!
//! [`run`] tells from the kind of an operation which file runs it. Operations get the context of a script
//! ([`ScriptContext`](super::run::ScriptContext)), and return rows as a query does.

mod column_error;
mod columns;
mod explain;
mod in_place;
mod index_error;
mod indices;
mod metadata;
mod online;
mod operations;
mod options;
mod process;
mod relations;
mod searches;
mod shared;
mod triggers;

pub use operations::{SYSTEM_OPS, run};
