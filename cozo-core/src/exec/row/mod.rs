//! Runs on single values: where a plan or a rule gives one row at most, batches would cost many times what the row does.
//!
//! `point` has the interpreter of operators for one row. It runs plans of one row and counts, and `recursion` uses it for
//! recursive rules while few rows are new.

pub mod point;
pub mod recursion;
