//! What a rule reads of derived tables.

use std::ops::Range;

use crate::exec::rowset::table::Table;
use crate::plan::{RulePlan, Source};

/// The derived tables while a rule runs, and the rows that each operator reads of them.
pub struct Tables<'a> {
    /// All tables, by number.
    pub tables: &'a [Table],
    /// The rows that an operator (by position in its rule) reads of a table.
    pub range: &'a dyn Fn(usize, usize) -> Range<usize>,
}

/// The rows that each operator of a rule reads of its table, if it reads one: what [`Tables::range`] says, for other threads.
pub struct Ranges(Vec<Option<Range<usize>>>);

impl Ranges {
    /// The rows that the operators of a rule read.
    pub fn of(rule: &RulePlan, tables: &Tables<'_>) -> Self {
        let positions = rule.operators.iter().enumerate();
        let range = positions.map(|(position, operator)| match &operator.kind.sources()[..] {
            [Source::Table(table)] => Some((tables.range)(position, *table)),
            _ => None,
        });
        Ranges(range.collect())
    }

    /// The rows that the operator at a position reads of one of `tables`.
    pub fn get(&self, position: usize, table: usize, tables: &[Table]) -> Range<usize> {
        self.0[position].clone().unwrap_or(0..tables[table].len())
    }
}
