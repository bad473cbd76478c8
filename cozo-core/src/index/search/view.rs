//! What an index holds in a snapshot: sealed segments and a tail.
//!
//! ```text
//! part          rows                                  dead: no longer so in the relation
//! segment 1     sealed first                          deletions, and rows whose keys are in `changed`
//! segment 2     sealed later                          the same
//! tail          rows whose keys are in `changed`      none
//! ```
//!
//! A row that changes again is in a later part than before, and dead in the earlier one. The tail is read from the relation. If a sealed
//! segment cannot be read, the whole index is made anew from the relation.

use std::sync::Arc;

use fixedbitset::FixedBitSet;

use super::cache::{SegmentCache, find};
use super::error::SearchIndexError;
use super::extractor::Extractor;
use super::rows::{BaseRows, counted, keys_of, looked_up, scanned};
use super::segment::{Content, Segment, SegmentBuilder};
use super::segments::{Manifest, SegmentEntry};
use crate::schema::{RelationId, RelationSchema, SearchIndex};
use crate::search::postings::Deletions;
use crate::storage::{ContentVersion, Snapshot};
use crate::sync::Mutex;
use crate::value::Batch;

/// What is searched: an index of a relation in a snapshot.
#[derive(Clone, Copy)]
pub struct Indexed<'a> {
    pub relation: &'a RelationSchema,
    pub index: &'a SearchIndex,
    pub extractor: &'a Extractor,
    pub snapshot: &'a dyn Snapshot,
    pub cache: Option<&'a SearchCache>,
}

impl<'a> Indexed<'a> {
    /// The rows of the relation.
    pub fn base(&self) -> BaseRows<'a> {
        BaseRows { relation: self.relation, extractor: self.extractor, snapshot: self.snapshot }
    }
}

/// What makes searches fast: sealed segments, and the views that transactions have made last.
pub struct SearchCache {
    pub segments: SegmentCache,
    /// One for each index at most, the least recently used first.
    views: Mutex<Vec<(ViewKey, Arc<IndexView>)>>,
}

/// The most views that are kept.
const MAX_VIEWS: usize = 32;

impl SearchCache {
    /// An empty cache with a budget of bytes for segments.
    pub fn new(budget_bytes: usize) -> Self {
        SearchCache { segments: SegmentCache::new(budget_bytes), views: Mutex::default() }
    }

    /// Keeps a view, unless its segments do not fit into the cache.
    fn keep_view(&self, key: ViewKey, view: &Arc<IndexView>) {
        let mut views = self.views.lock();
        views.retain(|(other, _)| other.index != key.index);
        let bytes: usize = view.parts.iter().map(|part| part.segment.memory_bytes()).sum();
        if bytes > self.segments.budget_bytes {
            return;
        }
        if views.len() >= MAX_VIEWS {
            views.remove(0);
        }
        views.push((key, view.clone()));
    }

    /// Forgets the segments of an index, but for those with these numbers. Older snapshots read them again.
    pub fn keep_only(&self, segments: RelationId, numbers: &[u64]) {
        self.segments.keep_only(segments, numbers);
        self.views.lock().retain(|(key, _)| key.index != segments);
    }
}

/// The contents that a view is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ViewKey {
    /// The relation of segments, which stands for the index.
    index: RelationId,
    relation: ContentVersion,
    changed: Option<ContentVersion>,
    segments: Option<ContentVersion>,
}

impl ViewKey {
    /// The contents of an index. None if the engine does not track changes.
    pub fn of(of: &Indexed<'_>) -> Option<ViewKey> {
        let contents = |relation| of.snapshot.describe(relation).map(|state| state.contents());
        let tracked = |relation| match contents(relation) {
            Some(None) => None,
            known => Some(known.flatten()),
        };
        let [changed, segments] = &of.index.stored;
        Some(ViewKey {
            index: segments.id,
            relation: tracked(of.relation.id)??,
            changed: tracked(changed.id)?,
            segments: tracked(segments.id)?,
        })
    }
}

