//! The vectors of an index in the form in which they are compared.
//!
//! | metric, quantization | a row holds | distance |
//! |---|---|---|
//! | L2 | the elements | squared differences |
//! | inner product | the elements | 1 - a·b |
//! | cosine | the elements, divided by the length of the vector | 1 - a·b |
//! | any, `Int8` | [codes](super::codes) of the elements above | the same of what the codes stand for |
//!
//! The distance of a walk is an `f32`. [`Space::exact`] gives the distance of the elements' own precision.

use super::codes::{FACTOR_BYTES, encode, factors};
use super::metric::{Metric, normalize_f32, normalize_f64};
use super::rows::{Elements, Precision, VectorRef, Vectors};
use crate::kernels::{
    Table, dot_codes, dot_codes_of, dot_f32, dot_f32_of, dot_f64, dot_f64_of, is_any_dot_above, is_any_l2_below,
    l2_f32, l2_f32_of, l2_f64, l2_f64_of,
};

/// Vectors that can be compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Space {
    pub metric: Metric,
    /// The precision of the original vectors.
    pub precision: Precision,
    pub dim: usize,
    pub len: usize,
    pub rows: SpaceRows,
}

/// The rows of all vectors.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SpaceRows {
    F32(Vec<f32>),
    F64(Vec<f64>),
    Codes(Vec<u8>),
}

/// A vector to compare with others: a row of the space, or a query in the same form.
#[derive(Clone, Copy)]
pub(super) enum Probe<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    Codes(&'a [u8]),
}

/// A query in the form of a space's rows.
pub(super) enum Query {
    F32(Vec<f32>),
    F64(Vec<f64>),
    Codes(Vec<u8>),
}

impl Query {
    pub fn probe(&self) -> Probe<'_> {
        match self {
            Query::F32(row) => Probe::F32(row),
            Query::F64(row) => Probe::F64(row),
            Query::Codes(row) => Probe::Codes(row),
        }
    }
}

/// What kind of elements a row has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All are finite: the vector has a place in a graph.
    Finite,
    /// Some are infinite, none is NaN: every search compares the vector.
    Infinite,
    /// Some are NaN: its distances are NaN, and it comes last.
    Nan,
}

fn extent_of(elements: impl Iterator<Item = f64>) -> Extent {
    // The sum of absolute values is NaN if an element is.
    match elements.map(f64::abs).map(|x| if x.is_finite() { 0.0 } else { x }).sum::<f64>() {
        sum if sum.is_nan() => Extent::Nan,
        sum if sum > 0.0 => Extent::Infinite,
        _ => Extent::Finite,
    }
}

/// SpaceRows of parts at their new places.
fn gathered<T: Copy + Default>(
    parts: &[(&Space, &[Option<u32>])],
    len: usize,
    stride: usize,
    write: impl Fn(&Space, u32, &mut [T]),
) -> Vec<T> {
    let mut rows = vec![T::default(); len * stride];
    for (part, numbers) in parts {
        for (node, number) in (0..).zip(numbers.iter()) {
            let Some(number) = number else { continue };
            let start = *number as usize * stride;
            write(part, node, &mut rows[start..start + stride]);
        }
    }
    rows
}

impl Space {
    /// The vectors in the form of the table above.
    pub fn new(vectors: Vectors, metric: Metric, int8: bool) -> Space {
        let (dim, len, precision) = (vectors.dim(), vectors.len(), vectors.precision());
        let mut space = Space { metric, precision, dim, len, rows: SpaceRows::Codes(vec![]) };
        space.rows = match vectors.into_elements() {
            _ if dim == 0 => SpaceRows::F32(vec![]),
            elements if int8 => {
                let mut rows = Vec::with_capacity(len * (dim + FACTOR_BYTES));
                let mut coded = |vector: VectorRef<'_>| encode(&space.form_f32(vector), &mut rows);
                match elements {
                    Elements::F32(all) => all.chunks_exact(dim).for_each(|row| coded(row.into())),
                    Elements::F64(all) => all.chunks_exact(dim).for_each(|row| coded(row.into())),
                }
                SpaceRows::Codes(rows)
            }
            Elements::F32(mut all) => {
                if metric == Metric::Cosine {
                    all.chunks_exact_mut(dim).for_each(normalize_f32);
                }
                SpaceRows::F32(all)
            }
            Elements::F64(mut all) => {
                if metric == Metric::Cosine {
                    all.chunks_exact_mut(dim).for_each(normalize_f64);
                }
                SpaceRows::F64(all)
            }
        };
        space
    }

