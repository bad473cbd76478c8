//! Vectors of floats: making them, arithmetic on their elements, and distances.
//!
//! A vector has 32-bit or 64-bit elements. An operation on two vectors keeps 32 bits only if both have them; otherwise the narrow
//! side is widened. Vectors of different lengths are an error. [`Elementwise`] serves the operators `+`, `-`, `*` and `/` of
//! `arithmetic.rs`; a number beside a vector stands for each of its elements.
//!
//! Distances are sums of [`kernels`](crate::kernels), as those of the indexes are. The order of the additions is fixed, but
//! processors that multiply and add in one step round once less, so that the last bits depend on the machine.

use std::borrow::Cow;
use std::ops::{Add, Div, Mul, Sub};

use ndarray::Array1;

use super::arguments::{Outcome, fail, string, unexpected, vector};
use super::arithmetic::canonical;
use super::{Family, Function, kernels};
use crate::budget::{Stop, make_room};
use crate::expr::{FunctionError, Operand};
use crate::kernels::{cosine_distance_of_sums_f32, cosine_distance_of_sums_f64, dot_f32, dot_f64, l2_f32, l2_f64};
use crate::value::{Column, DataValue, JsonData, Vector, VectorElement, decode_base64};

pub(super) const FAMILY: Family = Family { title: "Vectors", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "cos_dist",
        &["x", "y"],
        "The cosine distance of two vectors of one type and length: 1 minus the cosine of the angle between them. NaN \
         for a zero vector.",
        &[("cos_dist(vec([1, 0]), vec([0, 1]))", "1.0"), ("cos_dist(vec([1, 0]), [0, 1])", "")],
        |args| distance("cos_dist", args, Metric::Cosine),
    )
    .with_kernel(|operands, len| kernels::vectors::distances(operands, len, Metric::Cosine)),
    Function::new(
        "ip_dist",
        &["x", "y"],
        "The inner product distance of two vectors of one type and length: 1 minus their inner product.",
        &[("ip_dist(vec([1, 2]), vec([3, 4]))", "-10.0")],
        |args| distance("ip_dist", args, Metric::InnerProduct),
    )
    .with_kernel(|operands, len| kernels::vectors::distances(operands, len, Metric::InnerProduct)),
    Function::new(
        "l2_dist",
        &["x", "y"],
        "The squared Euclidean distance of two vectors of one type and length.",
        &[("l2_dist(vec([1, 2]), vec([3, 4]))", "8.0"), ("l2_dist(vec([1]), vec([1, 2]))", "")],
        |args| distance("l2_dist", args, Metric::L2),
    )
    .with_kernel(|operands, len| kernels::vectors::distances(operands, len, Metric::L2)),
    Function::new(
        "l2_normalize",
        &["vector"],
        "The vector scaled to length 1; a zero vector becomes NaNs.",
        &[("l2_normalize(vec([3, 4], 'F64'))", "vec([0.6, 0.8], 'F64')"), ("l2_normalize([3, 4])", "")],
        |args| Ok(normalize(vector("l2_normalize", args, 0)?)?),
    )
    .with_kernel(kernels::vectors::normalize),
    Function::new(
        "vec",
        &["x", "type?"],
        "A vector of the numbers of a List or a Json array, of another vector, or of a base64 String of little-endian \
         elements. The type is 'F32' or 'Float' (the default), 'F64' or 'Double'.",
        &[("length(vec([1, 2.5]))", "2"), ("vec([1], 'F64') + 1", "vec([2], 'F64')"), ("vec(['a'])", "")],
        make,
    )
    .with_kernel(make_all),
];

/// The width of the elements that argument `i` names; F32 if it is absent.
pub(super) fn is_wide(function: &str, args: &[DataValue], i: usize) -> Result<bool, FunctionError> {
    if args.len() <= i {
        return Ok(false);
    }
    match string(function, args, i)? {
        "F32" | "Float" => Ok(false),
        "F64" | "Double" => Ok(true),
        _ => Err(unexpected(function, args, i, "'F32', 'Float', 'F64' or 'Double'")),
    }
}

fn make(args: &[DataValue]) -> Outcome {
    let wide = is_wide("vec", args, 1)?;
    let no_numbers = || unexpected("vec", args, 0, "a List or Json array of numbers, a vector or base64 text");
    let elements: Option<Vec<f64>> = match &args[0] {
        DataValue::List(items) => collect(items.len(), items.iter().map(DataValue::get_float))?,
        DataValue::Json(JsonData(serde_json::Value::Array(items))) => {
            collect(items.len(), items.iter().map(|x| x.as_f64()))?
        }
        DataValue::Vec(vector) => {
            make_room(vector.len() * size_of::<f64>())?;
            Some(vector.to_f64())
        }
        DataValue::Str(text) => return from_base64(text, wide),
        _ => None,
    };
    Ok(of_width(elements.ok_or_else(no_numbers)?, wide)?)
}

