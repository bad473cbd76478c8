//! Columns, typed by their values, with a fallback for values of several types.
//!
//! Invariant: the representation does not change the values. Code that reads a column may be faster for some
//! representations, but its result must be the same for all. [`Column::Any`] can hold everything that the others can.
//! `append` has the operations that change a column, `primitive` the columns of values of one fixed size.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::hash::{combine_hashes, hash_bool, hash_float, hash_int, hash_null, hash_str, hash_value, hash_vector};
use super::{DataValue, Num, Primitive, Scalar, SmallStr, StrColumn, VectorColumn};

/// A value for each row. It is typed if all values that are not null have one type.
#[derive(Clone, Debug)]
pub enum Column {
    /// Only nulls; also the empty column.
    Null(usize),
    /// Booleans.
    Bool(Primitive<bool>),
    /// Integers.
    Int(Primitive<i64>),
    /// Floats.
    Float(Primitive<f64>),
    /// Strings.
    Str(StrColumn),
    /// Vectors of one length and one element type.
    Vec(VectorColumn),
    /// Values of any types.
    Any(Vec<DataValue>),
}

impl Default for Column {
    fn default() -> Self {
        Column::Null(0)
    }
}

impl Column {
    /// Integers without nulls.
    pub fn ints(values: Vec<i64>) -> Self {
        Column::Int(Primitive::dense(values))
    }

    /// Floats without nulls.
    pub fn floats(values: Vec<f64>) -> Self {
        Column::Float(Primitive::dense(values))
    }

    /// Booleans without nulls.
    pub fn bools(values: Vec<bool>) -> Self {
        Column::Bool(Primitive::dense(values))
    }

    /// The same value in every row.
    pub fn repeat(value: &DataValue, len: usize) -> Self {
        match value {
            DataValue::Null => Column::Null(len),
            DataValue::Bool(value) => Column::bools(vec![*value; len]),
            DataValue::Num(Num::Int(value)) => Column::ints(vec![*value; len]),
            DataValue::Num(Num::Float(value)) => Column::floats(vec![*value; len]),
            other => {
                let mut column = Column::default();
                (0..len).for_each(|_| column.push(other));
                column
            }
        }
    }

    /// A column of one row.
    #[inline]
    pub fn of(value: Cow<'_, DataValue>) -> Self {
        match &*value {
            DataValue::Null => Column::Null(1),
            DataValue::Bool(value) => Column::bools(vec![*value]),
            DataValue::Num(Num::Int(value)) => Column::ints(vec![*value]),
            DataValue::Num(Num::Float(value)) => Column::floats(vec![*value]),
            DataValue::Str(text) if text.len() <= StrColumn::MAX_BYTES => {
                let mut strings = StrColumn::with_capacity(1, text.len());
                strings.push(text);
                Column::Str(strings)
            }
            DataValue::Vec(vector) if !vector.is_empty() => Column::Vec(VectorColumn::of_one(vector)),
            _ => Column::Any(vec![value.into_owned()]),
        }
    }

