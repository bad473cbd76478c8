//! When an index replaces the look-ups of an operator.
//!
//! Look-ups in the engine are counted. Once they have cost as much as an index would, a [`BuildSide`] replaces them for the rest of
//! the run:
//!
//! | counted | by | an index is built when |
//! |---|---|---|
//! | over all queries that see the same contents, if the index can be kept | [`IndexCache`] | look-ups and rows found have cost as much as reading the relation |
//! | over all rounds of a recursive rule | `Notes::lookups_left` | `lookups_before_index` keys were looked up |
//! | in another rule, if the index cannot be kept | the same | as many keys were looked up as there are rows |
//!
//! A batch of a few rows in a rule that does not recur is not counted. Only an index that finds rows by position is kept: one by
//! hash, as by several columns, costs many times as much, which the look-ups of earlier queries do not justify. An index is built only within a share of
//! the query's free memory: it is never necessary, only faster. Joins and semi-joins count alike.

use std::sync::OnceLock;

use crate::exec::access::build_side::{BuildSide, IndexLimits};
use crate::exec::access::stored::Stored;
use crate::exec::error::ExecError;
use crate::exec::index::cache::{Advice, IndexCache, Indexed, lookups_before_index};
use crate::exec::run::Run;
use crate::exec::thresholds::{COUNT_MIN_ROWS, INDEX_SHARE_OF_MEMORY, PLACED_ROWS_PER_COPIED};
use crate::expr::Expr;
use crate::plan::OperatorPlan;
use crate::storage::{ContentVersion, KeyRange};

/// Counts the look-ups of an operator, and has the index that replaces them.
pub struct LookupCounter<'a> {
    stored: Stored<'a>,
    /// The key columns with their expressions, and the columns that are read with the slots that they fill.
    keys: &'a [(usize, Expr)],
    outputs: &'a [(usize, usize)],
    /// The number of the operator.
    operator: usize,
    /// Whether the rule runs in several rounds.
    recursive: bool,
    run: &'a Run<'a>,
    /// Made when look-ups are first counted.
    index: OnceLock<BuildSide<'a>>,
}

/// Whether an index has replaced the look-ups of a recursive rule, so that the order of its input makes no difference.
pub fn is_replaced(operator: &OperatorPlan, run: &Run<'_>) -> bool {
    run.notes.lookups_left.lock().get(&operator.number) == Some(&0)
}

impl<'a> LookupCounter<'a> {
    /// A counter for an operator that looks up keys in a stored relation.
    pub fn new(
        stored: Stored<'a>,
        keys: &'a [(usize, Expr)],
        outputs: &'a [(usize, usize)],
        operator: usize,
        recursive: bool,
        run: &'a Run<'a>,
    ) -> Self {
        LookupCounter { stored, keys, outputs, operator, recursive, run, index: OnceLock::new() }
    }

    /// The index that replaces the look-ups from now on, if all of them so far and these `rows` more have cost as much as the index,
    /// and it fits a share of the query's free memory.
    pub fn index_instead(&self, rows: usize) -> Result<Option<&BuildSide<'a>>, ExecError> {
        if rows < COUNT_MIN_ROWS && !self.recursive {
            return Ok(None);
        }
        let make = || BuildSide::of_stored(self.stored, self.keys, self.outputs, self.run);
        let index = self.index.get_or_init(make);
        let is_made = index.is_made()
            || self.is_due(rows, index) && {
                let most_bytes = self.run.budget.spare_bytes() / INDEX_SHARE_OF_MEMORY;
                let by_hash = self.counts_alone(index);
                index.make_within(IndexLimits { most_bytes, by_hash })?
            };
        Ok(is_made.then_some(index))
    }

    /// Counts rows that so many look-ups found.
    pub fn found(&self, rows: usize, lookups: usize) {
        if lookups < COUNT_MIN_ROWS {
            return;
        }
        // An index that copies nothing has to decode rows, too.
        let index = self.index.get().filter(|index| !index.copies_nothing());
        if let Some((cache, contents, indexed)) = index.and_then(|index| self.cached(index)) {
            cache.found(&indexed, contents, rows);
        }
    }

    /// The cache for the index, with the contents and the name of its entry; `None` if the index cannot be kept.
    fn cached(&self, index: &BuildSide<'_>) -> Option<(&'a IndexCache, ContentVersion, Indexed)> {
        let (cache, (_, contents)) = self.run.caches.indexes.zip(self.stored.contents())?;
        Some((cache, contents, index.indexed()?))
    }

    /// Whether the look-ups of this run alone decide about the index.
    fn counts_alone(&self, index: &BuildSide<'_>) -> bool {
        self.recursive || index.indexed().is_none()
    }

    fn is_due(&self, rows: usize, index: &BuildSide<'_>) -> bool {
        let most_rows = || self.stored.most_rows(&KeyRange::all());
        let cost = || if index.copies_nothing() { most_rows() / PLACED_ROWS_PER_COPIED } else { most_rows() };
        let advice = self
            .cached(index)
            .map_or(Advice::Unknown, |(cache, contents, indexed)| cache.advice(&indexed, contents, rows, cost));
        if !self.counts_alone(index) {
            return advice == Advice::Index;
        }
        let mut left = self.run.notes.lookups_left.lock();
        let before_index = || if self.recursive { lookups_before_index(most_rows()) } else { most_rows() };
        let left = left.entry(self.operator).or_insert_with(before_index);
        *left = match advice {
            Advice::Index => 0,
            Advice::LookUp => *left,
            Advice::Unknown => left.saturating_sub(rows as u64),
        };
        *left == 0
    }
}
