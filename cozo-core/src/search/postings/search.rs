//! The best documents of several indexes.
//!
//! The leaves of the query are found in all indexes first: their weights depend on how many documents have them. Then the indexes are searched one after the
//! other, with one list of the best documents so far. Where a query is a choice of leaves, whole blocks are skipped that cannot have a document as good
//! as the worst of the list (block-max MAXSCORE; Ding and Suel, 2011, and Turtle and Flood, 1995).

use std::cmp::Ordering;

use fixedbitset::FixedBitSet;

use super::Postings;
use super::deletions::Deletions;
use super::leaves::{Leaf, LeafDocs, Live};
use super::nodes::{Node, Scorer};
use super::places::offsets;
use super::thresholds::DOCS_PER_CHECK;
use crate::budget::{self, Stop};
use crate::text::AnalyzedQuery;

/// An index to search.
#[derive(Clone, Copy)]
pub struct PostingsPart<'a> {
    pub postings: &'a Postings,
    /// Documents that do not count.
    pub deletions: Option<&'a Deletions>,
    /// Further documents that do not count, ascending.
    pub shadowed: &'a [u32],
    /// The documents that may be found; all without it. The others count in statistics.
    pub allowed: Option<&'a FixedBitSet>,
}

/// How scores are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scoring {
    /// The number of occurrences.
    Tf,
    /// The same, where rare words count more.
    TfIdf,
    /// Okapi BM25 (Robertson and Zaragoza, 2009): further occurrences count less and less, and all count less in long documents.
    Bm25 {
        /// How slowly further occurrences count less.
        k1: f64,
        /// How much the length of the document matters, from 0 to 1.
        b: f64,
    },
}

