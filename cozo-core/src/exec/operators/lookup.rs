//! Joins input rows with the rows of a stored relation that have a given key prefix.
//!
//! A [`PrefixLookup`] sorts the prefixes of a batch, so that neighbours share their way through the relation, and passes them to
//! the engine's cursor. Look-ups are counted; once they have cost as much as an index would, an [`IndexJoin`] replaces the
//! look-up for the rest of the run:
//!
//! | counted | by | an index is built when |
//! |---|---|---|
//! | over all queries that see the same contents | [`IndexCache`] | look-ups and rows found have cost as much as reading the relation |
//! | over all rounds of a recursive rule | `Notes::lookups_left` | `lookups_before_index` keys were looked up |
//!
//! A batch of a few rows in a rule that does not recur is not counted. An index is built only within a share of the query's free
//! memory: it is never necessary, only faster.

use std::sync::OnceLock;

use super::probe::IndexJoin;
use super::scan::place;
use super::{Emit, Operator, Shape, probe_columns, stopped};
use crate::budget::{make_room, temporary};
use crate::exec::build_side::BuildSide;
use crate::exec::index_cache::{Advice, IndexCache, Indexed, lookups_before_index};
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::stored::Stored;
use crate::exec::{ExecError, MAX_BATCH_ROWS, Run, Worker};
use crate::plan::{JoinPlan, MatchOrder, OperatorPlan};
use crate::storage::{ContentVersion, KeyRange};
use crate::value::sort::sort_by_ints;
use crate::value::{Batch, Column};

/// A batch of this many look-ups is sorted: neighbours then share their way through the relation.
const SORT_MIN_ROWS: usize = 64;

/// The order that sorts the rows of a column, if they are many unsorted integers.
fn lookup_order(column: &Column) -> Option<Vec<u32>> {
    let values = column.as_dense_ints().filter(|values| values.len() >= SORT_MIN_ROWS && !values.is_sorted())?;
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    sort_by_ints(&mut order, values);
    Some(order)
}

/// Looks up key prefixes.
pub struct PrefixLookup<'a> {
    plan: &'a JoinPlan,
    shape: Shape<'a>,
    stored: Stored<'a>,
    columns: Vec<usize>,
    /// Whether the rule runs in several rounds.
    recursive: bool,
    run: &'a Run<'a>,
    /// Replaces the look-up once that is faster.
    join: OnceLock<IndexJoin<'a>>,
}

/// A batch of this many rows is worth a question to the cache.
const PROBE_MIN_ROWS: usize = 4;

/// The rows that are entered into a leaf directory in the time that it takes to copy and index one row.
const PLACED_ROWS_PER_COPIED: u64 = 16;

/// An index that is not necessary, only faster, may take this fraction of the query's free memory: one in so many bytes.
const SHARE_OF_MEMORY: usize = 4;

/// Whether an index join has replaced a look-up of a recursive rule, so that the order of its input makes no difference.
pub fn is_joined(operator: &OperatorPlan, run: &Run<'_>) -> bool {
    run.notes.lookups_left.lock().get(&operator.number) == Some(&0)
}

impl<'a> PrefixLookup<'a> {
    pub fn new(plan: &'a JoinPlan, shape: Shape<'a>, stored: Stored<'a>, recursive: bool, run: &'a Run<'a>) -> Self {
        let columns = plan.outputs.iter().map(|(column, _)| *column).collect();
        PrefixLookup { plan, shape, stored, columns, recursive, run, join: OnceLock::new() }
    }

    /// The join that replaces this look-up from now on, if all look-ups so far and these `rows` more have cost as much as an
    /// index, and the index fits a share of the query's free memory.
    fn join_instead(&self, rows: usize) -> Result<Option<&IndexJoin<'a>>, ExecError> {
        if rows < PROBE_MIN_ROWS && !self.recursive {
            return Ok(None);
        }
        let join = self.join.get_or_init(|| {
            let rows = BuildSide::of_stored(self.stored, &self.plan.keys, &self.plan.outputs, self.run);
            IndexJoin { plan: self.plan, shape: self.shape, rows }
        });
        if !join.rows.is_made() {
            let is_made = self.is_worth_an_index(rows, join)
                && join.rows.make_within(self.run.budget.spare_bytes() / SHARE_OF_MEMORY)?;
            if !is_made {
                return Ok(None);
            }
        }
        Ok(Some(join))
    }

    /// Counts rows that so many look-ups found.
    fn found(&self, rows: usize, lookups: usize) {
        if lookups < PROBE_MIN_ROWS {
            return;
        }
        // An index that copies nothing has to decode rows, too.
        let join = self.join.get().filter(|join| !join.rows.copies_nothing());
        if let Some((kept, contents, indexed)) = join.and_then(|join| self.kept(join)) {
            kept.found(&indexed, contents, rows);
        }
    }

    /// The cache for the index of a join, with the contents and the name of its entry; `None` if the index cannot be kept.
    fn kept(&self, join: &IndexJoin<'_>) -> Option<(&'a IndexCache, ContentVersion, Indexed)> {
        let (kept, (_, contents)) = self.run.caches.indexes.zip(self.stored.contents())?;
        Some((kept, contents, join.rows.indexed()?))
    }

    fn is_worth_an_index(&self, rows: usize, join: &IndexJoin<'_>) -> bool {
        let most_rows = || self.stored.most_rows(&KeyRange::all());
        let cost = || if join.rows.copies_nothing() { most_rows() / PLACED_ROWS_PER_COPIED } else { most_rows() };
        let advice = self
            .kept(join)
            .map_or(Advice::Unknown, |(kept, contents, indexed)| kept.advice(&indexed, contents, rows, cost));
        if !self.recursive {
            return advice == Advice::Index;
        }
        let mut left = self.run.notes.lookups_left.lock();
        let left = left.entry(self.shape.number).or_insert_with(|| lookups_before_index(most_rows()));
        *left = match advice {
            Advice::Index => 0,
            Advice::LookUp => *left,
            Advice::Unknown => left.saturating_sub(rows as u64),
        };
        *left == 0
    }
}

impl Operator for PrefixLookup<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        if let Some(join) = self.join_instead(input.len)? {
            return join.push(input, worker, emit);
        }
        let mut prefixes = probe_columns(&self.plan.keys, &input, worker)?;
        let order = if self.plan.order == MatchOrder::Any { lookup_order(&prefixes[0]) } else { None };
        let input = match order {
            Some(order) => {
                prefixes.iter_mut().for_each(|column| *column = column.take(&order));
                self.shape.take(&input, &order)?
            }
            None => input,
        };
        let mut cursor = self.stored.lookup(&prefixes, &self.columns)?;
        let mut found = 0;
        let most_rows = self.shape.batch_rows(&input, MAX_BATCH_ROWS);
        loop {
            let _passing = temporary();
            let room = worker.next_batch_rows()?.min(most_rows);
            let Some(matches) = cursor.next_matches(room)? else {
                self.found(found, input.len);
                return CONTINUE;
            };
            make_room(matches.batch.large_bytes())?;
            found += matches.probe_rows.len();
            let kept = self.shape.take(&input, &matches.probe_rows)?;
            let flow = emit(place(self.plan, kept, matches.batch), worker)?;
            if stopped(&flow) {
                return Ok(flow);
            }
        }
    }
}
