//! Uncommitted changes over a snapshot: the view that a transaction has of its own writes, on any engine.
//!
//! An [`overlay`] has two column trees for each changed relation: `puts`, the rows put, and `touched`, the keys of all rows put
//! or removed. A read takes the rows of the base snapshot whose keys are not in `touched`, and merges `puts` into them.
//!
//! ```text
//!  base      a=1  b=2  c=3            put b=9, put d=4, remove c
//!  touched        b    c    d
//!  puts           b=9       d=4
//!  read      a=1  b=9       d=4
//! ```
//!
//! | relation | `Origin` | read from |
//! |---|---|---|
//! | unchanged | `Base` | the base alone |
//! | created here | `Here` | `puts` alone |
//! | changed here | `Both` | a `Merge` of the base and `puts` |
//! | dropped here | none | nothing |
//!
//! A `Merge` has two sides, each a source of sorted batches. It repeatedly moves the longest run of rows from the side with the
//! smaller key. The sides never have equal keys, since `touched` has every key of `puts`. A look-up uses the same merge, with
//! the number of the probe as first column.
//!
//! Overlays are cheap to clone: trees and the map of relations are persistent, and later changes do not affect a clone.

use std::ops::Range;
use std::sync::Arc;

use imbl::OrdMap;

use super::changes::{ChangeSet, RowChanges};
use super::column_tree::Tree;
use super::cursor::{BatchCursor, LookupCursor, Matches, Nothing, probe_count};
use super::error::StorageError;
use super::range::{AsOf, End, KeyRange};
use super::shape::RelationShape;
use super::traits::{RelationState, Snapshot};
use crate::schema::RelationId;
use crate::value::{Batch, Column, DataValue, compare_columns};

/// A snapshot with changes applied to it.
pub fn overlay(base: Arc<dyn Snapshot>, changes: &ChangeSet) -> Result<Arc<dyn Snapshot>, StorageError> {
    let mut overlay = Overlay { base, relations: OrdMap::new() };
    overlay.apply(changes)?;
    Ok(Arc::new(overlay))
}

#[derive(Clone)]
struct Overlay {
    base: Arc<dyn Snapshot>,
    /// The relations that differ from the base; `None` for a dropped relation.
    relations: OrdMap<RelationId, Option<Changed>>,
}

/// A relation that differs from the base.
#[derive(Clone)]
struct Changed {
    /// Whether it was created here, so that the base has no rows of it.
    created: bool,
    /// The rows put.
    puts: Tree,
    /// The keys of rows put or removed.
    touched: Tree,
}

impl Changed {
    fn new(shape: RelationShape, created: bool) -> Self {
        let keys = RelationShape { keys: shape.keys, arity: shape.keys };
        Changed { created, puts: Tree::new(shape), touched: Tree::new(keys) }
    }

    fn apply(&mut self, changes: &RowChanges) -> Result<(), StorageError> {
        for rows in changes.rows.batches() {
            let rows = rows?;
            let keys = rows.columns[..self.touched.shape().keys].to_vec();
            self.touched.put(&Batch::new(keys, rows.len));
        }
        self.puts.apply(changes.kind, &changes.rows)
    }
}

/// The sources of a relation's rows.
enum Origin<'a> {
    /// In the base alone.
    Base,
    /// In the overlay alone.
    Here(&'a Tree),
    /// In both.
    Both(&'a Changed),
}

impl Overlay {
    fn apply(&mut self, changes: &ChangeSet) -> Result<(), StorageError> {
        for schema in &changes.created {
            self.relations.insert(schema.id, Some(Changed::new(RelationShape::from(&**schema), true)));
        }
        for rows in &changes.rows {
            if !self.relations.contains_key(&rows.relation) {
                let base = self.base.describe(rows.relation);
                self.relations.insert(rows.relation, base.map(|base| Changed::new(base.shape, false)));
            }
            let changed = self.relations.get_mut(&rows.relation).and_then(Option::as_mut);
            changed.ok_or(StorageError::NoSuchRelation(rows.relation.0))?.apply(rows)?;
        }
        for relation in &changes.dropped {
            self.relations.insert(*relation, None);
        }
        Ok(())
    }

    /// The sources of a relation's rows; `None` for a dropped relation.
    fn place(&self, relation: RelationId) -> Option<Origin<'_>> {
        match self.relations.get(&relation) {
            None => Some(Origin::Base),
            Some(None) => None,
            Some(Some(changed)) if changed.created => Some(Origin::Here(&changed.puts)),
            Some(Some(changed)) => Some(Origin::Both(changed)),
        }
    }
}

