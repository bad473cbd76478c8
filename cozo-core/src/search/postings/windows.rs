//! Searching one index for documents that can be among the best, window by window.
//!
//! ```text
//! documents   0 ..................................................................
//! red         [ 2.1     ][ 1.4          ][ 1.9  ]       blocks, and what their documents can score at most
//! apple       [ 0.7  ][ 0.5    ][ 0.9          ]
//! windows     |      |  |      |        |      |        a window has one block of each leaf
//!               2.8   2.6 1.9 ...                       its bound: if it is out of reach, none of its blocks is read
//! ```
//!
//! In a window, documents are selected first. If all leaves must be there, the rarest selects. Of alternatives each selects those documents that
//! none before it has. What a document scores in this leaf, with the bounds of the leaves after it, must reach the worst of the best so far. What is
//! selected is looked up leaf by leaf, as long as that holds. (Block-max MAXSCORE; Ding and Suel, 2011, and Turtle and Flood, 1995.)

use std::ops::RangeInclusive;

use super::best::{Best, TextHit};
use super::leaves::LeafDocs;
use super::live::Live;
use super::nodes::Node;
use super::scorer::{Floor, Scorer};
use super::thresholds::{BLOCKWISE, DOCS_PER_CHECK};
use crate::budget::{self, Stop};

/// Searches one index.
#[derive(Clone, Copy)]
pub(super) struct PartSearch<'s, 'p> {
    pub live: &'s Live<'p>,
    /// The number of the index among those searched.
    pub part: usize,
    pub scorer: Scorer,
    /// Whether the scores of leaves are added up. Otherwise the greatest counts.
    pub adds_up: bool,
}

/// A leaf of a query.
struct Lane<'n, 'p> {
    docs: &'n mut LeafDocs<'p>,
    weight: f64,
    /// What it can add to the score of any document.
    bound: f64,
    /// What it can add in the window, and what those after it can.
    in_window: f64,
    rest: f64,
}

