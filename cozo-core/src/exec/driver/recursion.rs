//! Recursion, in memory or part by part.
//!
//! Some recursive rules carry a column of their predicate along unchanged, as `x` here:
//!
//! ```text
//! path[x, y] := *edge[x, y]
//! path[x, y] := path[x, z], *edge[z, y]
//! ```
//!
//! All rows that come of a row then have its value in this column. So if the rows exceed the memory, the rows of the rules that do not
//! recur are parted by this column on disk, and the fixpoint of each partition is computed on its own. Where the rules carry no column
//! along, their rows go to disk round by round ([`RoundsOnDisk`]).

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use rayon::prelude::*;

use crate::exec::access::tables::Tables;
use crate::exec::driver::fixpoint::Fixpoint;
use crate::exec::driver::rounds_on_disk::{RoundsOnDisk, may_run_on_disk};
use crate::exec::driver::stages::{ensure_indexes, run_one};
use crate::exec::error::ExecError;
use crate::exec::profile::BeyondMemory;
use crate::exec::rowset::table::{OnDisk, Table};
use crate::exec::run::Run;
use crate::exec::sink::{Allowance, PartitionKey, into_partitions};
use crate::exec::sorting::{Disk, part_again};
use crate::exec::thresholds::MAX_PARTITION_LEVEL;
use crate::expr::Expr;
use crate::plan::{ComponentPlan, JoinPlan, OperatorKind, RulePlan, Source, TableKind, TablePart};
use crate::spill::SpilledRows;
use crate::threads;

/// Runs the rules of mutually recursive predicates until a round adds nothing.
pub fn run_to_fixpoint(
    component: &ComponentPlan,
    deltas: &mut Vec<Range<usize>>,
    tables: &mut [Table],
    run: &Run<'_>,
) -> Result<(), ExecError> {
    let parted = run.space.and_then(|_| carried_column(component, run));
    let allowance = match parted {
        Some(_) => Some(Allowance::new(run.share_bytes())),
        None => may_run_on_disk(component, run).then(|| Allowance::last_resort(run.share_bytes())),
    };
    let allowance = allowance.map(Arc::new);
    let fixpoint = Fixpoint::new(component, run, allowance.clone());
    fixpoint.start(tables)?;
    fixpoint.run_rounds(deltas, tables)?;
    let gave_up = allowance.filter(|_| fixpoint.gave_up());
    let (Some(allowance), Some(disk)) = (gave_up, run.disk()) else { return Ok(()) };
    component.tables.iter().for_each(|table| tables[*table] = Table::like(&run.plan.tables[*table]));
    allowance.release(run.budget);
    run.notes.all_exceed(component, if parted.is_some() { BeyondMemory::Parts } else { BeyondMemory::Rounds });
    let Some(column) = parted else { return RoundsOnDisk { component, run, disk }.finish(tables) };
    let table = component.tables[0];
    let rows = PartedRecursion { component, run, disk, column, table }.finish(tables)?;
    tables[table] = Table::on_disk(OnDisk::Rows(rows), run.plan.tables[table].arity);
    Ok(())
}

/// The first column of a component's only predicate that all recursive rules carry along unchanged, if they have one recursive atom each.
fn carried_column(component: &ComponentPlan, run: &Run<'_>) -> Option<usize> {
    let [table] = component.tables[..] else { return None };
    let planned = &run.plan.tables[table];
    let columns = match &planned.kind {
        TableKind::Set => planned.arity,
        TableKind::Meet { keys, .. } => *keys,
        TableKind::Groups(_) => 0,
    };
    let is_carried = |column: &usize| {
        let mut recursive = component.rules.iter().filter(|rule| !rule.reads.is_empty());
        recursive.all(|rule| carries(rule, *column))
    };
    (0..columns).find(is_carried).filter(|_| !component.row_by_row)
}

/// Whether a rule gives the value that its recursive atom has in a column.
fn carries(rule: &RulePlan, column: usize) -> bool {
    let [(position, TablePart::Delta)] = rule.reads[..] else { return false };
    let OperatorKind::Join(JoinPlan { keys, outputs, .. }) = &rule.operators[position].kind else { return false };
    let given = rule.head[column];
    let is_looked_up =
        |(key, value): &(usize, Expr)| *key == column && matches!(value, Expr::Slot(slot, _) if *slot == given);
    outputs.contains(&(column, given)) || keys.iter().any(is_looked_up)
}

