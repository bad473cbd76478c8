//! A relational-graph database queried with CozoScript (Datalog).

pub mod value;

pub use value::*;
