//! The rows of vector columns: vectors of one length and one element type, all elements in one buffer.
//!
//! A null takes no elements, since a single vector among many nulls may have thousands. Four rows of `<F32; 2>?`:
//!
//! ```text
//! row        0        1      2        3
//! value      [1, 2]   null   [3, 4]   [5, 6]
//! elements   1 2             3 4      5 6
//! places     0        NULL   1        2         absent if no row is null
//! ```
//!
//! Invariants: vectors are not empty, and the places ascend.

use std::ops::Range;

use ndarray::Array1;

use super::{Vector, VectorColumn, VectorRef};

/// The place of a null row.
const NULL: usize = usize::MAX;

/// The rows of a [`VectorColumn`].
#[derive(Clone, Debug)]
pub struct VectorRows<T> {
    /// The elements of all rows that are not null.
    elements: Vec<T>,
    /// The number of elements of a vector.
    dim: usize,
    /// The place of each row's vector among the elements.
    places: Option<Vec<usize>>,
}

/// The element type of a vector: `f32` or `f64`.
pub trait VectorElement: Copy + Default + Into<f64> + Send + Sync + 'static {
    /// A vector of these elements.
    fn vector(elements: Array1<Self>) -> Vector;
    /// A vector that lies elsewhere.
    fn borrowed(elements: &[Self]) -> VectorRef<'_>;
    /// The elements of a vector, if they have this type.
    fn elements(vector: VectorRef<'_>) -> Option<&[Self]>;
    /// A column of these rows.
    fn column(rows: VectorRows<Self>) -> VectorColumn;
    /// The rows of a column, if it has this element type.
    fn rows_of(column: &VectorColumn) -> Option<&VectorRows<Self>>;
    /// The rows of a column to be changed, if it has this element type.
    fn rows_of_mut(column: &mut VectorColumn) -> Option<&mut VectorRows<Self>>;
}

macro_rules! vector_element {
    ($type:ty, $variant:ident) => {
        impl VectorElement for $type {
            fn vector(elements: Array1<Self>) -> Vector {
                Vector::$variant(elements)
            }

            fn borrowed(elements: &[Self]) -> VectorRef<'_> {
                VectorRef::$variant(elements)
            }

            fn elements(vector: VectorRef<'_>) -> Option<&[Self]> {
                if let VectorRef::$variant(elements) = vector { Some(elements) } else { None }
            }

            fn column(rows: VectorRows<Self>) -> VectorColumn {
                VectorColumn::$variant(rows)
            }

            fn rows_of(column: &VectorColumn) -> Option<&VectorRows<Self>> {
                if let VectorColumn::$variant(rows) = column { Some(rows) } else { None }
            }

            fn rows_of_mut(column: &mut VectorColumn) -> Option<&mut VectorRows<Self>> {
                if let VectorColumn::$variant(rows) = column { Some(rows) } else { None }
            }
        }
    };
}
vector_element!(f32, F32);
vector_element!(f64, F64);

impl<T: VectorElement> VectorRows<T> {
    /// Vectors one after the other, each of `dim` elements, which is not 0. A rest that is no whole vector is dropped.
    pub fn dense(mut elements: Vec<T>, dim: usize) -> Self {
        assert!(dim > 0, "vector columns have no empty vectors");
        elements.truncate(elements.len() / dim * dim);
        VectorRows { elements, dim, places: None }
    }

    /// `len` nulls.
    pub fn of_nulls(dim: usize, len: usize) -> Self {
        let nulls = (len > 0).then(|| vec![NULL; len]);
        VectorRows { places: nulls, ..VectorRows::dense(vec![], dim) }
    }

    /// The number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.places.as_ref().map_or_else(|| self.vectors(), Vec::len)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of rows that are not null.
    pub fn vectors(&self) -> usize {
        self.elements.len() / self.dim
    }

    /// The number of elements of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The elements of all rows, one row after the other, if no row is null.
    pub fn as_dense(&self) -> Option<&[T]> {
        if self.has_nulls() { None } else { Some(&self.elements) }
    }

    /// The elements of all rows that are not null, and whether each row is null, if any is.
    pub fn into_parts(self) -> (Vec<T>, Option<Vec<bool>>) {
        let nulls = self.places.filter(|places| places.contains(&NULL));
        (self.elements, nulls.map(|places| places.iter().map(|place| *place == NULL).collect()))
    }

    /// The elements of a row; `None` for null.
    #[inline]
    pub fn row(&self, row: usize) -> Option<&[T]> {
        self.place(row).map(|start| &self.elements[start..start + self.dim])
    }

    /// The elements of a row, to be changed; `None` for null.
    pub fn row_mut(&mut self, row: usize) -> Option<&mut [T]> {
        self.place(row).map(|start| &mut self.elements[start..start + self.dim])
    }