    /// The rows of spaces of one metric, dimension and precision, each at its new number below `len`, or left out. With `int8` rows
    /// become codes unless they are; codes remain codes.
    pub fn gather(parts: &[(&Space, &[Option<u32>])], len: usize, int8: bool) -> Space {
        let Some((first, _)) = parts.first() else { panic!("there is a part") };
        let Space { metric, precision, dim, .. } = **first;
        let mut space = Space { metric, precision, dim, len, rows: SpaceRows::Codes(vec![]) };
        space.rows = match first.rows {
            _ if int8 || parts.iter().any(|(part, _)| matches!(part.rows, SpaceRows::Codes(_))) => {
                SpaceRows::Codes(gathered(parts, len, space.stride(), Space::codes))
            }
            SpaceRows::F64(_) => SpaceRows::F64(gathered(parts, len, dim, |part, node, row| match part.probe(node) {
                Probe::F64(from) => row.copy_from_slice(from),
                _ => unreachable!("all have one precision"),
            })),
            _ => SpaceRows::F32(gathered(parts, len, dim, |part, node, row| match part.probe(node) {
                Probe::F32(from) => row.copy_from_slice(from),
                _ => unreachable!("all have one precision"),
            })),
        };
        space
    }

    /// Writes the row of a node as codes.
    pub fn codes(&self, node: u32, row: &mut [u8]) {
        let mut codes = Vec::with_capacity(row.len());
        match self.probe(node) {
            Probe::Codes(from) => return row.copy_from_slice(from),
            Probe::F32(from) => encode(from, &mut codes),
            Probe::F64(from) => encode(&from.iter().map(|x| *x as f32).collect::<Vec<f32>>(), &mut codes),
        }
        row.copy_from_slice(&codes);
    }

    /// The elements of a vector as a row of `f32` has them.
    fn form_f32(&self, vector: VectorRef<'_>) -> Vec<f32> {
        let mut row = Vec::with_capacity(self.dim);
        match (self.metric, vector) {
            // A vector of small or large elements is normalized before they are rounded.
            (Metric::Cosine, VectorRef::F64(_)) => VectorRef::F64(&self.form_f64(vector)).extend_f32(&mut row),
            (Metric::Cosine, VectorRef::F32(_)) => {
                vector.extend_f32(&mut row);
                normalize_f32(&mut row);
            }
            _ => vector.extend_f32(&mut row),
        }
        row
    }

    fn form_f64(&self, vector: VectorRef<'_>) -> Vec<f64> {
        let mut row = Vec::with_capacity(self.dim);
        vector.extend_f64(&mut row);
        if self.metric == Metric::Cosine {
            normalize_f64(&mut row);
        }
        row
    }

    /// A query in the form of the rows, and the extent of its elements.
    pub fn query(&self, vector: VectorRef<'_>) -> (Query, Extent) {
        match &self.rows {
            SpaceRows::F64(_) => {
                let row = self.form_f64(vector);
                let extent = extent_of(row.iter().copied());
                (Query::F64(row), extent)
            }
            rows => {
                let row = self.form_f32(vector);
                let extent = extent_of(row.iter().copied().map(f64::from));
                if let SpaceRows::F32(_) = rows {
                    return (Query::F32(row), extent);
                }
                let mut codes = Vec::with_capacity(self.stride());
                encode(&row, &mut codes);
                (Query::Codes(codes), extent)
            }
        }
    }

    /// The number of elements, or bytes, of a row.
    pub fn stride(&self) -> usize {
        match self.rows {
            SpaceRows::Codes(_) => self.dim + FACTOR_BYTES,
            _ => self.dim,
        }
    }

