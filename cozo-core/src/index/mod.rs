//! Indices: how their rows follow from the rows of their relation.
//!
//! | module | what |
//! |---|---|
//! | [`secondary`] | ordinary indices: built from existing rows, and updated with every write |
//! | [`search`] | search indices: what they take of rows, how they follow, how they are searched |
//!
//! The input is rows of the relation in key order; the output is sorted changes of the index relations, which go to the
//! transaction. The planner decides how an index is read: for all other modules it is a relation.

mod changes;
pub mod search;
pub mod secondary;
