//! Vectors of floats of one width, for proximity search.

use std::cmp::Ordering;

use ndarray::Array1;

use super::DataValue;

/// A vector of 32-bit or of 64-bit floats.
#[derive(Clone, Debug)]
pub enum Vector {
    /// 32-bit elements.
    F32(Array1<f32>),
    /// 64-bit elements.
    F64(Array1<f64>),
}

/// The elements of a vector that lies elsewhere.
#[derive(Clone, Copy, Debug)]
pub enum VectorRef<'a> {
    /// 32-bit elements.
    F32(&'a [f32]),
    /// 64-bit elements.
    F64(&'a [f64]),
}

impl<'a> VectorRef<'a> {
    /// The number of elements.
    #[inline]
    pub fn dim(self) -> usize {
        match self {
            VectorRef::F32(elements) => elements.len(),
            VectorRef::F64(elements) => elements.len(),
        }
    }

    /// The size of the elements in bytes.
    pub fn bytes(self) -> usize {
        match self {
            VectorRef::F32(elements) => size_of_val(elements),
            VectorRef::F64(elements) => size_of_val(elements),
        }
    }

    /// Appends the elements with 4 bytes, rounded if they have more.
    pub fn extend_f32(self, row: &mut Vec<f32>) {
        match self {
            VectorRef::F32(from) => row.extend_from_slice(from),
            VectorRef::F64(from) => row.extend(from.iter().map(|x| *x as f32)),
        }
    }

    /// Appends the elements with 8 bytes.
    pub fn extend_f64(self, row: &mut Vec<f64>) {
        match self {
            VectorRef::F32(from) => row.extend(from.iter().map(|x| f64::from(*x))),
            VectorRef::F64(from) => row.extend_from_slice(from),
        }
    }

    /// A vector of its own.
    pub fn to_vector(self) -> Vector {
        match self {
            VectorRef::F32(elements) => Vector::F32(elements.to_vec().into()),
            VectorRef::F64(elements) => Vector::F64(elements.to_vec().into()),
        }
    }
}

impl From<VectorRef<'_>> for DataValue {
    fn from(vector: VectorRef<'_>) -> Self {
        DataValue::Vec(vector.to_vector())
    }
}

impl<'a> From<&'a [f32]> for VectorRef<'a> {
    fn from(elements: &'a [f32]) -> Self {
        VectorRef::F32(elements)
    }
}

impl<'a> From<&'a [f64]> for VectorRef<'a> {
    fn from(elements: &'a [f64]) -> Self {
        VectorRef::F64(elements)
    }
}

impl Vector {
    /// The elements as a slice. `None` for an array whose elements do not lie side by side, which only a host can make.
    #[inline]
    pub fn elements(&self) -> Option<VectorRef<'_>> {
        match self {
            Vector::F32(array) => array.as_slice().map(VectorRef::F32),
            Vector::F64(array) => array.as_slice().map(VectorRef::F64),
        }
    }

    /// The same vector, with its elements side by side.
    pub fn compact(&self) -> Vector {
        match self {
            Vector::F32(array) => Vector::F32(array.to_vec().into()),
            Vector::F64(array) => Vector::F64(array.to_vec().into()),
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Vector::F32(array) => array.len(),
            Vector::F64(array) => array.len(),
        }
    }

    /// The size of the elements in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Vector::F32(array) => array.len() * size_of::<f32>(),
            Vector::F64(array) => array.len() * size_of::<f64>(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as 64-bit floats.
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            Vector::F32(array) => array.iter().map(|x| f64::from(*x)).collect(),
            Vector::F64(array) => array.to_vec(),
        }
    }
}

impl PartialEq for Vector {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Vector {}

impl PartialOrd for Vector {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// F32 before F64, then by length, then element by element.
impl Ord for Vector {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Vector::F32(a), Vector::F32(b)) => compare(a.len(), b.len(), a.iter().zip(b), f32::total_cmp),
            (Vector::F64(a), Vector::F64(b)) => compare(a.len(), b.len(), a.iter().zip(b), f64::total_cmp),
            (Vector::F32(_), Vector::F64(_)) => Ordering::Less,
            (Vector::F64(_), Vector::F32(_)) => Ordering::Greater,
        }
    }
}

impl PartialEq for VectorRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (VectorRef::F32(a), VectorRef::F32(b)) => {
                a.len() == b.len() && a.iter().zip(*b).all(|(x, y)| x.to_bits() == y.to_bits())
            }
            (VectorRef::F64(a), VectorRef::F64(b)) => {
                a.len() == b.len() && a.iter().zip(*b).all(|(x, y)| x.to_bits() == y.to_bits())
            }
            _ => false,
        }
    }
}

impl Eq for VectorRef<'_> {}

impl PartialOrd for VectorRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The order of [`Vector`].
impl Ord for VectorRef<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (VectorRef::F32(a), VectorRef::F32(b)) => compare(a.len(), b.len(), a.iter().zip(*b), f32::total_cmp),
            (VectorRef::F64(a), VectorRef::F64(b)) => compare(a.len(), b.len(), a.iter().zip(*b), f64::total_cmp),
            (VectorRef::F32(_), VectorRef::F64(_)) => Ordering::Less,
            (VectorRef::F64(_), VectorRef::F32(_)) => Ordering::Greater,
        }
    }
}

/// By length, then by the first pair of elements that differ.
fn compare<'a, T: 'a>(
    a: usize,
    b: usize,
    mut pairs: impl Iterator<Item = (&'a T, &'a T)>,
    by: impl Fn(&T, &T) -> Ordering,
) -> Ordering {
    a.cmp(&b)
        .then_with(|| pairs.find_map(|(x, y)| Some(by(x, y)).filter(|order| order.is_ne())).unwrap_or(Ordering::Equal))
}

impl serde::Serialize for Vector {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wide = matches!(self, Vector::F64(_));
        (wide, self.to_f64()).serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Vector {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (wide, elements) = <(bool, Vec<f64>)>::deserialize(deserializer)?;
        Ok(if wide {
            Vector::F64(elements.into())
        } else {
            Vector::F32(elements.into_iter().map(|x| x as f32).collect())
        })
    }
}
