//! Recursion whose rows are on disk.
//!
//! The rows of each table of a component are parted by hash of the columns that tell them apart. A round reads them where they are:
//!
//! ```text
//! sg[x, y] := *parent[x, p], sg[p, q], *parent[y, q]
//!
//! sg      old rows of all parts ........ | delta of all parts
//!                                          |
//! round   the rules, whose joins with sg read it in partitions (see `stages`)
//!                                          |
//! new     part 0   part 1   part 2 ...   <-+
//!           |  + old rows of part 0, in memory: the rows that are new are its delta
//! ```
//!
//! So only one part for each thread is in memory. Every round reads all old rows once, and once more for each join with them.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use rayon::prelude::*;

use crate::exec::access::tables::Tables;
use crate::exec::driver::fixpoint::{Fixpoint, range_of, round_ranges};
use crate::exec::driver::stages::{ensure_indexes, run_one};
use crate::exec::error::ExecError;
use crate::exec::rowset::table::{BYTES_AROUND_ROW, OnDisk, Table};
use crate::exec::run::Run;
use crate::exec::sink::{Allowance, PartitionKey, into_partitions};
use crate::exec::sorting::{Disk, append_partitions, part_again};
use crate::exec::thresholds::{MAX_BATCH_ROWS, MAX_PARTITION_LEVEL};
use crate::plan::{ComponentPlan, RulePlan, TableKind};
use crate::spill::SpilledRows;

/// Whether the rules of a component can run on rows on disk.
pub fn may_run_on_disk(component: &ComponentPlan, run: &Run<'_>) -> bool {
    let is_one_group = |table: &usize| matches!(run.plan.tables[*table].kind, TableKind::Meet { keys: 0, .. });
    run.space.is_some()
        && !component.row_by_row
        && (run.wanted.enough.is_none() || !component.tables.contains(&run.plan.entry))
        && !component.tables.iter().any(is_one_group)
        && component.rules.iter().all(|rule| rule.reads.is_empty() || rule.is_in_any_order())
}

/// Recursion in rounds over rows on disk.
pub struct RoundsOnDisk<'r> {
    pub component: &'r ComponentPlan,
    pub run: &'r Run<'r>,
    pub disk: &'r Disk,
}

/// The known rows of a part of a table.
enum KnownRows {
    /// They fit into the memory of a thread.
    InOne(SpilledRows),
    /// They are parted again, by other bits of the hash.
    Parted(Vec<KnownRows>),
}

/// What became of a part in a round.
struct Grown {
    /// The rows known before, without those that new rows supersede.
    old: SpilledRows,
    /// The new rows.
    delta: SpilledRows,
}