/// The parts of an index.
pub struct IndexView {
    pub parts: Vec<Part>,
    /// The manifest that lists the sealed segments. None if it cannot be read.
    pub manifest: Option<Manifest>,
    /// How many of the parts are sealed. If there is one more, it is the tail.
    pub sealed: usize,
    /// Whether the manifest or sealed segments could not be read, so that the parts are made of the relation alone.
    pub is_made_anew: bool,
    /// The rows of the relation, whether they are indexed or not; counted for texts alone.
    pub rows: u64,
}

/// A part of an index.
#[derive(Clone)]
pub struct Part {
    pub segment: Arc<Segment>,
    /// The docs that are no longer so in the relation, ascending.
    pub dead: Vec<u32>,
    /// Those of them that are not among the deletions of texts.
    pub shadowed: Vec<u32>,
    /// The deletions of texts, with their statistics.
    pub deletions: Option<Arc<Deletions>>,
    /// The nodes of vectors that may be returned; none if all may.
    pub live_nodes: Option<Arc<LiveNodes>>,
}

/// Nodes or documents that may be returned.
pub struct LiveNodes {
    pub set: FixedBitSet,
    pub count: usize,
}

impl Part {
    /// A part whose docs are all alive.
    pub fn alive(segment: Segment) -> Part {
        Part { segment: Arc::new(segment), dead: vec![], shadowed: vec![], deletions: None, live_nodes: None }
    }

    /// The deletions after all that is dead is deleted, as a blob.
    pub fn deletions_to_bytes(&self) -> Vec<u8> {
        match &self.segment.content {
            Content::Vectors(_) => self.dead.iter().flat_map(|doc| doc.to_le_bytes()).collect(),
            Content::Text(content) => content.postings.delete(&self.shadowed, self.deletions.as_deref()).to_bytes(),
        }
    }
}

/// The nodes of vectors that may be returned.
fn live_nodes(segment: &Segment, dead: &[u32]) -> Option<Arc<LiveNodes>> {
    let Content::Vectors(content) = &segment.content else { return None };
    if dead.is_empty() {
        return None;
    }
    let mut set = FixedBitSet::with_capacity(content.index.len());
    set.insert_range(..);
    for doc in dead {
        content.nodes_of(*doc).for_each(|node| set.set(node, false));
    }
    Some(Arc::new(LiveNodes { count: set.count_ones(..), set }))
}

/// The entries of a view that a search may return.
pub struct AllowedEntries {
    pub view: Arc<IndexView>,
    /// For each part its nodes or documents, without dead ones, and how many there are.
    pub parts: Vec<LiveNodes>,
}

impl AllowedEntries {
    /// The entries of the rows with these keys, which ascend.
    pub fn of(view: Arc<IndexView>, keys: &Batch) -> AllowedEntries {
        let of_part = |part: &Part| {
            let docs = part.segment.find_all(keys).into_iter().filter(|doc| part.dead.binary_search(doc).is_err());
            let mut set = FixedBitSet::with_capacity(part.segment.entries());
            match &part.segment.content {
                Content::Vectors(content) => {
                    docs.flat_map(|doc| content.nodes_of(doc)).for_each(|node| set.insert(node))
                }
                Content::Text(_) => docs.for_each(|doc| set.insert(doc as usize)),
            }
            LiveNodes { count: set.count_ones(..), set }
        };
        AllowedEntries { parts: view.parts.iter().map(of_part).collect(), view }
    }
}

impl IndexView {
    /// What an index holds.
    pub fn open(of: Indexed<'_>) -> Result<Arc<IndexView>, SearchIndexError> {
        let key = ViewKey::of(&of);
        if let (Some(cache), Some(key)) = (of.cache, &key)
            && let Some(known) = find(&mut cache.views.lock(), key)
        {
            return Ok(known);
        }
        let view = Arc::new(IndexView::made(of)?);
        if let (Some(cache), Some(key)) = (of.cache, key) {
            cache.keep_view(key, &view);
        }
        Ok(view)
    }

