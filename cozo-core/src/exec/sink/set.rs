//! A sink that keeps each row once.
//!
//! A [`SetSink`] has four ways to tell rows apart, and takes the first that applies:
//!
//! | way | when | a batch is |
//! |---|---|---|
//! | `unique` | the plan proves that no row comes twice | appended |
//! | `lists` | a fork, whose original has a bitmap | appended; the merge drops duplicates |
//! | `ints` | all columns are integers, all rows are wanted, none is known | collected; duplicates are dropped at the end |
//! | `fresh` | otherwise | inserted into a [`Table`], which tells rows apart by itself |
//!
//! Known rows are those of the recursive table that grows.
//!
//! When memory is used up, the new rows go to disk as sorted runs ([`SetSink::spill`]), and the sink begins again without rows.
//! Rows that came before and after meet when the runs are merged.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::allowance::Allowance;
use super::{Gathered, GatheredSet};
use crate::exec::error::ExecError;
use crate::exec::rowset::int_collector::IntCollector;
use crate::exec::rowset::row_set::NO_ROWS;
use crate::exec::rowset::table::{OnDisk, Table, bytes_of};
use crate::exec::rowset::top_k::TopK;
use crate::exec::sorting::{Disk, RunOrder, SortedRuns};
use crate::exec::thresholds::{FEW_ROWS, MAX_UNCHECKED_ROWS};
use crate::plan::TablePlan;
use crate::value::Batch;

/// Keeps rows that are new.
pub struct SetSink<'a> {
    /// The rows that a recursive table has already.
    known: &'a Batch,
    /// In a fork, the known rows and the new rows of the original sink, if it has any. They are not taken again.
    origin: Option<(&'a Batch, &'a Table)>,
    /// Whether rows are appended unchecked, because the bitmap of the original sink drops duplicates quickly.
    lists: bool,
    /// Whether no row comes twice.
    unique: bool,
    /// New rows.
    fresh: Table,
    /// More new rows: rows of integers, if all rows are wanted and none is known. Duplicates are dropped when all rows have come. The rows are
    /// then in ascending order, in which look-ups are fastest.
    ints: IntCollector,
    /// Whether the table is recursive. The next rule then needs the bitmap again, so integers are not listed.
    recurs: bool,
    /// How many rows are enough, if not all are wanted.
    pub enough: Option<usize>,
    /// Keeps the first rows of an order, if not all are wanted.
    pub top: Option<TopK>,
    /// The most new rows that are expected, or 0 if unknown.
    expected: usize,
    /// See [`Sink::grown`](super::Sink::grown).
    pub grown: usize,
    /// The bytes of the new rows,
    bytes: usize,
    /// and their greatest number so far.
    most_bytes: usize,
    /// The order of the rows that go to disk.
    pub order: RunOrder,
    /// See [`Sink::allowance`](super::Sink::allowance).
    pub allowance: Option<Arc<Allowance>>,
    /// New rows that went to disk when memory was used up.
    runs: Option<Box<SortedRuns>>,
}

impl<'a> SetSink<'a> {
    /// A sink for a planned table; see [`Sink::new`](super::Sink::new).
    pub fn new(existing: Option<&'a Table>, growth: Option<Table>, planned: &TablePlan) -> Self {
        // Look-ups of single integers are fastest in a bitmap, which tells them apart anyway.
        let unique = planned.unique && planned.arity > 1;
        let fresh = growth.unwrap_or_else(|| Table::set(planned.arity));
        let known = existing.map_or(&NO_ROWS, Table::rows);
        SetSink { known, recurs: existing.is_some(), ..SetSink::empty(fresh, unique) }
    }

    fn empty(fresh: Table, unique: bool) -> Self {
        SetSink {
            known: &NO_ROWS,
            origin: None,
            lists: false,
            unique,
            fresh,
            ints: IntCollector::default(),
            recurs: false,
            enough: None,
            top: None,
            expected: 0,
            grown: 0,
            bytes: 0,
            most_bytes: 0,
            order: RunOrder::Rows(vec![]),
            allowance: None,
            runs: None,
        }
    }