/// [`make`] for columns.
fn make_all(operands: &[Operand<'_>], _: usize) -> Option<Result<Column, FunctionError>> {
    let wide = match operands {
        [_] => false,
        [_, Operand::Scalar(name)] => match name.get_str()? {
            "F32" | "Float" => false,
            "F64" | "Double" => true,
            _ => return None,
        },
        _ => return None,
    };
    kernels::vectors::of_lists(operands, wide)
}

/// An empty list with room for so many floats.
pub(super) fn floats(length: usize) -> Result<Vec<f64>, Stop> {
    make_room(length * size_of::<f64>())?;
    Ok(Vec::with_capacity(length))
}

/// The elements, of which there are `length`, if all are floats.
fn collect(length: usize, elements: impl Iterator<Item = Option<f64>>) -> Result<Option<Vec<f64>>, Stop> {
    let mut collected = floats(length)?;
    for element in elements {
        let Some(element) = element else { return Ok(None) };
        collected.push(element);
    }
    Ok(Some(collected))
}

/// A vector of these elements.
pub(super) fn of_width(elements: Vec<f64>, wide: bool) -> Result<DataValue, Stop> {
    Ok(DataValue::Vec(match wide {
        true => Vector::F64(elements.into()),
        false => {
            make_room(elements.len() * size_of::<f32>())?;
            Vector::F32(elements.into_iter().map(|x| x as f32).collect())
        }
    }))
}

fn from_base64(text: &str, wide: bool) -> Outcome {
    // The decoded bytes, and the elements made of them.
    make_room(text.len().saturating_mul(2))?;
    let bytes = decode_base64(text).or_else(|error| fail("vec", error))?;
    let (elements, rest) = if wide {
        let (chunks, rest) = bytes.as_chunks();
        (Vector::F64(chunks.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()), rest)
    } else {
        let (chunks, rest) = bytes.as_chunks();
        (Vector::F32(chunks.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()), rest)
    };
    if !rest.is_empty() {
        return fail("vec", format!("{} bytes are not a whole number of elements", bytes.len()));
    }
    Ok(DataValue::Vec(elements))
}

/// Applies a function to each element; 32-bit elements are widened for it.
pub(super) fn map(vector: &Vector, function: impl Fn(f64) -> f64) -> Outcome {
    make_room(vector.bytes())?;
    Ok(DataValue::Vec(match vector {
        Vector::F32(elements) => Vector::F32(elements.mapv(|x| function(f64::from(x)) as f32)),
        Vector::F64(elements) => Vector::F64(elements.mapv(function)),
    }))
}

fn normalize(vector: &Vector) -> Result<DataValue, Stop> {
    make_room(vector.bytes())?;
    Ok(DataValue::Vec(match vector {
        Vector::F32(elements) => {
            let norm = dot(elements, elements).sqrt();
            Vector::F32(elements.mapv(|x| x / norm))
        }
        Vector::F64(elements) => {
            let norm = dot(elements, elements).sqrt();
            Vector::F64(elements.mapv(|x| x / norm))
        }
    }))
}

/// An arithmetic operation on the elements of vectors.
#[derive(Clone, Copy)]
pub(super) enum Elementwise {
    Add,
    Sub,
    Mul,
    Div,
}

/// One side of an element-wise operation.
enum Side<'a, T: Clone> {
    Number(T),
    Elements(Cow<'a, Array1<T>>),
}

/// The distance of two vectors.
#[derive(Clone, Copy, Debug)]
pub(super) enum Metric {
    /// The squared Euclidean distance.
    L2,
    /// 1 minus the cosine of the angle between.
    Cosine,
    /// 1 minus the inner product.
    InnerProduct,
}

/// The element type of a vector, with the sums over two vectors of one length.
pub(super) trait Element:
    VectorElement + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    const ONE: Self;
    fn sqrt(self) -> Self;
    /// The sum of products.
    fn dot(a: &[Self], b: &[Self]) -> Self;
    /// The sum of squared differences.
    fn squares(a: &[Self], b: &[Self]) -> Self;

    fn inner_product_distance(a: &[Self], b: &[Self]) -> Self {
        Self::ONE - Self::dot(a, b)
    }

    /// The cosine distance, with the sums of products of each vector with itself.
    fn cosine_distance(a: &[Self], b: &[Self], a_with_a: Self, b_with_b: Self) -> Self;
}

impl Element for f32 {
    const ONE: f32 = 1.0;
    fn sqrt(self) -> f32 {
        f32::sqrt(self)
    }
    fn dot(a: &[f32], b: &[f32]) -> f32 {
        dot_f32(a, b)
    }
    fn squares(a: &[f32], b: &[f32]) -> f32 {
        l2_f32(a, b)
    }
    fn cosine_distance(a: &[f32], b: &[f32], a_with_a: f32, b_with_b: f32) -> f32 {
        cosine_distance_of_sums_f32(a, b, a_with_a, b_with_b)
    }
}

impl Element for f64 {
    const ONE: f64 = 1.0;
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        dot_f64(a, b)
    }
    fn squares(a: &[f64], b: &[f64]) -> f64 {
        l2_f64(a, b)
    }
    fn cosine_distance(a: &[f64], b: &[f64], a_with_a: f64, b_with_b: f64) -> f64 {
        cosine_distance_of_sums_f64(a, b, a_with_a, b_with_b)
    }
}

