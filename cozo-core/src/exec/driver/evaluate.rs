//! Evaluation of components, one after another.
//!
//! [`evaluate`] goes through the components of a plan. `run_once` runs the rules of a predicate that does not depend on itself.
//! [`run_to_fixpoint`] runs mutually recursive rules. Both push what a rule reads into a [`Sink`].

use std::sync::Arc;

use crate::budget::{make_room, step, temporary};
use crate::exec::access::stored::indexed;
use crate::exec::access::tables::Tables;
use crate::exec::driver::fixed::run_fixed;
use crate::exec::driver::groups::{PartedGroups, grouping_columns};
use crate::exec::driver::recursion::run_to_fixpoint;
use crate::exec::driver::stages::{ensure_indexes, run_one};
use crate::exec::error::ExecError;
use crate::exec::profile::BeyondMemory;
use crate::exec::rowset::table::{BYTES_AROUND_ROW, OnDisk, Table};
use crate::exec::rowset::top_k::TopK;
use crate::exec::run::Run;
use crate::exec::sink::{Allowance, PartitionKey, Sink, into_partitions};
use crate::exec::sorting::{RunOrder, sort_rows};
use crate::index::search::listing;
use crate::plan::{ComponentPlan, ConstantPlan, Source, TableKind};
use crate::program::{ConstantRows, ProgramError};
use crate::value::{Batch, DataValue};

/// Fills all tables of a plan, and returns the table of the entry.
pub fn evaluate(run: &Run<'_>) -> Result<Table, ExecError> {
    let plan = run.plan;
    let mut tables: Vec<Table> = plan.tables.iter().map(Table::like).collect();
    let mut deltas = vec![];
    for component in &plan.components {
        for constant in &component.constants {
            fill_constant(constant, &mut tables[constant.table], run)?;
        }
        for fixed in &component.fixed {
            for input in &fixed.inputs {
                if let Source::Table(table) = input.source {
                    tables[table].load(run.budget)?;
                }
            }
            tables[fixed.table] = run_fixed(fixed, &tables, run)?;
        }
        if component.recursive {
            run_to_fixpoint(component, &mut deltas, &mut tables, run)?;
        } else {
            run_once(component, &mut tables, run)?;
        }
        for &table in &component.tables {
            let planned = &plan.tables[table];
            if table != plan.entry {
                tables[table].merge_runs()?;
                run.notes.fixed_has(table, tables[table].len());
            }
            // Runs were merged in order.
            let is_in_order =
                tables[table].spilled().is_some() && matches!(planned.kind, TableKind::Set) && !component.recursive;
            if !is_in_order && (planned.in_order || planned.read_by_entry && run.wanted.enough.is_some()) {
                tables[table].load(run.budget)?;
                let rows = std::mem::replace(&mut tables[table], Table::set(0)).into_rows();
                let _sorting = temporary();
                tables[table] = Table::of_distinct(sort_rows(rows, &[])?);
            }
        }
    }
    Ok(tables.swap_remove(plan.entry))
}

/// Fills the table of a constant rule, or of a relation that the host passes in.
fn fill_constant(constant: &ConstantPlan, table: &mut Table, run: &Run<'_>) -> Result<(), ExecError> {
    let arity = table.rows().columns.len();
    let making = temporary();
    let rows = match &constant.rows {
        ConstantRows::Rows(rows) => {
            let mut batch = Batch::empty(arity);
            for row in rows {
                step(row.len())?;
                for (column, cell) in batch.columns.iter_mut().zip(row) {
                    column.push_owned(cell.eval_closed(run.input.parameters)?);
                }
                batch.len += 1;
            }
            batch
        }
        ConstantRows::List(expr) => {
            let value = expr.eval_or_borrow(run.input.parameters)?;
            let width = crate::program::check_constant_rows(&value, expr.span())?;
            if let Some(data) = width.filter(|width| *width != arity) {
                return Err(ProgramError::ConstantHead { head: arity, data, span: constant.span }.into());
            }
            let mut batch = Batch::empty(arity);
            for row in value.elements()?.as_deref().unwrap_or_default() {
                let cells = row.elements()?;
                let cells = cells.as_deref().unwrap_or_default();
                make_room(cells.iter().map(DataValue::memory_bytes).sum())?;
                batch.push_row(cells);
            }
            batch
        }
        ConstantRows::Columns(rows) => Batch::clone(rows),
        ConstantRows::Listing(call) => listing(indexed(call, run))?,
        ConstantRows::Given(number) => {
            run.budget.charge(run.input.given[*number].memory_bytes())?;
            *table = Table::of_distinct(run.input.given[*number].clone());
            return Ok(());
        }
    };
    drop(making);
    run.budget.charge(rows.memory_bytes() + rows.len * BYTES_AROUND_ROW)?;
    *table = Table::of(rows);
    Ok(())
}

