//! The best documents so far.

use std::cmp::Ordering;

use super::scorer::Floor;

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

/// The best documents so far: a heap whose root is the worst.
pub(super) struct Best<'o> {
    pub hits: Vec<TextHit>,
    pub k: usize,
    pub order: &'o dyn Fn((usize, u32), (usize, u32)) -> Ordering,
}

impl Best<'_> {
    /// What later documents of an index must score to be among the best. Documents of one index come in the order of keys, so that a
    /// later one with the same score as an earlier one is behind it.
    pub fn floor(&self, part: usize) -> Floor {
        match self.hits.first() {
            _ if self.hits.len() < self.k => Floor::NONE,
            worst => Floor::new(worst.map_or(f64::INFINITY, |hit| hit.score), part == 0),
        }
    }

    /// Whether one hit is behind another.
    fn is_behind(&self, a: &TextHit, b: &TextHit) -> bool {
        match a.score.total_cmp(&b.score) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => (self.order)((a.part, a.doc), (b.part, b.doc)).is_gt(),
        }
    }

    /// Takes a document, if it is among the best.
    pub fn push(&mut self, hit: TextHit) {
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

    /// The documents, the best first.
    pub fn into_sorted(mut self) -> Vec<TextHit> {
        let mut hits = std::mem::take(&mut self.hits);
        hits.sort_by(|a, b| if self.is_behind(a, b) { Ordering::Greater } else { Ordering::Less });
        hits
    }
}