impl Metric {
    /// The distance of two vectors; nothing if their types or lengths differ.
    pub(super) fn of(self, a: &Vector, b: &Vector) -> Option<f64> {
        match (a, b) {
            (a, b) if a.len() != b.len() => None,
            (Vector::F32(a), Vector::F32(b)) => Some(canonical(self.of_slices(&slice_of(a), &slice_of(b)).into())),
            (Vector::F64(a), Vector::F64(b)) => Some(canonical(self.of_slices(&slice_of(a), &slice_of(b)))),
            _ => None,
        }
    }

    fn of_slices<T: Element>(self, a: &[T], b: &[T]) -> T {
        match self {
            Metric::L2 => T::squares(a, b),
            Metric::InnerProduct => T::inner_product_distance(a, b),
            Metric::Cosine => T::cosine_distance(a, b, T::dot(a, a), T::dot(b, b)),
        }
    }
}

impl Elementwise {
    /// Applies it to two vectors, or to a vector and a number for each of its elements. An F64 vector makes it F64.
    pub(super) fn apply(self, function: &str, a: &DataValue, b: &DataValue) -> Outcome {
        // The result, and a narrow side that is widened.
        let length = length_of(a).max(length_of(b));
        make_room(length.saturating_mul(2 * size_of::<f64>()))?;
        let result = match (narrow(a), narrow(b)) {
            (Some(a), Some(b)) => self.combine(a, b).map(Vector::F32),
            _ => self.combine(wide(a), wide(b)).map(Vector::F64),
        };
        result.map(DataValue::Vec).or_else(|(a, b)| different_lengths(function, a, b))
    }

    fn combine<T: Element>(self, a: Side<'_, T>, b: Side<'_, T>) -> Result<Array1<T>, (usize, usize)> {
        match self {
            Elementwise::Add => zip(a, b, |x, y| x + y),
            Elementwise::Sub => zip(a, b, |x, y| x - y),
            Elementwise::Mul => zip(a, b, |x, y| x * y),
            Elementwise::Div => zip(a, b, |x, y| x / y),
        }
    }
}

/// The number of elements of a vector; none for a number.
fn length_of(value: &DataValue) -> usize {
    if let DataValue::Vec(vector) = value { vector.len() } else { 0 }
}

fn different_lengths<T>(function: &str, a: usize, b: usize) -> Result<T, FunctionError> {
    fail(function, format!("the vectors have different lengths, {a} and {b}"))
}

/// A number or vector as one side of a 32-bit operation; nothing if it is a 64-bit vector.
fn narrow(value: &DataValue) -> Option<Side<'_, f32>> {
    match value {
        DataValue::Vec(Vector::F32(elements)) => Some(Side::Elements(Cow::Borrowed(elements))),
        DataValue::Vec(Vector::F64(_)) => None,
        number => number.get_float().map(|number| Side::Number(number as f32)),
    }
}

/// A number or vector as one side of a 64-bit operation.
fn wide(value: &DataValue) -> Side<'_, f64> {
    match value {
        DataValue::Vec(Vector::F32(elements)) => Side::Elements(Cow::Owned(elements.mapv(f64::from))),
        DataValue::Vec(Vector::F64(elements)) => Side::Elements(Cow::Borrowed(elements)),
        number => Side::Number(number.get_float().unwrap_or(f64::NAN)),
    }
}

/// Combines element by element; two vectors of different lengths are an error.
fn zip<T: Element>(a: Side<'_, T>, b: Side<'_, T>, f: impl Fn(T, T) -> T) -> Result<Array1<T>, (usize, usize)> {
    match (a, b) {
        (Side::Number(a), Side::Number(b)) => Ok(Array1::from_elem(1, f(a, b))),
        (Side::Number(a), Side::Elements(b)) => Ok(b.mapv(|b| f(a, b))),
        (Side::Elements(a), Side::Number(b)) => Ok(a.mapv(|a| f(a, b))),
        (Side::Elements(a), Side::Elements(b)) if a.len() == b.len() => {
            Ok(a.iter().zip(b.iter()).map(|(a, b)| f(*a, *b)).collect())
        }
        (Side::Elements(a), Side::Elements(b)) => Err((a.len(), b.len())),
    }
}

/// The elements as a slice; an array whose elements do not lie side by side is copied.
fn slice_of<T: Element>(elements: &Array1<T>) -> Cow<'_, [T]> {
    elements.as_slice().map_or_else(|| Cow::Owned(elements.to_vec()), Cow::Borrowed)
}

fn dot<T: Element>(a: &Array1<T>, b: &Array1<T>) -> T {
    T::dot(&slice_of(a), &slice_of(b))
}

fn distance(function: &str, args: &[DataValue], metric: Metric) -> Outcome {
    let (a, b) = (vector(function, args, 0)?, vector(function, args, 1)?);
    match metric.of(a, b) {
        Some(distance) => Ok(distance.into()),
        None if a.len() != b.len() => different_lengths(function, a.len(), b.len()),
        None => fail(function, "one vector is F32 and the other F64"),
    }
}
