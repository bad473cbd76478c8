//! Where words stand in a document: the number of the token, and its bytes in the text.
//!
//! Each occurrence is three numbers: the differences of its token and of its beginning to those of the occurrence before it, and its length.

use super::blocks::{read_varint, write_varint};

/// Where a word stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TokenPlace {
    /// Its number among the tokens of the tokenizer.
    pub position: u32,
    /// Where it begins in the text, in bytes.
    pub from: u32,
    /// Where it ends.
    pub to: u32,
}

/// Appends a place. `before` is the place before it in the same document, or the default. Places do not go back.
pub(super) fn write_place(before: TokenPlace, place: TokenPlace, bytes: &mut Vec<u8>) {
    write_varint(place.position.saturating_sub(before.position), bytes);
    // N-grams of one token begin before the end of each other, but never before their beginnings.
    write_varint(place.from.saturating_sub(before.from), bytes);
    write_varint(place.to.saturating_sub(place.from), bytes);
}

/// The places of so many occurrences. Moves past them.
pub(super) fn places<'b>(bytes: &mut &'b [u8], count: u32) -> impl Iterator<Item = TokenPlace> + 'b + use<'b> {
    let start = *bytes;
    for _ in 0..u64::from(count).saturating_mul(3) {
        if bytes.is_empty() {
            break;
        }
        read_varint(bytes);
    }
    let (mut rest, mut before) = (start, TokenPlace::default());
    let mut left = count;
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        if rest.is_empty() {
            return None;
        }
        before.position = before.position.wrapping_add(read_varint(&mut rest));
        before.from = before.from.wrapping_add(read_varint(&mut rest));
        before.to = before.from.wrapping_add(read_varint(&mut rest));
        Some(before)
    })
}

/// Moves past the places of so many occurrences.
pub(super) fn skip_places(bytes: &mut &[u8], count: u32) {
    for _ in 0..u64::from(count).saturating_mul(3) {
        if bytes.is_empty() {
            return;
        }
        read_varint(bytes);
    }
}
