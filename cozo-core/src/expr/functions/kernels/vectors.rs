//! Columns of vectors without nulls: distances, scaling, arithmetic on their elements, and making them of lists.

use super::super::arithmetic::canonical;
use super::{KernelOutcome, OperandSide, Typed, by_reference, dense, done};
use crate::budget::{Stop, make_room};
use crate::expr::Operand;
use crate::expr::functions::vectors::{Element, Metric};
use crate::value::{Column, DataValue, VectorColumn, VectorElement, VectorRef, VectorRows};

/// The vectors of an operand, all of one length. No vector is empty.
#[derive(Clone, Copy)]
enum VectorSlices<'a> {
    F32(RowSlices<'a, f32>),
    F64(RowSlices<'a, f64>),
}

/// A vector for each row, or the same for all.
#[derive(Clone, Copy)]
struct RowSlices<'a, T> {
    elements: &'a [T],
    dim: usize,
    /// The number of elements from one row to the next, 0 if all have the same.
    step: usize,
}

impl<'a, T> RowSlices<'a, T> {
    #[inline]
    fn row(&self, row: usize) -> &'a [T] {
        let start = row * self.step;
        &self.elements[start..start + self.dim]
    }
}

/// The operand, if it is a vector or a column of vectors and no row is null.
fn vectors<'a>(operand: &'a Operand<'_>) -> Option<VectorSlices<'a>> {
    fn rows<T: VectorElement>(rows: &VectorRows<T>) -> Option<RowSlices<'_, T>> {
        Some(RowSlices { elements: rows.as_dense()?, dim: rows.dim(), step: rows.dim() })
    }
    match operand {
        Operand::Scalar(value) => match &**value {
            DataValue::Vec(vector) if !vector.is_empty() => Some(match vector.elements()? {
                VectorRef::F32(elements) => VectorSlices::F32(RowSlices { elements, dim: elements.len(), step: 0 }),
                VectorRef::F64(elements) => VectorSlices::F64(RowSlices { elements, dim: elements.len(), step: 0 }),
            }),
            _ => None,
        },
        Operand::Column(column) => match &**column {
            Column::Vec(VectorColumn::F32(column)) => rows(column).map(VectorSlices::F32),
            Column::Vec(VectorColumn::F64(column)) => rows(column).map(VectorSlices::F64),
            _ => None,
        },
    }
}

