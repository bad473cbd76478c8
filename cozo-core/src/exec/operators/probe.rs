//! Joins input rows with rows that have the same values in some columns, by an index on those columns.
//!
//! A [`BuildSide`] names the rows; [`BuildSide::resolve`] builds what finds them, a [`KeyIndex`], and [`IndexJoin`] joins a batch with it:
//!
//! | rows | when | `KeyIndex` | matches of a key |
//! |---|---|---|---|
//! | derived table | always | `Indexed` by an index of the table | a chain, of which those in range and not dead count |
//! | stored relation | more than `MAX_COPIED_ROWS` rows in a tree, by an integer key with many rows | `Placed` in the tree | a range of rows |
//! | | by the first key column, integers that lie close together | `Grouped`: rows copied in key order | a range of rows |
//! | | otherwise | `Indexed`: rows copied and indexed | a chain |
//!
//! A stored relation is indexed once for each run, or once for all runs that see the same contents ([`IndexCache`](crate::exec::IndexCache)).
//! With a limit of bytes, an index that would exceed it is not built, and the run remembers that. A chain gives the last row first; it is
//! reversed, so that matches come in the order of the relation whichever index finds them.

use std::cell::OnceCell;
use std::iter::{repeat, repeat_n, zip};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::{Emit, Operator, Shape, Tables, empty_slots, key_columns, stopped};
use crate::budget::{Stop, make_room, temporary};
use crate::exec::clustered_rows::{ClusteredRows, LANES, Values};
use crate::exec::index::{Found, Index, IndexedRows};
use crate::exec::index_cache::Indexed;
use crate::exec::sink::{BYTES_AROUND_ROW, CONTINUE, Flow};
use crate::exec::stored::Stored;
use crate::exec::table::Table;
use crate::exec::{ExecError, MAX_BATCH_ROWS, Run, Worker};
use crate::expr::Expr;
use crate::plan::{JoinPlan, Source};
use crate::storage::KeyRange;
use crate::storage::mem::{DirectoryReader, LeafDirectory, Tree};
use crate::value::{Batch, Column, KeyStarts};

/// A relation of more rows is not copied into an index if it can be read in its tree,
const MAX_COPIED_ROWS: u64 = 1 << 21;

/// and a key has at least this many rows on average: to go to a leaf costs more than to copy a few rows.
const MIN_ROWS_PER_KEY: u64 = 8;

/// Rows that are found by the values of some columns.
pub enum BuildSide<'a> {
    /// The rows of a derived table within a range, by one of its indexes.
    Table { table: &'a Table, index: &'a Index, range: Range<usize> },
    /// The rows of a stored relation. The index is built when first needed.
    Stored {
        run: &'a Run<'a>,
        stored: Stored<'a>,
        keys: Vec<usize>,
        outputs: Vec<usize>,
        built: OnceLock<Arc<IndexedRows>>,
    },
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
            BuildSide::Table { .. } => true,
            BuildSide::Stored { built, .. } => built.get().is_some(),
        }
    }

    /// The name of the index among those of stored relations.
    pub fn indexed(&self) -> Option<Indexed> {
        match self {
            BuildSide::Table { .. } => None,
            BuildSide::Stored { stored, keys, outputs, .. } => Some((stored.identity(), keys.clone(), outputs.clone())),
        }
    }

    /// Whether the index copies no rows.
    pub fn copies_nothing(&self) -> bool {
        match self {
            BuildSide::Table { .. } => true,
            BuildSide::Stored { stored, keys, .. } => tree_with_places(stored, keys).is_some(),
        }
    }

    /// Builds the index of a stored relation, unless it would take more than `most_bytes`; returns whether the index is there.
    pub fn make_within(&self, most_bytes: usize) -> Result<bool, ExecError> {
        if let BuildSide::Stored { run, stored, keys, outputs, built } = self
            && built.get().is_none()
        {
            let Some(indexed) = index_stored(run, stored, keys, outputs, Some(most_bytes))? else { return Ok(false) };
            built.get_or_init(|| indexed);
        }
        Ok(true)
    }

    /// The rows, how they are found, and which of them count.
    pub fn resolve(&self) -> Result<KeyIndex<'_>, ExecError> {
        match self {
            BuildSide::Table { table, index, range } => Ok(KeyIndex::Indexed(IndexProbe {
                rows: table.rows(),
                index,
                range: range.clone(),
                table: Some(table),
            })),
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
    fn output_column(&self, nth: usize, column: usize) -> usize {
        match self {
            BuildSide::Table { .. } => column,
            BuildSide::Stored { keys, .. } => keys.len() + nth,
        }
    }
}