/// The key columns, followed by the requested columns.
fn with_key(keys: usize, columns: &[usize]) -> Vec<usize> {
    (0..keys).chain(columns.iter().copied()).collect()
}

impl Snapshot for Overlay {
    /// For a changed relation the number of rows is an upper bound: a row that replaces one of the base counts twice.
    fn describe(&self, relation: RelationId) -> Option<RelationState<'_>> {
        let state = match self.place(relation)? {
            Origin::Base => return self.base.describe(relation),
            Origin::Here(tree) => RelationState::of(tree),
            Origin::Both(changed) => {
                let base = self.base.describe(relation)?;
                RelationState { rows: base.rows + changed.puts.row_count(), tree: None, ..base }
            }
        };
        Some(RelationState { identity: None, ..state })
    }

    fn scan<'a>(
        &'a self,
        relation: RelationId,
        range: &KeyRange,
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn BatchCursor + 'a>, StorageError> {
        let changed = match self.place(relation) {
            None => return Ok(Box::new(Nothing)),
            Some(Origin::Base) => return self.base.scan(relation, range, columns, as_of),
            Some(Origin::Here(tree)) => return Ok(tree.boxed_scan(range, columns, as_of)),
            Some(Origin::Both(changed)) => changed,
        };
        if let Some(as_of) = as_of {
            return super::as_of::scan(self, relation, range, columns, as_of);
        }
        let columns = with_key(changed.touched.shape().keys, columns);
        let below = ScannedRows(self.base.scan(relation, range, &columns, None)?);
        let above = ScannedRows(Box::new(changed.puts.scan(range, &columns)));
        Ok(Box::new(MergedScan(Merge::new(Box::new(below), Box::new(above), &changed.touched, 0))))
    }

    fn partition(&self, relation: RelationId, range: &KeyRange, parts: usize) -> Vec<KeyRange> {
        match self.place(relation) {
            None => vec![range.clone()],
            Some(Origin::Here(tree)) => tree.partition(range, parts),
            Some(Origin::Base | Origin::Both(_)) => self.base.partition(relation, range, parts),
        }
    }

    fn split_at_rank(
        &self,
        relation: RelationId,
        range: &KeyRange,
        rows: u64,
        end: End,
    ) -> Option<(KeyRange, Option<KeyRange>)> {
        match self.place(relation) {
            None => Some((range.clone(), None)),
            Some(Origin::Here(tree)) => Some(tree.split_at_rank(range, rows, end)),
            Some(Origin::Base) => self.base.split_at_rank(relation, range, rows, end),
            Some(Origin::Both(_)) => None,
        }
    }

    fn lookup<'a>(
        &'a self,
        relation: RelationId,
        prefixes: &'a [Column],
        columns: &[usize],
        as_of: Option<AsOf>,
    ) -> Result<Box<dyn LookupCursor + 'a>, StorageError> {
        let changed = match self.place(relation) {
            None => return Ok(Box::new(Nothing)),
            Some(Origin::Base) => return self.base.lookup(relation, prefixes, columns, as_of),
            Some(Origin::Here(tree)) => return Ok(tree.boxed_lookup(prefixes, columns, as_of)),
            Some(Origin::Both(changed)) => changed,
        };
        if let Some(as_of) = as_of {
            return super::as_of::lookup(self, relation, prefixes, columns, as_of);
        }
        let columns = with_key(changed.touched.shape().keys, columns);
        let below = FoundRows(self.base.lookup(relation, prefixes, &columns, None)?);
        let above = FoundRows(Box::new(changed.puts.lookup(prefixes, &columns)));
        Ok(Box::new(MergedLookup(Merge::new(Box::new(below), Box::new(above), &changed.touched, 1))))
    }

    fn get(
        &self,
        relation: RelationId,
        key: &[DataValue],
        outputs: &[(usize, usize)],
        places: &mut [DataValue],
    ) -> Result<bool, StorageError> {
        Ok(match self.place(relation) {
            None => false,
            Some(Origin::Base) => self.base.get(relation, key, outputs, places)?,
            Some(Origin::Here(tree)) => tree.get(key, outputs, places),
            Some(Origin::Both(changed)) => {
                changed.puts.get(key, outputs, places)
                    || (!changed.touched.get(key, &[], &mut []) && self.base.get(relation, key, outputs, places)?)
            }
        })
    }

    fn contains(
        &self,
        relation: RelationId,
        prefixes: &[Column],
        as_of: Option<AsOf>,
    ) -> Result<Vec<bool>, StorageError> {
        let changed = match self.place(relation) {
            None => return Ok(vec![false; probe_count(prefixes)]),
            Some(Origin::Base) => return self.base.contains(relation, prefixes, as_of),
            Some(Origin::Here(tree)) => return Ok(tree.contains(prefixes, as_of)),
            Some(Origin::Both(_)) if as_of.is_some() => {
                return self.lookup(relation, prefixes, &[], as_of)?.found(probe_count(prefixes));
            }
            Some(Origin::Both(changed)) => changed,
        };
        let (here, touched) = (changed.puts.contains(prefixes, None), changed.touched.contains(prefixes, None));
        let mut found = self.base.contains(relation, prefixes, None)?;
        // The base has rows with these prefixes, but changes hide some of them, perhaps all.
        let doubtful: Vec<u32> =
            (0..found.len()).filter(|row| found[*row] && touched[*row]).map(|row| row as u32).collect();
        if !doubtful.is_empty() {
            let probes: Vec<Column> = prefixes.iter().map(|column| column.take(&doubtful)).collect();
            let visible = self.lookup(relation, &probes, &[], None)?.found(doubtful.len())?;
            doubtful.iter().zip(visible).for_each(|(row, visible)| found[*row as usize] = visible);
        }
        found.iter_mut().zip(here).for_each(|(found, here)| *found |= here);
        Ok(found)
    }

    fn with_changes(self: Arc<Self>, changes: ChangeSet) -> Result<Arc<dyn Snapshot>, StorageError> {
        let mut next = Overlay::clone(&self);
        next.apply(&changes)?;
        Ok(Arc::new(next))
    }
}

