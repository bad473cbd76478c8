//! Reading encoded bytes from front to back.

use std::borrow::Cow;

use crate::storage::error::StorageError;

/// A defect of encoded bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damage(pub &'static str);

impl From<Damage> for StorageError {
    fn from(damage: Damage) -> Self {
        StorageError::Damaged(damage.0.to_string())
    }
}

pub(super) type Read<T> = Result<T, Damage>;

const SHORT: Damage = Damage("a row ends in the middle of a value");

/// A position in encoded bytes: the bytes not read yet.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    #[inline]
    pub fn byte(&mut self) -> Read<u8> {
        let (first, rest) = self.rest.split_first().ok_or(SHORT)?;
        self.rest = rest;
        Ok(*first)
    }

    /// The next byte, without reading it.
    pub fn peek(&self) -> Read<u8> {
        self.rest.first().copied().ok_or(SHORT)
    }

    #[inline]
    pub fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let (first, rest) = self.rest.split_first_chunk().ok_or(SHORT)?;
        self.rest = rest;
        Ok(*first)
    }

    #[inline]
    pub fn take(&mut self, len: usize) -> Read<&'a [u8]> {
        let (first, rest) = self.rest.split_at_checked(len).ok_or(SHORT)?;
        self.rest = rest;
        Ok(first)
    }

    /// A byte that is 0 or 1.
    #[inline]
    pub fn flag(&mut self) -> Read<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Damage("a Boolean is neither false nor true")),
        }
    }

    /// A varint: little-endian groups of 7 bits, of which the last has the highest bit clear.
    #[inline]
    pub fn varint(&mut self) -> Read<u64> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        let mut value = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Damage("a number is too long"))
    }

    /// A varint, and as many bytes as it says.
    #[inline]
    pub fn counted(&mut self) -> Read<&'a [u8]> {
        let len = self.varint()?;
        self.take(usize::try_from(len).map_err(|_| SHORT)?)
    }

    /// Escaped bytes with their escapes, without the end.
    #[inline]
    pub fn raw_escaped(&mut self) -> Read<&'a [u8]> {
        let end = memchr::memchr(END, self.rest).ok_or(SHORT)?;
        let raw = self.take(end)?;
        self.rest = &self.rest[1..];
        Ok(raw)
    }

    /// Escaped bytes, without their escapes.
    #[inline]
    pub fn escaped(&mut self) -> Read<Cow<'a, [u8]>> {
        let raw = self.raw_escaped()?;
        if memchr::memchr(ESCAPE, raw).is_none() { Ok(Cow::Borrowed(raw)) } else { unescape(raw).map(Cow::Owned) }
    }
}

/// The end of escaped bytes.
pub(super) const END: u8 = 0;

/// The escape: followed by 1 it stands for 0, followed by 2 for itself.
pub(super) const ESCAPE: u8 = 1;

fn unescape(mut raw: &[u8]) -> Read<Vec<u8>> {
    let mut bytes = Vec::with_capacity(raw.len());
    while let Some(at) = memchr::memchr(ESCAPE, raw) {
        bytes.extend_from_slice(&raw[..at]);
        match raw.get(at + 1) {
            Some(escaped @ 1..=2) => bytes.push(escaped - 1),
            _ => return Err(Damage("text has an unknown escape")),
        }
        raw = &raw[at + 2..];
    }
    bytes.extend_from_slice(raw);
    Ok(bytes)
}

/// Bytes as text.
#[inline]
pub(super) fn text(bytes: &[u8]) -> Read<&str> {
    std::str::from_utf8(bytes).map_err(|_| Damage("text is not UTF-8"))
}
