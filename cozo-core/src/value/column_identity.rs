//! Hash, equality and order of the values in columns. They are the same for all representations of a value.

use std::cmp::Ordering;

use super::hash::{combine_hashes, hash_bool, hash_float, hash_int, hash_null, hash_str, hash_value};
use super::{Column, DataValue, Num, Primitive};

impl Column {
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
            (Column::Any(values), value) => values[row].cmp(value),
            (column, value) => column.get(row).cmp(value),
        }
    }
}
