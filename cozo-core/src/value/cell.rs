//! What a row of a table may be made of: any values, or numbers and Booleans alone, which a processor keeps in its registers.

use super::hash::{combine_hashes, hash_bool, hash_float, hash_int, hash_value};
use super::{Column, DataValue, Num};

/// A number or a Boolean. Two words, which functions are given and give in registers; an enum with such variants would go through
/// memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    kind: CellKind,
    bits: u64,
}

/// As wide as the bits beside it: a byte that was just written could not be passed on to whoever reads the word that it is in.
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

/// The hash of a row, as columns make it.
#[inline]
pub fn hash_row<'c, C: Cell + 'c>(row: impl Iterator<Item = &'c C>) -> u64 {
    row.fold(0, |hash, cell| combine_hashes(hash, cell.hash()))
}
