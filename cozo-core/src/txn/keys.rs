//! The keys that a transaction relies on, as hashes.

use std::sync::OnceLock;

use smallvec::SmallVec;

use crate::schema::RelationId;
use crate::storage::{ChangedRows, StorageError};
use crate::value::combine_hashes;

/// Batches of this many rows or more are hashed on demand. A bulk load seldom runs beside a transaction that it could conflict
/// with, and the hashes would take as much memory as a column.
const MANY: usize = 1 << 16;

/// Hashes of pairs of a relation and a key.
#[derive(Default)]
pub struct KeyHashes {
    hashes: SmallVec<[u64; 4]>,
    late: Option<Box<Late>>,
}

/// Rows whose keys are not hashed yet.
#[derive(Default)]
struct Late {
    rows: Vec<Keyed>,
    hashes: OnceLock<Vec<u64>>,
}

/// Rows of a relation, and the number of its key columns.
struct Keyed {
    relation: RelationId,
    rows: ChangedRows,
    keys: usize,
}

/// The number of keys at one moment; see [`KeyHashes::roll_back_to`].
pub struct KeysMark {
    hashes: usize,
    late: usize,
}

impl KeyHashes {
    /// Adds the keys of rows. A key is the first `keys` columns of a row.
    pub fn push(&mut self, relation: RelationId, rows: &ChangedRows, keys: usize) -> Result<(), StorageError> {
        if rows.len() >= MANY && !matches!(rows, ChangedRows::Source(_)) {
            let late = self.late.get_or_insert_default();
            late.rows.push(Keyed { relation, rows: rows.clone(), keys });
            late.hashes.take();
            return Ok(());
        }
        let before = self.hashes.len();
        self.hashes.resize(before + rows.len(), 0);
        hash(relation, rows, keys, &mut self.hashes[before..])
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.are_at_most(0)
    }

    /// Whether there are at most `few` keys. `few` must be less than the limit for hashing on demand.
    pub fn are_at_most(&self, few: usize) -> bool {
        debug_assert!(few < MANY);
        self.hashes.len() <= few && self.late.as_ref().is_none_or(|late| late.rows.is_empty())
    }

    /// A mark for [`KeyHashes::roll_back_to`].
    pub fn mark(&self) -> KeysMark {
        KeysMark { hashes: self.hashes.len(), late: self.late.as_ref().map_or(0, |late| late.rows.len()) }
    }

    /// Removes the keys added after a mark.
    pub fn roll_back_to(&mut self, mark: KeysMark) {
        self.hashes.truncate(mark.hashes);
        if let Some(late) = &mut self.late {
            late.rows.truncate(mark.late);
            late.hashes.take();
        }
    }
}

impl<'k> IntoIterator for &'k KeyHashes {
    type Item = &'k u64;
    type IntoIter = std::iter::Chain<std::slice::Iter<'k, u64>, std::slice::Iter<'k, u64>>;

    fn into_iter(self) -> Self::IntoIter {
        let late = self.late.as_ref().map_or(&[][..], |late| late.hashes.get_or_init(|| late.hash()));
        self.hashes.iter().chain(late)
    }
}

impl Late {
    fn hash(&self) -> Vec<u64> {
        let mut hashes = vec![0; self.rows.iter().map(|keyed| keyed.rows.len()).sum()];
        let mut rest = hashes.as_mut_slice();
        for keyed in &self.rows {
            let (own, others) = rest.split_at_mut(keyed.rows.len());
            hash(keyed.relation, &keyed.rows, keyed.keys, own).expect("the rows are in memory");
            rest = others;
        }
        hashes
    }
}

fn hash(relation: RelationId, rows: &ChangedRows, keys: usize, hashes: &mut [u64]) -> Result<(), StorageError> {
    hashes.fill(relation.0);
    rows.hash_keys_into(keys, hashes)?;
    // The relation is mixed in before the keys and again after them, so that no key hash can cancel it.
    hashes.iter_mut().for_each(|hash| *hash = combine_hashes(*hash, relation.0));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Batch, Column};

    fn rows(values: std::ops::Range<i64>) -> ChangedRows {
        let len = (values.end - values.start) as usize;
        Batch::new(vec![Column::ints(values.clone().collect()), Column::ints(values.collect())], len).into()
    }

    #[test]
    fn keys_of_many_rows_hash_as_those_of_few_and_can_be_rolled_back() {
        let many = MANY as i64;
        let mut all = KeyHashes::default();
        all.push(RelationId(3), &rows(0..2), 1).expect("it hashes");
        all.push(RelationId(3), &rows(0..many), 1).expect("it hashes");
        assert!(!all.is_empty() && !all.are_at_most(2));
        let mut few = KeyHashes::default();
        for i in (0..many).step_by(1000) {
            few.push(RelationId(3), &rows(i..many.min(i + 1000)), 1).expect("it hashes");
        }
        let hashes: Vec<u64> = all.into_iter().copied().collect();
        assert_eq!(hashes[..2], hashes[2..4]);
        assert!(few.into_iter().eq(&hashes[2..]));
        let mark = all.mark();
        all.push(RelationId(4), &rows(0..many), 1).expect("it hashes");
        assert_eq!(all.into_iter().count(), 2 + 2 * MANY);
        assert_ne!(all.into_iter().nth(2), all.into_iter().nth(2 + MANY));
        all.roll_back_to(mark);
        assert!(all.into_iter().eq(&hashes));
    }
}
