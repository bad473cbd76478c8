//! Recursion row by row, where each row gives one new row at most and few rows are new.
//!
//! A batch costs many times what a row does. [`RowRecursion`] takes the place of rounds while a delta has few rows: it reads one
//! row of the delta, runs the rules that read its table, and inserts their rows at the end of the tables, where they extend a
//! delta in turn. The order of rows does not matter: the least fixpoint is the same set.
//!
//! ```text
//! rows of a table:   0 ... old ... | next | ... rest of the delta ... |
//!                                    read by all rules of its table, then old
//! new rows                                                            | appended, part of the delta
//! ```
//!
//! `waiting` holds the tables whose delta is to be looked at. If a delta grows beyond `FEW_ROWS`, its rows stay in the delta, and
//! the next round of `fixpoint` reads them as a batch.

use std::ops::Range;
use std::time::{Duration, Instant};

use crate::budget::temporary;
use crate::exec::error::ExecError;
use crate::exec::row::point::run_on_row;
use crate::exec::rowset::table::BYTES_AROUND_ROW;
use crate::exec::rowset::table::Table;
use crate::exec::run::Run;
use crate::exec::thresholds::{BYTES_BETWEEN_CHECKS, FEW_ROWS, ROWS_BETWEEN_CHECKS};
use crate::plan::{ComponentPlan, OperatorKind, OperatorPlan, RulePlan, Source};
use crate::value::DataValue;

/// The recursive rules of a component that run row by row.
pub struct RowRecursion<'a> {
    /// The rules, ordered by the table that they read.
    rules: Vec<RowStep<'a>>,
    /// The tables of the component, in ascending order and without a gap.
    tables: &'a [usize],
    /// For each table, the rules that read it.
    readers: Vec<Range<usize>>,
    /// The tables whose delta is to be looked at, by position, and whether each table is among them.
    waiting: Vec<usize>,
    is_waiting: Vec<bool>,
    /// The rows and the bytes that were made since the last check of the budget.
    rows: usize,
    bytes: usize,
}

struct RowStep<'a> {
    rule: &'a RulePlan,
    /// The table whose delta the rule reads,
    source: usize,
    /// and the columns that fill slots, with the slots.
    columns: &'a [(usize, usize)],
    /// Values by slot.
    slots: Vec<DataValue>,
    /// The number of its new rows and the time that they took, if the run has a profile.
    spent: Option<(u64, Duration)>,
}

/// Inserts the head of a rule into its table; returns the bytes of the row if it is new.
fn insert(rule: &RulePlan, slots: &[DataValue], tables: &mut [Table]) -> Option<usize> {
    let head = rule.head.iter().map(|slot| &slots[*slot]);
    let is_new = tables[rule.table].insert_row(head.clone());
    is_new.then(|| head.map(column_bytes).sum::<usize>() + BYTES_AROUND_ROW)
}

/// The approximate size of a value in a column.
fn column_bytes(value: &DataValue) -> usize {
    size_of::<u64>() + value.memory_bytes() - size_of::<DataValue>()
}

impl<'a> RowRecursion<'a> {
    /// The rules of a component, if each recursive rule gives one row at most for each row that it reads.
    pub fn of(component: &'a ComponentPlan, run: &Run<'a>) -> Option<Self> {
        if !component.row_by_row {
            return None;
        }
        let recursive = component.rules.iter().filter(|rule| !rule.reads.is_empty());
        let mut rules: Vec<RowStep<'_>> = recursive.map(|rule| RowStep::of(rule, run)).collect();
        rules.sort_by_key(|step| step.source);
        let first_reader = |table: usize| rules.partition_point(|step| step.source < table);
        let tables = &component.tables;
        let readers = tables.iter().map(|table| first_reader(*table)..first_reader(*table + 1)).collect();
        let (waiting, is_waiting) = (vec![], vec![false; tables.len()]);
        Some(RowRecursion { rules, tables, readers, waiting, is_waiting, rows: 0, bytes: 0 })
    }