/// Reads a stored relation and indexes it, or finds the index in the run or the cache; `None` if it would take more than `most_bytes`.
fn index_stored(
    run: &Run<'_>,
    stored: &Stored<'_>,
    keys: &[usize],
    outputs: &[usize],
    most_bytes: Option<usize>,
) -> Result<Option<Arc<IndexedRows>>, ExecError> {
    let identity = (stored.identity(), keys.to_vec(), outputs.to_vec());
    let mut indexes = run.notes.indexes.lock();
    // An index that exceeded the limit once is not tried again with a limit.
    match indexes.get(&identity) {
        Some(Some(indexed)) => return Ok(Some(indexed.clone())),
        Some(None) if most_bytes.is_some() => return Ok(None),
        _ => {}
    }
    let kept = run.caches.indexes.zip(stored.contents());
    let found = kept.and_then(|(kept, (_, contents))| kept.find(&identity, contents));
    let indexed = match found {
        Some(found) => Some(found),
        None => {
            let made = read_indexed(run, stored, keys, outputs, most_bytes)?.map(Arc::new);
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
fn tree_with_places<'a>(stored: &Stored<'a>, keys: &[usize]) -> Option<&'a Tree> {
    let tree = stored.tree().filter(|tree| *keys == [0] && tree.row_count() > MAX_COPIED_ROWS)?;
    let is_close = tree.greatest_int_key().is_some_and(|key| (key as u64) < most_placed_keys(tree));
    is_close.then_some(tree)
}

/// The most keys for which each has enough rows.
fn most_placed_keys(tree: &Tree) -> u64 {
    tree.row_count() / MIN_ROWS_PER_KEY
}

fn read_indexed(
    run: &Run<'_>,
    stored: &Stored<'_>,
    keys: &[usize],
    outputs: &[usize],
    most_bytes: Option<usize>,
) -> Result<Option<IndexedRows>, ExecError> {
    let columns: Vec<usize> = keys.iter().chain(outputs).copied().collect();
    // `take` returns the bytes held so far, or `None` to stop. `read` returns whether all rows were taken.
    let read = |take: &mut dyn FnMut(&Batch) -> Option<usize>| -> Result<bool, ExecError> {
        let (mut cursor, mut bytes) = (stored.scan(&KeyRange::all(), &columns)?, 0);
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
    };
    // Only in the order of its first key column is a relation sure to lie.
    if *keys == [0] {
        if let Some(tree) = tree_with_places(stored, keys) {
            let made = LeafDirectory::of(tree, most_placed_keys(tree), || run.budget.check())?;
            let made = made.filter(|places| most_bytes.is_none_or(|most| places.memory_bytes() <= most));
            if let Some(places) = made {
                run.budget.charge(places.memory_bytes())?;
                return Ok(Some(IndexedRows::Placed(Arc::new(places))));
            }
        }
        let (rows, mut groups) = (stored.most_rows(&KeyRange::all()), ClusteredRows::new(outputs.len()));
        if read(&mut |batch| groups.append(batch, rows).map(|()| groups.memory_bytes()))? {
            groups.finish();
            return Ok(Some(IndexedRows::Grouped(groups)));
        }
    }
    let (mut rows, mut bytes) = (Batch::empty(columns.len()), 0);
    let is_read = read(&mut |batch| {
        rows.append(batch);
        bytes += batch.memory_bytes() + batch.len * BYTES_AROUND_ROW;
        Some(bytes)
    })?;
    Ok(is_read.then(|| IndexedRows::new(rows, keys.len())))
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
    rows: &'a Batch,
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

/// Joins by an index.
pub struct IndexJoin<'a> {
    pub plan: &'a JoinPlan,
    pub shape: Shape<'a>,
    pub rows: BuildSide<'a>,
}

impl Operator for IndexJoin<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let keys = key_columns(&self.plan.keys, &input, worker)?;
        let keys: Vec<&Column> = keys.iter().map(AsRef::as_ref).collect();
        match self.rows.resolve()? {
            KeyIndex::Placed(placed) => {
                let found = placed.starts().find(keys[0], input.len);
                let take = |nth: usize, rows: &[Range<u32>], len| {
                    let taken = placed.take(self.plan.outputs[nth].0, rows, len);
                    make_room(taken.large_bytes())?;
                    Ok(taken)
                };
                self.push_groups(&found, take, &input, worker, emit)
            }
            KeyIndex::Grouped(groups) => {
                let found = groups.starts().find(keys[0], input.len);
                let all: usize = found.iter().map(Range::len).sum();
                if all < found.len() * LANES {
                    return self.push_small_groups(groups, &found, all, &input, worker, emit);
                }
                let take = |nth: usize, rows: &[Range<u32>], len| groups.take(nth, rows, len);
                self.push_groups(&found, take, &input, worker, emit)
            }
            KeyIndex::Indexed(probe) => {
                let found = probe.find(&keys, input.len);
                self.push_matches(&probe, &found, &input, worker, emit)
            }
        }
    }
}

