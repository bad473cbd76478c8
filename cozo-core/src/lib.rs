//! A relational-graph database queried with CozoScript (Datalog).

pub mod diag;
pub mod parse;
pub mod value;

pub use value::*;