/// A source of sorted rows, as batches.
trait RowSource {
    fn next(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError>;
}

struct ScannedRows<'a>(Box<dyn BatchCursor + 'a>);

impl RowSource for ScannedRows<'_> {
    fn next(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        self.0.next_batch(max_rows)
    }
}

/// Matches as rows. The number of the probe becomes the first column.
struct FoundRows<'a>(Box<dyn LookupCursor + 'a>);

impl RowSource for FoundRows<'_> {
    fn next(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        let Some(Matches { probe_rows, mut batch }) = self.0.next_matches(max_rows)? else { return Ok(None) };
        batch.columns.insert(0, Column::ints(probe_rows.into_iter().map(i64::from).collect()));
        Ok(Some(batch))
    }
}

/// One side of a merge: a batch, and the number of its rows that are merged already.
struct OverlaySide<'a> {
    rows: Box<dyn RowSource + 'a>,
    batch: Batch,
    done: usize,
    ended: bool,
}

impl<'a> OverlaySide<'a> {
    fn new(rows: Box<dyn RowSource + 'a>) -> Self {
        OverlaySide { rows, batch: Batch::default(), done: 0, ended: false }
    }

    /// Whether there is a row left. Fetches batches until there is; `keep` filters each fetched batch.
    fn ready(&mut self, max_rows: usize, keep: impl Fn(Batch) -> Batch) -> Result<bool, StorageError> {
        while self.done == self.batch.len && !self.ended {
            match self.rows.next(max_rows)? {
                Some(batch) => (self.batch, self.done) = (keep(batch), 0),
                None => self.ended = true,
            }
        }
        Ok(self.done < self.batch.len)
    }

    /// Appends the next rows, without the columns of `skip`.
    fn give(&mut self, rows: usize, skip: &Range<usize>, target: &mut Batch) {
        let given = self.done..self.done + rows;
        let columns = self.batch.columns[..skip.start].iter().chain(&self.batch.columns[skip.end..]);
        for (column, more) in target.columns.iter_mut().zip(columns) {
            column.append_range(more, given.clone());
        }
        target.len += rows;
        self.done += rows;
    }
}

