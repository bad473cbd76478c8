//! Finding the group of each row.

use std::hint::select_unpredictable;

use super::table::Table;
use crate::value::{Batch, Column, Num, Primitive, Scalar};

/// Numbers groups in the order of their first row.
pub enum Grouping {
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
        match width {
            0 => Grouping::Whole,
            1 => Grouping::SmallInts { by_value: vec![], values: Column::default() },
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
        if let Grouping::SmallInts { by_value, .. } = self {
            match places(&keys.columns[0]) {
                Some(places) if places > by_value.len() => by_value.resize(places, 0),
                Some(_) => {}
                None => self.generalise(),
            }
        }
        match self {
            Grouping::Whole => vec![0; keys.len],
            Grouping::SmallInts { by_value, values } => small_groups(&keys.columns[0], by_value, values),
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

/// How many places a column needs, if all its values are small or null.
fn places(column: &Column) -> Option<usize> {
    match column {
        Column::Null(_) => Some(1),
        Column::Int(ints) => {
            // All bits together: a search would end early, but look at one value after the other.
            let bits = ints.values.iter().fold(0, |bits, value| bits | *value as u64);
            (bits < SMALL).then_some(bits as usize + 2)
        }
        _ => None,
    }
}

/// What stands for a group that is not there yet.
const NO_GROUP: u32 = u32::MAX;

/// The groups of a column for which there are [`places`]; new groups are added.
fn small_groups(column: &Column, by_value: &mut [u32], values: &mut Column) -> Vec<u32> {
    let number = |place: usize| by_value[place].wrapping_sub(1);
    let mut groups: Vec<u32> = match column {
        Column::Int(Primitive { values, nulls: None }) => {
            values.iter().map(|value| number(place(*value, false))).collect()
        }
        Column::Int(Primitive { values, nulls: Some(nulls) }) => {
            values.iter().zip(nulls).map(|(value, null)| number(place(*value, *null))).collect()
        }
        other => vec![number(NULL); other.len()],
    };
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
    groups
}

/// Where the group of a value is listed. Chosen without a branch, since nulls are rarely predictable.
#[inline]
fn place(value: i64, is_null: bool) -> usize {
    select_unpredictable(is_null, NULL, value as usize + 1)
}
