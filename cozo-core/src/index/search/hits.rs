//! What a search finds.

use crate::value::Batch;

/// What a search gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchColumn {
    /// A column of the relation.
    Stored(usize),
    /// The distance of vectors (`bind_distance`).
    Distance,
    /// The vector found (`bind_vector`).
    Vector,
    /// The name of the column with the vector (`bind_field`).
    Field,
    /// The place of the vector in a list (`bind_field_idx`).
    FieldIndex,
    /// The score of a text (`bind_score`).
    Score,
    /// The places of the words found in a text (`bind_spans`).
    Spans,
    /// The estimated similarity of near-duplicates (`bind_similarity`).
    Similarity,
}

/// The rows that a search finds, the best first.
pub struct Hits {
    /// Their keys.
    pub keys: Batch,
    /// A column for each [`SearchColumn`] that was asked for besides those that are stored.
    pub extras: Batch,
    /// Whether there are no others.
    pub is_all: bool,
}

impl Hits {
    /// Some of the hits, by number.
    pub fn take(&self, rows: &[u32]) -> Hits {
        let take = |batch: &Batch| Batch {
            columns: batch.columns.iter().map(|column| column.take(rows)).collect(),
            len: rows.len(),
        };
        Hits { keys: take(&self.keys), extras: take(&self.extras), is_all: self.is_all }
    }
}
