//! Partitions: ranges cut into parts of about equal size, without reading their rows.
//!
//! A key is treated as a fraction: the bytes after the common prefix of the first and the last key, as a number of 64 bits. If
//! the engine knows the size of a range in bytes, the fraction where a part ends is found by bisection. Otherwise keys are
//! assumed to be evenly spread. The first key at or after the fraction ends the part.

use super::engine::{KvCursor, KvSnapshot};
use super::keys::{ByteRange, RELATION_BYTES};
use super::snapshot::KvView;
use crate::schema::RelationId;
use crate::storage::error::StorageError;
use crate::storage::range::KeyRange;
use crate::value::DataValue;

/// Relations with fewer rows for each part are not cut.
const MIN_ROWS_PER_PART: u64 = 64;

/// Smaller sizes are not reliable: they come in whole blocks, and lack the latest writes.
const MIN_BYTES_PER_PART: u64 = 1 << 16;

/// The number of halvings in the search for the fraction of a cut.
const HALVINGS: usize = 16;

/// The keys of a range as fractions.
struct Span<'a, S> {
    bytes: &'a S,
    range: ByteRange,
    /// The common prefix of all keys.
    common: Vec<u8>,
    first: u64,
    last: u64,
}

impl<'a, S: KvSnapshot> Span<'a, S> {
    /// The span of the keys from `first` to `last`.
    fn new(bytes: &'a S, range: ByteRange, first: &[u8], last: &[u8]) -> Self {
        let common = first.iter().zip(last).take_while(|(a, b)| a == b).count();
        let fraction = |key: &[u8]| {
            let mut bytes = [0; 8];
            key[common..].iter().zip(&mut bytes).for_each(|(from, to)| *to = *from);
            u64::from_be_bytes(bytes)
        };
        Span { bytes, range, common: first[..common].to_vec(), first: fraction(first), last: fraction(last) }
    }

    fn key_at(&self, fraction: u64) -> Vec<u8> {
        [&self.common[..], &fraction.to_be_bytes()].concat()
    }

    /// The key that ends the first `part` of `parts` parts.
    fn cut(&self, part: u64, parts: u64, total_bytes: u64) -> Vec<u8> {
        if total_bytes < parts * MIN_BYTES_PER_PART {
            let offset = u128::from(self.last - self.first) * u128::from(part) / u128::from(parts);
            return self.key_at(self.first + offset as u64);
        }
        let wanted = total_bytes / parts * part;
        let (mut low, mut high) = (self.first, self.last);
        for _ in 0..HALVINGS {
            let middle = low + (high - low) / 2;
            let before = ByteRange { lower: self.range.lower.clone(), upper: self.key_at(middle) };
            if self.bytes.approximate_bytes(&before) < wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.key_at(high)
    }
}

impl<S: KvSnapshot> KvView<S> {
    /// The parts of a range, for [`Snapshot::partition`](crate::storage::Snapshot::partition).
    pub(super) fn parts(
        &self,
        relation: RelationId,
        range: &KeyRange,
        parts: usize,
    ) -> Result<Vec<KeyRange>, StorageError> {
        let cuts = self.cuts(relation, range, parts)?;
        let lower = std::iter::once(range.lower.clone()).chain(cuts.iter().cloned().map(Some));
        let upper = cuts.iter().cloned().map(Some).chain([range.upper.clone()]);
        let part = |(lower, upper)| KeyRange { prefix: range.prefix.clone(), lower, upper };
        Ok(lower.zip(upper).map(part).collect())
    }

    /// The keys at which the parts after the first begin, without the prefix.
    fn cuts(&self, relation: RelationId, range: &KeyRange, parts: usize) -> Result<Vec<Vec<DataValue>>, StorageError> {
        let Some(known) = self.relations.get(&relation) else { return Ok(vec![]) };
        if parts < 2 || known.rows < parts as u64 * MIN_ROWS_PER_PART {
            return Ok(vec![]);
        }
        let Some(bytes) = ByteRange::of_rows(relation, &known.codec, range)? else { return Ok(vec![]) };
        let Some(last) = self.bytes.last_key(&bytes)? else { return Ok(vec![]) };
        let mut cursor = self.start(&bytes);
        let Some(mut before) = cursor.entry()?.map(|(key, _)| key.to_vec()) else { return Ok(vec![]) };
        let span = Span::new(&self.bytes, bytes, &before, &last);
        let total_bytes = self.bytes.approximate_bytes(&span.range);
        let mut cuts = vec![];
        for part in 1..parts as u64 {
            cursor.seek(&span.cut(part, parts as u64, total_bytes));
            let Some((key, _)) = cursor.entry()? else { break };
            if *key > before[..] {
                before = key.to_vec();
                cuts.push(known.codec.key_values(&key[RELATION_BYTES..])?.split_off(range.prefix.len()));
            }
        }
        Ok(cuts)
    }
}
