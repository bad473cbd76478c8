//! Finding the group of each row.

use std::hint::select_unpredictable;

use super::table::Table;
use crate::value::{Batch, Column, Num, Primitive, Scalar};

/// Numbers groups in the order of their first row.
pub struct Grouping {
    by: By,
    /// The group of each row that was asked for last. They stay where they are: many batches come after each other.
    groups: Vec<u32>,
}

/// What tells groups apart.
enum By {
    /// No grouping columns: one group, also without rows.
    Whole,
    /// One grouping column of small integers so far: the number of each value's group, by value.
    SmallInts {
        /// Group number plus one by [`place`]; 0 for none yet.
        by_value: Vec<u32>,
        /// The value of each group; null for the group of nulls.
        values: Column,
    },
    /// Anything.
    Any {
        /// The grouping columns of each group.
        keys: Table,
    },
}

/// Values from 0 up to here, a power of two, are looked up in an array.
const SMALL: u64 = 1 << 16;

/// Where the group of nulls is listed: before those of values.
const NULL: usize = 0;

impl Grouping {
    /// Grouping by so many columns.
    pub fn new(width: usize) -> Self {
        let by = match width {
            0 => By::Whole,
            1 => By::SmallInts { by_value: vec![], values: Column::default() },
            _ => By::Any { keys: Table::set(width) },
        };
        Grouping { by, groups: vec![] }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        match &self.by {
            By::Whole => 1,
            By::SmallInts { values, .. } => values.len(),
            By::Any { keys } => keys.len(),
        }
    }

    /// Finds the group of each row of the grouping columns; those of new values are added.
    pub fn find(&mut self, keys: &Batch) {
        if let By::SmallInts { by_value, .. } = &mut self.by {
            match places(&keys.columns[0]) {
                Some(places) if places > by_value.len() => by_value.resize(places, 0),
                Some(_) => {}
                None => self.by.generalise(),
            }
        }
        match &mut self.by {
            By::Whole => self.groups.resize(keys.len, 0),
            By::SmallInts { by_value, values } => {
                small_groups(&keys.columns[0], by_value, values, &mut self.groups);
            }
            By::Any { keys: known } => self.groups = known.insert_or_find(keys),
        }
    }

    /// The group of each row for which one was found last.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// The grouping columns of all groups, in order.
    pub fn into_keys(self) -> Batch {
        match self.by {
            By::Whole => Batch { columns: vec![], len: 1 },
            By::SmallInts { values, .. } => {
                let len = values.len();
                Batch::new(vec![values], len)
            }
            By::Any { keys } => keys.into_rows(),
        }
    }
}

impl By {
    /// Gives up the array for a hash table.
    fn generalise(&mut self) {
        if let By::SmallInts { values, .. } = self {
            let values = std::mem::take(values);
            let len = values.len();
            *self = By::Any { keys: Table::of_distinct(Batch::new(vec![values], len)) };
        }
    }
}

/// How many places a column needs, if all its values are small or null.
fn places(column: &Column) -> Option<usize> {
    match column {
        Column::Null(_) => Some(1),
        Column::Int(ints) => {
            // All bits together: a search would end early, but look at one value after the other.
            let bits = ints.values.iter().fold(0, |bits, value| bits | *value as u64);
            (bits < SMALL).then(|| bits as usize + 2)
        }
        _ => None,
    }
}

/// What stands for a group that is not there yet.
const NO_GROUP: u32 = u32::MAX;

/// Finds the groups of a column for which there are [`places`]; new groups are added.
fn small_groups(column: &Column, by_value: &mut [u32], values: &mut Column, groups: &mut Vec<u32>) {
    let number = |place: usize| by_value[place].wrapping_sub(1);
    groups.clear();
    match column {
        Column::Int(Primitive { values, nulls: None }) => {
            groups.extend(values.iter().map(|value| number(place(*value, false))));
        }
        Column::Int(Primitive { values, nulls: Some(nulls) }) => {
            groups.extend(values.iter().zip(nulls).map(|(value, null)| number(place(*value, *null))));
        }
        other => groups.resize(other.len(), number(NULL)),
    }
    // Most batches have no group that was not there before.
    if groups.contains(&NO_GROUP) {
        for (row, group) in groups.iter_mut().enumerate().filter(|(_, group)| **group == NO_GROUP) {
            let int = column.scalar(row).and_then(Scalar::num).and_then(Num::get_int);
            let place = int.map_or(NULL, |int| place(int, false));
            if by_value[place] == 0 {
                values.push_from(column, row);
                by_value[place] = values.len() as u32;
            }
            *group = by_value[place] - 1;
        }
    }
}

/// Where the group of a value is listed. Chosen without a branch, since nulls are rarely predictable.
#[inline]
fn place(value: i64, is_null: bool) -> usize {
    select_unpredictable(is_null, NULL, value as usize + 1)
}
