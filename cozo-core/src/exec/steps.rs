//! Recursion in small steps: where each row of the last round gives one new row at most, rounds of a few rows run on single
//! values, since a batch costs many times what a row does.

use std::ops::Range;

use super::point::run_on_row;
use super::sink::BYTES_AROUND_ROW;
use super::table::{FEW_ROWS, Table};
use super::{ExecError, Run};
use crate::plan::{ComponentPlan, JoinPlan, OperatorKind, OperatorPlan, RulePlan, Source, TableKind};
use crate::value::DataValue;

/// So many rows are made, or so many bytes, between two looks at whether the query is to stop.
const ROWS_BETWEEN_CHECKS: usize = 16;
const BYTES_BETWEEN_CHECKS: usize = 1 << 14;

/// The recursive rules of a component that can run so.
pub struct Steps<'a> {
    rules: Vec<Step<'a>>,
    /// How many rows, and bytes, were made since it was looked whether the query is to stop.
    rows: usize,
    bytes: usize,
}

struct Step<'a> {
    rule: &'a RulePlan,
    /// The table whose new rows it reads,
    source: usize,
    /// and which columns of them fill which slots.
    columns: &'a [(usize, usize)],
    slots: Vec<DataValue>,
    head: Vec<DataValue>,
}

impl<'a> Steps<'a> {
    /// The rules of a component, if all recursive ones give one row at most for each that they read.
    pub fn of(component: &'a ComponentPlan, run: &Run<'a>) -> Option<Self> {
        // A profile shows batches.
        let sets = component.tables.iter().all(|table| matches!(run.plan.tables[*table].kind, TableKind::Set));
        if !sets || run.profile.is_some() {
            return None;
        }
        let recursive = component.rules.iter().filter(|rule| !rule.reads.is_empty());
        Some(Steps { rules: recursive.map(Step::of).collect::<Option<_>>()?, rows: 0, bytes: 0 })
    }

    /// Runs a round, if it is small: all rules, for the rows of each table that are new. Whether it did.
    pub fn round(&mut self, deltas: &[Range<usize>], tables: &mut [Table], run: &Run<'_>) -> Result<bool, ExecError> {
        if self.rules.iter().any(|step| deltas[step.source].len() > FEW_ROWS) {
            return Ok(false);
        }
        for step in &mut self.rules {
            for row in deltas[step.source].clone() {
                if step.run(row, tables, run)? {
                    self.rows += 1;
                    self.bytes += step.head.iter().map(bytes_of).sum::<usize>() + BYTES_AROUND_ROW;
                }
            }
        }
        if self.rows >= ROWS_BETWEEN_CHECKS || self.bytes >= BYTES_BETWEEN_CHECKS {
            self.check(run)?;
        }
        Ok(true)
    }

    /// Fails if the query is to stop.
    pub fn check(&mut self, run: &Run<'_>) -> Result<(), ExecError> {
        self.rows = 0;
        run.cancellation.charge(std::mem::take(&mut self.bytes))?;
        run.cancellation.check()
    }
}

/// About how many bytes a value takes in a column.
fn bytes_of(value: &DataValue) -> usize {
    size_of::<u64>() + value.memory_bytes() - size_of::<DataValue>()
}

impl<'a> Step<'a> {
    fn of(rule: &'a RulePlan) -> Option<Self> {
        let (first, rest) = rule.operators.split_first()?;
        let OperatorKind::Join(JoinPlan { source: Source::Table(source), keys, outputs, .. }) = &first.kind else {
            return None;
        };
        let reads_the_delta_first = matches!(rule.reads[..], [(0, _)]) && keys.is_empty();
        (reads_the_delta_first && rest.iter().all(OperatorPlan::is_point)).then(|| Step {
            rule,
            source: *source,
            columns: outputs,
            slots: vec![DataValue::Null; rule.slots],
            head: Vec::with_capacity(rule.head.len()),
        })
    }

    /// Makes a row of a row of the last round, if it gives one; whether that is new.
    fn run(&mut self, row: usize, tables: &mut [Table], run: &Run<'_>) -> Result<bool, ExecError> {
        let known = &tables[self.source].rows().columns;
        for (column, slot) in self.columns {
            self.slots[*slot] = known[*column].get(row);
        }
        if !run_on_row(&self.rule.operators[1..], &mut self.slots, run.parameters, run.view)? {
            return Ok(false);
        }
        self.head.clear();
        self.head.extend(self.rule.head.iter().map(|slot| self.slots[*slot].clone()));
        Ok(tables[self.rule.table].insert_row(&self.head))
    }
}
