//! The hash of a value. It is the same for a value in a typed column and for the value alone.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::{DataValue, Num, Vector, VectorRef};

const NULL_HASH: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes the hash of one more column into the hash of a row.
#[inline]
pub fn combine_hashes(row: u64, column: u64) -> u64 {
    (row.rotate_left(23) ^ column).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// Mixes 64 bits, so that a hash table can use both the high and the low bits of the result.
#[inline]
fn spread(bits: u64, seed: u64) -> u64 {
    let product = u128::from(bits ^ seed) * u128::from(0x9FB2_1C65_1E98_DF25_u64);
    (product as u64) ^ ((product >> 64) as u64)
}

#[inline]
pub(super) fn hash_null() -> u64 {
    NULL_HASH
}

#[inline]
pub(super) fn hash_bool(value: bool) -> u64 {
    spread(u64::from(value), 0x51_7C_C1)
}

#[inline]
pub(super) fn hash_int(value: i64) -> u64 {
    spread(value as u64, 0x2545_F491_4F6C_DD1D)
}

#[inline]
pub(super) fn hash_float(value: f64) -> u64 {
    spread(value.to_bits(), 0x8CB9_2BA7_2F3D_8DD7)
}

#[inline]
pub(super) fn hash_str(value: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(value);
    spread(hasher.finish(), 0xA076_1D64_78BD_642F)
}

#[inline]
pub(super) fn hash_vector(vector: VectorRef<'_>) -> u64 {
    match vector {
        VectorRef::F32(elements) => hash_elements(elements.iter().map(|x| x.to_bits().into())),
        VectorRef::F64(elements) => hash_elements(elements.iter().map(|x| x.to_bits())),
    }
}

/// The hash of a vector with elements of these bits.
#[inline]
fn hash_elements(bits: impl Iterator<Item = u64>) -> u64 {
    let mut hasher = FxHasher::default();
    bits.for_each(|bits| hasher.write_u64(bits));
    spread(hasher.finish(), 0xC2B2_AE3D_27D4_EB4F)
}

/// The hash of one value. Values that are equal by identity have equal hashes.
pub fn hash_value(value: &DataValue) -> u64 {
    match value {
        DataValue::Null => hash_null(),
        DataValue::Bool(value) => hash_bool(*value),
        DataValue::Num(Num::Int(value)) => hash_int(*value),
        DataValue::Num(Num::Float(value)) => hash_float(*value),
        DataValue::Str(value) => hash_str(value.as_bytes()),
        DataValue::Vec(Vector::F32(elements)) => hash_elements(elements.iter().map(|x| x.to_bits().into())),
        DataValue::Vec(Vector::F64(elements)) => hash_elements(elements.iter().map(|x| x.to_bits())),
        other => {
            let mut hasher = FxHasher::default();
            other.hash(&mut hasher);
            spread(hasher.finish(), 0xE703_7ED1_A0B4_28DB)
        }
    }
}

impl Hash for Num {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Num::Int(value) => (0u8, *value as u64).hash(state),
            Num::Float(value) => (1u8, value.to_bits()).hash(state),
        }
    }
}

impl Hash for DataValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            DataValue::Null | DataValue::Bot => {}
            DataValue::Bool(value) => value.hash(state),
            DataValue::Num(value) => value.hash(state),
            DataValue::Str(value) => value.as_bytes().hash(state),
            DataValue::Bytes(value) => value.hash(state),
            DataValue::Uuid(value) => value.hash(state),
            DataValue::Regex(value) => value.0.as_str().hash(state),
            DataValue::List(value) => value.hash(state),
            DataValue::Set(value) => value.hash(state),
            DataValue::Vec(Vector::F32(value)) => value.iter().for_each(|x| x.to_bits().hash(state)),
            DataValue::Vec(Vector::F64(value)) => value.iter().for_each(|x| x.to_bits().hash(state)),
            DataValue::Json(value) => value.text().hash(state),
            DataValue::Validity(value) => value.hash(state),
        }
    }
}

/// The hash of a row. It is the same as that of columns.
pub fn hash_row<'v>(row: impl Iterator<Item = &'v DataValue>) -> u64 {
    row.fold(0, |hash, value| combine_hashes(hash, hash_value(value)))
}
