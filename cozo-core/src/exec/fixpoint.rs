//! Evaluation of components, to the least fixpoint if they are recursive (semi-naive evaluation).
//!
//! [`evaluate`] goes through the components of a plan. `run_once` runs the rules of a predicate that does not depend on itself.
//! `run_to_fixpoint` runs mutually recursive rules in rounds until a round adds nothing. Both call `run_rule`, which pushes what a rule
//! reads into a [`Sink`]: chunk by chunk ([`OrderedScan`]), in parts on several threads (`split`), or in batches on this thread.
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

use rayon::prelude::*;

use super::fixed::run_fixed;
use super::operators::range::key_range;
use super::operators::{Tables, build, drive, empty_slots, place, scan_part};
use super::results::sort_rows;
use super::row_recursion::RowRecursion;
use super::sink::{BYTES_AROUND_ROW, CONTINUE, Flow, Gathered, GroupSink, SetSink, Sink, apply_improvements};
use super::stored::Stored;
use super::table::Table;
use super::top_k::{OrderedScan, TopK};
use super::{ExecError, Run, Worker};
use crate::budget::{make_room, step, temporary};
use crate::expr::{Expr, Frame};
use crate::plan::{
    ComponentPlan, ConstantPlan, JoinPlan, MatchOrder, Method, OperatorKind, RulePlan, Source, TableKind, TablePart,
};
use crate::program::{ConstantRows, ProgramError};
use crate::storage::{End, KeyRange};
use crate::threads;
use crate::value::{Batch, DataValue};

/// A scan is split among threads from this many rows on. Fewer rows suffice if each row makes more work. The work must outweigh the start
/// of the threads.
const SPLIT_MIN_ROWS: u64 = 1 << 17;

/// A recursive rule needs this many times more rows: the threads' results are compared once more with all known rows when they are merged.
const MERGE_MIN_RATIO: u64 = 4;

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
            for row in value.get_slice().unwrap_or_default().iter().filter_map(DataValue::get_slice) {
                make_room(row.iter().map(DataValue::memory_bytes).sum())?;
                batch.push_row(row);
            }
            batch
        }
        ConstantRows::Columns(rows) => Batch::clone(rows),
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
            OperatorKind::Join(join) => (&join.source, &join.keys),
            OperatorKind::SemiJoin(exists) => (&exists.source, &exists.keys),
            _ => continue,
        };
        if let (Source::Table(table), false) = (source, keys.is_empty()) {
            let columns: Vec<usize> = keys.iter().map(|(column, _)| *column).collect();
            tables[*table].ensure_index(&columns);
        }
    }
}

/// Runs a rule on all that it reads, into a sink.
fn run_rule<'a>(rule: &'a RulePlan, tables: &Tables<'a>, run: &'a Run<'a>, sink: &mut Sink<'_>) -> Flow {
    if let Some(ordered) = ordered(rule, tables, run, sink)? {
        return run_chunks(rule, ordered, tables, run, sink);
    }
    if let Some(parts) = split(rule, tables, run)
        && let Some(forks) = parts.iter().map(|_| sink.fork()).collect::<Option<Vec<_>>>()
    {
        let gathered = run_parts(rule, parts.into_iter().zip(forks).collect(), tables, run)?;
        sink.expect(gathered.iter().map(Gathered::listed).sum());
        for gathered in gathered {
            sink.merge(gathered)?;
        }
        return CONTINUE;
    }
    let operators = build(rule, tables, run);
    let mut worker = Worker::new(run, rule);
    let flow = drive(&operators, &rule.head, unit(rule), &mut worker, sink);
    worker.finish(rule);
    flow
}

/// A scan in key order of which only one end is wanted.
struct Ordered<'a> {
    /// The chunks of the relation.
    chunks: OrderedScan<'a>,
    /// The operator that reads the chunks,
    position: usize,
    /// and its input: one row.
    input: Batch,
}

