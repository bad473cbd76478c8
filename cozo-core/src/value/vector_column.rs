//! Vector columns: vectors of one length and one element type, and nulls.

use std::cmp::Ordering;
use std::ops::Range;

use ndarray::Array1;

use super::{Column, DataValue, Vector, VectorElement, VectorRef, VectorRows};

/// Vectors of one length and one element type, and nulls.
#[derive(Clone, Debug)]
pub enum VectorColumn {
    /// Vectors with 32-bit elements.
    F32(VectorRows<f32>),
    /// Vectors with 64-bit elements.
    F64(VectorRows<f64>),
}

/// Runs the same code for both element types.
macro_rules! for_rows {
    ($column:expr, $rows:ident => $body:expr) => {
        match $column {
            VectorColumn::F32($rows) => $body,
            VectorColumn::F64($rows) => $body,
        }
    };
}

impl VectorColumn {
    /// `len` nulls, in a column that takes vectors like this one, which is not empty.
    pub fn of_nulls(like: &Vector, len: usize) -> Self {
        match like {
            Vector::F32(elements) => VectorColumn::F32(VectorRows::of_nulls(elements.len(), len)),
            Vector::F64(elements) => VectorColumn::F64(VectorRows::of_nulls(elements.len(), len)),
        }
    }

    /// `len` nulls, in a column that takes the vectors of this one.
    pub(super) fn nulls(&self, len: usize) -> Self {
        match self {
            VectorColumn::F32(rows) => VectorColumn::F32(VectorRows::of_nulls(rows.dim(), len)),
            VectorColumn::F64(rows) => VectorColumn::F64(VectorRows::of_nulls(rows.dim(), len)),
        }
    }

    /// A column of one vector, which is not empty.
    pub(super) fn of_one(vector: &Vector) -> Self {
        match vector {
            Vector::F32(array) => VectorColumn::F32(VectorRows::dense(array.to_vec(), array.len())),
            Vector::F64(array) => VectorColumn::F64(VectorRows::dense(array.to_vec(), array.len())),
        }
    }

    /// The number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        for_rows!(self, rows => rows.len())
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of elements of a vector.
    pub fn dim(&self) -> usize {
        for_rows!(self, rows => rows.dim())
    }

