//! A column of a leaf with vectors of one length and one element type. A null takes no elements.

use std::cmp::Ordering;
use std::ops::Range;

use super::buffer::{Buffer, TreeMemory, bytes_of};
use super::nulls::Nulls;
use super::search::equal_range_by;
use crate::value::{VectorColumn, VectorElement, VectorRef, VectorRows};

/// The spare room of a copied or grown buffer, so that the next rows do not move it again. Unit: bytes; at least one row.
const ROOM_BYTES: usize = 1024;

/// Vectors, and nulls.
#[derive(Clone, Debug)]
pub(super) enum LeafVectors {
    F32(VectorBuffer<f32>),
    F64(VectorBuffer<f64>),
}

/// The elements of [`LeafVectors`].
#[derive(Clone, Debug)]
pub(super) struct VectorBuffer<T> {
    /// The elements of all rows that are not null.
    elements: Buffer<T>,
    /// The number of elements of a vector.
    dim: usize,
    /// The number of rows.
    len: usize,
    nulls: Nulls,
}

impl<T: VectorElement> VectorBuffer<T> {
    fn encode(rows: &VectorRows<T>, range: Range<usize>) -> Self {
        VectorBuffer {
            elements: with_room(rows.elements_within(range.clone()), 0),
            dim: rows.dim(),
            len: range.len(),
            nulls: Nulls::each(range.map(|row| rows.is_null(row))),
        }
    }

    fn copy_with_room(&self) -> Self {
        let elements = with_room(&self.elements, room(self.dim * size_of::<T>()) * self.dim);
        VectorBuffer { elements, nulls: self.nulls.copy_with_room(), ..*self }
    }

    /// The elements of a row, or the place where they would be.
    #[inline]
    fn place(&self, row: usize) -> Range<usize> {
        let start = (row - self.nulls.count_before(row)) * self.dim;
        start..start + self.dim
    }

    #[inline]
    fn get(&self, row: usize) -> Option<&[T]> {
        (!self.nulls.get(row)).then(|| &self.elements[self.place(row)])
    }

    /// Inserts a row, or replaces one.
    fn write(&mut self, row: usize, value: Option<&[T]>, is_new: bool) {
        let place = self.place(row);
        match (value, !is_new && !self.nulls.get(row)) {
            (Some(value), true) => self.elements[place].copy_from_slice(value),
            (Some(value), false) => self.insert(place.start, value),
            (None, true) => drop(self.elements.drain(place)),
            (None, false) => {}
        }
        self.nulls.write(row, self.len, value.is_none(), is_new);
        self.len += usize::from(is_new);
    }

    fn insert(&mut self, start: usize, value: &[T]) {
        if self.elements.len() + self.dim > self.elements.capacity() {
            self.elements.reserve_exact(room(self.dim * size_of::<T>()) * self.dim);
        }
        self.elements.extend_from_slice(value);
        self.elements[start..].rotate_right(self.dim);
    }

    fn remove(&mut self, row: usize) {
        if !self.nulls.get(row) {
            self.elements.drain(self.place(row));
        }
        self.nulls.remove(row);
        self.len -= 1;
    }

    fn append_range(&self, range: Range<usize>, target: &mut VectorRows<T>) {
        let (first, end) = (self.place(range.start).start, self.place(range.end).start);
        target.append_rows(range.map(|row| self.nulls.get(row)), &self.elements[first..end]);
    }
}

/// The number of rows that are made room for.
fn room(row_bytes: usize) -> usize {
    (ROOM_BYTES / row_bytes).max(1)
}

/// A copy with room for more elements.
fn with_room<T: Copy>(elements: &[T], room: usize) -> Buffer<T> {
    let mut copy = Buffer::with_capacity_in(elements.len() + room, TreeMemory);
    copy.extend_from_slice(elements);
    copy
}

/// Runs the same code for both element types.
macro_rules! for_buffer {
    ($vectors:expr, $buffer:ident => $body:expr) => {
        match $vectors {
            LeafVectors::F32($buffer) => $body,
            LeafVectors::F64($buffer) => $body,
        }
    };
}