/// The ordered scan of a rule: of the relation that it reads first, or of the relation that it looks up for the one row of a table. `None`
/// unless the relation lies in an order of which only one end is wanted.
fn ordered<'a>(
    rule: &'a RulePlan,
    tables: &Tables<'a>,
    run: &'a Run<'a>,
    sink: &Sink<'_>,
) -> Result<Option<Ordered<'a>>, ExecError> {
    let top = match sink {
        Sink::Set(SetSink { top, .. }) => top.as_ref(),
        _ => None,
    };
    if rule.end.is_none() && top.is_none() {
        return Ok(None);
    }
    let (position, input) = match only_row(rule, tables) {
        Some(row) => (1, row),
        None => (0, unit(rule)),
    };
    let Some(OperatorKind::Join(join)) = rule.operators.get(position).map(|operator| &operator.kind) else {
        return Ok(None);
    };
    let (Source::Stored(source), true) = (&join.source, position == 0 || join.method == Method::Prefix) else {
        return Ok(None);
    };
    let (wanted, end) = match (top, rule.end) {
        (_, Some(end)) => (1, end),
        (Some(top), None) => {
            let slot = if position == 0 { join.slot_after_prefix() } else { join.slot_after_keys() };
            if slot != Some(rule.head[top.leading_key().column]) {
                return Ok(None);
            }
            (top.wanted_rows(), if top.leading_key().descending { End::Last } else { End::First })
        }
        (None, None) => return Ok(None),
    };
    let range = match position {
        0 => key_range(join, run.input.parameters),
        _ => {
            let frame = Frame { columns: &input.columns, len: 1, parameters: run.input.parameters };
            let value = |(_, key): &(usize, Expr)| Ok::<_, ExecError>(key.eval(frame)?.get(0)?);
            KeyRange::prefix(join.keys.iter().map(value).collect::<Result<_, _>>()?)
        }
    };
    Ok(Some(Ordered { chunks: OrderedScan::new(Stored::of(source, run), range, wanted, end), position, input }))
}

/// The output of a rule's first operator, if that scans a table of one row.
fn only_row(rule: &RulePlan, tables: &Tables<'_>) -> Option<Batch> {
    let OperatorKind::Join(join) = &rule.operators.first()?.kind else { return None };
    let (Source::Table(table), Method::Scan) = (&join.source, join.method) else { return None };
    let (range, table) = ((tables.range)(0, *table), &tables.tables[*table]);
    if range.len() != 1 || table.is_dead(range.start) {
        return None;
    }
    let columns = join.outputs.iter().map(|(column, _)| table.rows().columns[*column].slice(range.clone()));
    Some(place(join, unit(rule), Batch { columns: columns.collect(), len: 1 }))
}

/// Runs a rule chunk by chunk, until no further chunk can hold a wanted row.
fn run_chunks<'a>(
    rule: &'a RulePlan,
    ordered: Ordered<'a>,
    tables: &Tables<'a>,
    run: &'a Run<'a>,
    sink: &mut Sink<'_>,
) -> Flow {
    let Ordered { mut chunks, position, input } = ordered;
    let mut operators = build(rule, tables, run);
    let mut worker = Worker::new(run, rule);
    if position > 0 {
        worker.runs(operators.len());
        worker.gave(operators.len(), input.len);
    }
    while let Some(range) = chunks.next(|value, without| sink.is_past(value, without)) {
        operators[position] = scan_part(rule, position, range, run);
        let input = input.clone();
        let _: ControlFlow<()> = drive(&operators[position..], &rule.head, input, &mut worker, sink)?;
        sink.end_chunk();
    }
    worker.finish(rule);
    CONTINUE
}

/// The input of a rule's first operator: one row without filled slots.
fn unit(rule: &RulePlan) -> Batch {
    Batch { columns: empty_slots(rule.slots), len: 1 }
}

/// A part of the input of a rule's first operator.
enum InputPart {
    /// Rows of a derived table.
    Rows(Range<usize>),
    /// Keys of a stored relation.
    Keys(KeyRange),
}

