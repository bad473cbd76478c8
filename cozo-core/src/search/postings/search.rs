//! The best documents of several indexes.
//!
//! The leaves of the query are found in all indexes first: their weights depend on how many documents have them. Then the indexes are searched one after the
//! other, with one list of the best documents so far.

use std::cmp::Ordering;

use super::best::{Best, TextHit};
use super::leaves::{Leaf, LeafDocs};
use super::live::{Live, PostingsPart};
use super::nodes::Node;
use super::places::offsets;
use super::scorer::{Scorer, Scoring};
use super::windows::PartSearch;
use crate::budget::{self, Stop};
use crate::text::AnalyzedQuery;

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextWork {
    /// The blocks of 128 documents that were read.
    pub blocks: usize,
    /// The documents whose scores were computed.
    pub scored: usize,
}

/// A search for the best documents of several indexes.
pub struct TextSearch<'a> {
    shape: QueryShape,
    leaves: Vec<(Leaf<'a>, f64)>,
    parts: Vec<Live<'a>>,
    /// The documents of each leaf in each index, until they are searched.
    found: Vec<Vec<LeafDocs<'a>>>,
    weights: Vec<f64>,
    scorer: Scorer,
    work: TextWork,
}

/// A query, with numbers for its leaves.
enum QueryShape {
    Leaf(usize),
    All(Vec<QueryShape>),
    Any(Vec<QueryShape>),
    Not(Box<QueryShape>, Vec<QueryShape>),
}

impl QueryShape {
    fn of<'q>(query: &'q AnalyzedQuery, leaves: &mut Vec<(Leaf<'q>, f64)>) -> QueryShape {
        let mut leaf = |leaf: Leaf<'q>, boost: f64| {
            leaves.push((leaf, boost));
            QueryShape::Leaf(leaves.len() - 1)
        };
        match query {
            AnalyzedQuery::Term(term) if term.prefix => leaf(Leaf::Prefix(&term.text), term.boost),
            AnalyzedQuery::Term(term) => leaf(Leaf::Word(&term.text), term.boost),
            AnalyzedQuery::Phrase(terms) => {
                leaf(Leaf::Phrase(terms), terms.first().map_or(1.0, |(_, term)| term.boost))
            }
            AnalyzedQuery::Near { within, terms } => {
                leaf(Leaf::Near(*within, terms), terms.iter().map(|term| term.boost).sum())
            }
            AnalyzedQuery::And(parts) => {
                QueryShape::All(parts.iter().map(|part| QueryShape::of(part, leaves)).collect())
            }
            AnalyzedQuery::Or(parts) => {
                QueryShape::Any(parts.iter().map(|part| QueryShape::of(part, leaves)).collect())
            }
            AnalyzedQuery::Not { keep, except } => {
                let keep = Box::new(QueryShape::of(keep, leaves));
                QueryShape::Not(keep, except.iter().map(|part| QueryShape::of(part, leaves)).collect())
            }
        }
    }

    /// The leaves that a document can have been found by.
    fn positive(&self, into: &mut Vec<usize>) {
        match self {
            QueryShape::Leaf(leaf) => into.push(*leaf),
            QueryShape::All(parts) | QueryShape::Any(parts) => parts.iter().for_each(|part| part.positive(into)),
            QueryShape::Not(keep, _) => keep.positive(into),
        }
    }
}

