//! The cells of a table's rows: any values, or numbers and Booleans alone, which fit in registers.

use super::hash::{combine_hashes, hash_bool, hash_float, hash_int, hash_value};
use super::{Column, DataValue, Num};

/// A number or a Boolean. It has two words, which functions pass in registers. An enum with such variants would be passed in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    kind: CellKind,
    bits: u64,
}

/// The kind of a [`Scalar`]. It is as wide as the bits beside it, since a load that is wider than a recent store stalls.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u64)]
enum CellKind {
    Int,
    Float,
    Bool,
}

impl Scalar {
    /// A Boolean.
    #[inline]
    pub fn bool(value: bool) -> Self {
        Scalar { kind: CellKind::Bool, bits: u64::from(value) }
    }

    /// The number, if it is one.
    #[inline]
    pub fn num(self) -> Option<Num> {
        match self.kind {
            CellKind::Int => Some(Num::Int(self.bits as i64)),
            CellKind::Float => Some(Num::Float(f64::from_bits(self.bits))),
            CellKind::Bool => None,
        }
    }

    /// The Boolean, if it is one.
    #[inline]
    pub fn get_bool(self) -> Option<bool> {
        (self.kind == CellKind::Bool).then_some(self.bits != 0)
    }
}

impl From<Num> for Scalar {
    #[inline]
    fn from(number: Num) -> Scalar {
        match number {
            Num::Int(value) => Scalar { kind: CellKind::Int, bits: value as u64 },
            Num::Float(value) => Scalar { kind: CellKind::Float, bits: value.to_bits() },
        }
    }
}

impl From<Scalar> for DataValue {
    #[inline]
    fn from(scalar: Scalar) -> DataValue {
        match scalar.num() {
            Some(number) => DataValue::Num(number),
            None => DataValue::Bool(scalar.bits != 0),
        }
    }
}

/// A value in a row.
pub trait Cell {
    /// The value as a scalar, if it is a number or a Boolean.
    fn scalar(&self) -> Option<Scalar>;
    /// The hash of the value.
    fn hash(&self) -> u64;
    /// Whether a row of a column has the same value.
    fn is_at(&self, column: &Column, row: usize) -> bool;
    /// Appends the value to a column.
    fn push_to(&self, column: &mut Column);
    /// The approximate size of the value in a column.
    fn column_bytes(&self) -> usize;
}

impl Cell for DataValue {
    #[inline]
    fn scalar(&self) -> Option<Scalar> {
        match self {
            DataValue::Num(number) => Some(Scalar::from(*number)),
            DataValue::Bool(value) => Some(Scalar::bool(*value)),
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
        match self.kind {
            CellKind::Int => hash_int(self.bits as i64),
            CellKind::Float => hash_float(f64::from_bits(self.bits)),
            CellKind::Bool => hash_bool(self.bits != 0),
        }
    }

    #[inline]
    fn is_at(&self, column: &Column, row: usize) -> bool {
        column.scalar(row) == Some(*self)
    }

    #[inline]
    fn push_to(&self, column: &mut Column) {
        match (column, self.kind) {
            (Column::Int(column), CellKind::Int) => column.push(self.bits as i64),
            (Column::Float(column), CellKind::Float) => column.push(f64::from_bits(self.bits)),
            (column, _) => column.push(&DataValue::from(*self)),
        }
    }

    fn column_bytes(&self) -> usize {
        size_of::<u64>()
    }
}

/// The hash of a row. It is the same as that of columns.
#[inline]
pub fn hash_row<'c, C: Cell + 'c>(row: impl Iterator<Item = &'c C>) -> u64 {
    row.fold(0, |hash, cell| combine_hashes(hash, cell.hash()))
}