    /// An empty sink for another thread; `None` if few rows are enough.
    pub fn fork(&self) -> Option<SetSink<'_>> {
        if self.enough.is_some() {
            return None;
        }
        let fresh = Table::set(self.fresh.rows().columns.len());
        let origin = (self.known.len + self.fresh.len() > 0).then_some((self.known, &self.fresh));
        let lists = origin.is_some_and(|(_, origin)| origin.has_bitmap());
        let (top, recurs, order) = (self.top.clone(), self.recurs, self.order.clone());
        let allowance = self.allowance.clone();
        Some(SetSink { origin, lists, top, recurs, order, allowance, ..SetSink::empty(fresh, self.unique) })
    }

    /// Adds the rows of a fork.
    pub fn merge(&mut self, gathered: GatheredSet) {
        let GatheredSet { fresh, ints, runs, bytes } = gathered;
        self.bytes += bytes;
        self.most_bytes += bytes;
        match (&mut self.runs, runs) {
            (Some(all), Some(runs)) => all.append(*runs),
            (all, Some(runs)) => *all = Some(runs),
            (_, None) => {}
        }
        if self.unique {
            self.append(fresh.into_rows());
        } else {
            let listed = match self.keeps_ints() {
                true => self.ints.union(ints).err(),
                false => (ints.len() > 0).then_some(ints),
            };
            for part in listed.map(IntCollector::into_table).into_iter().chain([fresh]) {
                match self.known.len {
                    0 => self.fresh.insert_table(part),
                    _ => self.fresh.insert_table_after(self.known, part),
                };
            }
        }
        self.cut_if(TopK::is_worth_cutting);
    }

    /// Cuts the new rows to the wanted ones if `worth` says so.
    pub fn cut_if(&mut self, worth: impl Fn(&TopK, &Table) -> bool) {
        if let Some(top) = self.top.as_mut().filter(|top| worth(top, &self.fresh)) {
            top.cut(&mut self.fresh);
            let rows = self.fresh.rows();
            self.bytes = bytes_of(rows.len, rows.memory_bytes(), rows.len);
        }
    }

    /// See [`Sink::expect`](super::Sink::expect).
    pub fn expect(&mut self, rows: usize) {
        if self.top.is_none() {
            self.expected = self.fresh.len() + rows;
        }
    }

    /// See [`Sink::into_gathered`](super::Sink::into_gathered).
    pub fn into_gathered(self) -> Gathered {
        let SetSink { fresh, ints, runs, most_bytes: bytes, .. } = self;
        Gathered::Set(Box::new(GatheredSet { fresh, ints, runs, bytes }))
    }

    /// Moves the new rows to disk, if they are at least `least_bytes` and may go there. Rows of a recursive table may not, and neither may
    /// those of which only some are wanted. What was charged for them is released.
    pub fn spill(&mut self, least_bytes: usize, disk: &Disk) -> Result<(), ExecError> {
        let may_go = !self.recurs && self.enough.is_none() && self.top.is_none() && self.grown == 0;
        if !may_go || self.most_bytes < least_bytes.max(1) {
            return Ok(());
        }
        let runs = match &mut self.runs {
            Some(runs) => runs,
            none => none.insert(Box::new(SortedRuns::new(self.order.clone(), disk))),
        };
        let width = self.fresh.rows().columns.len();
        let parts =
            [std::mem::take(&mut self.ints).into_table(), std::mem::replace(&mut self.fresh, Table::set(width))];
        for part in parts {
            runs.add(part.into_rows())?;
        }
        disk.budget().release(self.most_bytes);
        (self.bytes, self.most_bytes, self.lists) = (0, 0, false);
        Ok(())
    }

    /// Takes a batch of heads.
    pub fn take(&mut self, rows: Batch) -> ControlFlow<()> {
        let rows = match self.origin {
            Some((known, fresh)) => {
                let absent = fresh.absent_after(known, &rows);
                if absent.len() == rows.len { rows } else { rows.take(&absent) }
            }
            None => rows,
        };
        let rows = match self.top.as_ref().and_then(|top| top.before_threshold(&rows)) {
            Some(wanted) => rows.take(&wanted),
            None => rows,
        };
        let (bytes, len) = (rows.memory_bytes(), rows.len);
        if self.lists && self.fresh.len() > MAX_UNCHECKED_ROWS {
            self.lists = false;
            let listed = std::mem::replace(&mut self.fresh, Table::set(rows.columns.len()));
            self.fresh.insert(listed.into_rows());
        }
        let added = match self.unique || self.lists {
            true => self.append(rows),
            false => self.insert_ints(rows).unwrap_or_else(|rows| self.fresh.insert_after(self.known, rows)),
        };
        self.bytes += bytes_of(added, bytes, len);
        self.grown += self.bytes.saturating_sub(self.most_bytes);
        self.most_bytes = self.most_bytes.max(self.bytes);
        self.cut_if(TopK::is_worth_cutting);
        match self.enough {
            Some(enough) if self.fresh.len() >= enough => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Appends rows unchecked. Reserves room for all expected rows, since columns that move as they grow may cost more than all else.
    fn append(&mut self, mut rows: Batch) -> usize {
        if self.fresh.len() == 0
            && let Some(more) = self.expected.checked_sub(rows.len).filter(|more| *more > 0)
        {
            rows.columns.iter_mut().for_each(|column| column.try_reserve(more));
        }
        self.fresh.append(rows)
    }

    /// Whether rows may be collected as integers.
    fn keeps_ints(&self) -> bool {
        self.known.is_empty() && self.enough.is_none() && self.top.is_none()
    }

    /// Collects rows as integers, if possible; returns about the number of new rows, or else the rows.
    fn insert_ints(&mut self, rows: Batch) -> Result<usize, Batch> {
        if !self.keeps_ints() || self.ints.len() + rows.len <= FEW_ROWS {
            return Err(rows);
        }
        self.ints.insert(rows, !self.recurs)
    }

    /// The new rows.
    pub fn finish(mut self) -> Result<Table, ExecError> {
        if let Some(mut runs) = self.runs.take() {
            let width = self.fresh.rows().columns.len();
            runs.add(self.ints.into_table().into_rows())?;
            runs.add(self.fresh.into_rows())?;
            return Ok(Table::on_disk(OnDisk::Runs(*runs), width));
        }
        Ok(self.finish_in_memory())
    }

    /// The new rows, none of which is on disk.
    pub fn finish_in_memory(mut self) -> Table {
        if self.ints.len() == 0 {
            return self.fresh;
        }
        // The few rows that came first are mostly integers, too.
        let few = self.fresh.len() <= FEW_ROWS;
        if self.fresh.len() == 0 || (few && self.ints.insert(self.fresh.rows().clone(), !self.recurs).is_ok()) {
            return self.ints.into_table();
        }
        self.fresh.insert_table(self.ints.into_table());
        self.fresh
    }
}
