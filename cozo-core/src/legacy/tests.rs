//! What several tests of this folder use.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

/// Bytes from hexadecimal digits with blanks.
pub fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|digit| *digit != b' ').collect();
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