/// A document that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextHit {
    /// The number of the index among those searched.
    pub part: usize,
    /// The document.
    pub doc: u32,
    /// Its score.
    pub score: f64,
}

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
            match &mut node {
                Node::Leaf { .. } => self.choose(part, std::slice::from_mut(&mut node), &mut best)?,
                Node::Any(children) if children.iter().all(|child| matches!(child, Node::Leaf { .. })) => {
                    self.choose(part, children, &mut best)?;
                }
                _ => self.walk(part, &mut node, &mut best)?,
            }
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

    /// Goes through all documents of a query.
    fn walk(&mut self, part: usize, node: &mut Node<'_>, best: &mut Best<'_>) -> Result<(), Stop> {
        node.start();
        let live = &self.parts[part];
        while let Some(doc) = node.doc() {
            if self.work.scored.is_multiple_of(DOCS_PER_CHECK) {
                budget::step(DOCS_PER_CHECK)?;
            }
            if live.may_be_found(doc) {
                self.work.scored += 1;
                let score = node.score(doc, live.postings().length(doc), &self.scorer);
                best.push(TextHit { part, doc, score });
            }
            node.advance();
        }
        Ok(())
    }

    /// Goes through the documents of a choice of leaves, and skips blocks that cannot have one of the best.
    fn choose(&mut self, part: usize, leaves: &mut [Node<'_>], best: &mut Best<'_>) -> Result<(), Stop> {
        let scorer = self.scorer;
        let mut leaves: Vec<(&mut LeafDocs<'_>, f64, f64)> = leaves
            .iter_mut()
            .filter_map(|node| match node {
                Node::Leaf { docs, weight } => {
                    let (frequency, length) = docs.bounds();
                    let bound = scorer.bound(*weight, frequency, length);
                    Some((docs, *weight, bound))
                }
                _ => None,
            })
            .collect();
        leaves.sort_by(|a, b| b.2.total_cmp(&a.2));
        let mut from = 0;
        loop {
            // The leaves without which a document cannot be among the best.
            let essential = essential(&leaves, &scorer, best, part);
            let blocks = leaves[..essential].iter().filter_map(|(docs, weight, _)| {
                docs.bounds_from(from).map(|(last, frequency, length)| (last, scorer.bound(*weight, frequency, length)))
            });
            let (mut last, mut bound) = (None, 0.0);
            for (end, of_leaf) in blocks {
                last = Some(last.map_or(end, |last: u32| last.min(end)));
                bound = if scorer.adds_up() { bound + of_leaf } else { f64::max(bound, of_leaf) };
            }
            let Some(last) = last else { return Ok(()) };
            if scorer.adds_up() {
                bound += leaves[essential..].iter().map(|(_, _, bound)| bound).sum::<f64>();
            }
            budget::step(16)?;
            if !best.is_out_of_reach(bound, part) {
                self.score_range(part, &mut leaves, essential, from..=last, best);
            }
            let Some(next) = last.checked_add(1) else { return Ok(()) };
            from = next;
        }
    }

    /// Scores the documents of a range that one of the first `essential` leaves has.
    fn score_range(
        &mut self,
        part: usize,
        leaves: &mut [(&mut LeafDocs<'_>, f64, f64)],
        essential: usize,
        range: std::ops::RangeInclusive<u32>,
        best: &mut Best<'_>,
    ) {
        let live = &self.parts[part];
        leaves[..essential].iter_mut().for_each(|(docs, _, _)| docs.seek(*range.start()));
        loop {
            let Some(doc) = leaves[..essential].iter().filter_map(|(docs, _, _)| docs.doc()).min() else { return };
            if doc > *range.end() {
                return;
            }
            if live.may_be_found(doc) {
                self.work.scored += 1;
                let length = live.postings().length(doc);
                let adds_up = self.scorer.adds_up();
                let mut score = if adds_up { 0.0 } else { f64::NEG_INFINITY };
                for (at, (docs, weight, _)) in leaves.iter_mut().enumerate() {
                    if at >= essential {
                        docs.seek(doc);
                    }
                    if docs.doc() == Some(doc) {
                        let of_leaf = self.scorer.score(*weight, docs.frequency(), length);
                        score = if adds_up { score + of_leaf } else { score.max(of_leaf) };
                    }
                }
                best.push(TextHit { part, doc, score });
            }
            for (docs, _, _) in &mut leaves[..essential] {
                if docs.doc() == Some(doc) {
                    docs.advance();
                }
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

/// How many of the leaves, which come with falling bounds, a document must have one of to be among the best.
fn essential(leaves: &[(&mut LeafDocs<'_>, f64, f64)], scorer: &Scorer, best: &Best<'_>, part: usize) -> usize {
    let mut essential = leaves.len();
    let mut rest = 0.0;
    while essential > 0 {
        let bound = leaves[essential - 1].2;
        rest = if scorer.adds_up() { rest + bound } else { bound };
        if !best.is_out_of_reach(rest, part) {
            return essential;
        }
        essential -= 1;
    }
    0
}

/// The best documents so far: a heap whose root is the worst.
struct Best<'o> {
    hits: Vec<TextHit>,
    k: usize,
    order: &'o dyn Fn((usize, u32), (usize, u32)) -> Ordering,
}

impl Best<'_> {
    /// Whether a document of an index with at most this score cannot be among the best. Documents of one index come in the order of
    /// keys, so that a later one with the same score is behind those before it.
    fn is_out_of_reach(&self, bound: f64, part: usize) -> bool {
        if self.hits.len() < self.k {
            return false;
        }
        let worst = self.hits.first().map_or(f64::INFINITY, |hit| hit.score);
        bound < worst || bound == worst && part == 0
    }

    /// Whether one hit is behind another.
    fn is_behind(&self, a: &TextHit, b: &TextHit) -> bool {
        match a.score.total_cmp(&b.score) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => (self.order)((a.part, a.doc), (b.part, b.doc)).is_gt(),
        }
    }

    fn push(&mut self, hit: TextHit) {
        if self.hits.len() < self.k {
            self.hits.push(hit);
            let mut at = self.hits.len() - 1;
            while at > 0 && self.is_behind(&self.hits[at], &self.hits[(at - 1) / 2]) {
                self.hits.swap(at, (at - 1) / 2);
                at = (at - 1) / 2;
            }
        } else if self.hits.first().is_some_and(|worst| self.is_behind(worst, &hit)) {
            self.hits[0] = hit;
            let mut at = 0;
            loop {
                let children = [2 * at + 1, 2 * at + 2].into_iter().filter(|child| *child < self.hits.len());
                let worst = children.reduce(|a, b| if self.is_behind(&self.hits[a], &self.hits[b]) { a } else { b });
                match worst.filter(|child| self.is_behind(&self.hits[*child], &self.hits[at])) {
                    Some(child) => self.hits.swap(at, child),
                    None => return,
                }
                at = worst.unwrap_or(at);
            }
        }
    }

    fn into_sorted(mut self) -> Vec<TextHit> {
        let mut hits = std::mem::take(&mut self.hits);
        hits.sort_by(|a, b| if self.is_behind(a, b) { Ordering::Greater } else { Ordering::Less });
        hits
    }
}
