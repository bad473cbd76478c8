//! Indices: how their rows follow from the rows of their relation.
//!
//! | module | what |
//! |---|---|
//! | [`secondary`] | ordinary indices: built from existing rows, and kept in step with every write |
//!
//! What comes in are rows of the relation in key order; what goes out are sorted changes to the index relations, handed to
//! the transaction. How an index is read is the planner's business: to everybody else it is a relation.

pub mod secondary;
