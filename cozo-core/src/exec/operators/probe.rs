//! Joins input rows with rows that have the same values in some columns, by an index on those columns.
//!
//! A [`Join`] looks a batch up in a [`BuildSide`]. Where the rows of a key are neighbours, in a tree or in clustered rows, it copies
//! ranges of columns: many rows of a key at once ([`Join::push_groups`]), or few rows of many keys in steps of [`LANES`]
//! ([`Join::push_small_groups`]). Where an index gives the rows of a key one by one, [`emit_matches`] gathers them.

use std::cell::OnceCell;
use std::iter::{repeat, repeat_n, zip};
use std::ops::Range;

use super::{Emit, Operator, Shape, empty_slots, key_columns, stopped};
use crate::budget::{Stop, make_room, temporary};
use crate::exec::access::build_side::{BuildSide, IndexProbe, KeyIndex};
use crate::exec::index::clustered_rows::{ClusteredRows, LANES, Values};
use crate::exec::index::hash_index::Found;
use crate::exec::run::Worker;
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::thresholds::MAX_BATCH_ROWS;
use crate::plan::JoinPlan;
use crate::value::{Batch, Column};

/// Joins by an index.
pub struct IndexJoin<'a> {
    pub plan: &'a JoinPlan,
    pub shape: Shape<'a>,
    pub rows: BuildSide<'a>,
}

impl Operator for IndexJoin<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        Join { plan: self.plan, shape: self.shape, rows: &self.rows }.push(input, worker, emit)
    }
}

/// A join of batches with rows that others have, too.
pub struct Join<'r> {
    pub plan: &'r JoinPlan,
    pub shape: Shape<'r>,
    pub rows: &'r BuildSide<'r>,
}

impl Join<'_> {
    /// Joins a batch.
    pub fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
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

impl Join<'_> {
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

    /// [`Join::push_groups`] for groups of few rows, `all` together. Integers are copied without a list of row numbers.
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
