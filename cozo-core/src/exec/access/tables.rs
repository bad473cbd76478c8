//! What a rule reads of derived tables.

use std::ops::Range;

use crate::exec::rowset::table::Table;

/// The derived tables while a rule runs, and the rows that each operator reads of them.
pub struct Tables<'a> {
    /// All tables, by number.
    pub tables: &'a [Table],
    /// The rows that an operator (by position in its rule) reads of a table.
    pub range: &'a dyn Fn(usize, usize) -> Range<usize>,
}