    /// The number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Column::Null(len) => *len,
            Column::Bool(column) => column.values.len(),
            Column::Int(column) => column.values.len(),
            Column::Float(column) => column.values.len(),
            Column::Str(column) => column.len(),
            Column::Vec(column) => column.len(),
            Column::Any(values) => values.len(),
        }
    }

    /// The approximate size of the values.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Column::Null(_) => 0,
            Column::Bool(column) => column.values.len(),
            Column::Int(column) => column.values.len() * size_of::<i64>(),
            Column::Float(column) => column.values.len() * size_of::<f64>(),
            Column::Str(column) => column.memory_bytes(),
            Column::Vec(column) => column.memory_bytes(),
            Column::Any(values) => values.iter().map(DataValue::memory_bytes).sum(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row.
    pub fn get(&self, row: usize) -> DataValue {
        match self {
            Column::Null(len) => {
                debug_assert!(row < *len, "row within the column");
                DataValue::Null
            }
            Column::Bool(column) => column.get(row).map_or(DataValue::Null, DataValue::from),
            Column::Int(column) => column.get(row).map_or(DataValue::Null, DataValue::from),
            Column::Float(column) => column.get(row).map_or(DataValue::Null, DataValue::from),
            Column::Str(column) if column.is_null(row) => DataValue::Null,
            Column::Str(column) => DataValue::Str(SmallStr::from(column.str_at(row))),
            Column::Vec(column) => column.get(row),
            Column::Any(values) => values[row].clone(),
        }
    }

    /// The number or Boolean of a row, if it has one. It is inlined, so that a loop around it is specialised for the column's kind.
    #[inline(always)]
    pub fn scalar(&self, row: usize) -> Option<Scalar> {
        match self {
            Column::Int(column) => column.get(row).map(|value| Scalar::from(Num::Int(value))),
            Column::Float(column) => column.get(row).map(|value| Scalar::from(Num::Float(value))),
            Column::Bool(column) => column.get(row).map(Scalar::bool),
            Column::Any(values) => values[row].scalar(),
            Column::Null(_) | Column::Str(_) | Column::Vec(_) => None,
        }
    }

    /// Whether the row is null.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        match self {
            Column::Null(_) => true,
            Column::Bool(column) => column.is_null(row),
            Column::Int(column) => column.is_null(row),
            Column::Float(column) => column.is_null(row),
            Column::Str(column) => column.is_null(row),
            Column::Vec(column) => column.is_null(row),
            Column::Any(values) => values[row].is_null(),
        }
    }

    /// Whether any row is null.
    pub fn has_nulls(&self) -> bool {
        let nulls = match self {
            Column::Null(len) => return *len > 0,
            Column::Bool(column) => &column.nulls,
            Column::Int(column) => &column.nulls,
            Column::Float(column) => &column.nulls,
            Column::Str(column) => &column.nulls,
            Column::Vec(column) => return column.has_nulls(),
            Column::Any(values) => return values.iter().any(DataValue::is_null),
        };
        nulls.as_ref().is_some_and(|nulls| nulls.contains(&true))
    }

    /// All values in row order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = DataValue> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// The plain integers, if the column is Int without nulls.
    pub fn as_dense_ints(&self) -> Option<&[i64]> {
        match self {
            Column::Int(Primitive { values, nulls: None }) => Some(values),
            _ => None,
        }
    }

    /// The hash of one row's value.
    #[inline]
    pub fn hash_at(&self, row: usize) -> u64 {
        match self {
            Column::Null(_) => hash_null(),
            Column::Bool(column) => column.get(row).map_or_else(hash_null, hash_bool),
            Column::Int(column) => column.get(row).map_or_else(hash_null, hash_int),
            Column::Float(column) => column.get(row).map_or_else(hash_null, hash_float),
            Column::Str(column) if column.is_null(row) => hash_null(),
            Column::Str(column) => hash_str(column.bytes_at(row)),
            Column::Vec(column) => column.row(row).map_or_else(hash_null, hash_vector),
            Column::Any(values) => hash_value(&values[row]),
        }
    }

    /// Mixes the hash of each row's value into the row's hash.
    pub fn hash_into(&self, hashes: &mut [u64]) {
        match self {
            Column::Int(Primitive { values, nulls: None }) => {
                for (hash, value) in hashes.iter_mut().zip(values) {
                    *hash = combine_hashes(*hash, hash_int(*value));
                }
            }
            _ => {
                for (row, hash) in hashes.iter_mut().enumerate() {
                    *hash = combine_hashes(*hash, self.hash_at(row));
                }
            }
        }
    }

    /// Whether two rows have the same value (identity).
    #[inline]
    pub fn equals_at(&self, row: usize, other: &Column, other_row: usize) -> bool {
        match (self, other) {
            (Column::Int(a), Column::Int(b)) => a.get(row) == b.get(other_row),
            (Column::Str(a), Column::Str(b)) => {
                a.bytes_at(row) == b.bytes_at(other_row) && a.is_null(row) == b.is_null(other_row)
            }
            (Column::Vec(a), Column::Vec(b)) => a.row(row) == b.row(other_row),
            (Column::Any(a), Column::Any(b)) => a[row] == b[other_row],
            _ => self.compare_at(row, other, other_row).is_eq(),
        }
    }

    /// Two rows in the total order.
    pub fn compare_at(&self, row: usize, other: &Column, other_row: usize) -> Ordering {
        match (self, other) {
            (Column::Int(a), Column::Int(b)) => a.get(row).cmp(&b.get(other_row)),
            (Column::Str(a), Column::Str(b)) => {
                let nulls = b.is_null(other_row).cmp(&a.is_null(row));
                nulls.then_with(|| a.bytes_at(row).cmp(b.bytes_at(other_row)))
            }
            (Column::Float(a), Column::Float(b)) => a.get(row).map(Num::Float).cmp(&b.get(other_row).map(Num::Float)),
            (Column::Bool(a), Column::Bool(b)) => a.get(row).cmp(&b.get(other_row)),
            (Column::Vec(a), Column::Vec(b)) => a.row(row).cmp(&b.row(other_row)),
            (Column::Vec(a), Column::Any(b)) => a.compare_value(row, &b[other_row]),
            (Column::Any(a), Column::Vec(b)) => b.compare_value(other_row, &a[row]).reverse(),
            (Column::Any(a), Column::Any(b)) => a[row].cmp(&b[other_row]),
            (a, b) => a.get(row).cmp(&b.get(other_row)),
        }
    }

    /// A row against a value, in the total order.
    pub fn compare_value(&self, row: usize, value: &DataValue) -> Ordering {
        match (self, value) {
            (Column::Int(column), DataValue::Num(Num::Int(value))) => column.get(row).cmp(&Some(*value)),
            (Column::Str(column), DataValue::Str(value)) if !column.is_null(row) => {
                column.bytes_at(row).cmp(value.as_bytes())
            }
            (Column::Vec(column), value) => column.compare_value(row, value),
            (Column::Any(values), value) => values[row].cmp(value),
            (column, value) => column.get(row).cmp(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Vec<DataValue>> {
        use crate::value::Vector;
        let narrow = |elements: &[f32]| DataValue::Vec(Vector::F32(elements.to_vec().into()));
        let wide = |elements: &[f64]| DataValue::Vec(Vector::F64(elements.to_vec().into()));
        let strided = ndarray::Array1::from(vec![1.0_f32, 9.0, 2.0]).slice_move(ndarray::s![..;2]);
        vec![
            vec![narrow(&[1.0, 2.0]), narrow(&[-0.0, f32::NAN]), narrow(&[0.0, 2.0]), narrow(&[1.0, 2.0])],
            vec![DataValue::Null, narrow(&[1.0, 2.0]), DataValue::Null, narrow(&[0.0, 2.0]), DataValue::Null],
            vec![wide(&[1.0, 2.0]), DataValue::Null, wide(&[-1.0, 2.0]), wide(&[1.0, f64::INFINITY])],
            vec![DataValue::Vec(Vector::F32(strided)), DataValue::Null, narrow(&[1.0, 2.0])],
            vec![narrow(&[1.0, 2.0]), narrow(&[1.0]), wide(&[1.0, 2.0]), narrow(&[]), 1.into()],
            vec![narrow(&[]), DataValue::Null, wide(&[])],
            vec![1.into(), 2.into(), DataValue::Null, i64::MIN.into()],
            vec![DataValue::Null, DataValue::Null],
            vec![1.0.into(), (-0.0).into(), f64::NAN.into()],
            vec!["a".into(), DataValue::Null, "".into(), "é".into()],
            vec![true.into(), DataValue::Null, false.into()],
            vec![DataValue::Null, 1.into(), 1.0.into(), "x".into(), vec![1].into()],
        ]
    }

    #[test]
    fn vectors_of_one_length_and_element_type_have_a_column() {
        for (sample, is_typed) in samples().iter().zip([true, true, true, true, false, false]) {
            let column: Column = sample.iter().cloned().collect();
            assert_eq!(matches!(column, Column::Vec(_)), is_typed, "{sample:?}");
            assert!(column.large_bytes() > 0 && column.memory_bytes() >= column.large_bytes());
        }
    }

    #[test]
    fn every_representation_behaves_like_a_vector_of_values() {
        for values in samples() {
            let column: Column = values.iter().cloned().collect();
            let any = Column::Any(values.clone());
            assert_eq!(column.iter().collect::<Vec<_>>(), values);
            for (i, a) in values.iter().enumerate() {
                assert_eq!(column.hash_at(i), hash_value(a), "{a:?}");
                assert_eq!(Column::of(Cow::Borrowed(a)).get(0), *a);
                assert_eq!(Column::repeat(a, 3).iter().collect::<Vec<_>>(), vec![a.clone(); 3]);
                for (j, b) in values.iter().enumerate() {
                    assert_eq!(column.compare_at(i, &column, j), a.cmp(b), "{a:?} {b:?}");
                    assert_eq!(column.compare_at(i, &any, j), a.cmp(b));
                    assert_eq!(column.compare_value(i, b), a.cmp(b));
                    assert_eq!(column.equals_at(i, &any, j), a == b);
                }
            }
            let reversed: Vec<u32> = (0..values.len() as u32).rev().collect();
            assert_eq!(
                column.take(&reversed).iter().collect::<Vec<_>>(),
                any.take(&reversed).iter().collect::<Vec<_>>()
            );
            for len in 0..values.len() {
                let mut cut = column.clone();
                cut.truncate(len);
                assert_eq!(cut.iter().collect::<Vec<_>>(), values[..len]);
                cut.append_take(&column, &reversed);
                assert!(cut.iter().eq(values[..len].iter().chain(values.iter().rev()).cloned()));
            }
            for other in samples() {
                for (row, value) in other.iter().enumerate().filter(|(row, _)| *row < values.len()) {
                    let (mut changed, mut expected) = (column.clone(), values.clone());
                    changed.set(row, value.clone());
                    expected[row] = value.clone();
                    assert_eq!(changed.iter().collect::<Vec<_>>(), expected);
                    changed.push_from(&column, row);
                    assert_eq!(changed.get(values.len()), values[row]);
                }
                let mut joined = column.clone();
                joined.append_range(&other.iter().cloned().collect(), 1..other.len());
                let expected: Vec<DataValue> = values.iter().chain(&other[1..]).cloned().collect();
                assert_eq!(joined.iter().collect::<Vec<_>>(), expected);
            }
        }
    }
}