    /// The row of a node.
    pub fn probe(&self, node: u32) -> Probe<'_> {
        let stride = self.stride();
        match &self.rows {
            SpaceRows::F32(all) => Probe::F32(Table { elements: all, stride }.row(node)),
            SpaceRows::F64(all) => Probe::F64(Table { elements: all, stride }.row(node)),
            SpaceRows::Codes(all) => Probe::Codes(Table { elements: all, stride }.row(node)),
        }
    }

    /// What kind of elements the row of a node has.
    pub fn extent(&self, node: u32) -> Extent {
        match self.probe(node) {
            Probe::F32(row) => extent_of(row.iter().copied().map(f64::from)),
            Probe::F64(row) => extent_of(row.iter().copied()),
            Probe::Codes(row) => extent_of(std::iter::once(f64::from(factors(row).0))),
        }
    }

    /// The distances of a vector to nodes, in the order of the nodes.
    pub fn distances(&self, from: Probe<'_>, nodes: &[u32], distances: &mut Vec<f32>) {
        let (l2, stride) = (self.metric == Metric::L2, self.stride());
        match (from, &self.rows) {
            (Probe::F32(from), SpaceRows::F32(all)) if l2 => {
                l2_f32_of(from, Table { elements: all, stride }, nodes, distances)
            }
            (Probe::F32(from), SpaceRows::F32(all)) => {
                dot_f32_of(from, Table { elements: all, stride }, nodes, distances)
            }
            (Probe::F64(from), SpaceRows::F64(all)) if l2 => {
                l2_f64_of(from, Table { elements: all, stride }, nodes, distances)
            }
            (Probe::F64(from), SpaceRows::F64(all)) => {
                dot_f64_of(from, Table { elements: all, stride }, nodes, distances)
            }
            (Probe::Codes(from), SpaceRows::Codes(all)) => {
                let table = Table { elements: all.as_slice(), stride };
                dot_codes_of(&from[..self.dim], table, nodes, distances);
                let of_from = factors(from);
                for (distance, node) in distances.iter_mut().zip(nodes) {
                    *distance = self.of_codes(*distance, of_from, factors(table.row(*node)));
                }
                return;
            }
            _ => unreachable!("a probe has the form of the rows"),
        }
        if !l2 {
            distances.iter_mut().for_each(|distance| *distance = 1.0 - *distance);
        }
    }

    /// Whether a vector is nearer to any of the nodes than a distance.
    pub fn is_any_nearer(&self, from: Probe<'_>, nodes: &[u32], distance: f32) -> bool {
        let stride = self.stride();
        match (from, &self.rows, self.metric) {
            (Probe::F32(from), SpaceRows::F32(all), Metric::L2) => {
                is_any_l2_below(from, Table { elements: all, stride }, nodes, distance)
            }
            // The distance is 1 - a·b.
            (Probe::F32(from), SpaceRows::F32(all), _) => {
                is_any_dot_above(from, Table { elements: all, stride }, nodes, 1.0 - distance)
            }
            _ => nodes.iter().any(|node| self.distance(from, *node) < distance),
        }
    }

    /// The distance of a vector to a node.
    pub fn distance(&self, from: Probe<'_>, node: u32) -> f32 {
        let l2 = self.metric == Metric::L2;
        match (from, self.probe(node)) {
            (Probe::F32(from), Probe::F32(to)) if l2 => l2_f32(from, to),
            (Probe::F32(from), Probe::F32(to)) => 1.0 - dot_f32(from, to),
            (Probe::F64(from), Probe::F64(to)) if l2 => l2_f64(from, to) as f32,
            (Probe::F64(from), Probe::F64(to)) => (1.0 - dot_f64(from, to)) as f32,
            (Probe::Codes(from), Probe::Codes(to)) => {
                let dot = dot_codes(&from[..self.dim], &to[..self.dim]) as f32;
                self.of_codes(dot, factors(from), factors(to))
            }
            _ => unreachable!("a probe has the form of the rows"),
        }
    }

    /// The distance from a sum of products of codes.
    #[inline(always)]
    fn of_codes(&self, dot: f32, (scale_a, length_a): (f32, f32), (scale_b, length_b): (f32, f32)) -> f32 {
        let dot = dot * scale_a * scale_b;
        if self.metric == Metric::L2 { length_a + length_b - 2.0 * dot } else { 1.0 - dot }
    }

    /// The distance of a query to a node in the precision of the rows.
    pub fn exact(&self, from: Probe<'_>, node: u32) -> f64 {
        match (from, self.probe(node)) {
            (Probe::F64(from), Probe::F64(to)) if self.metric == Metric::L2 => l2_f64(from, to),
            (Probe::F64(from), Probe::F64(to)) => 1.0 - dot_f64(from, to),
            _ => f64::from(self.distance(from, node)),
        }
    }

    /// The distance of a query to an original vector, of which the space has codes.
    pub fn original(&self, query: VectorRef<'_>, vector: VectorRef<'_>) -> f64 {
        match (self.precision, query, vector) {
            (Precision::F32, VectorRef::F32(query), VectorRef::F32(vector)) => {
                f64::from(self.metric.distance_f32(query, vector))
            }
            (Precision::F32, ..) => {
                let (mut a, mut b) = (vec![], vec![]);
                query.extend_f32(&mut a);
                vector.extend_f32(&mut b);
                f64::from(self.metric.distance_f32(&a, &b))
            }
            (Precision::F64, ..) => {
                let (mut a, mut b) = (vec![], vec![]);
                query.extend_f64(&mut a);
                vector.extend_f64(&mut b);
                self.metric.distance_f64(&a, &b)
            }
        }
    }

    /// The size of a row, in bytes.
    pub fn row_bytes(&self) -> usize {
        match self.rows {
            SpaceRows::F32(_) => self.dim * size_of::<f32>(),
            SpaceRows::F64(_) => self.dim * size_of::<f64>(),
            SpaceRows::Codes(_) => self.stride(),
        }
    }

    /// The memory of the rows, in bytes.
    pub fn memory_bytes(&self) -> usize {
        match &self.rows {
            SpaceRows::F32(all) => all.capacity() * size_of::<f32>(),
            SpaceRows::F64(all) => all.capacity() * size_of::<f64>(),
            SpaceRows::Codes(all) => all.capacity(),
        }
    }
}
