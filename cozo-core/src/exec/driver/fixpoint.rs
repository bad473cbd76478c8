//! Evaluation of components, to the least fixpoint if they are recursive (semi-naive evaluation).
//!
//! [`evaluate`] goes through the components of a plan. `run_once` runs the rules of a predicate that does not depend on itself.
//! `run_to_fixpoint` runs mutually recursive rules in rounds until a round adds nothing. Both call [`run_rule`], which pushes what
//! a rule reads into a [`Sink`].
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

use crate::budget::{make_room, step, temporary};
use crate::exec::access::stored::indexed;
use crate::exec::access::tables::Tables;
use crate::exec::driver::fixed::run_fixed;
use crate::exec::driver::rule::run_rule;
use crate::exec::driver::sort::sort_rows;
use crate::exec::error::ExecError;
use crate::exec::row::recursion::RowRecursion;
use crate::exec::rowset::table::BYTES_AROUND_ROW;
use crate::exec::rowset::table::Table;
use crate::exec::rowset::top_k::TopK;
use crate::exec::run::Run;
use crate::exec::sink::{GroupSink, Sink, apply_improvements};
use crate::index::search::listing;
use crate::plan::{ComponentPlan, ConstantPlan, JoinPlan, OperatorKind, RulePlan, Source, TableKind, TablePart};
use crate::program::{ConstantRows, ProgramError};
use crate::value::{Batch, DataValue};

/// Fills all tables of a plan, and returns the table of the entry.
pub fn evaluate(run: &Run<'_>) -> Result<Table, ExecError> {
    let plan = run.plan;
    let mut tables: Vec<Table> = plan.tables.iter().map(empty_table).collect();
    let mut deltas = vec![];
    for component in &plan.components {
        for constant in &component.constants {
            fill_constant(constant, &mut tables[constant.table], run)?;
        }
        for fixed in &component.fixed {
            tables[fixed.table] = Table::of(run_fixed(fixed, &tables, run)?);
        }
        if component.recursive {
            run_to_fixpoint(component, &mut deltas, &mut tables, run)?;
        } else {
            run_once(component, &mut tables, run)?;
        }
        for &table in &component.tables {
            let planned = &plan.tables[table];
            if planned.in_order || planned.read_by_entry && run.wanted.enough.is_some() {
                let rows = std::mem::replace(&mut tables[table], Table::set(0)).into_rows();
                let _sorting = temporary();
                tables[table] = Table::of_distinct(sort_rows(rows, &[])?);
            }
        }
    }
    Ok(tables.swap_remove(plan.entry))
}

fn empty_table(planned: &crate::plan::TablePlan) -> Table {
    match planned.kind {
        TableKind::Meet { keys, .. } => Table::keyed(planned.arity, keys),
        _ => Table::set(planned.arity),
    }
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
    }
    for rule in &component.rules {
        ensure_indexes(rule, tables);
        let all = |_: usize, table: usize| 0..tables[table].len();
        if run_rule(rule, &Tables { tables, range: &all }, run, &mut sink)?.is_break() {
            break;
        }
    }
    tables[table] = match sink {
        Sink::Set(set) => set.finish(),
        Sink::Groups(groups) => {
            let (_finishing, kept) = (temporary(), groups.kept_bytes());
            let rows = groups.finish()?;
            run.budget.charge(rows.large_bytes().saturating_sub(kept))?;
            Table::of_distinct(rows)
        }
        Sink::Meet(_) => unreachable!("meets are only planned in recursion"),
    };
    Ok(())
}