/// The distances of two operands.
pub(in super::super) fn distances(operands: &[Operand<'_>], len: usize, metric: Metric) -> KernelOutcome {
    let [a, b] = operands else { return None };
    match (vectors(a), vectors(b)) {
        (Some(VectorSlices::F32(a)), Some(VectorSlices::F32(b))) => distances_of(a, b, len, metric),
        (Some(VectorSlices::F64(a)), Some(VectorSlices::F64(b))) => distances_of(a, b, len, metric),
        _ => by_reference::distances(operands, len, metric),
    }
}

fn distances_of<T: Element>(a: RowSlices<'_, T>, b: RowSlices<'_, T>, len: usize, metric: Metric) -> KernelOutcome {
    if a.dim != b.dim {
        return None;
    }
    let each = |distance: &dyn Fn(&[T], &[T]) -> T| {
        (0..len).map(|row| canonical(distance(a.row(row), b.row(row)).into())).collect()
    };
    done(Column::floats(match metric {
        Metric::L2 => each(&T::squares),
        Metric::InnerProduct => each(&|a, b| T::inner_product_distance(a, b)),
        // The length of a vector that is the same for all rows is computed once.
        Metric::Cosine if b.step == 0 => {
            let squares = T::dot(b.row(0), b.row(0));
            each(&|a, b| T::cosine_distance(a, b, T::dot(a, a), squares))
        }
        Metric::Cosine if a.step == 0 => {
            let squares = T::dot(a.row(0), a.row(0));
            each(&|a, b| T::cosine_distance(a, b, squares, T::dot(b, b)))
        }
        Metric::Cosine => each(&|a, b| T::cosine_distance(a, b, T::dot(a, a), T::dot(b, b))),
    }))
}

/// A column of `len` vectors, each filled by `fill`. Room for it is made.
fn build<T: VectorElement>(len: usize, dim: usize, mut fill: impl FnMut(usize, &mut Vec<T>)) -> KernelOutcome {
    if let Err(stop) = make_room(len.saturating_mul(dim * size_of::<T>())) {
        return Some(Err(stop.into()));
    }
    let mut elements = Vec::with_capacity(len * dim);
    (0..len).for_each(|row| fill(row, &mut elements));
    done(Column::Vec(T::column(VectorRows::dense(elements, dim))))
}

/// The vectors scaled to length 1.
pub(in super::super) fn normalize(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    fn of<T: Element>(rows: RowSlices<'_, T>, len: usize) -> KernelOutcome {
        build(len, rows.dim, |row, elements| {
            let row = rows.row(row);
            let length = T::dot(row, row).sqrt();
            elements.extend(row.iter().map(|x| *x / length));
        })
    }
    let [operand] = operands else { return None };
    match vectors(operand)? {
        VectorSlices::F32(rows) => of(rows, len),
        VectorSlices::F64(rows) => of(rows, len),
    }
}

/// Combines two operands element by element, or vectors with numbers. Declines vectors of two element types.
#[inline]
pub(super) fn combine(
    operands: &[Operand<'_>],
    len: usize,
    narrow: impl Fn(f32, f32) -> f32,
    wide: impl Fn(f64, f64) -> f64,
) -> KernelOutcome {
    let [a, b] = operands else { return None };
    match (vectors(a), vectors(b)) {
        (Some(VectorSlices::F32(a)), Some(VectorSlices::F32(b))) => pairs(a, b, len, narrow),
        (Some(VectorSlices::F64(a)), Some(VectorSlices::F64(b))) => pairs(a, b, len, wide),
        (Some(VectorSlices::F32(a)), None) => with_numbers(a, dense(b)?, len, |x, y| narrow(x, y as f32)),
        (None, Some(VectorSlices::F32(b))) => with_numbers(b, dense(a)?, len, |x, y| narrow(y as f32, x)),
        (Some(VectorSlices::F64(a)), None) => with_numbers(a, dense(b)?, len, wide),
        (None, Some(VectorSlices::F64(b))) => with_numbers(b, dense(a)?, len, |x, y| wide(y, x)),
        _ => None,
    }
}

fn pairs<T: Element>(a: RowSlices<'_, T>, b: RowSlices<'_, T>, len: usize, f: impl Fn(T, T) -> T) -> KernelOutcome {
    if a.dim != b.dim {
        return None;
    }
    build(len, a.dim, |row, elements| elements.extend(a.row(row).iter().zip(b.row(row)).map(|(x, y)| f(*x, *y))))
}

/// Combines each vector with the number of its row.
fn with_numbers<T: Element>(
    vectors: RowSlices<'_, T>,
    numbers: Typed<'_>,
    len: usize,
    f: impl Fn(T, f64) -> T,
) -> KernelOutcome {
    fn each<T: Element, N: Copy>(
        (vectors, numbers): (RowSlices<'_, T>, OperandSide<'_, N>),
        len: usize,
        f: impl Fn(T, N) -> T,
    ) -> KernelOutcome {
        build(len, vectors.dim, |row, elements| {
            let number = numbers.at(row);
            elements.extend(vectors.row(row).iter().map(|x| f(*x, number)));
        })
    }
    match numbers {
        Typed::Int(numbers) => each((vectors, numbers), len, |x, number| f(x, number as f64)),
        Typed::Float(numbers) => each((vectors, numbers), len, f),
        _ => None,
    }
}

/// Vectors of the lists of a mixture. Declines if a row has no list of numbers.
pub(in super::super) fn of_lists(operands: &[Operand<'_>], wide: bool) -> KernelOutcome {
    fn push(column: &mut Column, items: &[DataValue], wide: bool) -> Result<(), Stop> {
        let floats = items.iter().map(|item| item.get_float().unwrap_or(f64::NAN));
        make_room(items.len() * if wide { size_of::<f64>() } else { size_of::<f32>() })?;
        match wide {
            true => column.push_vector(floats),
            false => column.push_vector(floats.map(|x| x as f32)),
        }
        Ok(())
    }
    let [Operand::Column(lists), ..] = operands else { return None };
    let Column::Any(lists) = &**lists else { return None };
    let mut column = Column::default();
    for list in lists {
        let items = list.get_slice().filter(|items| items.iter().all(|item| item.get_float().is_some()))?;
        if let Err(stop) = push(&mut column, items, wide) {
            return Some(Err(stop.into()));
        }
    }
    done(column)
}