    /// Whether a row is null.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        for_rows!(self, rows => rows.is_null(row))
    }

    /// Whether any row is null.
    pub fn has_nulls(&self) -> bool {
        for_rows!(self, rows => rows.has_nulls())
    }

    /// The elements of a row, without a copy; `None` for null.
    #[inline]
    pub fn row(&self, row: usize) -> Option<VectorRef<'_>> {
        match self {
            VectorColumn::F32(rows) => rows.row(row).map(VectorRef::F32),
            VectorColumn::F64(rows) => rows.row(row).map(VectorRef::F64),
        }
    }

    /// The value of a row.
    pub(super) fn get(&self, row: usize) -> DataValue {
        self.row(row).map_or(DataValue::Null, |vector| DataValue::Vec(vector.to_vector()))
    }

    /// The approximate size of the values.
    pub fn memory_bytes(&self) -> usize {
        for_rows!(self, rows => rows.memory_bytes())
    }

    /// The size of the elements of a vector.
    pub fn row_bytes(&self) -> usize {
        for_rows!(self, rows => rows.row_bytes())
    }

    /// The size of the elements of some rows.
    pub(super) fn taken_bytes(&self, rows: &[u32]) -> usize {
        let vectors = match self.has_nulls() {
            false => rows.len(),
            true => rows.iter().filter(|row| !self.is_null(**row as usize)).count(),
        };
        self.row_bytes().saturating_mul(vectors)
    }

    /// The size of the elements of the rows of a range.
    pub fn bytes_within(&self, rows: Range<usize>) -> usize {
        for_rows!(self, column => size_of_val(column.elements_within(rows)))
    }

    /// Whether vectors of the other column have the same length and element type.
    pub(super) fn is_like(&self, other: &VectorColumn) -> bool {
        self.dim() == other.dim() && std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Appends a vector. Returns `false` if it has another length or element type.
    #[inline]
    pub fn push(&mut self, vector: VectorRef<'_>) -> bool {
        match (self, vector) {
            (VectorColumn::F32(rows), VectorRef::F32(elements)) if rows.dim() == elements.len() => rows.push(elements),
            (VectorColumn::F64(rows), VectorRef::F64(elements)) if rows.dim() == elements.len() => rows.push(elements),
            _ => return false,
        }
        true
    }

    /// Whether a vector has the length and the element type of the column.
    pub(super) fn takes(&self, vector: &Vector) -> bool {
        match (self, vector) {
            (VectorColumn::F32(rows), Vector::F32(elements)) => rows.dim() == elements.len(),
            (VectorColumn::F64(rows), Vector::F64(elements)) => rows.dim() == elements.len(),
            _ => false,
        }
    }

    /// Appends a vector that the column [takes](Self::takes).
    pub(super) fn push_value(&mut self, vector: &Vector) {
        let taken = match vector.elements() {
            Some(elements) => self.push(elements),
            None => vector.compact().elements().is_some_and(|elements| self.push(elements)),
        };
        debug_assert!(taken, "the column takes the vector");
    }

    /// Replaces the vector of a row that is not null by one that the column [takes](Self::takes).
    pub(super) fn replace(&mut self, row: usize, vector: &Vector) {
        fn write<T: Copy>(place: Option<&mut [T]>, elements: &Array1<T>) {
            place.into_iter().flatten().zip(elements).for_each(|(place, element)| *place = *element);
        }
        match (self, vector) {
            (VectorColumn::F32(rows), Vector::F32(elements)) => write(rows.row_mut(row), elements),
            (VectorColumn::F64(rows), Vector::F64(elements)) => write(rows.row_mut(row), elements),
            _ => debug_assert!(false, "the column takes the vector"),
        }
    }

    /// A row against a value, in the total order.
    pub(super) fn compare_value(&self, row: usize, value: &DataValue) -> Ordering {
        match (self.row(row), value) {
            (Some(a), DataValue::Vec(b)) => b.elements().map_or_else(|| a.to_vector().cmp(b), |b| a.cmp(&b)),
            _ => self.get(row).cmp(value),
        }
    }

    /// Appends a null.
    pub fn push_null(&mut self) {
        for_rows!(self, rows => rows.push_null());
    }

    /// Reserves memory for more vectors, if there is enough.
    pub(super) fn try_reserve(&mut self, vectors: usize) -> Result<(), std::collections::TryReserveError> {
        for_rows!(self, rows => rows.try_reserve(vectors))
    }

    /// Appends a range of rows of a column that [is like this one](Self::is_like).
    pub(super) fn append_range(&mut self, other: &VectorColumn, range: Range<usize>) {
        match (self, other) {
            (VectorColumn::F32(rows), VectorColumn::F32(other)) => rows.append_range(other, range),
            (VectorColumn::F64(rows), VectorColumn::F64(other)) => rows.append_range(other, range),
            _ => debug_assert!(false, "both columns have the same element type"),
        }
    }

    /// Appends some rows of a column that [is like this one](Self::is_like), in the given order.
    pub(super) fn append_take(&mut self, other: &VectorColumn, taken: &[u32]) {
        match (self, other) {
            (VectorColumn::F32(rows), VectorColumn::F32(other)) => rows.append_take(other, taken),
            (VectorColumn::F64(rows), VectorColumn::F64(other)) => rows.append_take(other, taken),
            _ => debug_assert!(false, "both columns have the same element type"),
        }
    }

    /// Removes all rows from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        for_rows!(self, rows => rows.truncate(len));
    }
}

impl Column {
    /// Appends a vector. A column of such vectors takes the elements without making a value.
    pub fn push_vector<T: VectorElement>(&mut self, elements: impl ExactSizeIterator<Item = T>) {
        let dim = elements.len();
        if let (Column::Null(len), 1..) = (&*self, dim) {
            *self = Column::Vec(T::column(VectorRows::of_nulls(dim, *len)));
        }
        if let Column::Vec(column) = self
            && let Some(rows) = T::rows_of_mut(column).filter(|rows| rows.dim() == dim)
        {
            return rows.push_each(elements);
        }
        self.push_owned(DataValue::Vec(T::vector(elements.collect())));
    }
}
