//! A relational-graph database queried with CozoScript (Datalog).

pub mod diag;
pub mod exec;
pub mod expr;
pub mod parse;
pub mod plan;
pub mod program;
pub mod schema;
pub mod session;
pub mod storage;
pub mod txn;
pub mod value;

pub use value::*;
