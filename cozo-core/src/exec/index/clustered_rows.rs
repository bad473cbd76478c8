//! Rows clustered by a single integer key: the rows of a key are neighbours, found by position.
//!
//! ```text
//! keys     0 0 2 2 2 3        starts: 0 2 2 5 6      rows of key 2: starts[2] .. starts[3] = 2 .. 5
//! column   a b c d e f                               c d e
//! ```
//!
//! Keys are integers from 0 up that lie close together and ascend, so that an array by key holds where the rows of each key begin
//! ([`KeyStarts`]). A look-up is one array access, and its rows are copied as a range. Columns of integers that fit 32 bits are
//! held in 32 bits, which halves the memory that a join reads.
//!
//! **Padding**: once all rows are there ([`ClusteredRows::finish`]), narrow columns have [`LANES`] more values, so that [`LANES`]
//! values can be read from any row on.

use std::ops::Range;

use crate::budget::{Stop, make_room};
use crate::exec::thresholds::max_codes;
use crate::value::{Batch, Column, KeyStarts};

/// This many rows can be read at once from any row on.
pub const LANES: usize = 4;

/// The rows of each key.
#[derive(Debug, Default)]
pub struct ClusteredRows {
    /// Where the rows of each key begin.
    starts: KeyStarts,
    /// The columns that are not the key.
    columns: Vec<Values>,
}

/// The values of a column.
#[derive(Debug)]
pub enum Values {
    /// Integers that fit 32 bits, as the numbers of things mostly do. Once all rows are there, [`LANES`] more values follow the
    /// last.
    Narrow(Vec<u32>),
    /// Any other values.
    Wide(Column),
}

impl ClusteredRows {
    /// No rows yet, with so many columns besides the key.
    pub fn new(columns: usize) -> Self {
        ClusteredRows { starts: KeyStarts::default(), columns: (0..columns).map(|_| Values::Narrow(vec![])).collect() }
    }

    /// Whether keys, once sorted, can be [appended](Self::append).
    pub fn suits(keys: &Column) -> bool {
        let most = max_codes(keys.len() as u64);
        keys.as_dense_ints().is_some_and(|keys| keys.iter().all(|key| (*key as u64) < most))
    }

    /// Appends rows whose keys follow those of the present rows; the first column is the key. `rows` is about the number of all
    /// rows. Fails if the keys do not ascend, or are not integers that lie close together.
    pub fn append(&mut self, batch: &Batch, rows: u64) -> Option<()> {
        let (key, columns) = batch.columns.split_first()?;
        self.starts.add(key.as_dense_ints()?.iter().map(|key| (*key, 1)), max_codes(rows))?;
        self.columns.iter_mut().zip(columns).for_each(|(values, column)| values.append(column));
        Some(())
    }

    /// Completes the rows, and releases spare capacity.
    pub fn finish(&mut self) {
        self.starts.finish();
        for values in &mut self.columns {
            if let Values::Narrow(values) = values {
                values.resize(values.len() + LANES, 0);
                values.shrink_to_fit();
            }
        }
    }

    /// Where the rows of each key begin.
    pub fn starts(&self) -> &KeyStarts {
        &self.starts
    }

    /// A column of the rows in ranges, which have `len` rows together.
    pub fn take(&self, column: usize, ranges: &[Range<u32>], len: usize) -> Result<Column, Stop> {
        let ranges = ranges.iter().map(|range| range.start as usize..range.end as usize);
        match &self.columns[column] {
            Values::Narrow(values) => {
                let mut taken = Vec::with_capacity(len);
                ranges.for_each(|range| taken.extend(values[range].iter().map(|value| i64::from(*value))));
                Ok(Column::ints(taken))
            }
            Values::Wide(values) => {
                make_room(ranges.clone().map(|range| values.large_bytes_within(range)).sum())?;
                let mut taken = Column::default();
                ranges.for_each(|range| taken.append_range(values, range));
                Ok(taken)
            }
        }
    }

    /// A column of all rows.
    pub fn column(&self, column: usize) -> &Values {
        &self.columns[column]
    }

