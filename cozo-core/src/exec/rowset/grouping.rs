//! Finding the group of each row, for aggregations.
//!
//! A [`Grouping`] numbers groups in the order of their first row. [`Grouping::find`] takes a batch of grouping columns and leaves
//! the group number of each row in [`Grouping::groups`], which the accumulators then read. No grouping columns make one group;
//! one column of small integers is looked up in an array; anything else, and any column that stops being small, in a [`Table`]. With many
//! groups larger integers are small, too, so a table of integers may become an array ([`SMALL_GROUPS`], [`max_codes`]).

use std::hint::select_unpredictable;

use crate::exec::rowset::table::Table;
use crate::exec::thresholds::{LOOK_MIN_GROUPS, SMALL_GROUPS, max_codes};
use crate::value::{Batch, Column, Num, Primitive, Scalar};

/// Numbers groups in the order of their first row.
pub struct Grouping {
    by: By,
    /// The group of each row of the last batch. The vector is reused from batch to batch.
    groups: Vec<u32>,
}

/// What tells groups apart.
enum By {
    /// No grouping columns: one group, also without rows.
    Whole,
    /// One grouping column, which has had small integers and nulls only.
    SmallInts {
        /// By [`place`] of a value, its group number plus one; 0 for no group yet.
        by_value: Vec<u32>,
        /// The value of each group; null for the group of nulls.
        values: Column,
    },
    /// Anything.
    Any {
        /// The grouping columns of each group.
        keys: Table,
        /// The number of groups from which on it is worth a look whether their values are small.
        look_at: usize,
    },
}

/// The place of the group of nulls: before those of values.
const NULL: usize = 0;

impl Grouping {
    /// Grouping by so many columns.
    pub fn new(width: usize) -> Self {
        let by = match width {
            0 => By::Whole,
            1 => By::SmallInts { by_value: vec![], values: Column::default() },
            _ => By::Any { keys: Table::set(width), look_at: usize::MAX },
        };
        Grouping { by, groups: vec![] }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        match &self.by {
            By::Whole => 1,
            By::SmallInts { values, .. } => values.len(),
            By::Any { keys, .. } => keys.len(),
        }
    }

    /// Finds the group of each row of the grouping columns; adds the groups of new values.
    pub fn find(&mut self, keys: &Batch) {
        if let By::SmallInts { by_value, values } = &mut self.by {
            match places(&keys.columns[0], values.len()) {
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
            By::Any { keys: known, look_at } => {
                self.groups = known.insert_or_find(keys);
                if known.len() >= *look_at {
                    self.by.specialise();
                }
            }
        }
    }

    /// The group of each row of the last batch.
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
            By::Any { keys, .. } => keys.into_rows(),
        }
    }
}

impl By {
    /// Replaces the array by a hash table.
    fn generalise(&mut self) {
        if let By::SmallInts { values, .. } = self {
            let values = std::mem::take(values);
            let len = values.len();
            *self = By::Any {
                keys: Table::of_distinct(Batch::new(vec![values], len)),
                look_at: (2 * len).max(LOOK_MIN_GROUPS),
            };
        }
    }

    /// Replaces a hash table by an array if the values of its one column are small for the number of groups.
    fn specialise(&mut self) {
        let By::Any { keys, look_at } = self else { return };
        let Some(places) = places(&keys.rows().columns[0], keys.len()) else {
            *look_at = 2 * keys.len();
            return;
        };
        let values = std::mem::replace(keys, Table::set(1)).into_rows().columns.swap_remove(0);
        let mut by_value = vec![0; places];
        for group in 0..values.len() {
            by_value[place_of(&values, group)] = group as u32 + 1;
        }
        *self = By::SmallInts { by_value, values };
    }
}

/// How many places a column needs, if all its values are null or small for so many groups.
fn places(column: &Column, groups: usize) -> Option<usize> {
    match column {
        Column::Null(_) => Some(1),
        Column::Int(ints) => {
            // All bits combined: a search could end early, but would not be vectorised.
            let bits = ints.values.iter().fold(0, |bits, value| bits | *value as u64);
            (bits < SMALL_GROUPS.max(max_codes(groups as u64))).then(|| bits as usize + 2)
        }
        _ => None,
    }
}

/// Stands for a group that does not exist yet.
const NO_GROUP: u32 = u32::MAX;

/// Finds the groups of a column for which there are [`places`]; adds new groups.
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
    // Most batches have no new group.
    if groups.contains(&NO_GROUP) {
        for (row, group) in groups.iter_mut().enumerate().filter(|(_, group)| **group == NO_GROUP) {
            let place = place_of(column, row);
            if by_value[place] == 0 {
                values.push_from(column, row);
                by_value[place] = values.len() as u32;
            }
            *group = by_value[place] - 1;
        }
    }
}

/// The place of the value in a row, an integer or null.
#[inline(always)]
fn place_of(column: &Column, row: usize) -> usize {
    let int = column.scalar(row).and_then(Scalar::num).and_then(Num::get_int);
    int.map_or(NULL, |int| place(int, false))
}

/// The place of a value. Chosen without a branch, since nulls are rarely predictable.
#[inline]
fn place(value: i64, is_null: bool) -> usize {
    select_unpredictable(is_null, NULL, value as usize + 1)
}
