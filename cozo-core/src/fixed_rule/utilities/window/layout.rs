//! The rows of a window in order: partition after partition, sorted within each.

use std::cmp::Ordering;
use std::ops::Range;

use crate::fixed_rule::{FixedRuleError, Poison};
use crate::value::sort::{order, sort_in_steps};
use crate::value::{Column, compare_columns};

/// Rows in order, and what belongs together. A position is a place in the order.
pub(super) struct Layout {
    /// The row at each position.
    pub order: Vec<u32>,
    /// The positions of each partition.
    pub partitions: Vec<Range<usize>>,
    /// Whether the row at a position sorts otherwise than the one before it, or begins a partition.
    pub differs: Vec<bool>,
}

/// The bytes of a row in the layout, and while it is sorted.
const ROW_BYTES: usize = size_of::<u32>() * 4 + size_of::<Range<usize>>() + size_of::<bool>();

impl Layout {
    /// Sorts `len` rows by their partitions and by keys, each of which ascends or descends. Ties keep their order.
    pub fn new(
        partitions: Vec<Column>,
        keys: Vec<Column>,
        descending: &[bool],
        len: usize,
        poison: &Poison,
    ) -> Result<Self, FixedRuleError> {
        poison.make_room(len.saturating_mul(ROW_BYTES))?;
        let divided = partitions.len();
        let descending = std::iter::repeat_n(false, divided).chain(descending.iter().copied());
        let mut columns = vec![];
        let mut reversed = vec![];
        for (column, descends) in partitions.into_iter().chain(keys).zip(descending) {
            let opposite = if descends { opposite(&column) } else { None };
            reversed.push(descends && opposite.is_none());
            columns.push(opposite.unwrap_or(column));
        }
        let order = sorted(&columns, &reversed, len)?;
        poison.check()?;
        let mut layout = Layout { order, partitions: vec![], differs: Vec::with_capacity(len) };
        let (mut start, mut pace) = (0, poison.pace());
        for position in 0..len {
            pace.step()?;
            let same = |columns: &[Column]| {
                let rows = [position.wrapping_sub(1), position].map(|at| layout.order.get(at));
                matches!(rows, [Some(before), Some(row)]
                    if compare_columns(columns, *before as usize, columns, *row as usize).is_eq())
            };
            let begins = position == 0 || !same(&columns[..divided]);
            let differs = begins || !same(&columns[divided..]);
            if begins && position > 0 {
                layout.partitions.push(start..position);
                start = position;
            }
            layout.differs.push(differs);
        }
        if len > 0 {
            layout.partitions.push(start..len);
        }
        Ok(layout)
    }

    /// The first positions of each partition, at most so many of each; 0 means all.
    pub fn first_positions(&self, take: usize) -> Vec<u32> {
        let take = if take == 0 { usize::MAX } else { take };
        let first = |partition: &Range<usize>| {
            partition.start as u32..partition.end.min(partition.start.saturating_add(take)) as u32
        };
        self.partitions.iter().flat_map(first).collect()
    }
}

/// The rows in the order of the columns, some of which count in reverse.
fn sorted(columns: &[Column], reversed: &[bool], len: usize) -> Result<Vec<u32>, FixedRuleError> {
    let all: Vec<u32> = (0..len as u32).collect();
    if !reversed.contains(&true) {
        return Ok(order(columns, len).unwrap_or(all));
    }
    let compare = |a: &u32, b: &u32| {
        let each = columns.iter().zip(reversed).map(|(column, reversed)| {
            let order = column.compare_at(*a as usize, column, *b as usize);
            if *reversed { order.reverse() } else { order }
        });
        each.fold(Ordering::Equal, Ordering::then)
    };
    let row_bytes = columns.iter().map(Column::memory_bytes).sum::<usize>() / len.max(1);
    Ok(sort_in_steps(all, |_| row_bytes, compare)?)
}

/// Numbers without nulls turned into others with the opposite order, which sort faster than by comparison.
fn opposite(column: &Column) -> Option<Column> {
    match column {
        Column::Int(column) if column.nulls.is_none() => {
            Some(Column::ints(column.values.iter().map(|int| !int).collect()))
        }
        Column::Float(column) if column.nulls.is_none() => {
            Some(Column::floats(column.values.iter().map(|x| -x).collect()))
        }
        _ => None,
    }
}
