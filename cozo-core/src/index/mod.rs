//! Indices: how their rows follow from the rows of their relation.
//!
//! | module | what |
//! |---|---|
//! | [`secondary`] | ordinary indices: built from existing rows, and updated with every write |
//!
//! The input is rows of the relation in key order; the output is sorted changes of the index relations, which go to the
//! transaction. The planner decides how an index is read: for all other modules it is a relation.

pub mod secondary;
