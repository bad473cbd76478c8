//! Finding the group of each row.

use super::table::Table;
use crate::value::{Batch, Column};

/// Numbers groups in the order of their first row.
pub enum Grouping {
    /// No grouping columns: one group, also without rows.
    Whole,
    /// One grouping column of small integers so far: the number of each value's group, by value.
    SmallInts {
        /// Group number plus one by value; 0 for none yet.
        by_value: Vec<u32>,
        /// The value of each group; null for the group of nulls.
        values: Column,
        /// The group of nulls plus one.
        null: u32,
    },
    /// Anything.
    Any {
        /// The grouping columns of each group.
        keys: Table,
    },
}

/// Values from 0 up to here are looked up in an array.
const SMALL: i64 = 1 << 16;

impl Grouping {
    /// Grouping by so many columns.
    pub fn new(width: usize) -> Self {
        match width {
            0 => Grouping::Whole,
            1 => Grouping::SmallInts { by_value: vec![], values: Column::default(), null: 0 },
            _ => Grouping::Any { keys: Table::set(width) },
        }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        match self {
            Grouping::Whole => 1,
            Grouping::SmallInts { values, .. } => values.len(),
            Grouping::Any { keys } => keys.len(),
        }
    }

    /// The group of each row of the grouping columns.
    pub fn groups_of(&mut self, keys: &Batch) -> Vec<u32> {
        if matches!(self, Grouping::SmallInts { .. }) && !is_small(&keys.columns[0]) {
            self.generalise();
        }
        match self {
            Grouping::Whole => vec![0; keys.len],
            Grouping::SmallInts { by_value, values, null } => small_groups(&keys.columns[0], by_value, values, null),
            Grouping::Any { keys: known } => known.insert_or_find(keys),
        }
    }

    /// Gives up the array for a hash table.
    fn generalise(&mut self) {
        if let Grouping::SmallInts { values, .. } = self {
            let values = std::mem::take(values);
            let len = values.len();
            *self = Grouping::Any { keys: Table::of_distinct(Batch::new(vec![values], len)) };
        }
    }

    /// The grouping columns of all groups, in order.
    pub fn into_keys(self) -> Batch {
        match self {
            Grouping::Whole => Batch { columns: vec![], len: 1 },
            Grouping::SmallInts { values, .. } => {
                let len = values.len();
                Batch::new(vec![values], len)
            }
            Grouping::Any { keys } => keys.into_rows(),
        }
    }
}

fn is_small(column: &Column) -> bool {
    match column {
        Column::Null(_) => true,
        Column::Int(data) => data.values.iter().all(|value| (0..SMALL).contains(value)),
        _ => false,
    }
}

/// The groups of a column that [`is_small`]; new groups are added.
fn small_groups(column: &Column, by_value: &mut Vec<u32>, values: &mut Column, null: &mut u32) -> Vec<u32> {
    by_value.resize(SMALL as usize, 0);
    let mut groups = Vec::with_capacity(column.len());
    let mut group_of = |slot: &mut u32, row: usize| {
        if *slot == 0 {
            values.push_from(column, row);
            *slot = values.len() as u32;
        }
        groups.push(*slot - 1);
    };
    match column {
        Column::Int(data) => {
            for (row, value) in data.values.iter().enumerate() {
                let slot = if data.is_null(row) { &mut *null } else { &mut by_value[*value as usize] };
                group_of(slot, row);
            }
        }
        other => (0..other.len()).for_each(|row| group_of(null, row)),
    }
    groups
}
