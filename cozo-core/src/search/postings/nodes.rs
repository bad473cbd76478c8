//! A query over one index: documents in order, with their scores.
//!
//! | node | documents | score |
//! |---|---|---|
//! | leaf | those that have it | by frequency, weight and length |
//! | all | those of every child: the rarest child leads | the sum |
//! | any | those of one child at least | the greatest; for BM25 the sum |
//! | not | those of `keep` that no other child has | that of `keep` |

use super::leaves::LeafDocs;
use super::scorer::Scorer;

/// A part of a query over one index.
pub(super) enum Node<'p> {
    Leaf { docs: LeafDocs<'p>, weight: f64 },
    All(Vec<Node<'p>>),
    Any(Vec<Node<'p>>),
    Not { keep: Box<Node<'p>>, except: Vec<Node<'p>> },
}

impl Node<'_> {
    pub fn is_leaf(&self) -> bool {
        matches!(self, Node::Leaf { .. })
    }

    /// The document; none at the end.
    pub fn doc(&self) -> Option<u32> {
        match self {
            Node::Leaf { docs, .. } => docs.doc(),
            Node::All(children) => children.first().and_then(Node::doc),
            Node::Any(children) => children.iter().filter_map(Node::doc).min(),
            Node::Not { keep, .. } => keep.doc(),
        }
    }

    /// Moves to the next document.
    pub fn advance(&mut self) {
        match self {
            Node::Leaf { docs, .. } => docs.advance(),
            Node::All(children) => {
                children[0].advance();
                agree(children);
            }
            Node::Any(children) => {
                let Some(doc) = children.iter().filter_map(Node::doc).min() else { return };
                children.iter_mut().filter(|child| child.doc() == Some(doc)).for_each(Node::advance);
            }
            Node::Not { keep, except } => {
                keep.advance();
                pass(keep, except);
            }
        }
    }

    /// Moves to the first document from this one on.
    pub fn seek(&mut self, doc: u32) {
        match self {
            Node::Leaf { docs, .. } => docs.seek(doc),
            Node::All(children) => {
                children[0].seek(doc);
                agree(children);
            }
            Node::Any(children) => children.iter_mut().for_each(|child| child.seek(doc)),
            Node::Not { keep, except } => {
                keep.seek(doc);
                pass(keep, except);
            }
        }
    }

    /// Moves to the first document. Once, before all else.
    pub fn start(&mut self) {
        match self {
            Node::Leaf { .. } => {}
            Node::All(children) => {
                children.iter_mut().for_each(Node::start);
                children.sort_by_key(Node::size);
                agree(children);
            }
            Node::Any(children) => children.iter_mut().for_each(Node::start),
            Node::Not { keep, except } => {
                keep.start();
                except.iter_mut().for_each(Node::start);
                pass(keep, except);
            }
        }
    }

    /// The score of the document, of this length.
    pub fn score(&self, doc: u32, length: u32, scorer: &Scorer) -> f64 {
        match self {
            Node::Leaf { docs, weight } => scorer.score(*weight, docs.frequency(), length),
            Node::All(children) => children.iter().map(|child| child.score(doc, length, scorer)).sum(),
            Node::Any(children) => {
                let here = children.iter().filter(|child| child.doc() == Some(doc));
                let scores = here.map(|child| child.score(doc, length, scorer));
                if scorer.adds_up() { scores.sum() } else { scores.fold(f64::NEG_INFINITY, f64::max) }
            }
            Node::Not { keep, .. } => keep.score(doc, length, scorer),
        }
    }

    /// About how many documents it has at most.
    fn size(&self) -> u64 {
        match self {
            Node::Leaf { docs, .. } => docs.size(),
            Node::All(children) => children.iter().map(Node::size).min().unwrap_or(0),
            Node::Any(children) => children.iter().map(Node::size).sum(),
            Node::Not { keep, .. } => keep.size(),
        }
    }

    /// The blocks that were decoded.
    pub fn read(&self) -> usize {
        match self {
            Node::Leaf { docs, .. } => docs.read(),
            Node::All(children) | Node::Any(children) => children.iter().map(Node::read).sum(),
            Node::Not { keep, except } => keep.read() + except.iter().map(Node::read).sum::<usize>(),
        }
    }
}

/// Moves all children to the first document that all of them have, from that of the first child on. At the end the first child is at its end.
fn agree(children: &mut [Node<'_>]) {
    let Some((lead, others)) = children.split_first_mut() else { return };
    'next: while let Some(doc) = lead.doc() {
        for other in others.iter_mut() {
            other.seek(doc);
            match other.doc() {
                Some(found) if found == doc => {}
                Some(found) => {
                    lead.seek(found);
                    continue 'next;
                }
                None => {
                    lead.seek(u32::MAX);
                    return;
                }
            }
        }
        return;
    }
}

/// Moves to the first document that no other has.
fn pass(keep: &mut Node<'_>, except: &mut [Node<'_>]) {
    while let Some(doc) = keep.doc() {
        let is_excepted = except.iter_mut().any(|node| {
            node.seek(doc);
            node.doc() == Some(doc)
        });
        if !is_excepted {
            return;
        }
        keep.advance();
    }
}
