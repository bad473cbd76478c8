//! Rows in memory, found by the values of some columns.
//!
//! | file | what |
//! |---|---|
//! | `packed_key` | several integers packed into one |
//! | `hash_index` | chains of rows with equal values, by hash or by packed key |
//! | `clustered_rows` | rows copied in the order of a key |
//! | `scale` | the values of a column as integers in the order of `<` |
//! | `max_tree` | the integers of a range that are not below a bound |
//! | `ordered_rows` | rows found by comparisons, in groups of equal keys |
//! | `cache` | indexes of stored relations, which queries share |
//!
//! **An index never reads a relation**: `access` reads the rows and hands them over.

pub mod cache;
pub mod clustered_rows;
pub mod hash_index;
pub mod max_tree;
pub mod ordered_rows;
pub mod packed_key;
pub mod scale;