impl LeafVectors {
    pub fn encode(column: &VectorColumn, range: Range<usize>) -> Self {
        match column {
            VectorColumn::F32(rows) => LeafVectors::F32(VectorBuffer::encode(rows, range)),
            VectorColumn::F64(rows) => LeafVectors::F64(VectorBuffer::encode(rows, range)),
        }
    }

    pub fn copy_with_room(&self) -> Self {
        match self {
            LeafVectors::F32(buffer) => LeafVectors::F32(buffer.copy_with_room()),
            LeafVectors::F64(buffer) => LeafVectors::F64(buffer.copy_with_room()),
        }
    }

    pub fn len(&self) -> usize {
        for_buffer!(self, buffer => buffer.len)
    }

    #[inline]
    pub fn get(&self, row: usize) -> Option<VectorRef<'_>> {
        match self {
            LeafVectors::F32(buffer) => buffer.get(row).map(VectorRef::F32),
            LeafVectors::F64(buffer) => buffer.get(row).map(VectorRef::F64),
        }
    }

    /// The run of rows with this vector or null, in a sorted range.
    pub fn equal_range(&self, range: Range<usize>, key: Option<VectorRef<'_>>) -> Range<usize> {
        let valid = for_buffer!(self, buffer => buffer.nulls.end_of_nulls(range.clone()));
        let Some(key) = key else { return range.start..valid };
        equal_range_by(valid..range.end, |row| self.get(row).map_or(Ordering::Less, |vector| vector.cmp(&key)))
    }

    /// Inserts a row, or replaces one. Returns `false` for a vector of another length or element type.
    pub fn write(&mut self, row: usize, value: Option<VectorRef<'_>>, is_new: bool) -> bool {
        match (self, value) {
            (vectors, None) => for_buffer!(vectors, buffer => buffer.write(row, None, is_new)),
            (LeafVectors::F32(buffer), Some(VectorRef::F32(value))) if buffer.dim == value.len() => {
                buffer.write(row, Some(value), is_new);
            }
            (LeafVectors::F64(buffer), Some(VectorRef::F64(value))) if buffer.dim == value.len() => {
                buffer.write(row, Some(value), is_new);
            }
            _ => return false,
        }
        true
    }

    pub fn remove(&mut self, row: usize) {
        for_buffer!(self, buffer => buffer.remove(row));
    }

    /// A column of nulls that takes these vectors.
    pub fn nulls(&self, len: usize) -> VectorColumn {
        match self {
            LeafVectors::F32(buffer) => VectorColumn::F32(VectorRows::of_nulls(buffer.dim, len)),
            LeafVectors::F64(buffer) => VectorColumn::F64(VectorRows::of_nulls(buffer.dim, len)),
        }
    }

    /// Whether a column takes these vectors.
    #[inline]
    pub fn fits(&self, target: &VectorColumn) -> bool {
        match (self, target) {
            (LeafVectors::F32(buffer), VectorColumn::F32(rows)) => buffer.dim == rows.dim(),
            (LeafVectors::F64(buffer), VectorColumn::F64(rows)) => buffer.dim == rows.dim(),
            _ => false,
        }
    }

    /// Appends a range to a column that takes these vectors.
    #[inline]
    pub fn append_range(&self, range: Range<usize>, target: &mut VectorColumn) {
        match (self, target) {
            (LeafVectors::F32(buffer), VectorColumn::F32(rows)) => buffer.append_range(range, rows),
            (LeafVectors::F64(buffer), VectorColumn::F64(rows)) => buffer.append_range(range, rows),
            _ => debug_assert!(false, "the column takes these vectors"),
        }
    }

    /// Reads a part of the memory of a row. The result has no meaning.
    #[inline]
    pub fn prefetch_row(&self, row: usize) -> usize {
        for_buffer!(self, buffer => usize::from(buffer.get(row).is_some_and(|elements| elements[0] > 0.0)))
    }

    /// The size of the elements in bytes.
    pub fn weight(&self) -> usize {
        for_buffer!(self, buffer => size_of_val(buffer.elements.as_slice()))
    }

    pub fn heap_bytes(&self) -> usize {
        for_buffer!(self, buffer => bytes_of(&buffer.elements) + buffer.nulls.heap_bytes())
    }
}
