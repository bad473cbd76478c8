//! What a join looks its matches up in: the rows of a relation, and an index on some of their columns.
//!
//! A [`BuildSide`] names the rows; [`BuildSide::resolve`] builds what finds them, a [`KeyIndex`]:
//!
//! | rows | when | `KeyIndex` | matches of a key |
//! |---|---|---|---|
//! | derived table | always | `Indexed` by an index of the table | a chain, of which those in range and not dead count |
//! | stored relation | more than `MAX_COPIED_ROWS` rows in a tree, by an integer key with many rows | `Placed` in the tree | a range of rows |
//! | | by one column of integers that lie close together | `Grouped`: rows copied in key order | a range of rows |
//! | | otherwise | `Indexed`: rows copied and indexed | a chain |
//!
//! A stored relation is indexed once for each run, or once for all runs that see the same contents ([`IndexCache`](crate::exec::index::cache::IndexCache)).
//! With a limit of bytes, an index that would exceed it is not built, and the run remembers that. A chain gives the last row first; it is
//! reversed, so that matches come in the order of the relation whichever index finds them.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::exec::access::stored::Stored;
use crate::exec::access::tables::Tables;
use crate::exec::error::ExecError;
use crate::exec::index::cache::Indexed;
use crate::exec::index::clustered_rows::ClusteredRows;
use crate::exec::index::hash_index::{Found, Index, IndexedRows};
use crate::exec::rowset::table::BYTES_AROUND_ROW;
use crate::exec::rowset::table::Table;
use crate::exec::run::Run;
use crate::exec::thresholds::{MAX_BATCH_ROWS, MAX_COPIED_ROWS, MIN_ROWS_PER_KEY};
use crate::expr::Expr;
use crate::plan::Source;
use crate::storage::KeyRange;
use crate::storage::{ColumnTree, DirectoryReader, LeafDirectory};
use crate::value::{Batch, Column, KeyStarts};

/// Rows that are found by the values of some columns.
pub enum BuildSide<'a> {
    /// The rows of a derived table within a range, by one of its indexes. There is none if the rows are read in partitions instead.
    Table { table: &'a Table, index: Option<&'a Index>, range: Range<usize> },
    /// A part of the rows of any relation: the key columns and then the outputs.
    Part { rows: IndexedRows, keys: usize },
    /// The rows of a stored relation. The index is built when first needed.
    Stored {
        run: &'a Run<'a>,
        stored: Stored<'a>,
        keys: Vec<usize>,
        outputs: Vec<usize>,
        built: OnceLock<Arc<IndexedRows>>,
    },
}

/// The limits of an index that is not necessary, only faster.
#[derive(Clone, Copy)]
pub struct IndexLimits {
    /// The most bytes that it may take.
    pub most_bytes: usize,
    /// Whether it may find rows by hash, if it cannot by position.
    pub by_hash: bool,
}

impl<'a> BuildSide<'a> {
    /// The rows of a source, by these key columns.
    pub fn of(
        source: &Source,
        keys: &[(usize, Expr)],
        outputs: &[(usize, usize)],
        position: usize,
        tables: &Tables<'a>,
        run: &'a Run<'a>,
    ) -> Self {
        match source {
            Source::Table(number) => {
                let columns: Vec<usize> = keys.iter().map(|(column, _)| *column).collect();
                let table = &tables.tables[*number];
                let range = (tables.range)(position, *number);
                BuildSide::Table { table, index: table.index(&columns), range }
            }
            Source::Stored(source) => BuildSide::of_stored(Stored::of(source, run), keys, outputs, run),
        }
    }

    /// The rows of a stored relation.
    pub fn of_stored(stored: Stored<'a>, keys: &[(usize, Expr)], outputs: &[(usize, usize)], run: &'a Run<'a>) -> Self {
        let keys = keys.iter().map(|(column, _)| *column).collect();
        let outputs = outputs.iter().map(|(column, _)| *column).collect();
        BuildSide::Stored { run, stored, keys, outputs, built: OnceLock::new() }
    }

    /// Whether the index is built.
    pub fn is_made(&self) -> bool {
        match self {
            BuildSide::Table { .. } | BuildSide::Part { .. } => true,
            BuildSide::Stored { built, .. } => built.get().is_some(),
        }
    }

    /// The name of the index among those of stored relations that can be kept.
    pub fn indexed(&self) -> Option<Indexed> {
        match self {
            BuildSide::Stored { stored, keys, outputs, .. } if is_clustered(keys) => {
                Some((stored.identity(), keys.clone(), outputs.clone()))
            }
            _ => None,
        }
    }

    /// Whether the index copies no rows.
    pub fn copies_nothing(&self) -> bool {
        match self {
            BuildSide::Table { .. } | BuildSide::Part { .. } => true,
            BuildSide::Stored { stored, keys, .. } => tree_with_places(stored, keys).is_some(),
        }
    }