impl RoundsOnDisk<'_> {
    /// Fills the tables of the component.
    pub fn finish(&self, tables: &mut [Table]) -> Result<(), ExecError> {
        let own = &self.component.tables;
        let rounds = Fixpoint::new(self.component, self.run, None);
        let mut known: Vec<Vec<KnownRows>> = own.iter().map(|_| vec![]).collect();
        let mut deltas = vec![0..0; tables.len()];
        let mut rules: Vec<&RulePlan> = self.component.rules.iter().filter(|rule| rule.reads.is_empty()).collect();
        while !rules.is_empty() {
            let mut new: Vec<Vec<SpilledRows>> = vec![vec![]; own.len()];
            for rule in rules {
                append_partitions(&mut new[rule.table - own[0]], self.run_rule(rule, &deltas, tables)?);
            }
            for ((&table, known), new) in own.iter().zip(&mut known).zip(new) {
                deltas[table] = tables[table].len()..tables[table].len();
                if new.iter().any(|rows| !rows.is_empty()) {
                    let width = self.run.plan.tables[table].arity;
                    known.resize_with(new.len(), || KnownRows::InOne(SpilledRows::empty(width)));
                    let Grown { mut old, delta } = self.grow_all(table, known, new, 0)?;
                    deltas[table] = old.len()..old.len() + delta.len();
                    old.append(delta);
                    tables[table] = Table::on_disk(OnDisk::Rows(old), width);
                }
            }
            rules = rounds.rules_of_round(&deltas).collect();
        }
        Ok(())
    }

    /// The rows that a rule gives, parted like those of its table.
    fn run_rule(
        &self,
        rule: &RulePlan,
        deltas: &[Range<usize>],
        tables: &mut [Table],
    ) -> Result<Vec<SpilledRows>, ExecError> {
        ensure_indexes(rule, tables, self.run)?;
        let (ranges, tables) = (round_ranges(rule, deltas), &*tables);
        let range = |position: usize, table: usize| range_of(&ranges, position, table, tables);
        let (key, arity) = (self.key_of(rule.table), self.run.plan.tables[rule.table].arity);
        into_partitions(PartitionKey::Head(&key), arity, self.run, self.disk, |sink| {
            let _: ControlFlow<()> = run_one(rule, &Tables { tables, range: &range }, self.run, sink)?;
            Ok(())
        })
    }

    /// The columns that tell the rows of a table apart.
    fn key_of(&self, table: usize) -> Vec<usize> {
        let planned = &self.run.plan.tables[table];
        match planned.kind {
            TableKind::Meet { keys, .. } => (0..keys).collect(),
            _ => (0..planned.arity).collect(),
        }
    }

    /// Adds new rows to the parts of a table, or of a part of this level.
    fn grow_all(
        &self,
        table: usize,
        known: &mut [KnownRows],
        new: Vec<SpilledRows>,
        level: u32,
    ) -> Result<Grown, ExecError> {
        let grow = |(part, new)| {
            let _entered = self.run.budget.enter();
            self.grow(table, part, new, level)
        };
        let grown: Vec<Grown> = known.par_iter_mut().zip(new).map(grow).collect::<Result<_, _>>()?;
        let width = self.run.plan.tables[table].arity;
        let mut all = Grown { old: SpilledRows::empty(width), delta: SpilledRows::empty(width) };
        for part in grown {
            all.old.append(part.old);
            all.delta.append(part.delta);
        }
        Ok(all)
    }

    /// Adds new rows to a part.
    fn grow(&self, table: usize, part: &mut KnownRows, new: SpilledRows, level: u32) -> Result<Grown, ExecError> {
        let parts = match part {
            KnownRows::Parted(parts) => parts,
            KnownRows::InOne(rows) => {
                let may_part = level < MAX_PARTITION_LEVEL && rows.len() + new.len() > MAX_BATCH_ROWS;
                if let Some(grown) = self.grow_in_memory(table, rows, &new, may_part)? {
                    *rows = grown.old.clone();
                    rows.append(grown.delta.clone());
                    return Ok(grown);
                }
                let parted = part_again(rows, &self.key_of(table), level + 1, self.disk)?;
                *part = KnownRows::Parted(parted.into_iter().map(KnownRows::InOne).collect());
                return self.grow(table, part, new, level);
            }
        };
        let new = part_again(&new, &self.key_of(table), level + 1, self.disk)?;
        self.grow_all(table, parts, new, level + 1)
    }

    /// Adds new rows to known ones in memory. `None` if they take too much of it and may be parted.
    fn grow_in_memory(
        &self,
        number: usize,
        known: &SpilledRows,
        new: &SpilledRows,
        may_part: bool,
    ) -> Result<Option<Grown>, ExecError> {
        let (run, planned) = (self.run, &self.run.plan.tables[number]);
        if new.is_empty() {
            return Ok(Some(Grown { old: known.clone(), delta: SpilledRows::empty(planned.arity) }));
        }
        let share = run.part_bytes();
        let bytes = known.memory_bytes() + known.len() * BYTES_AROUND_ROW;
        if may_part && bytes > share {
            return Ok(None);
        }
        let allowance = Arc::new(Allowance::new(if may_part { share } else { usize::MAX }));
        run.budget.charge(bytes)?;
        allowance.take(bytes, run.budget);
        let mut tables: Vec<Table> = (0..number).map(|_| Table::set(0)).collect();
        tables.push(Table::like(planned));
        tables[number].fill(known, run.budget)?;
        let rules = Fixpoint::new(self.component, run, Some(allowance.clone()));
        rules.add(number, new, &mut tables, known.len())?;
        let grown = match rules.gave_up() {
            true => None,
            false => {
                let (table, file) = (&tables[number], || self.disk.file());
                let old = if table.has_dead() { table.write(0..known.len(), file())? } else { known.clone() };
                Some(Grown { old, delta: table.write(known.len()..table.len(), file())? })
            }
        };
        drop(tables);
        allowance.release(run.budget);
        Ok(grown)
    }
}
