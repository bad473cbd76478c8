//! Numbers and Booleans, which fit in registers.

use super::{DataValue, Num};

/// A number or a Boolean. It has two words, which functions pass in registers. An enum with such variants would be passed in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    kind: ScalarKind,
    bits: u64,
}

/// The kind of a [`Scalar`]. It is as wide as the bits beside it, since a load that is wider than a recent store stalls.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u64)]
enum ScalarKind {
    Int,
    Float,
    Bool,
}

impl Scalar {
    /// A Boolean.
    #[inline]
    pub fn bool(value: bool) -> Self {
        Scalar { kind: ScalarKind::Bool, bits: u64::from(value) }
    }

    /// The number, if it is one.
    #[inline]
    pub fn num(self) -> Option<Num> {
        match self.kind {
            ScalarKind::Int => Some(Num::Int(self.bits as i64)),
            ScalarKind::Float => Some(Num::Float(f64::from_bits(self.bits))),
            ScalarKind::Bool => None,
        }
    }

    /// The Boolean, if it is one.
    #[inline]
    pub fn get_bool(self) -> Option<bool> {
        (self.kind == ScalarKind::Bool).then_some(self.bits != 0)
    }
}

impl From<Num> for Scalar {
    #[inline]
    fn from(number: Num) -> Scalar {
        match number {
            Num::Int(value) => Scalar { kind: ScalarKind::Int, bits: value as u64 },
            Num::Float(value) => Scalar { kind: ScalarKind::Float, bits: value.to_bits() },
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

impl DataValue {
    /// The value as a scalar, if it is a number or a Boolean.
    #[inline]
    pub(crate) fn scalar(&self) -> Option<Scalar> {
        match self {
            DataValue::Num(number) => Some(Scalar::from(*number)),
            DataValue::Bool(value) => Some(Scalar::bool(*value)),
            _ => None,
        }
    }
}
