//! A column of a leaf without encoding: floats and Booleans.

use std::cmp::Ordering;
use std::ops::Range;

use super::buffer::{Buffer, buffer, bytes_of, copy_with_room, write};
use super::nulls::Nulls;
use super::search::equal_range_by;
use crate::value::Primitive;

/// Plain values. A null row has the default value.
#[derive(Clone, Debug)]
pub(super) struct PlainColumn<T> {
    values: Buffer<T>,
    nulls: Nulls,
}

impl<T: Copy + Default> PlainColumn<T> {
    pub fn encode(column: &Primitive<T>, range: Range<usize>) -> Self {
        let nulls = Nulls::of(column.nulls.as_ref(), range.clone());
        PlainColumn { values: buffer(column.values[range].iter().copied()), nulls }
    }

    pub fn copy_with_room(&self) -> Self {
        PlainColumn { values: copy_with_room(&self.values), nulls: self.nulls.copy_with_room() }
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn get(&self, row: usize) -> Option<T> {
        (!self.nulls.get(row)).then(|| self.values[row])
    }

    pub fn equal_range(
        &self,
        range: Range<usize>,
        key: Option<T>,
        compare: impl Fn(&T, &T) -> Ordering,
    ) -> Range<usize> {
        let valid = self.nulls.end_of_nulls(range.clone());
        let Some(key) = key else { return range.start..valid };
        equal_range_by(valid..range.end, |row| compare(&self.values[row], &key))
    }

    pub fn write(&mut self, row: usize, value: Option<T>, is_new: bool) -> bool {
        self.nulls.write(row, self.values.len(), value.is_none(), is_new);
        write(&mut self.values, row, value.unwrap_or_default(), is_new);
        true
    }

    pub fn remove(&mut self, row: usize) {
        self.values.remove(row);
        self.nulls.remove(row);
    }

    pub fn append_range(&self, range: Range<usize>, target: &mut Primitive<T>) {
        self.nulls.append_to(range.clone(), &mut target.nulls, target.values.len());
        target.values.extend_from_slice(&self.values[range]);
    }

    pub fn heap_bytes(&self) -> usize {
        bytes_of(&self.values) + self.nulls.heap_bytes()
    }
}