/// Runs the rules of mutually recursive predicates until a round adds nothing. `deltas` has an entry for each table of the plan; only the
/// entries of this component are used.
fn run_to_fixpoint(
    component: &ComponentPlan,
    deltas: &mut Vec<Range<usize>>,
    tables: &mut [Table],
    run: &Run<'_>,
) -> Result<(), ExecError> {
    for rule in component.rules.iter().filter(|rule| rule.reads.is_empty()) {
        run_recursive(rule, &[], tables, run, 0)?;
    }
    start_whole_groups(component, tables, run)?;
    deltas.resize(tables.len(), 0..0);
    component.tables.iter().for_each(|table| deltas[*table] = 0..tables[*table].len());
    let mut steps = RowRecursion::of(component, run);
    let readers = delta_readers(component);
    loop {
        if let Some(steps) = &mut steps {
            steps.run(deltas, tables, run)?;
        }
        if component.tables.iter().all(|table| deltas[*table].is_empty()) {
            break;
        }
        run_round(component, &readers, deltas, tables, run)?;
        for table in &component.tables {
            deltas[*table] = deltas[*table].end..tables[*table].len();
        }
    }
    steps.map_or(Ok(()), |steps| steps.finish(run))
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

/// Runs each rule that reads the delta of a table, if that delta has rows.
fn run_round(
    component: &ComponentPlan,
    readers: &[Vec<usize>],
    deltas: &[Range<usize>],
    tables: &mut [Table],
    run: &Run<'_>,
) -> Result<(), ExecError> {
    let grown = component.tables.iter().zip(readers).filter(|(table, _)| !deltas[**table].is_empty());
    let mut rules: Vec<usize> = grown.flat_map(|(_, readers)| readers.iter().copied()).collect();
    rules.sort_unstable();
    for rule in rules.into_iter().map(|number| &component.rules[number]) {
        let ranges = round_ranges(rule, deltas);
        run_recursive(rule, &ranges, tables, run, deltas[rule.table].end)?;
    }
    Ok(())
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

/// The row ranges that the recursive operators (by position) read in this round.
fn round_ranges(rule: &RulePlan, deltas: &[Range<usize>]) -> Vec<(usize, Range<usize>)> {
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

/// Runs one rule of a recursive component; its new rows stay pending. No rule has read the rows of its table from `pending` on.
fn run_recursive(
    rule: &RulePlan,
    ranges: &[(usize, Range<usize>)],
    tables: &mut [Table],
    run: &Run<'_>,
    pending: usize,
) -> Result<(), ExecError> {
    ensure_indexes(rule, tables);
    let grows = matches!(run.plan.tables[rule.table].kind, TableKind::Set);
    let growth = grows.then(|| tables[rule.table].growth());
    let range = |position: usize, table: usize| {
        let part = ranges.iter().find(|(at, _)| *at == position).map(|(_, range)| range.clone());
        part.unwrap_or(0..tables[table].len())
    };
    let mut sink = Sink::new(run.plan, rule.table, Some(&tables[rule.table]), growth, run.input.parameters)?;
    // The sink of a recursive rule wants all rows, so it never asks to stop.
    let _: ControlFlow<()> = run_rule(rule, &Tables { tables, range: &range }, run, &mut sink)?;
    match sink {
        Sink::Set(set) => {
            let growth = set.finish();
            tables[rule.table].grow(growth);
        }
        Sink::Meet(meet) => {
            let (fresh, meets) = (meet.fresh, meet.meets);
            apply_improvements(&mut tables[rule.table], fresh, &meets, pending)?;
        }
        Sink::Groups(_) => unreachable!("groups are never recursive"),
    }
    Ok(run.budget.check()?)
}

/// Builds the indexes of derived tables that a rule needs, or extends them by the new rows.
fn ensure_indexes(rule: &RulePlan, tables: &mut [Table]) {
    for operator in &rule.operators {
        let (source, keys) = match &operator.kind {
            OperatorKind::Join(join) if join.compare.is_none() => (&join.source, &join.keys),
            OperatorKind::SemiJoin(exists) => (&exists.source, &exists.keys),
            _ => continue,
        };
        if let (Source::Table(table), false) = (source, keys.is_empty()) {
            let columns: Vec<usize> = keys.iter().map(|(column, _)| *column).collect();
            tables[*table].ensure_index(&columns);
        }
    }
}
