//! Where words stand in a document: the number of the token, and its bytes in the text.
//!
//! ```text
//! block of documents    width in bits | position, position, ... in so many bits each | offsets of each occurrence
//! offsets               difference of the beginning to that before it in the document, length; 7 bits a byte
//! ```
//!
//! All positions of a block take the same number of bits, so that those of one document are read without those before them.
//! Offsets are read one after the other: a search needs them for the few documents that it found.

use super::varint::{read_varint, write_varint};

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

/// Appends where an occurrence begins and ends. `before` is where the one before it in the same document begins, or 0.
pub(super) fn write_offsets(before: u32, place: TokenPlace, bytes: &mut Vec<u8>) {
    // N-grams of one token begin before the end of each other, but never before their beginnings.
    write_varint(place.from.saturating_sub(before), bytes);
    write_varint(place.to.saturating_sub(place.from), bytes);
}

/// Beginnings and ends of occurrences: all that the bytes have.
pub(super) fn offsets(mut bytes: &[u8]) -> impl Iterator<Item = (u32, u32)> + '_ {
    let mut from = 0u32;
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        from = from.wrapping_add(read_varint(&mut bytes));
        Some((from, from.wrapping_add(read_varint(&mut bytes))))
    })
}

/// How many bytes the offsets of so many occurrences take.
pub(super) fn offset_bytes(bytes: &[u8], occurrences: u64) -> usize {
    let mut rest = bytes;
    for _ in 0..occurrences.saturating_mul(2) {
        if rest.is_empty() {
            break;
        }
        read_varint(&mut rest);
    }
    bytes.len() - rest.len()
}

/// Positions of a block, each of the same number of bits.
#[derive(Clone, Copy, Default)]
pub(super) struct Positions<'p> {
    width: u32,
    bytes: &'p [u8],
}

impl<'p> Positions<'p> {
    /// The positions that the bytes of a block begin with; none if their width is none.
    pub fn new(block: &'p [u8]) -> Option<Self> {
        let (width, bytes) = block.split_first()?;
        (*width <= 32).then_some(Positions { width: u32::from(*width), bytes })
    }

    /// The bytes after so many positions; none if there are not so many.
    pub fn after(&self, occurrences: u64) -> Option<&'p [u8]> {
        let bits = occurrences.checked_mul(u64::from(self.width))?;
        self.bytes.get(usize::try_from(bits.div_ceil(8)).ok()?..)
    }

    /// A position. Beyond the end it is 0.
    #[inline]
    pub fn get(&self, at: u64) -> u32 {
        let bit = at * u64::from(self.width);
        let from = (bit / 8) as usize;
        let eight = match self.bytes.get(from..from + 8).and_then(<[u8]>::first_chunk::<8>) {
            Some(eight) => u64::from_le_bytes(*eight),
            None => last_eight(self.bytes.get(from..).unwrap_or_default()),
        };
        (eight >> (bit % 8) & ((1 << self.width) - 1)) as u32
    }
}

/// Fewer than eight bytes as if zeros followed.
#[cold]
fn last_eight(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Appends the positions of a block, document by document.
pub(super) fn write_positions<'s>(docs: impl Iterator<Item = &'s [u32]> + Clone, bytes: &mut Vec<u8>) {
    let mut all = 0;
    docs.clone().for_each(|positions| all = positions.iter().fold(all, |all, position| all | position));
    let width = 32 - all.leading_zeros();
    bytes.push(width as u8);
    let (mut pending, mut bits) = (0u64, 0);
    for positions in docs {
        for position in positions {
            pending |= u64::from(*position) << bits;
            bits += width;
            if bits >= 32 {
                bytes.extend_from_slice(&(pending as u32).to_le_bytes());
                pending >>= 32;
                bits -= 32;
            }
        }
    }
    bytes.extend_from_slice(&pending.to_le_bytes()[..bits.div_ceil(8) as usize]);
}