impl<'a> TextSearch<'a> {
    /// Looks a query up in indexes. `rows` is the number of rows of the relation, whether they are indexed or not.
    pub fn new(
        query: &'a AnalyzedQuery,
        parts: Vec<PostingsPart<'a>>,
        scoring: Scoring,
        rows: u64,
    ) -> Result<Self, Stop> {
        let mut leaves = vec![];
        let shape = QueryShape::of(query, &mut leaves);
        let parts: Vec<Live<'a>> = parts.into_iter().map(Live::new).collect();
        let (docs, length) =
            parts.iter().map(Live::totals).fold((0, 0), |sum, (docs, length)| (sum.0 + docs, sum.1 + length));
        let mut counts = vec![0u64; leaves.len()];
        let mut found = vec![];
        for part in &parts {
            let mut of_part = vec![];
            for ((leaf, _), count) in leaves.iter().zip(&mut counts) {
                let (docs, n) = part.docs_of(*leaf)?;
                *count += n;
                of_part.push(docs);
            }
            found.push(of_part);
        }
        let of_relation = match scoring {
            Scoring::Bm25 { .. } => docs,
            Scoring::Tf | Scoring::TfIdf => rows,
        };
        let idf = |n: u64| (1.0 + (of_relation as f64 - n as f64 + 0.5) / (n as f64 + 0.5)).ln();
        let weight =
            |(leaf, n): (&(Leaf<'_>, f64), &u64)| if scoring == Scoring::Tf { leaf.1 } else { idf(*n) * leaf.1 };
        let weights = leaves.iter().zip(&counts).map(weight).collect();
        let scorer = Scorer { scoring, average_length: length as f64 / docs.max(1) as f64 };
        Ok(TextSearch { shape, leaves, parts, found, weights, scorer, work: TextWork::default() })
    }

    /// The `k` documents with the greatest scores, the best first. `order` is that of keys, which decides among equal scores. A search
    /// finds documents once.
    pub fn top(
        &mut self,
        k: usize,
        order: &dyn Fn((usize, u32), (usize, u32)) -> Ordering,
    ) -> Result<Vec<TextHit>, Stop> {
        let mut best = Best { hits: vec![], k, order };
        for (part, mut docs) in std::mem::take(&mut self.found).into_iter().enumerate() {
            let mut node = self.node(&self.shape, &mut docs);
            let adds_up = self.scorer.adds_up();
            let search = PartSearch { live: &self.parts[part], part, scorer: self.scorer, adds_up };
            self.work.scored += match &mut node {
                Node::Leaf { .. } => search.any(std::slice::from_mut(&mut node), &mut best)?,
                Node::Any(children) if children.iter().all(Node::is_leaf) => search.any(children, &mut best)?,
                Node::All(children) if children.iter().all(Node::is_leaf) => search.all(children, &mut best)?,
                _ => search.walk(&mut node, &mut best)?,
            };
            self.work.blocks += node.read();
        }
        Ok(best.into_sorted())
    }

    fn node(&self, shape: &QueryShape, docs: &mut [LeafDocs<'a>]) -> Node<'a> {
        let mut nodes = |shapes: &[QueryShape]| shapes.iter().map(|shape| self.node(shape, docs)).collect();
        match shape {
            QueryShape::Leaf(leaf) => {
                Node::Leaf { docs: std::mem::replace(&mut docs[*leaf], LeafDocs::None), weight: self.weights[*leaf] }
            }
            QueryShape::All(parts) => Node::All(nodes(parts)),
            QueryShape::Any(parts) => Node::Any(nodes(parts)),
            QueryShape::Not(keep, except) => {
                let keep = Box::new(self.node(keep, docs));
                Node::Not { keep, except: except.iter().map(|shape| self.node(shape, docs)).collect() }
            }
        }
    }

    /// Where what was searched for stands in a document: beginnings and ends in bytes, ascending, without overlaps.
    pub fn spans(&mut self, part: usize, doc: u32) -> Result<Vec<(u32, u32)>, Stop> {
        let mut positive = vec![];
        self.shape.positive(&mut positive);
        let postings = self.parts[part].postings();
        let mut spans = vec![];
        let mut add = |text: &str, prefix: bool| {
            let words = match prefix {
                true => postings.words_with_prefix(text),
                false => postings.words.find(text).map_or(0..0, |word| word..word + 1),
            };
            for word in words {
                let mut cursor = postings.cursor(word);
                cursor.seek(doc);
                if cursor.doc() == Some(doc) {
                    spans.extend(offsets(cursor.offset_bytes()));
                }
            }
        };
        for leaf in positive {
            budget::step(1)?;
            match self.leaves[leaf].0 {
                Leaf::Word(text) => add(text, false),
                Leaf::Prefix(text) => add(text, true),
                Leaf::Phrase(terms) => terms.iter().for_each(|(_, term)| add(&term.text, term.prefix)),
                Leaf::Near(_, terms) => terms.iter().for_each(|term| add(&term.text, term.prefix)),
            }
        }
        spans.sort_unstable();
        let mut merged: Vec<(u32, u32)> = vec![];
        for (from, to) in spans {
            match merged.last_mut() {
                Some(last) if from < last.1 || *last == (from, to) => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        Ok(merged)
    }

    /// What the search did.
    pub fn work(&self) -> TextWork {
        self.work
    }
}