    /// Builds the index of a stored relation, unless it exceeds the limits; returns whether the index is there.
    pub fn make_within(&self, limits: IndexLimits) -> Result<bool, ExecError> {
        if let BuildSide::Stored { run, stored, keys, outputs, built } = self
            && built.get().is_none()
        {
            let Some(indexed) = index_stored(run, stored, keys, outputs, Some(limits))? else { return Ok(false) };
            built.get_or_init(|| indexed);
        }
        Ok(true)
    }

    /// The rows, how they are found, and which of them count.
    pub fn resolve(&self) -> Result<KeyIndex<'_>, ExecError> {
        match self {
            BuildSide::Table { table, index, range } => Ok(KeyIndex::Indexed(IndexProbe {
                rows: table.rows(),
                index: index.expect("indexes are made before rules run"),
                range: range.clone(),
                table: Some(table),
            })),
            BuildSide::Part { rows: IndexedRows::Grouped(groups), .. } => Ok(KeyIndex::Grouped(groups)),
            BuildSide::Part { rows: IndexedRows::Indexed { rows, index }, .. } => {
                Ok(KeyIndex::Indexed(IndexProbe { rows, index, range: 0..rows.len, table: None }))
            }
            BuildSide::Part { rows: IndexedRows::Placed(_), .. } => unreachable!("a part is copied"),
            BuildSide::Stored { run, stored, keys, outputs, built } => {
                let indexed = match built.get() {
                    Some(indexed) => indexed,
                    None => {
                        let indexed = index_stored(run, stored, keys, outputs, None)?;
                        built.get_or_init(|| indexed.expect("without a limit, it is made"))
                    }
                };
                Ok(match &**indexed {
                    IndexedRows::Placed(places) => {
                        let rows = stored.tree().and_then(|tree| DirectoryReader::new(tree, places.clone()));
                        KeyIndex::Placed(rows.expect("the places are of what the tree has"))
                    }
                    IndexedRows::Grouped(groups) => KeyIndex::Grouped(groups),
                    IndexedRows::Indexed { rows, index } => {
                        KeyIndex::Indexed(IndexProbe { rows, index, range: 0..rows.len, table: None })
                    }
                })
            }
        }
    }

    /// The column of the indexed rows that gives the `nth` output.
    pub fn output_column(&self, nth: usize, column: usize) -> usize {
        match self {
            BuildSide::Table { .. } => column,
            BuildSide::Stored { keys, .. } => keys.len() + nth,
            BuildSide::Part { keys, .. } => keys + nth,
        }
    }
}

/// Reads a stored relation and indexes it, or finds the index in the run or the cache; `None` if it would exceed the limits.
fn index_stored(
    run: &Run<'_>,
    stored: &Stored<'_>,
    keys: &[usize],
    outputs: &[usize],
    limits: Option<IndexLimits>,
) -> Result<Option<Arc<IndexedRows>>, ExecError> {
    let identity = (stored.identity(), keys.to_vec(), outputs.to_vec());
    let mut indexes = run.notes.indexes.lock();
    // An index that exceeded the limits once is not tried again with limits.
    match indexes.get(&identity) {
        Some(Some(indexed)) => return Ok(Some(indexed.clone())),
        Some(None) if limits.is_some() => return Ok(None),
        _ => {}
    }
    let kept = run.caches.indexes.zip(stored.contents());
    let found = kept.and_then(|(kept, (_, contents))| kept.find(&identity, contents));
    let indexed = match found {
        Some(found) => Some(found),
        None => {
            let made = read_indexed(run, stored, keys, outputs, limits)?.map(Arc::new);
            if let Some((kept, (_, contents))) = kept {
                kept.keep(&identity, contents, made.as_ref());
            }
            made
        }
    };
    indexes.insert(identity, indexed.clone());
    Ok(indexed)
}

/// The tree of a stored relation, if an index on these columns is to leave the rows in it.
fn tree_with_places<'a>(stored: &Stored<'a>, keys: &[usize]) -> Option<&'a ColumnTree> {
    let tree = stored.tree().filter(|tree| is_clustered(keys) && tree.row_count() > MAX_COPIED_ROWS)?;
    let is_close = tree.greatest_int_key().is_some_and(|key| (key as u64) < most_placed_keys(tree));
    is_close.then_some(tree)
}

/// Whether the rows of a key are neighbours: only in the order of its first key column is a relation sure to lie.
fn is_clustered(keys: &[usize]) -> bool {
    *keys == [0]
}

/// The most keys for which each has enough rows.
fn most_placed_keys(tree: &ColumnTree) -> u64 {
    tree.row_count() / MIN_ROWS_PER_KEY
}

