//! Numbers of as many bytes as they need.

/// Appends a number, 7 bits a byte, the least significant first.
pub(super) fn write_varint(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads such a number, and moves past it. At the end of the bytes it is 0.
#[inline]
pub(super) fn read_varint(bytes: &mut &[u8]) -> u32 {
    let (mut number, mut shift) = (0u32, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u32::from(byte & 0x7f).wrapping_shl(shift);
        if byte & 0x80 == 0 || shift >= 28 {
            break;
        }
        shift += 7;
    }
    number
}
