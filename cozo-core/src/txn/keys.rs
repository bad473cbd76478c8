//! The keys that a transaction relies on, as hashes.
//!
//! The hashes of rows that memory does not hold would take much memory themselves. They are never kept: such a transaction reads
//! its rows again where others have written the same relation, and others see that it has changed the relation, not which keys.

use std::sync::OnceLock;

use smallvec::SmallVec;

use crate::schema::RelationId;
use crate::storage::{ChangedRows, StorageError};
use crate::value::{Batch, combine_hashes, hash_value};

/// Batches of this many rows or more are hashed on demand. A bulk load seldom runs beside a transaction that it could conflict
/// with, and the hashes would take as much memory as a column.
const MANY: usize = 1 << 16;

/// Hashes of pairs of a relation and a key.
#[derive(Default)]
pub struct KeyHashes {
    /// The hashes of few rows.
    hashes: SmallVec<[u64; 4]>,
    late: Option<Box<Late>>,
}

/// Rows whose keys are not hashed yet.
#[derive(Default)]
struct Late {
    /// Rows in memory,
    rows: Vec<Keyed>,
    /// and their hashes.
    hashes: OnceLock<Vec<u64>>,
    /// Rows that are read batch by batch.
    sources: Vec<Keyed>,
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
    sources: usize,
}

impl KeyHashes {
    /// Adds the keys of rows. A key is the first `keys` columns of a row.
    pub fn push(&mut self, relation: RelationId, rows: &ChangedRows, keys: usize) {
        let keyed = || Keyed { relation, rows: rows.clone(), keys };
        match rows {
            ChangedRows::One(row) => {
                let hash = row[..keys].iter().fold(relation.0, |hash, value| combine_hashes(hash, hash_value(value)));
                self.hashes.push(combine_hashes(hash, relation.0));
            }
            ChangedRows::Many(rows) if rows.len < MANY => {
                let before = self.hashes.len();
                self.hashes.resize(before + rows.len, 0);
                hash(relation, rows, keys, &mut self.hashes[before..]);
            }
            ChangedRows::Many(_) => {
                let late = self.late.get_or_insert_default();
                late.rows.push(keyed());
                late.hashes.take();
            }
            ChangedRows::Source(_) => self.late.get_or_insert_default().sources.push(keyed()),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.are_at_most(0)
    }

    /// Whether there are at most `few` keys. `few` must be less than the limit for hashing on demand.
    pub fn are_at_most(&self, few: usize) -> bool {
        debug_assert!(few < MANY);
        self.hashes.len() <= few
            && self.late.as_ref().is_none_or(|late| late.rows.is_empty() && late.sources.is_empty())
    }

    /// A mark for [`KeyHashes::roll_back_to`].
    pub fn mark(&self) -> KeysMark {
        let (late, sources) = self.late.as_ref().map_or((0, 0), |late| (late.rows.len(), late.sources.len()));
        KeysMark { hashes: self.hashes.len(), late, sources }
    }

    /// Removes the keys added after a mark.
    pub fn roll_back_to(&mut self, mark: KeysMark) {
        self.hashes.truncate(mark.hashes);
        if let Some(late) = &mut self.late {
            late.rows.truncate(mark.late);
            late.sources.truncate(mark.sources);
            late.hashes.take();
        }
    }

    /// Whether a key of the rows that are read batch by batch is `wanted`. Relations that are not `of_interest` are not read.
    pub fn any_in_sources(
        &self,
        of_interest: impl Fn(&RelationId) -> bool,
        wanted: impl Fn(&u64) -> bool,
    ) -> Result<bool, StorageError> {
        let mut hashes = vec![];
        for Keyed { relation, rows, keys } in self.sources().filter(|keyed| of_interest(&keyed.relation)) {
            for batch in rows.batches() {
                let batch = batch?;
                hashes.resize(batch.len, 0);
                hash(*relation, &batch, *keys, &mut hashes);
                if hashes.iter().any(&wanted) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// All hashes, of the rows that are read batch by batch, too.
    pub fn all(&self) -> Result<Vec<u64>, StorageError> {
        let mut all: Vec<u64> = self.into_iter().copied().collect();
        for Keyed { relation, rows, keys } in self.sources() {
            for batch in rows.batches() {
                let (batch, before) = (batch?, all.len());
                all.resize(before + batch.len, 0);
                hash(*relation, &batch, *keys, &mut all[before..]);
            }
        }
        Ok(all)
    }

    fn sources(&self) -> impl Iterator<Item = &Keyed> {
        self.late.iter().flat_map(|late| &late.sources)
    }
}

/// The hashes of rows in memory.
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
        for Keyed { relation, rows, keys } in &self.rows {
            let (own, others) = rest.split_at_mut(rows.len());
            if let ChangedRows::Many(rows) = rows {
                hash(*relation, rows, *keys, own);
            }
            rest = others;
        }
        hashes
    }
}

fn hash(relation: RelationId, rows: &Batch, keys: usize, hashes: &mut [u64]) {
    hashes.fill(relation.0);
    rows.columns[..keys].iter().for_each(|column| column.hash_into(hashes));
    // The relation is mixed in before the keys and again after them, so that no key hash can cancel it.
    hashes.iter_mut().for_each(|hash| *hash = combine_hashes(*hash, relation.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Column;

    fn rows(values: std::ops::Range<i64>) -> ChangedRows {
        let len = (values.end - values.start) as usize;
        Batch::new(vec![Column::ints(values.clone().collect()), Column::ints(values.collect())], len).into()
    }

    #[test]
    fn keys_of_many_rows_hash_as_those_of_few_and_can_be_rolled_back() {
        let many = MANY as i64;
        let mut all = KeyHashes::default();
        all.push(RelationId(3), &rows(0..2), 1);
        all.push(RelationId(3), &rows(0..many), 1);
        assert!(!all.is_empty() && !all.are_at_most(2));
        let mut few = KeyHashes::default();
        for i in (0..many).step_by(1000) {
            few.push(RelationId(3), &rows(i..many.min(i + 1000)), 1);
        }
        let hashes: Vec<u64> = all.into_iter().copied().collect();
        assert_eq!(hashes[..2], hashes[2..4]);
        assert!(few.into_iter().eq(&hashes[2..]));
        let mark = all.mark();
        all.push(RelationId(4), &rows(0..many), 1);
        assert_eq!(all.into_iter().count(), 2 + 2 * MANY);
        assert_ne!(all.into_iter().nth(2), all.into_iter().nth(2 + MANY));
        all.roll_back_to(mark);
        assert!(all.into_iter().eq(&hashes));
    }
}