    /// About how many bytes the rows take.
    pub fn memory_bytes(&self) -> usize {
        let of_columns: usize = self.columns.iter().map(Values::memory_bytes).sum();
        of_columns + self.starts.memory_bytes()
    }
}

impl Values {
    fn append(&mut self, column: &Column) {
        if let Values::Narrow(values) = self {
            let narrow =
                column.as_dense_ints().filter(|ints| ints.iter().fold(0, |bits, int| bits | *int as u64) >> 32 == 0);
            if let Some(ints) = narrow {
                values.extend(ints.iter().map(|int| *int as u32));
                return;
            }
            let mut wide = Column::default();
            if !values.is_empty() {
                wide = Column::ints(values.iter().map(|value| i64::from(*value)).collect());
            }
            *self = Values::Wide(wide);
        }
        if let Values::Wide(values) = self {
            values.append_range(column, 0..column.len());
        }
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Values::Narrow(values) => values.capacity() * size_of::<u32>(),
            Values::Wide(column) => column.memory_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::DataValue;

    #[test]
    fn the_rows_of_a_key_are_found_by_place_also_where_values_grow_wide() {
        let keys: Vec<i64> = (0..900).map(|row| row / 7 * 2).collect();
        let values: Vec<DataValue> = (0..900i64)
            .map(|row| match row {
                ..300 => row.into(),
                300..600 => (row * 1_000_000_000).into(),
                _ => format!("{row}").into(),
            })
            .collect();
        let mut groups = ClusteredRows::new(2);
        for rows in (0..9).map(|part| part * 100..part * 100 + 100) {
            let columns = vec![
                Column::ints(keys[rows.clone()].to_vec()),
                values[rows.clone()].iter().cloned().collect(),
                Column::ints(keys[rows].iter().map(|key| key + 1).collect()),
            ];
            groups.append(&Batch::new(columns, 100), 900).expect("keys ascend and lie close together");
        }
        groups.finish();
        let asked = [3, 256, -1, 0, 1 << 40, 42, 258];
        let found = groups.starts().find(&Column::ints(asked.to_vec()), asked.len());
        let mixed: Column =
            asked.iter().map(|key| DataValue::from(*key)).chain([DataValue::Null, 2.0.into(), "2".into()]).collect();
        assert_eq!(groups.starts().find(&mixed, asked.len() + 3)[..asked.len()], found);
        assert!(groups.starts().find(&mixed, asked.len() + 3)[asked.len()..].iter().all(Range::is_empty));
        let expected: Vec<usize> = asked.iter().flat_map(|key| (0..900).filter(|row| keys[*row] == *key)).collect();
        let len = expected.len();
        let taken = groups.take(0, &found, len).expect("there is room");
        assert_eq!(
            taken.iter().collect::<Vec<_>>(),
            expected.iter().map(|row| values[*row].clone()).collect::<Vec<_>>()
        );
        let beside = groups.take(1, &found, len).expect("there is room");
        assert_eq!(
            beside.iter().collect::<Vec<_>>(),
            expected.iter().map(|row| (keys[*row] + 1).into()).collect::<Vec<DataValue>>()
        );
    }

    #[test]
    fn keys_that_descend_or_lie_far_apart_are_refused() {
        let suits = |keys: &[i64]| ClusteredRows::suits(&Column::ints(keys.to_vec()));
        assert!(suits(&[]) && suits(&[5, 1, 0]) && !suits(&[0, -1]) && !suits(&[0, 1 << 40]));
        assert!(!ClusteredRows::suits(&Column::Null(2)));
        let append =
            |keys: &[i64]| ClusteredRows::new(0).append(&Batch::new(vec![Column::ints(keys.to_vec())], keys.len()), 3);
        assert_eq!(append(&[1, 1, 5]), Some(()));
        for keys in [[1, 5, 4], [-1, 0, 1], [0, 1, 1 << 40]] {
            assert_eq!(append(&keys), None, "{keys:?}");
        }
    }
}
