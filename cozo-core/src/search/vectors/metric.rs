//! Distances between two vectors, as the language's functions and the indexes have them.
//!
//! | metric | distance | notes |
//! |---|---|---|
//! | `L2` | the sum of squared differences | |
//! | `Cosine` | 1 - a·b / √(a·a b·b) | NaN for a vector of zeros |
//! | `InnerProduct` | 1 - a·b | |
//!
//! Vectors of `f32` are summed as `f32`. [`order`](super::order) puts NaN behind every other distance.

use serde::{Deserialize, Serialize};

use crate::kernels::{cosine_distance_f32, cosine_distance_f64, dot_f32, dot_f64, l2_f32, l2_f64};

/// How far two vectors are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Metric {
    /// The sum of squared differences.
    L2,
    /// 1 minus the cosine of the angle.
    Cosine,
    /// 1 minus the inner product.
    InnerProduct,
}

impl Metric {
    /// The distance of two vectors of one length.
    pub fn distance_f32(self, a: &[f32], b: &[f32]) -> f32 {
        match self {
            Metric::L2 => l2_f32(a, b),
            Metric::InnerProduct => 1.0 - dot_f32(a, b),
            Metric::Cosine => cosine_distance_f32(a, b),
        }
    }

    /// The distance of two vectors of one length.
    pub fn distance_f64(self, a: &[f64], b: &[f64]) -> f64 {
        match self {
            Metric::L2 => l2_f64(a, b),
            Metric::InnerProduct => 1.0 - dot_f64(a, b),
            Metric::Cosine => cosine_distance_f64(a, b),
        }
    }
}

/// Divides a vector by its length. A vector of zeros becomes NaN, as the language's `l2_normalize` has it.
pub(super) fn normalize_f32(row: &mut [f32]) {
    let length = row.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    row.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
}

/// The same for elements of 8 bytes.
pub(super) fn normalize_f64(row: &mut [f64]) {
    let length = dot_f64(row, row).sqrt();
    row.iter_mut().for_each(|x| *x /= length);
}
