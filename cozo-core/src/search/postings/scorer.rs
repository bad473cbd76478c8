//! How a frequency becomes a score.

use super::thresholds::BLOCK_DOCS;

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

/// Scoring, and what it depends on besides.
#[derive(Clone, Copy)]
pub(super) struct Scorer {
    pub scoring: Scoring,
    pub average_length: f64,
}

/// By how much sums and quotients may differ if they are rounded another way, as a share of them.
const ROUNDING: f64 = 1e-12;

impl Scorer {
    /// The score of a frequency in a document of some length.
    #[inline]
    pub fn score(&self, weight: f64, frequency: u32, length: u32) -> f64 {
        let frequency = f64::from(frequency);
        match self.scoring {
            Scoring::Tf | Scoring::TfIdf => frequency * weight,
            Scoring::Bm25 { k1, b } => {
                let relative = f64::from(length) / self.average_length;
                weight * (frequency * (k1 + 1.0)) / (frequency + k1 * (1.0 - b + b * relative))
            }
        }
    }

    /// A score that no document exceeds that has no greater frequency and no less length than one of these pairs.
    pub fn bound(&self, weight: f64, pairs: impl Iterator<Item = (u32, u32)>) -> f64 {
        if weight < 0.0 {
            return f64::INFINITY;
        }
        let score = pairs.map(|(frequency, length)| self.score(weight, frequency, length)).fold(0.0, f64::max);
        if let Scoring::Bm25 { .. } = self.scoring { score * (1.0 + ROUNDING) } else { score }
    }

    /// Whether the scores of alternatives are added up. Otherwise the greatest counts.
    pub fn adds_up(&self) -> bool {
        matches!(self.scoring, Scoring::Bm25 { .. })
    }

    /// Appends the documents of a block, or of a part of it, whose scores reach a floor.
    pub fn select(
        &self,
        weight: f64,
        (docs, frequencies): (&[u32], &[u32]),
        lengths: &[u32],
        floor: Floor,
        into: &mut Vec<u32>,
    ) {
        let mut scores = [0.0; BLOCK_DOCS];
        for ((score, doc), frequency) in scores.iter_mut().zip(docs).zip(frequencies) {
            *score = self.score(weight, *frequency, lengths[*doc as usize]);
        }
        // Without branches: a processor could not predict them.
        let (mut selected, mut count) = ([0; BLOCK_DOCS], 0);
        for (score, doc) in scores.iter().zip(docs) {
            selected[count] = *doc;
            count += usize::from(floor.is_reached(*score));
        }
        into.extend_from_slice(&selected[..count]);
    }
}

/// A score that documents must reach.
#[derive(Clone, Copy)]
pub(super) struct Floor {
    score: f64,
    /// Whether they must exceed it.
    is_exceeded: bool,
}

impl Floor {
    /// Every document reaches it.
    pub const NONE: Floor = Floor { score: f64::NEG_INFINITY, is_exceeded: false };

    pub fn new(score: f64, is_exceeded: bool) -> Self {
        Floor { score, is_exceeded }
    }

    #[inline]
    pub fn is_reached(&self, score: f64) -> bool {
        // Infinite weights make bounds that are no numbers. What cannot be compared is looked at.
        let order = score.partial_cmp(&self.score);
        order.is_none_or(|order| if self.is_exceeded { order.is_gt() } else { order.is_ge() })
    }

    /// The floor for a part of a score, if the rest is no more than this.
    pub fn without(&self, rest: f64) -> Floor {
        if rest == 0.0 {
            return *self;
        }
        let score = self.score - rest;
        Floor { score: score - ROUNDING * self.score.abs(), is_exceeded: false }
    }
}
