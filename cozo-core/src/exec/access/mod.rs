//! Reading relations: stored relations through their snapshots, derived tables by ranges of rows.
//!
//! | file | what |
//! |---|---|
//! | `stored` | a stored relation as one query reads it |
//! | `tables` | the derived tables, and the rows that each operator reads of them |
//! | `all_rows` | all rows of a relation that a join reads, in blocks |
//! | `build_side` | what a join looks its matches up in: an index is built when it is first needed |
//! | `lookup_counter` | when an index replaces the look-ups of an operator |
//! | `sorted_lists` | relations of pairs as adjacencies, for intersections |
//! | `ordered_scan` | a relation in chunks, from one end of its key order |

pub mod all_rows;
pub mod build_side;
pub mod lookup_counter;
pub mod ordered_scan;
pub mod pairs;
pub mod sorted_lists;
pub mod stored;
pub mod tables;
