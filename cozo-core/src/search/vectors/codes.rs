//! Vectors as 8-bit codes: an element is about a code times the scale of its vector.
//!
//! ```text
//! row of a vector   | code | code | ... | code | scale | length² |
//!                     1 byte each, signed        f32     f32, of what the codes stand for
//! a·b  = scale(a) scale(b) Σ code(a) code(b)
//! L2   = length²(a) + length²(b) - 2 a·b
//! ```
//!
//! The scale belongs to one vector, so a row can be copied to another index as it is.

use crate::kernels::dot_codes;

/// The bytes of a row after its codes.
pub(super) const FACTOR_BYTES: usize = 8;

/// Appends the row of a vector. One that has infinite elements or NaN gets NaN as scale, so that each distance is NaN.
pub(super) fn encode(vector: &[f32], rows: &mut Vec<u8>) {
    let are_finite = vector.iter().all(|x| x.is_finite());
    let greatest = if are_finite { vector.iter().fold(0.0_f32, |greatest, x| greatest.max(x.abs())) } else { f32::NAN };
    let start = rows.len();
    let scale = greatest / 127.0;
    // A scale that is 0 by rounding would make infinite codes.
    let codes_per_unit = if scale > 0.0 { 127.0 / greatest } else { 0.0 };
    rows.extend(vector.iter().map(|x| ((x * codes_per_unit).round() as i8).cast_unsigned()));
    let codes = &rows[start..];
    let length2 = scale * scale * dot_codes(codes, codes) as f32;
    rows.extend_from_slice(&scale.to_le_bytes());
    rows.extend_from_slice(&length2.to_le_bytes());
}

/// The scale of a row, and the square of its length.
#[inline(always)]
pub(super) fn factors(row: &[u8]) -> (f32, f32) {
    match row.last_chunk::<FACTOR_BYTES>() {
        Some([a, b, c, d, e, f, g, h]) => (f32::from_le_bytes([*a, *b, *c, *d]), f32::from_le_bytes([*e, *f, *g, *h])),
        None => (f32::NAN, f32::NAN),
    }
}
