//! Rows that are found by comparisons of values with those of other rows, in groups of equal keys.
//!
//! ```text
//! intervals {k, s, t}, looked up by  k == key,  s <= u,  t > u
//!
//! group  a          b                     regular rows of a group in the order of s, then irregular ones
//! s      1  3  4    0  2  2  6  null
//! t      9  5  8    1  7  3  9  5         a tree of the greatest t
//! ```
//!
//! One comparison, or two of the same value, select a run of the sorted rows: two binary searches find it. A comparison of a second
//! value selects rows of the run by a [`MaxTree`], whose integers are negated if small ones are wanted.
//!
//! A row is *irregular* if its values are not of the class that the others of its group have, so that a comparison may fail. What
//! is found includes all irregular rows, and for an irregular input row all rows of its group: the filter that follows compares
//! exactly, and fails where it must.

use super::hash_index::Index;
use super::max_tree::MaxTree;
use super::scale::{Class, Limit, Scale, WantedSide};
use crate::storage::End;
use crate::value::{Batch, Column};

/// The classes of the values that a row is compared by. Where there is no second value, its class is [`NO_CLASS`].
pub type Classes = [Class; 2];

/// Stands for the class of a value that is not there.
pub const NO_CLASS: Class = Class::Number;

/// The classes of a row that cannot be compared.
pub const INCOMPARABLE: Classes = [Class::Other, Class::Other];

/// Rows before they are sorted.
pub struct Unordered {
    /// The columns that group the rows; none for a single group.
    pub keys: Batch,
    /// The columns to give.
    pub outputs: Batch,
    /// The values to compare by: one column or two.
    pub compared: Vec<Column>,
    /// Whether a row is irregular in any case.
    pub is_irregular: Vec<bool>,
}

/// Rows in the order of the values that they are compared by.
#[derive(Debug)]
pub struct OrderedRows {
    /// The given columns, group by group.
    pub outputs: Batch,
    /// The position that each row had before.
    numbers: Vec<u32>,
    groups: Groups,
    first: Scale,
    /// The integers of the first value, on its scale. They ascend within the regular rows of a group.
    firsts: Vec<i64>,
    second: Option<Second>,
}

/// The second value.
#[derive(Debug)]
struct Second {
    scale: Scale,
    side: WantedSide,
    /// The integers of the value, negated if small ones are wanted.
    tree: MaxTree,
}

/// The groups of equal keys.
#[derive(Debug)]
struct Groups {
    keys: Batch,
    index: Index,
    /// For the last row of each chain of the index: its group.
    group_of: Vec<u32>,
    groups: Vec<Group>,
}

/// The rows of a group, as positions.
#[derive(Clone, Debug)]
struct Group {
    start: u32,
    regular_end: u32,
    end: u32,
    /// The classes of the regular rows.
    classes: Classes,
}

/// What an input row looks up.
pub struct Sought {
    /// The classes of its values.
    pub classes: Classes,
    /// Limits of the first value.
    pub lower: Option<Limit>,
    /// See `lower`.
    pub upper: Option<Limit>,
    /// A limit of the second value.
    pub second: Option<Limit>,
}

impl OrderedRows {
    /// Sorts rows. `second` is the wanted side of the second value, if there is one.
    pub fn new(rows: Unordered, second: Option<WantedSide>) -> Self {
        let Unordered { keys, outputs, compared, is_irregular } = rows;
        let classes = classes_of(&compared, &is_irregular);
        let (first, firsts) = Scale::of(&compared[0]);
        let mut by_value: Vec<u32> = (0..outputs.len as u32).collect();
        // Rows of equal values stay in their order.
        by_value.sort_by_key(|row| firsts[*row as usize]);
        let (groups, order) = Groups::new(keys, &classes, &by_value);
        let second = second.map(|side| {
            let (scale, seconds) = Scale::of(&compared[1]);
            let tree = MaxTree::new(order.iter().map(|row| directed(seconds[*row as usize], side)).collect());
            Second { scale, side, tree }
        });
        let firsts = order.iter().map(|row| firsts[*row as usize]).collect();
        OrderedRows { outputs: outputs.take(&order), numbers: order, groups, first, firsts, second }
    }

    /// About the bytes that it takes.
    pub fn memory_bytes(&self) -> usize {
        let of_row = size_of::<u32>() * 3 + size_of::<i64>();
        let tree = self.second.as_ref().map_or(0, |second| second.tree.memory_bytes());
        let groups = self.groups.groups.len() * size_of::<Group>();
        self.outputs.memory_bytes() + self.groups.keys.memory_bytes() + self.outputs.len * of_row + tree + groups
    }

    /// The scales of the first and of the second value.
    pub fn scales(&self) -> (&Scale, Option<&Scale>) {
        (&self.first, self.second.as_ref().map(|second| &second.scale))
    }

    /// The group of each of so many input rows.
    pub fn groups_of(&self, keys: &[&Column], rows: usize) -> Vec<Option<u32>> {
        let Groups { keys: known, index, group_of, groups } = &self.groups;
        if keys.is_empty() {
            return vec![(!groups.is_empty()).then_some(0); rows];
        }
        let found = index.find(known, keys, rows);
        (0..rows).map(|row| found.last(row).map(|last| group_of[last as usize])).collect()
    }