    fn made(of: Indexed<'_>) -> Result<IndexView, SearchIndexError> {
        let [changed, segments] = &of.index.stored;
        let Some(manifest) = Manifest::read(segments, of.snapshot)? else {
            return IndexView::anew(of, None);
        };
        let changed = keys_of(changed, of.snapshot)?;
        let mut parts = vec![];
        for entry in &manifest.segments {
            let Some(part) = sealed(of, entry, &changed)? else { return IndexView::anew(of, Some(manifest)) };
            parts.push(part);
        }
        let sealed = parts.len();
        if !changed.is_empty() {
            let mut tail = SegmentBuilder::new(of.extractor, of.relation.keys.len());
            tail.add(&looked_up(of.base(), &changed)?)?;
            parts.push(Part::alive(tail.finish(false)?));
        }
        Ok(IndexView { parts, manifest: Some(manifest), sealed, is_made_anew: false, rows: rows(of)? })
    }

    /// The index as if it had been created now.
    fn anew(of: Indexed<'_>, manifest: Option<Manifest>) -> Result<IndexView, SearchIndexError> {
        let part = Part::alive(build_segment(of)?);
        let rows = rows(of)?;
        Ok(IndexView { parts: vec![part], manifest, sealed: 0, is_made_anew: true, rows })
    }
}

/// The segment of all rows of a relation.
pub fn build_segment(of: Indexed<'_>) -> Result<Segment, SearchIndexError> {
    let mut all = SegmentBuilder::new(of.extractor, of.relation.keys.len());
    scanned(of.base(), |rows| all.add(&rows))?;
    all.finish(true)
}

/// The rows of the relation, which the scores of texts depend on.
fn rows(of: Indexed<'_>) -> Result<u64, SearchIndexError> {
    if of.extractor.analyzer().is_some() { counted(of.base()) } else { Ok(0) }
}

/// A sealed segment beside changed rows. None if it cannot be read.
fn sealed(of: Indexed<'_>, entry: &SegmentEntry, changed: &Batch) -> Result<Option<Part>, SearchIndexError> {
    let segments = &of.index.stored[1];
    let known = of.cache.and_then(|cache| cache.segments.get(segments.id, entry.blob.number));
    let segment = match known {
        Some(segment) => segment,
        None => {
            let bytes = entry.blob.read(segments, of.snapshot)?;
            let Some(segment) = bytes.and_then(|bytes| Segment::from_bytes(&bytes, of.extractor)) else {
                return Ok(None);
            };
            let segment = Arc::new(segment);
            if let Some(cache) = of.cache {
                cache.segments.keep(segments.id, entry.blob.number, &segment);
            }
            segment
        }
    };
    let mut deletions = None;
    let mut dead = vec![];
    if let Some(blob) = &entry.deletions {
        let Some(bytes) = blob.read(segments, of.snapshot)? else { return Ok(None) };
        match &segment.content {
            Content::Vectors(_) => dead.extend(bytes.as_chunks::<4>().0.iter().map(|doc| u32::from_le_bytes(*doc))),
            Content::Text(_) => {
                let Ok(of_texts) = Deletions::from_bytes(&bytes) else { return Ok(None) };
                dead.extend(of_texts.docs());
                deletions = Some(Arc::new(of_texts));
            }
        }
    }
    let is_deleted = |doc: &u32| dead.binary_search(doc).is_ok();
    let shadowed: Vec<u32> = segment.find_all(changed).into_iter().filter(|doc| !is_deleted(doc)).collect();
    dead.extend(&shadowed);
    dead.sort_unstable();
    if segment.len() != entry.docs as usize || dead.last().is_some_and(|doc| *doc >= entry.docs) {
        return Ok(None);
    }
    let live_nodes = live_nodes(&segment, &dead);
    Ok(Some(Part { segment, dead, shadowed, deletions, live_nodes }))
}
