//! What a row of a table may be made of: any values, or numbers and Booleans alone, which a processor keeps in its registers.

use super::hash::{combine_hashes, hash_bool, hash_float, hash_int, hash_value};
use super::{Column, DataValue, Num};

/// A number or a Boolean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A number.
    Num(Num),
    /// A Boolean.
    Bool(bool),
}

impl From<Scalar> for DataValue {
    #[inline]
    fn from(scalar: Scalar) -> DataValue {
        match scalar {
            Scalar::Num(number) => DataValue::Num(number),
            Scalar::Bool(value) => DataValue::Bool(value),
        }
    }
}

/// A value in a row.
pub trait Cell {
    /// The number or Boolean that it is, if it is one.
    fn scalar(&self) -> Option<Scalar>;
    /// Its hash, as that of the value.
    fn hash(&self) -> u64;
    /// Whether a row of a column has it.
    fn is_at(&self, column: &Column, row: usize) -> bool;
    /// Appends it to a column.
    fn push_to(&self, column: &mut Column);
    /// About how many bytes it takes in a column.
    fn column_bytes(&self) -> usize;
}

impl Cell for DataValue {
    #[inline]
    fn scalar(&self) -> Option<Scalar> {
        match self {
            DataValue::Num(number) => Some(Scalar::Num(*number)),
            DataValue::Bool(value) => Some(Scalar::Bool(*value)),
            _ => None,
        }
    }

    fn hash(&self) -> u64 {
        hash_value(self)
    }

    fn is_at(&self, column: &Column, row: usize) -> bool {
        column.compare_value(row, self).is_eq()
    }

    fn push_to(&self, column: &mut Column) {
        column.push(self);
    }

    fn column_bytes(&self) -> usize {
        size_of::<u64>() + self.memory_bytes() - size_of::<DataValue>()
    }
}

impl Cell for Scalar {
    #[inline]
    fn scalar(&self) -> Option<Scalar> {
        Some(*self)
    }

    #[inline]
    fn hash(&self) -> u64 {
        match self {
            Scalar::Num(Num::Int(value)) => hash_int(*value),
            Scalar::Num(Num::Float(value)) => hash_float(*value),
            Scalar::Bool(value) => hash_bool(*value),
        }
    }

    #[inline]
    fn is_at(&self, column: &Column, row: usize) -> bool {
        column.scalar(row) == Some(*self)
    }

    #[inline]
    fn push_to(&self, column: &mut Column) {
        match (column, self) {
            (Column::Int(column), Scalar::Num(Num::Int(value))) => column.push(*value),
            (Column::Float(column), Scalar::Num(Num::Float(value))) => column.push(*value),
            (column, value) => column.push(&DataValue::from(*value)),
        }
    }

    fn column_bytes(&self) -> usize {
        size_of::<u64>()
    }
}

/// The hash of a row, as columns make it.
#[inline]
pub fn hash_row(row: &[impl Cell]) -> u64 {
    row.iter().fold(0, |hash, cell| combine_hashes(hash, cell.hash()))
}
