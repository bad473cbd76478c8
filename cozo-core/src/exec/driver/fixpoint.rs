//! Evaluation of recursive components to the least fixpoint (semi-naive evaluation).
//!
//! [`Fixpoint`] runs mutually recursive rules in rounds until a round adds nothing.
//!
//! A row of a recursive table goes through three states. Tables grow only at the end, so the states are ranges of row numbers:
//!
//! ```text
//! path[x, y] := edge[x, y]
//! path[x, y] := path[x, z], edge[z, y]      a round reads the delta of path only
//!
//! rows of path:   0 ....... old ....... | ... delta ... | ... pending ...
//!                   read in earlier       read in this    derived in this round,
//!                   rounds                round           read by no rule yet
//! ```
//!
//! A rule with several recursive atoms runs once for each of them. That atom reads the delta, the recursive atoms before it read the old
//! rows, and those after it read old and delta rows: so each combination of rows is joined once. At the end of a round, delta rows become
//! old and pending rows become the delta.
//!
//! Where each row gives one new row at most, [`RowRecursion`] uses up the delta row by row while it is small.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use crate::exec::access::tables::Tables;
use crate::exec::driver::stages::{ensure_indexes, run_one};
use crate::exec::error::ExecError;
use crate::exec::operators::charge_sink;
use crate::exec::row::recursion::RowRecursion;
use crate::exec::rowset::table::Table;
use crate::exec::run::Run;
use crate::exec::sink::{Allowance, GroupSink, Sink, apply_improvements};
use crate::exec::thresholds::MAX_BATCH_ROWS;
use crate::plan::{ComponentPlan, JoinPlan, OperatorKind, RulePlan, Source, TableKind, TablePart};
use crate::spill::SpilledRows;

/// The evaluation of one component.
pub struct Fixpoint<'r> {
    component: &'r ComponentPlan,
    run: &'r Run<'r>,
    /// For each table of the component, the rules that read its delta.
    readers: Vec<Vec<usize>>,
    /// How much memory the rows may take, if the rules can be run in another way when it is used up.
    allowance: Option<Arc<Allowance>>,
}

impl<'r> Fixpoint<'r> {
    /// The evaluation of a component.
    pub fn new(component: &'r ComponentPlan, run: &'r Run<'r>, allowance: Option<Arc<Allowance>>) -> Self {
        Fixpoint { component, run, readers: delta_readers(component), allowance }
    }

    /// Whether the rules gave up, because their allowance was used up.
    pub fn gave_up(&self) -> bool {
        self.allowance.as_ref().is_some_and(|allowance| allowance.is_used_up())
    }

    /// Runs the rules that read no table of the component.
    pub fn start(&self, tables: &mut [Table]) -> Result<(), ExecError> {
        for rule in self.component.rules.iter().filter(|rule| rule.reads.is_empty()) {
            self.run_rule(rule, &[], tables, 0)?;
        }
        start_whole_groups(self.component, tables, self.run)
    }

    /// Runs the recursive rules in rounds until a round adds nothing, or they give up. `deltas` has an entry for each table of the plan;
    /// only the entries of this component are used.
    pub fn run_rounds(&self, deltas: &mut Vec<Range<usize>>, tables: &mut [Table]) -> Result<(), ExecError> {
        let component = self.component;
        deltas.resize(tables.len(), 0..0);
        component.tables.iter().for_each(|table| deltas[*table] = 0..tables[*table].len());
        let mut steps = RowRecursion::of(component, self.run);
        while !self.gave_up() {
            if let Some(steps) = &mut steps {
                steps.run(deltas, tables, self.run)?;
            }
            if component.tables.iter().all(|table| deltas[*table].is_empty()) {
                break;
            }
            self.run_round(deltas, tables)?;
            for table in &component.tables {
                deltas[*table] = deltas[*table].end..tables[*table].len();
            }
        }
        steps.map_or(Ok(()), |steps| steps.finish(self.run))
    }

