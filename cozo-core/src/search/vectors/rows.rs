//! Vectors of one length and precision, one after the other, as a caller hands them over and gets them back.

use serde::{Deserialize, Serialize};

pub use crate::value::VectorRef;

/// The element type of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Precision {
    /// Elements of 4 bytes.
    F32,
    /// Elements of 8 bytes.
    F64,
}

/// Why vectors or the bytes of an index are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// A vector has another length than the others. Hand over vectors of the column's dimension.
    #[error("a vector has {found} elements instead of {expected}")]
    Dimension {
        /// The number of elements that the others have.
        expected: usize,
        /// The number of elements of this one.
        found: usize,
    },
    /// An index has at most [`MAX_NODES`](super::thresholds::MAX_NODES) vectors. Divide them among several.
    #[error("an index cannot have so many vectors")]
    TooMany,
    /// The bytes are not those of an index, or of a later version. Build the index anew.
    #[error("these are not the bytes of a vector index: {0}")]
    Bytes(&'static str),
}

/// Vectors of one length and precision.
#[derive(Clone, Debug, PartialEq)]
pub struct Vectors {
    dim: usize,
    len: usize,
    elements: Elements,
}

/// The elements of all vectors.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Elements {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Vectors {
    /// No vectors, and room for `capacity` of them.
    pub fn with_capacity(dim: usize, precision: Precision, capacity: usize) -> Self {
        let elements = match precision {
            Precision::F32 => Elements::F32(Vec::with_capacity(dim * capacity)),
            Precision::F64 => Elements::F64(Vec::with_capacity(dim * capacity)),
        };
        Vectors { dim, len: 0, elements }
    }

    /// Appends a vector, converted to the precision of the others. Fails if its length is another.
    pub fn push(&mut self, vector: VectorRef<'_>) -> Result<(), VectorError> {
        if vector.dim() != self.dim {
            return Err(VectorError::Dimension { expected: self.dim, found: vector.dim() });
        }
        if self.len >= super::thresholds::MAX_NODES {
            return Err(VectorError::TooMany);
        }
        match &mut self.elements {
            Elements::F32(all) => vector.extend_f32(all),
            Elements::F64(all) => vector.extend_f64(all),
        }
        self.len += 1;
        Ok(())
    }

    /// The number of elements of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The element type.
    pub fn precision(&self) -> Precision {
        match self.elements {
            Elements::F32(_) => Precision::F32,
            Elements::F64(_) => Precision::F64,
        }
    }

    /// The number of vectors.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The vector with a number below [`Vectors::len`].
    pub fn row(&self, number: usize) -> VectorRef<'_> {
        let range = number * self.dim..(number + 1) * self.dim;
        match &self.elements {
            Elements::F32(all) => VectorRef::F32(&all[range]),
            Elements::F64(all) => VectorRef::F64(&all[range]),
        }
    }

    /// The memory of the vectors, in bytes.
    pub fn memory_bytes(&self) -> usize {
        match &self.elements {
            Elements::F32(all) => all.capacity() * size_of::<f32>(),
            Elements::F64(all) => all.capacity() * size_of::<f64>(),
        }
    }

    pub(super) fn into_elements(self) -> Elements {
        self.elements
    }
}
