//! Encodings of single values whose order as bytes is the order of the values.

use super::reader::{Damage, END, ESCAPE, Read, Reader};
use crate::value::{Num, UuidWrapper, Validity};

/// The number of bytes of an encoded validity.
pub const VALIDITY_BYTES: usize = 9;

const SIGN: u64 = 1 << 63;

#[inline]
pub(super) fn int_bytes(value: i64) -> [u8; 8] {
    (value as u64 ^ SIGN).to_be_bytes()
}

#[inline]
pub(super) fn int_of(bytes: [u8; 8]) -> i64 {
    (u64::from_be_bytes(bytes) ^ SIGN) as i64
}

/// A float in the order of `f64::total_cmp`. Negative floats have all bits flipped, others the sign only.
#[inline]
pub(super) fn float_bytes(value: f64) -> [u8; 8] {
    let bits = value.to_bits();
    (if bits & SIGN == 0 { bits ^ SIGN } else { !bits }).to_be_bytes()
}

#[inline]
pub(super) fn float_of(bytes: [u8; 8]) -> f64 {
    let bits = u64::from_be_bytes(bytes);
    f64::from_bits(if bits & SIGN == 0 { !bits } else { bits ^ SIGN })
}

/// [`float_bytes`] for 32 bits.
pub(super) fn narrow_float_bytes(value: f32) -> [u8; 4] {
    let (bits, sign) = (value.to_bits(), 1 << 31);
    (if bits & sign == 0 { bits ^ sign } else { !bits }).to_be_bytes()
}

pub(super) fn narrow_float_of(bytes: [u8; 4]) -> f32 {
    let (bits, sign) = (u32::from_be_bytes(bytes), 1 << 31);
    f32::from_bits(if bits & sign == 0 { !bits } else { bits ^ sign })
}

/// The encoding of a validity in a key. Newer ones come first, and at one time the assertion comes first.
#[inline]
pub fn encode_validity(value: Validity) -> [u8; VALIDITY_BYTES] {
    let [a, b, c, d, e, f, g, h] = int_bytes(!value.micros());
    [a, b, c, d, e, f, g, h, u8::from(!value.asserts())]
}

pub(super) fn read_validity(reader: &mut Reader) -> Read<Validity> {
    let micros = !int_of(reader.array()?);
    Ok(Validity::from((micros, !reader.flag()?)))
}

/// A UUID with the fields of its time first, from high to low.
pub(super) fn uuid_bytes(value: UuidWrapper) -> [u8; 16] {
    let [l0, l1, l2, l3, m0, m1, h0, h1, rest @ ..] = value.0.into_bytes();
    let [a, b, c, d, e, f, g, h]: [u8; 8] = rest;
    [h0, h1, m0, m1, l0, l1, l2, l3, a, b, c, d, e, f, g, h]
}

pub(super) fn uuid_of(bytes: [u8; 16]) -> UuidWrapper {
    let [h0, h1, m0, m1, l0, l1, l2, l3, a, b, c, d, e, f, g, h] = bytes;
    UuidWrapper(uuid::Uuid::from_bytes([l0, l1, l2, l3, m0, m1, h0, h1, a, b, c, d, e, f, g, h]))
}

/// Appends escaped bytes. No escaped byte string is a prefix of another one, and their order is that of the bytes.
#[inline]
pub(super) fn write_escaped(mut bytes: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = memchr::memchr2(END, ESCAPE, bytes) {
        out.extend_from_slice(&bytes[..at]);
        out.extend_from_slice(&[ESCAPE, bytes[at] + 1]);
        bytes = &bytes[at + 1..];
    }
    out.extend_from_slice(bytes);
    out.push(END);
}

/// The mark of an Int that equals the float before the mark.
const EXACT_INT: u8 = 0;
/// The mark of the float itself.
const FLOAT: u8 = 1;
/// The mark of an Int between the float and the next one. Its distance follows.
const INT_ABOVE: u8 = 2;

/// Appends an Int or a Float in their common order: the greatest float not above the number, then a mark.
pub(super) fn write_number(number: Num, out: &mut Vec<u8>) {
    let int = match number {
        Num::Float(value) => {
            out.extend_from_slice(&float_bytes(value));
            return out.push(FLOAT);
        }
        Num::Int(int) => int,
    };
    let floor = float_at_or_below(int);
    out.extend_from_slice(&float_bytes(floor));
    // Floats of this size are at most 1024 apart.
    match int.wrapping_sub(floor as i64) as u16 {
        0 => out.push(EXACT_INT),
        distance => {
            out.push(INT_ABOVE);
            out.extend_from_slice(&distance.to_be_bytes());
        }
    }
}

fn float_at_or_below(int: i64) -> f64 {
    let nearest = int as f64;
    if nearest as i128 > i128::from(int) { nearest.next_down() } else { nearest }
}

pub(super) fn read_number(reader: &mut Reader) -> Read<Num> {
    let floor = float_of(reader.array()?);
    let distance = match reader.byte()? {
        FLOAT => return Ok(Num::Float(floor)),
        EXACT_INT => 0,
        INT_ABOVE => i64::from(u16::from_be_bytes(reader.array()?)),
        _ => return Err(Damage("a number is neither Int nor Float")),
    };
    let int = Num::Float(floor).get_int().and_then(|int| int.checked_add(distance));
    int.map(Num::Int).ok_or(Damage("a number is no Int"))
}

pub(super) fn skip_number(reader: &mut Reader) -> Read<()> {
    let [.., last] = reader.array::<9>()?;
    reader.take(if last == INT_ABOVE { 2 } else { 0 }).map(drop)
}
