//! What a search finds.

use std::fmt::{self, Display, Formatter};

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
    /// How they were found.
    pub work: SearchWork,
}

/// How an index is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// All vectors that may be found are compared.
    Exact,
    /// A walk through a graph of vectors.
    Graph,
    /// A walk through the graph that returns only what is allowed.
    OneHop,
    /// A walk from allowed vector to allowed vector, over at most one other.
    TwoHops,
    /// The lists of the words of a query.
    Postings,
    /// The bands of a signature.
    Bands,
}

impl Way {
    const ALL: [(Way, &'static str); 6] = [
        (Way::Exact, "exact"),
        (Way::Graph, "graph"),
        (Way::OneHop, "one hop"),
        (Way::TwoHops, "two hops"),
        (Way::Postings, "postings"),
        (Way::Bands, "bands"),
    ];
}

/// What searches did, for `::explain analyze`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchWork {
    /// How often a part of an index was searched in each way.
    searched: [u64; Way::ALL.len()],
    /// How many vectors were compared, or texts and signatures looked at.
    visited: u64,
}

impl SearchWork {
    /// Notes that a part of an index was searched.
    pub fn note(&mut self, way: Way, visited: usize) {
        self.searched[way as usize] += 1;
        self.visited += visited as u64;
    }

    /// Adds what other searches did.
    pub fn add(&mut self, other: &SearchWork) {
        self.searched.iter_mut().zip(other.searched).for_each(|(own, other)| *own += other);
        self.visited += other.visited;
    }
}

/// `graph 3, exact 1, visited 1520`; nothing without a search.
impl Display for SearchWork {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let searched = Way::ALL.iter().zip(self.searched).filter(|(_, times)| *times > 0);
        let mut any = false;
        for ((_, name), times) in searched {
            write!(f, "{name} {times}, ")?;
            any = true;
        }
        if any { write!(f, "visited {}", self.visited) } else { Ok(()) }
    }
}

impl Hits {
    /// Some of the hits, by number.
    pub fn take(&self, rows: &[u32]) -> Hits {
        let take = |batch: &Batch| Batch {
            columns: batch.columns.iter().map(|column| column.take(rows)).collect(),
            len: rows.len(),
        };
        Hits { keys: take(&self.keys), extras: take(&self.extras), is_all: self.is_all, work: self.work }
    }
}