impl IndexJoin<'_> {
    /// Joins each input row with a range of the rows; `take` gives the `nth` output of ranges.
    fn push_groups(
        &self,
        found: &[Range<u32>],
        take: impl Fn(usize, &[Range<u32>], usize) -> Result<Column, Stop>,
        input: &Batch,
        worker: &mut Worker<'_>,
        emit: &mut Emit<'_>,
    ) -> Flow {
        let most_rows = self.shape.batch_rows(input, MAX_BATCH_ROWS);
        let mut room = worker.next_batch_rows()?.min(most_rows);
        let most = found.iter().map(Range::len).sum::<usize>().min(room);
        let (mut left, mut right): (Vec<u32>, Vec<Range<u32>>) =
            (Vec::with_capacity(most), Vec::with_capacity(found.len().min(most)));
        let mut len = 0;
        let joined =
            |left: &[u32], right: &[Range<u32>], len| self.joined(input, left, len, |nth| take(nth, right, len));
        for (row, group) in found.iter().enumerate() {
            let mut group = group.clone();
            while !group.is_empty() {
                let part = group.start..group.end.min(group.start + (room - len) as u32);
                group.start = part.end;
                len += part.len();
                if !self.shape.keeps_nothing() {
                    left.extend(repeat_n(row as u32, part.len()));
                }
                right.push(part);
                if len == room {
                    let _passing = temporary();
                    let flow = emit(joined(&left, &right, len)?, worker)?;
                    if stopped(&flow) {
                        return Ok(flow);
                    }
                    left.clear();
                    right.clear();
                    len = 0;
                    room = worker.next_batch_rows()?.min(most_rows);
                }
            }
        }
        if len == 0 { CONTINUE } else { emit(joined(&left, &right, len)?, worker) }
    }

    /// [`IndexJoin::push_groups`] for groups of few rows, `all` together. Integers are copied without a list of row numbers.
    fn push_small_groups(
        &self,
        groups: &ClusteredRows,
        found: &[Range<u32>],
        mut all: usize,
        input: &Batch,
        worker: &mut Worker<'_>,
        emit: &mut Emit<'_>,
    ) -> Flow {
        let most_rows = self.shape.batch_rows(input, MAX_BATCH_ROWS);
        let mut start = 0;
        while start < found.len() {
            let _passing = temporary();
            let room = worker.next_batch_rows()?.min(most_rows);
            // Mostly there is room for all.
            let (mut end, mut len) = if all <= room { (found.len(), all) } else { (start, 0) };
            while end < found.len() && len < room {
                len += found[end].len();
                end += 1;
            }
            all -= len;
            let output = self.gather(groups, &found[start..end], len, input, start)?;
            let flow = emit(output, worker)?;
            if stopped(&flow) {
                return Ok(flow);
            }
            start = end;
        }
        CONTINUE
    }

    /// The rows of small groups, `len` in all, each with the slots carried over from its input row. The input rows begin at `start`.
    fn gather(
        &self,
        groups: &ClusteredRows,
        ranges: &[Range<u32>],
        len: usize,
        input: &Batch,
        start: usize,
    ) -> Result<Batch, Stop> {
        let mut output = Batch { columns: empty_slots(self.shape.slots), len };
        let (left, right) = (OnceCell::new(), OnceCell::new());
        for slot in self.shape.keep {
            let column = &input.columns[*slot];
            output.columns[*slot] = match column.as_dense_ints() {
                Some(ints) => Column::ints(gather_unrolled(zip(ranges, &ints[start..]), len, |int, _| [*int; LANES])),
                None => column.copy_rows(
                    left.get_or_init(|| gather_unrolled(zip(ranges, start as u32..), len, |row, _| [row; LANES])),
                )?,
            };
        }
        for (nth, (_, slot)) in self.plan.outputs.iter().enumerate() {
            output.columns[*slot] = match groups.column(nth) {
                Values::Narrow(numbers) => Column::ints(gather_unrolled(zip(ranges, repeat(&numbers[..])), len, four)),
                Values::Wide(column) => column.copy_rows(right.get_or_init(|| {
                    let rows = |(), first| [0, 1, 2, 3].map(|nth| (first as u32).wrapping_add(nth));
                    gather_unrolled(zip(ranges, repeat(())), len, rows)
                }))?,
            };
        }
        Ok(output)
    }

    /// Rows of the input, with a column for each output.
    #[inline]
    fn joined(
        &self,
        input: &Batch,
        left: &[u32],
        len: usize,
        output: impl Fn(usize) -> Result<Column, Stop>,
    ) -> Result<Batch, Stop> {
        let mut joined = self.shape.take(input, left)?;
        joined.len = len;
        for (nth, (_, slot)) in self.plan.outputs.iter().enumerate() {
            joined.columns[*slot] = output(nth)?;
        }
        Ok(joined)
    }

    /// Joins each input row with the rows that an index finds.
    fn push_matches(
        &self,
        probe: &IndexProbe<'_>,
        found: &Found,
        input: &Batch,
        worker: &mut Worker<'_>,
        emit: &mut Emit<'_>,
    ) -> Flow {
        let matches = |row: usize, matches: &mut Vec<u32>| {
            let first = matches.len();
            // Nearly always one: a loop is shorter than `extend`.
            for found in probe.matches(found, row) {
                matches.push(found);
            }
            // The order of a look-up in the relation or one of its indices.
            if matches.len() > first + 1 {
                matches[first..].reverse();
            }
        };
        let column = |nth, column| self.rows.output_column(nth, column);
        emit_matches(&self.plan.outputs, &self.shape, probe.rows, column, matches, input, worker, emit)
    }
}