    /// The index of the first element of a row.
    #[inline]
    fn place(&self, row: usize) -> Option<usize> {
        match &self.places {
            None => Some(row * self.dim),
            Some(places) => Some(places[row]).filter(|place| *place != NULL).map(|place| place * self.dim),
        }
    }

    /// Whether a row is null.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.places.as_ref().is_some_and(|places| places[row] == NULL)
    }

    /// Whether any row is null.
    pub fn has_nulls(&self) -> bool {
        self.places.as_ref().is_some_and(|places| places.contains(&NULL))
    }

    /// The approximate size of the values.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(self.elements.as_slice()) + self.places.as_ref().map_or(0, |places| size_of_val(places.as_slice()))
    }

    /// The size of the elements of a vector.
    pub fn row_bytes(&self) -> usize {
        self.dim * size_of::<T>()
    }

    /// The places among the elements of the rows of a range that are not null.
    fn places_within(&self, rows: Range<usize>) -> Range<usize> {
        let Some(places) = &self.places else { return rows };
        let mut places = places[rows].iter().filter(|place| **place != NULL);
        let Some(first) = places.next() else { return 0..0 };
        *first..*first + 1 + places.count()
    }

    /// The elements of the rows of a range that are not null, one row after the other.
    pub fn elements_within(&self, rows: Range<usize>) -> &[T] {
        let places = self.places_within(rows);
        &self.elements[places.start * self.dim..places.end * self.dim]
    }

    /// Reserves memory for more vectors, if there is enough.
    pub fn try_reserve(&mut self, vectors: usize) -> Result<(), std::collections::TryReserveError> {
        self.elements.try_reserve_exact(vectors.saturating_mul(self.dim))
    }

    /// Appends the places of rows, each null or not, whose elements are appended next.
    fn append_places(&mut self, nulls: impl Iterator<Item = bool> + Clone) {
        if self.places.is_none() && !nulls.clone().any(|is_null| is_null) {
            return;
        }
        let mut next = self.vectors();
        let places = self.places.get_or_insert_with(|| (0..next).collect());
        places.extend(nulls.map(|is_null| {
            next += usize::from(!is_null);
            if is_null { NULL } else { next - 1 }
        }));
    }

    /// Appends a vector of [`dim`](Self::dim) elements.
    #[inline]
    pub fn push(&mut self, elements: &[T]) {
        debug_assert_eq!(elements.len(), self.dim, "the vectors of a column have one length");
        self.append_places(std::iter::once(false));
        self.elements.extend_from_slice(elements);
    }

    /// Appends a vector of [`dim`](Self::dim) elements, which are made one by one.
    #[inline]
    pub fn push_each(&mut self, elements: impl ExactSizeIterator<Item = T>) {
        debug_assert_eq!(elements.len(), self.dim, "the vectors of a column have one length");
        self.append_places(std::iter::once(false));
        self.elements.extend(elements);
    }

    /// Appends a vector of [`dim`](Self::dim) elements. If one of them is an error, appends nothing and returns it.
    pub fn try_push<E>(&mut self, elements: impl Iterator<Item = Result<T, E>>) -> Result<(), E> {
        let before = self.elements.len();
        for element in elements {
            match element {
                Ok(element) => self.elements.push(element),
                Err(error) => {
                    self.elements.truncate(before);
                    return Err(error);
                }
            }
        }
        debug_assert_eq!(self.elements.len() - before, self.dim, "the vectors of a column have one length");
        if let Some(places) = &mut self.places {
            places.push(before / self.dim);
        }
        Ok(())
    }

    /// Appends a null.
    pub fn push_null(&mut self) {
        self.append_places(std::iter::once(true));
    }

    /// Appends rows, each null or not, and the elements of those that are not.
    pub fn append_rows(&mut self, nulls: impl Iterator<Item = bool> + Clone, elements: &[T]) {
        self.append_places(nulls);
        self.elements.extend_from_slice(elements);
    }

    /// Appends a range of rows of another column of this length of vectors.
    pub(super) fn append_range(&mut self, other: &Self, range: Range<usize>) {
        self.append_rows(range.clone().map(|row| other.is_null(row)), other.elements_within(range));
    }

    /// Appends some rows of another column of this length of vectors, in the given order.
    pub(super) fn append_take(&mut self, other: &Self, rows: &[u32]) {
        self.append_places(rows.iter().map(|row| other.is_null(*row as usize)));
        self.elements.reserve(rows.len() * self.dim);
        for row in rows {
            self.elements.extend_from_slice(other.row(*row as usize).unwrap_or_default());
        }
    }

    /// Removes all rows from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        if len < self.len() {
            let kept = self.places_within(0..len).len();
            self.elements.truncate(kept * self.dim);
            if let Some(places) = &mut self.places {
                places.truncate(len);
            }
        }
    }
}