impl<'p> PartSearch<'_, 'p> {
    fn lanes<'n>(&self, leaves: &'n mut [Node<'p>]) -> Vec<Lane<'n, 'p>> {
        let lane = |node: &'n mut Node<'p>| match node {
            Node::Leaf { docs, weight } => {
                let bound = docs.bound(&self.scorer, *weight);
                Some(Lane { docs, weight: *weight, bound, in_window: bound, rest: 0.0 })
            }
            _ => None,
        };
        leaves.iter_mut().filter_map(lane).collect()
    }

    /// Goes through all documents of a query. Returns how many it scored.
    pub fn walk(&self, node: &mut Node<'_>, best: &mut Best<'_>) -> Result<usize, Stop> {
        node.start();
        let mut scored = 0;
        while let Some(doc) = node.doc() {
            if scored % DOCS_PER_CHECK == 0 {
                budget::step(DOCS_PER_CHECK)?;
            }
            if self.live.may_be_found(doc) {
                scored += 1;
                let score = node.score(doc, self.live.postings().length(doc), &self.scorer);
                best.push(TextHit { part: self.part, doc, score });
            }
            node.advance();
        }
        Ok(scored)
    }

    /// Goes through the documents that have one of some leaves. Returns how many it scored.
    pub fn any(&self, leaves: &mut [Node<'p>], best: &mut Best<'_>) -> Result<usize, Stop> {
        let mut lanes = self.lanes(leaves);
        lanes.sort_by(|a, b| b.bound.total_cmp(&a.bound));
        let (mut from, mut scored, mut selected) = (0, 0, vec![]);
        loop {
            let floor = best.floor(self.part);
            let essential = self.essential(&lanes, floor);
            let ends = lanes[..essential]
                .iter_mut()
                .filter_map(|lane| lane.docs.bound_from(from, &self.scorer, lane.weight).map(|(end, _)| end));
            let Some(last) = ends.min() else { return Ok(scored) };
            budget::step(16)?;
            let bound = self.enter(&mut lanes, from..=last);
            if floor.is_reached(bound) {
                self.select_any(&mut lanes[..essential], floor, from..=last, &mut selected);
                scored += self.score_any(&mut lanes, &selected, best);
            }
            let Some(next) = last.checked_add(1) else { return Ok(scored) };
            from = next;
        }
    }

    /// Sets what leaves can add in a window: what the block can, if the window is in one. Returns what all can.
    fn enter(&self, lanes: &mut [Lane<'_, '_>], window: RangeInclusive<u32>) -> f64 {
        let mut rest = 0.0;
        for lane in lanes.iter_mut().rev() {
            lane.rest = rest;
            lane.in_window = match lane.docs.bound_from(*window.start(), &self.scorer, lane.weight) {
                None => 0.0,
                Some((end, bound)) if end >= *window.end() => bound,
                Some(_) => lane.bound,
            };
            rest = self.either(rest, lane.in_window);
        }
        rest
    }

    /// The score of a document that has two leaves.
    fn either(&self, a: f64, b: f64) -> f64 {
        if self.adds_up { a + b } else { f64::max(a, b) }
    }

    /// Whether a document can reach a floor that scores so much in some leaves, and no more than the rest in the others.
    fn can_reach(&self, floor: Floor, score: f64, rest: f64) -> bool {
        if self.adds_up { floor.without(rest).is_reached(score) } else { floor.is_reached(score.max(rest)) }
    }

    /// How many of the first leaves a document must have one of to reach a floor.
    fn essential(&self, lanes: &[Lane<'_, '_>], floor: Floor) -> usize {
        let mut rest = 0.0;
        for (at, lane) in lanes.iter().enumerate().rev() {
            rest = self.either(rest, lane.bound);
            if floor.is_reached(rest) {
                return at + 1;
            }
        }
        0
    }

    /// Selects the documents of a window that can reach a floor, in order. They have one of some leaves. A document is selected by the first
    /// leaf that it has, so that those before it add nothing.
    fn select_any(
        &self,
        lanes: &mut [Lane<'_, '_>],
        floor: Floor,
        range: RangeInclusive<u32>,
        selected: &mut Vec<u32>,
    ) {
        selected.clear();
        let lengths = &self.live.postings().lengths;
        for lane in lanes {
            if !self.can_reach(floor, lane.in_window, lane.rest) {
                continue;
            }
            let of_lane = if self.adds_up { floor.without(lane.rest) } else { floor };
            lane.docs.seek(*range.start());
            self.scorer.select(lane.weight, lane.docs.until(*range.end()), lengths, of_lane, selected);
        }
        selected.sort_unstable();
        selected.dedup();
    }

    /// Scores documents, which ascend.
    fn score_any(&self, lanes: &mut [Lane<'_, '_>], docs: &[u32], best: &mut Best<'_>) -> usize {
        let mut scored = 0;
        'next: for doc in docs.iter().copied().filter(|doc| self.live.may_be_found(*doc)) {
            scored += 1;
            let (length, floor) = (self.live.postings().length(doc), best.floor(self.part));
            let mut score = if self.adds_up { 0.0 } else { f64::NEG_INFINITY };
            for lane in lanes.iter_mut() {
                lane.docs.seek(doc);
                if lane.docs.doc() == Some(doc) {
                    score = self.either(score, self.scorer.score(lane.weight, lane.docs.frequency(), length));
                }
                if !self.can_reach(floor, score, lane.rest) {
                    continue 'next;
                }
            }
            best.push(TextHit { part: self.part, doc, score });
        }
        scored
    }

    /// Goes through the documents that have all of some leaves. Returns how many it scored.
    pub fn all(&self, leaves: &mut [Node<'p>], best: &mut Best<'_>) -> Result<usize, Stop> {
        let search = PartSearch { adds_up: true, ..*self };
        let mut lanes = self.lanes(leaves);
        lanes.sort_by_key(|lane| lane.docs.size());
        let most = lanes.first().map_or(0, |lane| lane.docs.size()).saturating_mul(BLOCKWISE);
        let blockwise = lanes.partition_point(|lane| lane.docs.size() <= most);
        let (mut from, mut scored, mut selected) = (0, 0, vec![]);
        loop {
            let floor = best.floor(self.part);
            let mut last = u32::MAX;
            for lane in &mut lanes[..blockwise] {
                let Some((end, _)) = lane.docs.bound_from(from, &self.scorer, lane.weight) else { return Ok(scored) };
                last = last.min(end);
            }
            budget::step(16)?;
            search.enter(&mut lanes, from..=last);
            let Some(lead) = lanes.first_mut() else { return Ok(scored) };
            let of_lead = floor.without(lead.rest);
            if of_lead.is_reached(lead.in_window) {
                selected.clear();
                lead.docs.seek(from);
                let lengths = &self.live.postings().lengths;
                self.scorer.select(lead.weight, lead.docs.until(last), lengths, of_lead, &mut selected);
                scored += self.score_all(&mut lanes, &selected, best);
            }
            let Some(next) = last.checked_add(1) else { return Ok(scored) };
            from = next;
        }
    }

    /// Scores those of documents, which ascend, that have all leaves.
    fn score_all(&self, lanes: &mut [Lane<'_, '_>], docs: &[u32], best: &mut Best<'_>) -> usize {
        let mut scored = 0;
        'next: for doc in docs.iter().copied().filter(|doc| self.live.may_be_found(*doc)) {
            let (length, floor) = (self.live.postings().length(doc), best.floor(self.part));
            let mut score = 0.0;
            for lane in lanes.iter_mut() {
                lane.docs.seek(doc);
                if lane.docs.doc() != Some(doc) {
                    continue 'next;
                }
                score += self.scorer.score(lane.weight, lane.docs.frequency(), length);
                if !floor.without(lane.rest).is_reached(score) {
                    continue 'next;
                }
            }
            scored += 1;
            best.push(TextHit { part: self.part, doc, score });
        }
        scored
    }
}
