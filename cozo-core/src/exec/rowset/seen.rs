//! The rows that a `Distinct` operator has seen.

use crate::exec::rowset::int_set::IntSet;
use crate::exec::rowset::table::Table;
use crate::value::Batch;

/// The rows that came before.
pub enum Seen {
    /// Rows of integers that lie close together, as a bitmap alone.
    Ints(IntSet),
    /// Any rows.
    Rows(Table),
}

impl Default for Seen {
    fn default() -> Self {
        Seen::Ints(IntSet::default())
    }
}

impl Seen {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Seen::Ints(set) => set.len(),
            Seen::Rows(table) => table.len(),
        }
    }

    /// Adds rows, and returns the new ones.
    pub fn add(&mut self, mut rows: Batch) -> Batch {
        if let Seen::Ints(set) = self {
            if set.add_fresh(&mut rows) {
                return rows;
            }
            let set = std::mem::take(set);
            *self = Seen::Rows(if set.len() == 0 { Table::set(rows.columns.len()) } else { Table::of_ints(set) });
        }
        let Seen::Rows(table) = self else { unreachable!("a set of integers that is none has become a table") };
        let before = table.len();
        table.insert(rows);
        table.rows().slice(before..table.len())
    }
}