/// Recursion part by part.
struct PartedRecursion<'r> {
    component: &'r ComponentPlan,
    run: &'r Run<'r>,
    disk: &'r Disk,
    /// The column that the rules carry along.
    column: usize,
    table: usize,
}

impl PartedRecursion<'_> {
    /// The rows of the predicate.
    fn finish(&self, tables: &mut [Table]) -> Result<SpilledRows, ExecError> {
        let (arity, key) = (self.run.plan.tables[self.table].arity, [self.column]);
        let partitions = into_partitions(PartitionKey::Head(&key), arity, self.run, self.disk, |sink| {
            for rule in self.component.rules.iter().filter(|rule| rule.reads.is_empty()) {
                ensure_indexes(rule, tables, self.run)?;
                let whole = |_: usize, table: usize| 0..tables[table].len();
                let _: ControlFlow<()> = run_one(rule, &Tables { tables, range: &whole }, self.run, sink)?;
            }
            Ok(())
        })?;
        self.finish_all(partitions, tables)
    }

    /// The rows that come of partitions.
    fn finish_all(&self, mut waiting: Vec<SpilledRows>, tables: &mut [Table]) -> Result<SpilledRows, ExecError> {
        let (mut all, mut level) = (SpilledRows::empty(self.run.plan.tables[self.table].arity), 0);
        waiting.retain(|rows| !rows.is_empty());
        while !waiting.is_empty() {
            let wave = waiting.split_off(waiting.len().saturating_sub(threads::count()));
            let mut given_up = vec![];
            for (rows, done) in self.finish_wave(wave, level, tables)? {
                match done {
                    Some(done) => all.append(done),
                    None => given_up.push(rows),
                }
            }
            if !given_up.is_empty() {
                // The others are as large.
                level += 1;
                let part = |rows: SpilledRows| part_again(&rows, &[self.column], level, self.disk);
                let parted = waiting.into_iter().chain(given_up).map(part).collect::<Result<Vec<_>, _>>()?;
                waiting = parted.into_iter().flatten().filter(|rows| !rows.is_empty()).collect();
            }
        }
        Ok(all)
    }

    /// The rows that come of some partitions, each in a thread; none if a partition gave up.
    fn finish_wave(
        &self,
        wave: Vec<SpilledRows>,
        level: u32,
        tables: &mut [Table],
    ) -> Result<Vec<(SpilledRows, Option<SpilledRows>)>, ExecError> {
        let reads_others = self.component.rules.iter().filter(|rule| !rule.reads.is_empty()).any(|rule| {
            let others = rule.operators.iter().flat_map(|operator| operator.kind.sources());
            others.into_iter().any(|source| matches!(source, Source::Table(table) if *table != self.table))
        });
        if reads_others {
            let finish = |rows: SpilledRows| Ok((rows.clone(), self.finish_one(&rows, level, tables)?));
            return wave.into_iter().map(finish).collect();
        }
        let count = tables.len();
        let finish = |rows: SpilledRows| {
            let _entered = self.run.budget.enter();
            let mut own: Vec<Table> = (0..count).map(|_| Table::set(0)).collect();
            let done = self.finish_one(&rows, level, &mut own)?;
            Ok((rows, done))
        };
        wave.into_par_iter().map(finish).collect()
    }

    /// The rows that come of a partition; `None` if they take too much memory.
    fn finish_one(
        &self,
        rows: &SpilledRows,
        level: u32,
        tables: &mut [Table],
    ) -> Result<Option<SpilledRows>, ExecError> {
        let (run, planned) = (self.run, &self.run.plan.tables[self.table]);
        let may_part = level < MAX_PARTITION_LEVEL;
        let allowance = Arc::new(Allowance::new(if may_part { run.part_bytes() } else { usize::MAX }));
        let fixpoint = Fixpoint::new(self.component, run, Some(allowance.clone()));
        tables[self.table] = Table::like(planned);
        fixpoint.add(self.table, rows, tables, 0)?;
        fixpoint.run_rounds(&mut vec![], tables)?;
        let done = std::mem::replace(&mut tables[self.table], Table::like(planned));
        let written = match fixpoint.gave_up() {
            true => None,
            false => Some(done.write(0..done.len(), self.disk.file())?),
        };
        drop(done);
        allowance.release(run.budget);
        Ok(written)
    }
}
