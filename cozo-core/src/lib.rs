//! A relational-graph database queried with CozoScript (Datalog).

pub mod schema;
pub mod storage;
pub mod value;

pub use value::*;
