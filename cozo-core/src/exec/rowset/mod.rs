//! Sets of rows: each row once.
//!
//! | file | what |
//! |---|---|
//! | `int_set` | integers that lie close together, as a bitmap |
//! | `row_set` | telling the rows of a table apart: by comparison, bitmap or hash |
//! | `table` | derived tables, which only grow |
//! | `int_collector` | integers that are told apart when all of them have come |
//! | `seen` | the rows that a `Distinct` operator has seen |
//! | `grouping` | rows to the numbers of their groups |
//! | `top_k` | a table cut to the first rows of an order |
//!
//! **A set of rows never knows where its rows come from.**

pub mod grouping;
pub mod int_collector;
pub mod int_set;
pub mod row_set;
pub mod seen;
pub mod table;
pub mod top_k;