/// Emits each input row with its matches, which `matches` appends. `column` gives the column of `rows` for the `nth` output.
#[allow(clippy::too_many_arguments)]
pub fn emit_matches(
    outputs: &[(usize, usize)],
    shape: &Shape<'_>,
    rows: &Batch,
    column: impl Fn(usize, usize) -> usize,
    matches: impl Fn(usize, &mut Vec<u32>),
    input: &Batch,
    worker: &mut Worker<'_>,
    emit: &mut Emit<'_>,
) -> Flow {
    let most_rows = shape.batch_rows(input, MAX_BATCH_ROWS);
    let mut room = worker.next_batch_rows()?.min(most_rows);
    // Mostly each row has about one match.
    let few = input.len.min(room);
    let (mut left, mut right): (Vec<u32>, Vec<u32>) = (Vec::with_capacity(few), Vec::with_capacity(few));
    for row in 0..input.len {
        matches(row, &mut right);
        // Nearly always one, for which a loop is shorter than `resize`.
        while left.len() < right.len() {
            left.push(row as u32);
        }
        let is_last = row + 1 == input.len && !left.is_empty();
        if right.len() < room && !is_last {
            continue;
        }
        let mut start = 0;
        while start < left.len() {
            let _passing = temporary();
            let part = start..left.len().min(start + room);
            let taken = &right[part.clone()];
            let mut output = shape.take(input, &left[part.clone()])?;
            for (nth, (of, slot)) in outputs.iter().enumerate() {
                output.columns[*slot] = rows.columns[column(nth, *of)].copy_rows(taken)?;
            }
            let flow = emit(output, worker)?;
            if stopped(&flow) {
                return Ok(flow);
            }
            start = part.end;
            room = worker.next_batch_rows()?.min(most_rows);
        }
        left.clear();
        right.clear();
    }
    CONTINUE
}