fn read_indexed(
    run: &Run<'_>,
    stored: &Stored<'_>,
    keys: &[usize],
    outputs: &[usize],
    limits: Option<IndexLimits>,
) -> Result<Option<IndexedRows>, ExecError> {
    let columns: Vec<usize> = keys.iter().chain(outputs).copied().collect();
    let most_bytes = limits.map(|limits| limits.most_bytes);
    if is_clustered(keys) {
        if let Some(tree) = tree_with_places(stored, keys) {
            let made = LeafDirectory::of(tree, most_placed_keys(tree), || run.budget.check())?;
            let made = made.filter(|places| most_bytes.is_none_or(|most| places.memory_bytes() <= most));
            if let Some(places) = made {
                run.budget.charge(places.memory_bytes())?;
                return Ok(Some(IndexedRows::Placed(Arc::new(places))));
            }
        }
        let (rows, mut groups) = (stored.most_rows(&KeyRange::all()), ClusteredRows::new(outputs.len()));
        let take = |batch: &Batch| groups.append(batch, rows).map(|()| groups.memory_bytes());
        if read_within(run, stored, &columns, most_bytes, take)? {
            groups.finish();
            return Ok(Some(IndexedRows::Grouped(groups)));
        }
    }
    if limits.is_some_and(|limits| !limits.by_hash) {
        return Ok(None);
    }
    let (mut rows, mut bytes) = (Batch::empty(columns.len()), 0);
    let is_read = read_within(run, stored, &columns, most_bytes, |batch| {
        rows.append(batch);
        bytes += batch.memory_bytes() + batch.len * BYTES_AROUND_ROW;
        Some(bytes)
    })?;
    Ok(is_read.then(|| IndexedRows::new(rows, keys.len())))
}

/// Reads columns of all rows, within so many bytes. `take` returns the bytes held so far, or `None` to stop. Returns whether all
/// rows were taken.
fn read_within(
    run: &Run<'_>,
    stored: &Stored<'_>,
    columns: &[usize],
    most_bytes: Option<usize>,
    mut take: impl FnMut(&Batch) -> Option<usize>,
) -> Result<bool, ExecError> {
    let (mut cursor, mut bytes) = (stored.scan(&KeyRange::all(), columns)?, 0);
    while let Some(batch) = cursor.next_batch(MAX_BATCH_ROWS)? {
        run.budget.check()?;
        let Some(kept) = take(&batch).filter(|kept| most_bytes.is_none_or(|most| *kept <= most)) else {
            return Ok(false);
        };
        if most_bytes.is_none() {
            run.budget.charge(kept.saturating_sub(bytes))?;
        }
        bytes = kept;
    }
    if most_bytes.is_some() {
        run.budget.charge(bytes)?;
    }
    Ok(true)
}

/// Rows, and how they are found.
pub enum KeyIndex<'a> {
    /// The rows of a key, of a single column, are neighbours in a tree.
    Placed(DirectoryReader<'a>),
    /// The rows of a key, of a single column, are neighbours.
    Grouped(&'a ClusteredRows),
    /// By an index.
    Indexed(IndexProbe<'a>),
}

/// Rows and an index of them.
pub struct IndexProbe<'a> {
    /// The rows.
    pub rows: &'a Batch,
    index: &'a Index,
    range: Range<usize>,
    table: Option<&'a Table>,
}

impl KeyIndex<'_> {
    /// Which of so many rows of the keys have a match.
    pub fn matches_any(&self, keys: &[&Column], rows: usize) -> Vec<bool> {
        match self {
            KeyIndex::Placed(placed) => any_of_each(placed.starts(), keys[0], rows),
            KeyIndex::Grouped(groups) => any_of_each(groups.starts(), keys[0], rows),
            KeyIndex::Indexed(probe) => {
                let found = probe.find(keys, rows);
                (0..rows).map(|row| probe.matches(&found, row).next().is_some()).collect()
            }
        }
    }
}

/// Whether each of so many keys has rows.
fn any_of_each(starts: &KeyStarts, keys: &Column, len: usize) -> Vec<bool> {
    starts.find(keys, len).iter().map(|rows| !rows.is_empty()).collect()
}

impl IndexProbe<'_> {
    /// Looks up so many rows of the keys.
    pub fn find(&self, keys: &[&Column], rows: usize) -> Found {
        self.index.find(self.rows, keys, rows)
    }

    /// The matches in range of a row that was looked up, the last first.
    #[inline]
    pub fn matches(&self, found: &Found, row: usize) -> impl Iterator<Item = u32> + use<'_> {
        let mut next = found.last(row);
        std::iter::from_fn(move || {
            loop {
                let row = next?;
                // Rows come in descending order: there are no matches below the range.
                if (row as usize) < self.range.start {
                    return None;
                }
                next = self.index.before(row);
                if (row as usize) < self.range.end && !self.table.is_some_and(|table| table.is_dead(row as usize)) {
                    return Some(row);
                }
            }
        })
    }
}