    /// Appends the positions of all rows of a group that may be what is sought. With an `end`, only those among which the last or
    /// the first match is; then there is no second value.
    pub fn find(&self, group: u32, sought: &Sought, end: Option<End>, found: &mut Vec<u32>) {
        let group = &self.groups.groups[group as usize];
        if group.classes != sought.classes {
            found.extend(group.start..group.end);
            return;
        }
        let (start, regular_end) = (group.start as usize, group.regular_end as usize);
        let firsts = &self.firsts[start..regular_end];
        let low = sought.lower.map_or(0, |limit| firsts.partition_point(|key| *key < limit.reach));
        let high = sought.upper.map_or(firsts.len(), |limit| firsts.partition_point(|key| *key <= limit.reach));
        if low < high {
            match (&self.second, sought.second, end) {
                (Some(second), Some(limit), _) => {
                    second.tree.find(start + low..start + high, directed(limit.reach, second.side), found);
                }
                (_, _, Some(end)) => self.find_end(start + low, start + high, end, sought, found),
                _ => found.extend((start + low) as u32..(start + high) as u32),
            }
        }
        found.extend(group.regular_end..group.end);
    }

    /// Appends the positions from one end of a run up to the first that is sure to match, with all that may have a value equal to that.
    fn find_end(&self, low: usize, high: usize, end: End, sought: &Sought, found: &mut Vec<u32>) {
        let sure = match end {
            End::First => sought.lower.map_or(i64::MIN, |limit| limit.sure),
            End::Last => sought.upper.map_or(i64::MAX, |limit| limit.sure),
        };
        let mut last = None;
        for step in 0..high - low {
            let at = if end == End::Last { high - 1 - step } else { low + step };
            let key = self.firsts[at];
            if last.is_some_and(|last| last != key || self.first.is_exact()) {
                return;
            }
            let is_sure = if end == End::Last { key <= sure } else { key >= sure };
            if is_sure {
                last = Some(key);
            }
            found.push(at as u32);
        }
    }

    /// Sorts positions as the rows were before.
    pub fn sort(&self, found: &mut [u32]) {
        found.sort_unstable_by_key(|at| self.numbers[*at as usize]);
    }
}

/// The classes of rows; [`INCOMPARABLE`] for irregular ones.
fn classes_of(compared: &[Column], is_irregular: &[bool]) -> Vec<Classes> {
    let of = |nth: usize, row: usize| match compared.get(nth) {
        Some(column) => class_at(column, row),
        None => NO_CLASS,
    };
    let rows = is_irregular.iter().enumerate();
    rows.map(|(row, is_irregular)| if *is_irregular { INCOMPARABLE } else { [of(0, row), of(1, row)] }).collect()
}

/// The class of a value of a column.
pub fn class_at(column: &Column, row: usize) -> Class {
    match column {
        Column::Any(values) => Class::of(&values[row]),
        _ if column.is_null(row) => Class::Null,
        Column::Int(_) | Column::Float(_) => Class::Number,
        Column::Str(_) => Class::Str,
        Column::Bool(_) => Class::Bool,
        Column::Null(_) | Column::Vec(_) => Class::Other,
    }
}

/// An integer of a second value, so that great ones are wanted.
fn directed(key: i64, side: WantedSide) -> i64 {
    if side == WantedSide::Above { key } else { !key }
}

impl Groups {
    /// The groups of rows, and the rows in the order of groups; `by_value` has the order within a group.
    fn new(keys: Batch, classes: &[Classes], by_value: &[u32]) -> (Self, Vec<u32>) {
        let mut index = Index::new((0..keys.columns.len()).collect());
        let (mut group_of, mut groups_of_rows, mut count) = (vec![], vec![0; classes.len()], 0);
        if keys.columns.is_empty() {
            count = u32::from(!classes.is_empty());
        } else {
            index.extend(&keys);
            let columns: Vec<&Column> = keys.columns.iter().collect();
            let found = index.find(&keys, &columns, keys.len);
            group_of = vec![u32::MAX; keys.len];
            for (row, group) in groups_of_rows.iter_mut().enumerate() {
                let of_chain = &mut group_of[found.last(row).expect("the row itself is found") as usize];
                if *of_chain == u32::MAX {
                    (*of_chain, count) = (count, count + 1);
                }
                *group = *of_chain;
            }
        }
        let of_groups = common_classes(classes, &groups_of_rows, count as usize);
        // A place for the regular rows of a group, and the next one for the irregular ones.
        let place = |row: usize| {
            let group = groups_of_rows[row] as usize;
            group * 2 + usize::from(classes[row] != of_groups[group])
        };
        let mut starts = vec![0u32; count as usize * 2 + 1];
        (0..classes.len()).for_each(|row| starts[place(row) + 1] += 1);
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        let group = |(nth, classes): (usize, &Classes)| {
            let [start, regular_end, end] = [0, 1, 2].map(|at| starts[nth * 2 + at]);
            Group { start, regular_end, end, classes: *classes }
        };
        let groups = of_groups.iter().enumerate().map(group).collect();
        let (mut next, mut order) = (starts.clone(), vec![0; classes.len()]);
        for row in by_value {
            let next = &mut next[place(*row as usize)];
            order[*next as usize] = *row;
            *next += 1;
        }
        (Groups { keys, index, group_of, groups }, order)
    }
}

/// The classes of the regular rows of each group: those of its first row that has no null and can be compared, or else of one with
/// nulls.
fn common_classes(classes: &[Classes], groups_of_rows: &[u32], groups: usize) -> Vec<Classes> {
    let mut common = vec![INCOMPARABLE; groups];
    for (of_row, group) in classes.iter().zip(groups_of_rows) {
        let known = &mut common[*group as usize];
        let is_better = *known == INCOMPARABLE || known.contains(&Class::Null) && !of_row.contains(&Class::Null);
        if is_better && !of_row.contains(&Class::Other) {
            *known = *of_row;
        }
    }
    common
}
