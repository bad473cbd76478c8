//! Vectors of floats of one width, for proximity search.

use std::cmp::Ordering;

use ndarray::Array1;

/// A vector of 32-bit or of 64-bit floats.
#[derive(Clone, Debug)]
pub enum Vector {
    /// 32-bit elements.
    F32(Array1<f32>),
    /// 64-bit elements.
    F64(Array1<f64>),
}

impl Vector {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Vector::F32(array) => array.len(),
            Vector::F64(array) => array.len(),
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
        fn elements<T: Copy>(a: &Array1<T>, b: &Array1<T>, compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
            let by_element = || a.iter().zip(b).map(|(x, y)| compare(x, y)).find(|o| o.is_ne());
            a.len().cmp(&b.len()).then_with(|| by_element().unwrap_or(Ordering::Equal))
        }
        match (self, other) {
            (Vector::F32(a), Vector::F32(b)) => elements(a, b, f32::total_cmp),
            (Vector::F64(a), Vector::F64(b)) => elements(a, b, f64::total_cmp),
            (Vector::F32(_), Vector::F64(_)) => Ordering::Less,
            (Vector::F64(_), Vector::F32(_)) => Ordering::Greater,
        }
    }
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