/// Runs the rules of a predicate that does not depend on itself.
fn run_once(component: &ComponentPlan, tables: &mut [Table], run: &Run<'_>) -> Result<(), ExecError> {
    let [table] = component.tables[..] else { unreachable!("predicates in one component depend on each other") };
    if component.rules.is_empty() {
        return Ok(());
    }
    let mut sink = Sink::new(run.plan, table, None, None, run.input.parameters)?;
    if let (Sink::Set(set), true) = (&mut sink, table == run.plan.entry) {
        set.enough = run.wanted.enough;
        set.top = run.wanted.top.clone().map(TopK::new);
        set.order = RunOrder::Rows(run.wanted.order.clone());
    }
    let allowance = matches!(&sink, Sink::Groups(groups) if groups.may_part() && run.space.is_some())
        .then(|| Arc::new(Allowance::new(run.share_bytes())));
    sink.allow(allowance.clone());
    run_rules(component, tables, run, &mut sink)?;
    tables[table] = match sink {
        Sink::Set(set) => {
            let rows = set.finish()?;
            if rows.is_on_disk() {
                run.notes.all_exceed(component, BeyondMemory::Runs);
            }
            rows
        }
        Sink::Groups(groups) => match allowance.filter(|allowance| allowance.is_used_up()) {
            Some(allowance) => {
                drop(groups);
                allowance.release(run.budget);
                run.notes.all_exceed(component, BeyondMemory::Partitions);
                part_and_group(component, tables, run)?
            }
            None => {
                let (_finishing, kept) = (temporary(), groups.kept_bytes());
                let rows = groups.finish()?;
                run.budget.charge(rows.large_bytes().saturating_sub(kept))?;
                Table::of_distinct(rows)
            }
        },
        Sink::Meet(_) | Sink::Partitions(_) => unreachable!("a table is a set or has groups"),
    };
    Ok(())
}

/// Runs the rules of a component into one sink, until it wants no more.
fn run_rules(
    component: &ComponentPlan,
    tables: &mut [Table],
    run: &Run<'_>,
    sink: &mut Sink<'_>,
) -> Result<(), ExecError> {
    for rule in &component.rules {
        ensure_indexes(rule, tables, run)?;
        let all = |_: usize, table: usize| 0..tables[table].len();
        if run_one(rule, &Tables { tables, range: &all }, run, sink)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Runs the rules of a component with more groups than memory holds.
fn part_and_group(component: &ComponentPlan, tables: &mut [Table], run: &Run<'_>) -> Result<Table, ExecError> {
    let planned = &run.plan.tables[component.tables[0]];
    let (TableKind::Groups(aggregations), Some(disk)) = (&planned.kind, run.disk()) else {
        unreachable!("only groups give up, and only if there is a disk")
    };
    let keys = grouping_columns(aggregations);
    let key = PartitionKey::Head(&keys);
    let partitions = into_partitions(key, planned.arity, run, disk, |sink| run_rules(component, tables, run, sink))?;
    let groups = PartedGroups::new(run, disk, aggregations).finish(partitions, 0)?;
    Ok(Table::on_disk(OnDisk::Rows(groups), planned.arity))
}