impl InputPart {
    /// The most rows that the first operator of a rule reads in this part.
    fn rows(&self, rule: &RulePlan, run: &Run<'_>) -> usize {
        match (self, &rule.operators[0].kind) {
            (InputPart::Rows(rows), _) => rows.len(),
            (InputPart::Keys(keys), OperatorKind::Join(JoinPlan { source: Source::Stored(source), .. })) => {
                Stored::of(source, run).most_rows(keys) as usize
            }
            (InputPart::Keys(_), _) => unreachable!("only scans of stored relations are split by keys"),
        }
    }
}

/// The parts into which a rule's first scan is split, if that is worthwhile.
///
/// `threads::count` starts the threads, so it is called last: a program whose queries are small stays single-threaded, and its allocator
/// need not lock.
fn split(rule: &RulePlan, tables: &Tables<'_>, run: &Run<'_>) -> Option<Vec<InputPart>> {
    let OperatorKind::Join(join) = &rule.operators.first()?.kind else { return None };
    let in_parts =
        matches!(join.method, Method::Scan | Method::Range) && !matches!(join.order, MatchOrder::Keys { .. });
    if run.wanted.enough.is_some() || !in_parts {
        return None;
    }
    let least = if rule.reads.is_empty() { SPLIT_MIN_ROWS } else { SPLIT_MIN_ROWS * MERGE_MIN_RATIO };
    let worth = |rows: u64| rows.saturating_mul(rule.row_work()) >= least;
    let threads = || Some(threads::count()).filter(|&threads| threads > 1);
    match &join.source {
        Source::Table(table) => {
            let range = (tables.range)(0, *table);
            if !worth(range.len() as u64) {
                return None;
            }
            let step = range.len().div_ceil(threads()? * 2);
            let parts = range.clone().step_by(step).map(|start| InputPart::Rows(start..(start + step).min(range.end)));
            Some(parts.collect())
        }
        Source::Stored(source) => {
            let (stored, range) = (Stored::of(source, run), key_range(join, run.input.parameters));
            if !worth(stored.most_rows(&range).saturating_mul(stored.row_cost())) {
                return None;
            }
            Some(stored.parts(&range, threads()? * 4).into_iter().map(InputPart::Keys).collect())
        }
    }
}

/// Runs the parts of a rule in parallel, each into its own sink. Returns the results in the order of the parts.
fn run_parts<'a>(
    rule: &'a RulePlan,
    parts: Vec<(InputPart, Sink<'_>)>,
    tables: &Tables<'a>,
    run: &'a Run<'a>,
) -> Result<Vec<Gathered>, ExecError> {
    let all = tables.tables;
    let ranges: Vec<Option<Range<usize>>> = rule
        .operators
        .iter()
        .enumerate()
        .map(|(position, operator)| match &operator.kind.sources()[..] {
            [Source::Table(table)] => Some((tables.range)(position, *table)),
            _ => None,
        })
        .collect();
    let run_part = |(part, mut sink): (InputPart, Sink<'_>)| {
        let range = |position: usize, table: usize| match (&part, position) {
            (InputPart::Rows(rows), 0) => rows.clone(),
            _ => ranges[position].clone().unwrap_or(0..all[table].len()),
        };
        let _entered = run.budget.enter();
        let mut operators = build(rule, &Tables { tables: all, range: &range }, run);
        if let InputPart::Keys(keys) = &part {
            operators[0] = scan_part(rule, 0, keys.clone(), run);
        }
        if operators.len() == 1 {
            sink.expect(part.rows(rule, run));
        }
        let mut worker = Worker::new(run, rule);
        let _ = drive(&operators, &rule.head, unit(rule), &mut worker, &mut sink)?;
        worker.finish(rule);
        Ok(sink.into_gathered())
    };
    parts.into_par_iter().map(run_part).collect()
}