    /// The rules that read the delta of a table, if that delta has rows.
    pub fn rules_of_round(&self, deltas: &[Range<usize>]) -> impl Iterator<Item = &'r RulePlan> {
        let grown = self.component.tables.iter().zip(&self.readers).filter(|(table, _)| !deltas[**table].is_empty());
        let mut rules: Vec<usize> = grown.flat_map(|(_, readers)| readers.iter().copied()).collect();
        rules.sort_unstable();
        let component = self.component;
        rules.into_iter().map(|number| &component.rules[number])
    }

    /// Runs the rules of a round.
    fn run_round(&self, deltas: &[Range<usize>], tables: &mut [Table]) -> Result<(), ExecError> {
        for rule in self.rules_of_round(deltas) {
            let ranges = round_ranges(rule, deltas);
            self.run_rule(rule, &ranges, tables, deltas[rule.table].end)?;
        }
        Ok(())
    }

    /// Runs one rule; its new rows stay pending. No rule has read the rows of its table from `pending` on.
    fn run_rule(
        &self,
        rule: &RulePlan,
        ranges: &[(usize, Range<usize>)],
        tables: &mut [Table],
        pending: usize,
    ) -> Result<(), ExecError> {
        if self.gave_up() {
            return Ok(());
        }
        ensure_indexes(rule, tables, self.run)?;
        self.fill(rule.table, tables, pending, |tables, sink| {
            let range = |position: usize, table: usize| range_of(ranges, position, table, tables);
            // The sink of a recursive rule wants all rows: it asks to stop only if the rules give up.
            let _: ControlFlow<()> = run_one(rule, &Tables { tables, range: &range }, self.run, sink)?;
            Ok(())
        })
    }

    /// Adds rows to a table of the component, as if a rule had given them. No rule has read its rows from `pending` on.
    pub fn add(&self, table: usize, rows: &SpilledRows, tables: &mut [Table], pending: usize) -> Result<(), ExecError> {
        self.fill(table, tables, pending, |_, sink| {
            let (head, mut reader): (Vec<usize>, _) = ((0..rows.width()).collect(), rows.read_all());
            while let Some(batch) = reader.next_rows(MAX_BATCH_ROWS)? {
                let _: ControlFlow<()> = sink.take(batch, &head)?;
                if charge_sink(sink, self.run)?.is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Fills a table by a sink. No rule has read its rows from `pending` on.
    fn fill(
        &self,
        table: usize,
        tables: &mut [Table],
        pending: usize,
        fill: impl FnOnce(&[Table], &mut Sink<'_>) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        let grows = matches!(self.run.plan.tables[table].kind, TableKind::Set);
        let growth = grows.then(|| tables[table].growth());
        let parameters = self.run.input.parameters;
        let mut sink = Sink::new(self.run.plan, table, Some(&tables[table]), growth, parameters)?;
        sink.allow(self.allowance.clone());
        fill(tables, &mut sink)?;
        match sink {
            Sink::Set(set) => {
                let growth = set.finish_in_memory();
                tables[table].grow(growth);
            }
            Sink::Meet(meet) => {
                let (fresh, meets) = (meet.fresh, meet.meets);
                apply_improvements(&mut tables[table], fresh, &meets, pending)?;
            }
            Sink::Groups(_) | Sink::Partitions(_) => unreachable!("groups are never recursive"),
        }
        Ok(self.run.budget.check()?)
    }
}

/// For each table of a component, the rules that read its delta.
fn delta_readers(component: &ComponentPlan) -> Vec<Vec<usize>> {
    let mut readers = vec![vec![]; component.tables.len()];
    for (number, rule) in component.rules.iter().enumerate() {
        let delta = rule.reads.iter().find(|(_, part)| *part == TablePart::Delta);
        if let Some((position, _)) = delta {
            readers[table_read(rule, *position) - component.tables[0]].push(number);
        }
    }
    readers
}

/// If all columns are aggregated, all rows are one group, which exists even without rows. If no rule has given a row, the group starts with
/// the aggregate of no rows.
fn start_whole_groups(component: &ComponentPlan, tables: &mut [Table], run: &Run<'_>) -> Result<(), ExecError> {
    for &number in &component.tables {
        let table = &mut tables[number];
        if let TableKind::Meet { keys: 0, aggregations } = &run.plan.tables[number].kind
            && table.len() == 0
        {
            let row = GroupSink::new(aggregations.iter().map(Some), run.input.parameters)?.finish()?;
            let hash = table.key_hashes(&row)[0];
            table.append_keyed(&row, 0, hash);
            table.set_placeholder(true);
        }
    }
    Ok(())
}

/// The table that a recursive operator reads.
fn table_read(rule: &RulePlan, position: usize) -> usize {
    match &rule.operators[position].kind {
        OperatorKind::Join(JoinPlan { source: Source::Table(table), .. }) => *table,
        _ => unreachable!("recursive operators are joins with tables"),
    }
}

/// The rows that an operator reads of a table: all, unless the round says otherwise.
pub fn range_of(ranges: &[(usize, Range<usize>)], position: usize, table: usize, tables: &[Table]) -> Range<usize> {
    let part = ranges.iter().find(|(at, _)| *at == position).map(|(_, range)| range.clone());
    part.unwrap_or(0..tables[table].len())
}

/// The row ranges that the recursive operators (by position) read in this round.
pub fn round_ranges(rule: &RulePlan, deltas: &[Range<usize>]) -> Vec<(usize, Range<usize>)> {
    let range = |(position, part): &(usize, TablePart)| {
        let delta = &deltas[table_read(rule, *position)];
        let range = match part {
            TablePart::Old => 0..delta.start,
            TablePart::Delta => delta.clone(),
            TablePart::Known => 0..delta.end,
        };
        (*position, range)
    };
    rule.reads.iter().map(range).collect()
}
