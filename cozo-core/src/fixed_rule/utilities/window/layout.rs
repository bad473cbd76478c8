//! The rows of a window in order: partition after partition, sorted within each.

use std::ops::Range;

use crate::fixed_rule::{FixedRuleError, Poison};
use crate::value::sort::order;
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
const ROW_BYTES: usize = size_of::<u32>() * 4 + size_of::<i64>() + size_of::<Range<usize>>() + size_of::<bool>();

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
        let mut columns = partitions;
        for (key, descends) in keys.into_iter().zip(descending) {
            columns.push(if *descends { opposite(key) } else { key });
        }
        let order = order(&columns, len).unwrap_or_else(|| (0..len as u32).collect());
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

/// A column whose rows have the opposite order.
fn opposite(column: Column) -> Column {
    match column {
        Column::Int(column) if column.nulls.is_none() => {
            Column::ints(column.values.into_iter().map(|int| !int).collect())
        }
        Column::Float(column) if column.nulls.is_none() => {
            Column::floats(column.values.into_iter().map(|float| -float).collect())
        }
        column => {
            // The ranks of the values, counted downwards.
            let len = column.len();
            let columns = [column];
            let ascending = order(&columns, len).unwrap_or_else(|| (0..len as u32).collect());
            let (mut ranks, mut rank) = (vec![0; len], 0);
            for (position, row) in ascending.iter().enumerate() {
                let before = position.checked_sub(1).map(|before| ascending[before] as usize);
                let differs = |before| compare_columns(&columns, before, &columns, *row as usize).is_ne();
                rank -= i64::from(before.is_some_and(differs));
                ranks[*row as usize] = rank;
            }
            Column::ints(ranks)
        }
    }
}