/// A value for each number in ranges, which have `len` numbers together. `four` gives the values of a number and the next ones, from the item
/// beside the range; the numbers past the end of a range do not count.
#[inline]
fn gather_unrolled<'r, T: Copy, N: Copy + Default>(
    ranges: impl Iterator<Item = (&'r Range<u32>, T)>,
    len: usize,
    four: impl Fn(T, usize) -> [N; LANES],
) -> Vec<N> {
    // Every range writes LANES values at least; the next range overwrites the surplus. For short ranges the number of steps is fixed, so the
    // branch predictor never misses.
    let mut all = vec![N::default(); len + LANES];
    let mut end = 0;
    for (range, of) in ranges {
        let (first, len) = (range.start as usize, range.len());
        *all[end..].first_chunk_mut().expect("there is room for four more") = four(of, first);
        let mut done = LANES;
        while done < len {
            *all[end + done..].first_chunk_mut().expect("there is room for four more") = four(of, first + done);
            done += LANES;
        }
        end += len;
    }
    all.truncate(len);
    all
}

/// The [`LANES`] integers from a position on, which must be there.
#[inline]
fn four(numbers: &[u32], at: usize) -> [i64; LANES] {
    numbers[at..]
        .first_chunk()
        .map(|four: &[u32; LANES]| four.map(i64::from))
        .expect("more numbers are there than count")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_fours_every_number_of_every_range_is_given_once() {
        let numbers: Vec<u32> = (0..14 + LANES as u32).map(|number| number * 10).collect();
        let ranges = [5..5, 0..1, 7..12, 3..3, 2..6, 13..14, 1..3, 3..14, 14..14];
        let each = || ranges.iter().enumerate().flat_map(|(nth, range)| range.clone().map(move |at| (nth, at)));
        let len = each().count();
        let given = gather_unrolled(zip(&ranges, repeat(&numbers[..])), len, four);
        assert_eq!(given, each().map(|(_, at)| i64::from(at) * 10).collect::<Vec<_>>());
        let beside = gather_unrolled(zip(&ranges, 0..), len, |nth, _| [nth; LANES]);
        assert_eq!(beside, each().map(|(nth, _)| nth as i64).collect::<Vec<_>>());
    }
}