/// A merge of the untouched rows of the base (`below`) and the rows put (`above`), in key order.
struct Merge<'a> {
    below: OverlaySide<'a>,
    above: OverlaySide<'a>,
    touched: &'a Tree,
    /// The columns of the key. They follow the column of the probe, if there is one.
    key: Range<usize>,
}

impl<'a> Merge<'a> {
    fn new(below: Box<dyn RowSource + 'a>, above: Box<dyn RowSource + 'a>, touched: &'a Tree, probes: usize) -> Self {
        let key = probes..probes + touched.shape().keys;
        Merge { below: OverlaySide::new(below), above: OverlaySide::new(above), touched, key }
    }

    /// The next rows, without their keys.
    fn next(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        let (touched, key) = (self.touched, self.key.clone());
        let untouched = |batch: Batch| {
            let hidden = touched.contains(&batch.columns[key.clone()], None);
            let rows: Vec<u32> = (0..batch.len as u32).filter(|row| !hidden[*row as usize]).collect();
            if rows.len() == batch.len { batch } else { batch.take(&rows) }
        };
        let mut result: Option<Batch> = None;
        loop {
            let room = max_rows.max(1) - result.as_ref().map_or(0, |batch| batch.len);
            let below = room > 0 && self.below.ready(max_rows, untouched)?;
            let above = room > 0 && self.above.ready(max_rows, |batch| batch)?;
            let (side, rows) = match (below, above) {
                (false, false) => return Ok(result),
                (true, false) => (&mut self.below, usize::MAX),
                (false, true) => (&mut self.above, usize::MAX),
                (true, true) => self.next_run(room),
            };
            let rows = rows.min(room).min(side.batch.len - side.done);
            let target = result.get_or_insert_with(|| Batch::empty(side.batch.columns.len() - key.len()));
            side.give(rows, &key, target);
        }
    }

    /// The side with the next row, and the number of its rows before the next row of the other side, at most `most`.
    fn next_run(&mut self, most: usize) -> (&mut OverlaySide<'a>, usize) {
        let key_end = self.key.end;
        let before = |a: &OverlaySide, row: usize, b: &OverlaySide| {
            compare_columns(&a.batch.columns[..key_end], row, &b.batch.columns[..key_end], b.done).is_lt()
        };
        let below_first = before(&self.below, self.below.done, &self.above);
        let (first, second) = if below_first { (&mut self.below, &self.above) } else { (&mut self.above, &self.below) };
        let end = first.batch.len.min(first.done.saturating_add(most));
        let run = (first.done + 1..end).take_while(|row| before(first, *row, second)).count();
        (first, run + 1)
    }
}

struct MergedScan<'a>(Merge<'a>);

impl BatchCursor for MergedScan<'_> {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>, StorageError> {
        self.0.next(max_rows)
    }
}

struct MergedLookup<'a>(Merge<'a>);

impl LookupCursor for MergedLookup<'_> {
    fn next_matches(&mut self, max_rows: usize) -> Result<Option<Matches>, StorageError> {
        let Some(mut batch) = self.0.next(max_rows)? else { return Ok(None) };
        let probes = batch.columns.remove(0);
        let probe_rows = probes.as_dense_ints().unwrap_or_default().iter().map(|row| *row as u32).collect();
        Ok(Some(Matches { probe_rows, batch }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::mem::MemStorage;
    use crate::storage::tests::{Subject, run_all};
    use crate::storage::traits::{Opened, Storage};

    /// An engine whose snapshots have no `with_changes` of their own.
    struct Overlaid(MemStorage);

    impl Storage for Overlaid {
        fn opened(&self) -> Result<Opened, StorageError> {
            self.0.opened()
        }

        fn snapshot(&self) -> Arc<dyn Snapshot> {
            overlay(self.0.snapshot(), &ChangeSet::default()).expect("there is nothing to apply")
        }

        fn commit(&self, changes: &mut [ChangeSet]) -> Result<Arc<dyn Snapshot>, StorageError> {
            self.0.commit(changes).map(|_| self.snapshot())
        }
    }

    #[test]
    fn overlays_behave_like_the_model() {
        let subject =
            || Subject { open: Box::new(|| Box::new(Overlaid(MemStorage::new()))), exact: false, durable: false };
        run_all(subject, 24);
    }
}