    /// Runs all rules for the rows of the deltas, row by row, and for the rows that come of them, as long as they are few. No
    /// rule has read the rows that remain in the deltas.
    pub fn run(&mut self, deltas: &mut [Range<usize>], tables: &mut [Table], run: &Run<'_>) -> Result<(), ExecError> {
        self.waiting = (0..self.tables.len()).rev().collect();
        self.is_waiting.fill(true);
        while let Some(position) = self.waiting.pop() {
            self.is_waiting[position] = false;
            let table = self.tables[position];
            while (1..=FEW_ROWS).contains(&(tables[table].len() - deltas[table].start)) {
                let row = deltas[table].start;
                deltas[table].start += 1;
                for step in &mut self.rules[self.readers[position].clone()] {
                    if let Some(bytes) = step.run_noted(row, tables, run)? {
                        self.rows += 1;
                        self.bytes += bytes;
                        let filled = step.rule.table - self.tables[0];
                        if filled != position && !std::mem::replace(&mut self.is_waiting[filled], true) {
                            self.waiting.push(filled);
                        }
                    }
                }
                if self.rows >= ROWS_BETWEEN_CHECKS || self.bytes >= BYTES_BETWEEN_CHECKS {
                    self.check(run)?;
                }
            }
        }
        for &table in self.tables {
            deltas[table].end = tables[table].len();
        }
        Ok(())
    }

    /// Adds the measurements of the rules to the run's profile. Fails if the query is to stop.
    pub fn finish(mut self, run: &Run<'_>) -> Result<(), ExecError> {
        if let Some(profile) = &run.notes.profile {
            for step in &self.rules {
                step.spent.into_iter().for_each(|(rows, time)| profile.add_rows(step.rule, rows, time));
            }
        }
        self.check(run)
    }

    /// Fails if the query is to stop.
    fn check(&mut self, run: &Run<'_>) -> Result<(), ExecError> {
        self.rows = 0;
        run.budget.charge(std::mem::take(&mut self.bytes))?;
        Ok(run.budget.check()?)
    }
}

impl<'a> RowStep<'a> {
    fn of(rule: &'a RulePlan, run: &Run<'_>) -> Self {
        let [OperatorPlan { kind: OperatorKind::Join(join), .. }, ..] = &rule.operators[..] else {
            unreachable!("a rule that runs row by row begins with a table")
        };
        let Source::Table(source) = join.source else { unreachable!("the table is one of its component") };
        RowStep {
            rule,
            source,
            columns: &join.outputs,
            slots: vec![DataValue::Null; rule.slots],
            spent: run.notes.profile.as_ref().map(|_| (0, Duration::ZERO)),
        }
    }

    /// [`RowStep::run`], measured if the run has a profile.
    #[inline]
    fn run_noted(&mut self, row: usize, tables: &mut [Table], run: &Run<'_>) -> Result<Option<usize>, ExecError> {
        let Some((rows, time)) = self.spent else { return self.run(row, tables, run) };
        let began = Instant::now();
        let made = self.run(row, tables, run)?;
        self.spent = Some((rows + u64::from(made.is_some()), time + began.elapsed()));
        Ok(made)
    }

    /// Runs the rule on a row of the delta; returns the bytes of the row that it gives, if that is new.
    fn run(&mut self, row: usize, tables: &mut [Table], run: &Run<'_>) -> Result<Option<usize>, ExecError> {
        let known = &tables[self.source].rows().columns;
        let _passing = temporary();
        for (column, slot) in self.columns {
            self.slots[*slot] = known[*column].copy_at(row)?;
        }
        match run_on_row(&self.rule.operators[1..], &mut self.slots, run.input.parameters, run.input.view)? {
            true => Ok(insert(self.rule, &self.slots, tables)),
            false => Ok(None),
        }
    }
}
