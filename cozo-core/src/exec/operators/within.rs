//! The rows among which a search looks, if not among all: those of `within`, those that pass the filter, or both.
//!
//! A run builds each of these when the first search needs it, and keeps it:
//!
//! ```text
//! view of the index ──────────────┬────────────────────────┐
//! within: keys of a relation ─────┴─> entries within ──────┤
//! filter over columns of the relation alone ───────────────┴─> entries that pass
//! ```

use std::cmp::Ordering;
use std::sync::Arc;

use super::search::IndexSearch;
use super::{empty_slots, frame};
use crate::exec::access::all_rows::AllRows;
use crate::exec::access::stored::indexed;
use crate::exec::access::tables::Tables;
use crate::exec::error::ExecError;
use crate::exec::run::{Run, Worker};
use crate::exec::thresholds::MAX_BATCH_ROWS;
use crate::expr::EvalError;
use crate::index::search::{AllowedEntries, Hits, IndexView};
use crate::plan::Source;
use crate::schema::SearchOptions;
use crate::storage::KeyRange;
use crate::value::sort::last_of_each_key;
use crate::value::{Batch, compare_columns};

/// The relation of `within`, which is complete before the search begins.
pub struct WithinRows<'a> {
    rows: AllRows<'a>,
    /// Its columns for the keys of the searched relation.
    columns: &'a [usize],
}

/// The keys of `within`.
pub struct WithinKeys {
    /// They are distinct and ascend.
    keys: Batch,
    /// Their entries in the index, if it has views.
    pub entries: Option<AllowedEntries>,
}

/// The entries of the rows that pass the filter. None if only a test of each hit can tell.
pub struct PassingEntries(pub Option<AllowedEntries>);

impl<'a> WithinRows<'a> {
    /// The relation of a source.
    pub fn of((source, columns): &'a (Source, Vec<usize>), tables: &Tables<'a>, run: &'a Run<'a>) -> Self {
        WithinRows { rows: AllRows::whole(source, tables.tables, run), columns }
    }

    /// The keys, distinct and ascending.
    fn keys(&self, run: &Run<'_>) -> Result<Batch, ExecError> {
        let mut keys = Batch::empty(self.columns.len());
        self.rows.read(self.columns, run, |rows| {
            run.budget.charge(rows.memory_bytes())?;
            keys.append_all(rows);
            Ok(())
        })?;
        Ok(last_of_each_key(keys, self.columns.len()))
    }
}

impl WithinKeys {
    /// The hits with these keys.
    pub fn only(&self, hits: Hits) -> Hits {
        let is_within = |row: &u32| self.has(&hits.keys, *row as usize);
        let within: Vec<u32> = (0..hits.keys.len as u32).filter(is_within).collect();
        hits.take(&within)
    }

    fn has(&self, rows: &Batch, row: usize) -> bool {
        let (mut low, mut high) = (0, self.keys.len);
        while low < high {
            let middle = low + (high - low) / 2;
            match compare_columns(&self.keys.columns, middle, &rows.columns, row) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return true,
            }
        }
        false
    }
}

impl IndexSearch<'_> {
    /// What the index holds. None for near-duplicates, whose index is rows.
    pub(super) fn view(&self, run: &Run<'_>) -> Result<Option<Arc<IndexView>>, ExecError> {
        let call = &self.plan.call;
        if let SearchOptions::Duplicates(_) = call.index.options {
            return Ok(None);
        }
        let built = run.notes.build_unlocked(self.shape.number, || Ok(IndexView::open(indexed(call, run))?))?;
        Ok(Some(Arc::clone(&built)))
    }

    /// The keys of `within`.
    pub(super) fn within(&self, run: &Run<'_>) -> Result<Option<Arc<WithinKeys>>, ExecError> {
        let Some(within) = &self.within else { return Ok(None) };
        let view = self.view(run)?;
        let built = run.notes.build_unlocked(self.shape.number, || {
            let keys = within.keys(run)?;
            Ok(WithinKeys { entries: view.map(|view| AllowedEntries::of(view, &keys)), keys })
        });
        Ok(Some(built?))
    }

    /// The entries of all rows that pass the filter, among those of `within`. None if the filter depends on more than columns of the
    /// relation, or fails for a row, which the search might not find.
    pub(super) fn passing_entries(&self, worker: &Worker<'_>) -> Result<Arc<PassingEntries>, ExecError> {
        let run = worker.run;
        let Some(view) = self.view(run)?.filter(|_| self.filtered.is_some()) else {
            return Ok(Arc::new(PassingEntries(None)));
        };
        let within = self.within(run)?;
        run.notes.build_unlocked(self.shape.number, || {
            let keys = self.passing_keys(within.as_deref(), worker)?;
            Ok(PassingEntries(keys.map(|keys| AllowedEntries::of(view, &keys))))
        })
    }

    /// The keys of the rows that pass the filter. They ascend.
    fn passing_keys(&self, within: Option<&WithinKeys>, worker: &Worker<'_>) -> Result<Option<Batch>, ExecError> {
        let (schema, columns) = (&self.plan.call.schema, self.filtered.as_deref().unwrap_or_default());
        let read: Vec<usize> = (0..schema.keys.len()).chain(columns.iter().map(|(column, _)| *column)).collect();
        let mut passing = Batch::empty(schema.keys.len());
        if let Some(within) = within {
            let mut cursor = self.snapshot.lookup(schema.id, &within.keys.columns, &read, None)?;
            while let Some(matches) = cursor.next_matches(MAX_BATCH_ROWS)? {
                if !self.add_passing(matches.batch, &mut passing, worker)? {
                    return Ok(None);
                }
            }
        } else {
            let mut cursor = self.snapshot.scan(schema.id, &KeyRange::all(), &read, None)?;
            while let Some(rows) = cursor.next_batch(MAX_BATCH_ROWS)? {
                if !self.add_passing(rows, &mut passing, worker)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(passing))
    }

    /// Appends the keys of the rows that pass the filter. Returns whether it could be evaluated.
    fn add_passing(&self, mut rows: Batch, passing: &mut Batch, worker: &Worker<'_>) -> Result<bool, ExecError> {
        worker.run.budget.check()?;
        let (Some(filter), Some(columns)) = (&self.plan.filter, &self.filtered) else { return Ok(false) };
        let mut slots = Batch { columns: empty_slots(self.shape.slots), len: rows.len };
        for ((_, slot), column) in columns.iter().zip(rows.columns.split_off(self.plan.call.schema.keys.len())) {
            slots.columns[*slot] = column;
        }
        match filter.eval_condition(frame(&slots, worker)) {
            Ok(holds) => {
                let that_pass: Vec<u32> = (0..rows.len as u32).filter(|row| holds.holds(*row as usize)).collect();
                passing.append(&rows.take(&that_pass));
                Ok(true)
            }
            Err(EvalError::Stop(stop)) => Err(stop.into()),
            Err(_) => Ok(false),
        }
    }
}
