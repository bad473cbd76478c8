//! Joins whose build side exceeds the memory (Grace hash join).
//!
//! A rule with such joins runs in stages, of which each ends before one of them. The rows that reach the join and the rows of its
//! relation are parted on disk by the same hash of the join's key. Equal keys are then in partitions of the same number, so that each
//! pair of partitions is joined on its own, by an index on a fraction of the relation.
//!
//! ```text
//!  ?[sum(p)] := *a{k, x}, *b{k, y}, p = x * y
//!
//!  stage 1   scan a ------------------------> partitions by k:  0  1  2 ...
//!            scan b ------------------------> partitions by k:  0  1  2 ...
//!  stage 2   for each: index join, unify ---> sink
//! ```
//!
//! A join by other expressions than variables has no such key. The rows that reach it are joined with one piece of the relation after
//! another, each as large as memory allows.

use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::budget::temporary;
use crate::exec::access::all_rows::AllRows;
use crate::exec::access::stored::Stored;
use crate::exec::access::tables::{Ranges, Tables};
use crate::exec::driver::build_parts::{Build, distinct, next_part, over_part};
use crate::exec::driver::rule::{Stage, run_rule, run_stage};
use crate::exec::error::ExecError;
use crate::exec::index::hash_index::IndexedRows;
use crate::exec::operators::{Operator, build, build_one, charge_sink, drive, empty_slots, part_join};
use crate::exec::profile::BeyondMemory;
use crate::exec::rowset::row_set::key_hashes;
use crate::exec::rowset::table::Table;
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow, PartitionKey, Sink, into_partitions};
use crate::exec::sorting::{Disk, Partitions, append_partitions};
use crate::exec::thresholds::{BUILD_BYTES_AROUND_ROW, MAX_BATCH_ROWS};
use crate::plan::{OperatorKind, RulePlan, Source};
use crate::spill::{SpillWriter, SpilledRows};
use crate::storage::KeyRange;
use crate::threads;
use crate::value::{Batch, Column};

/// Whether an operator of a rule reads its relation in partitions on disk.
fn parts_its_build_side(rule: &RulePlan, position: usize, tables: &[Table], run: &Run<'_>) -> bool {
    let is_of_component = rule.reads.iter().any(|(at, _)| *at == position);
    let is_large = |build: Build<'_>| match (build.source, rule.reads.is_empty()) {
        // The tables of its component are on disk as a whole, or not at all: indexes of tables that grow are extended.
        (Source::Table(table), false) => {
            tables[*table].spilled().is_some() && (is_of_component || build.is_large(true, tables, run))
        }
        (_, is_once) => build.is_large(!is_once, tables, run),
    };
    run.space.is_some()
        && (run.wanted.enough.is_none() || rule.table != run.plan.entry)
        && Build::of(&rule.operators[position]).is_some_and(is_large)
        && rule.is_in_any_order()
}

/// Builds the indexes of derived tables that a rule needs, or extends them by the new rows. Tables on disk are loaded for that.
pub fn ensure_indexes(rule: &RulePlan, tables: &mut [Table], run: &Run<'_>) -> Result<(), ExecError> {
    for (position, operator) in rule.operators.iter().enumerate() {
        if parts_its_build_side(rule, position, tables, run) {
            continue;
        }
        let (source, keys) = match &operator.kind {
            _ if operator.kind.reads_through() => continue,
            OperatorKind::Join(join) => (&join.source, &join.keys),
            OperatorKind::SemiJoin(exists) => (&exists.source, &exists.keys),
            _ => continue,
        };
        let Source::Table(table) = source else { continue };
        tables[*table].load(run.budget)?;
        if !keys.is_empty() {
            let columns: Vec<usize> = keys.iter().map(|(column, _)| *column).collect();
            tables[*table].ensure_index(&columns);
        }
    }
    Ok(())
}

/// The positions of the operators that read their relations in partitions on disk.
fn cuts(rule: &RulePlan, tables: &Tables<'_>, run: &Run<'_>) -> Vec<usize> {
    let parts = |position: &usize| parts_its_build_side(rule, *position, tables.tables, run);
    (0..rule.operators.len()).filter(parts).collect()
}

/// Runs a rule, in stages if it has joins whose build side exceeds the memory, and once for each piece of lists that do.
pub fn run_one<'a>(rule: &'a RulePlan, tables: &Tables<'a>, run: &'a Run<'a>, sink: &mut Sink<'_>) -> Flow {
    let cuts = cuts(rule, tables, run);
    run.notes.first_pieces(rule);
    loop {
        let flow = match cuts.is_empty() {
            true => run_rule(rule, tables, run, sink)?,
            false => run_in_stages(rule, &cuts, tables, run, sink)?,
        };
        if flow.is_break() || !run.notes.next_pieces(rule) {
            return Ok(flow);
        }
    }
}

/// Runs a rule in stages, which end before the operators at these positions.
fn run_in_stages<'a>(
    rule: &'a RulePlan,
    cuts: &[usize],
    tables: &Tables<'a>,
    run: &'a Run<'a>,
    sink: &mut Sink<'_>,
) -> Flow {
    let disk = run.disk().expect("without a disk, no rule is cut");
    let stages = Stages { rule, tables: tables.tables, ranges: Ranges::of(rule, tables), run, disk };
    let mut slots = stages.needed(cuts[0]);
    let mut probes = stages.parted_stage(cuts[0], &slots, |sink| {
        run_stage(rule, Stage { end: cuts[0], head: &slots }, tables, run, sink)
    })?;
    for (nth, cut) in cuts.iter().enumerate() {
        let is_keyed = !stages.build_of(*cut).keys.is_empty();
        run.notes.exceeds(rule, *cut, if is_keyed { BeyondMemory::Partitions } else { BeyondMemory::Pieces });
        let build = stages.part_build_side(*cut)?;
        let pairs: Vec<_> = match is_keyed {
            true => probes.into_iter().zip(build).collect(),
            false => build.into_iter().map(|piece| (probes[0].clone(), piece)).collect(),
        };
        let Some(next) = cuts.get(nth + 1) else {
            let stage = Stage { end: rule.operators.len(), head: &rule.head };
            return stages.join(*cut, stage, &slots, pairs, sink);
        };
        let later = stages.needed(*next);
        let stage = Stage { end: *next, head: &later };
        probes = stages.parted_stage(*next, &later, |sink| stages.join(*cut, stage, &slots, pairs, sink))?;
        slots = later;
    }
    unreachable!("the last stage ends the rule")
}

/// What the stages of a rule share.
struct Stages<'a> {
    rule: &'a RulePlan,
    tables: &'a [Table],
    ranges: Ranges,
    run: &'a Run<'a>,
    disk: &'a Disk,
}

impl<'a> Stages<'a> {
    /// The slots that the operator at a position and those after it need.
    fn needed(&self, cut: usize) -> Vec<usize> {
        let operator = &self.rule.operators[cut];
        let mut slots = operator.kind.signature().reads();
        slots.extend(&operator.keep);
        slots.into_iter().collect()
    }

    fn build_of(&self, cut: usize) -> Build<'a> {
        Build::of(&self.rule.operators[cut]).expect("rules are cut where there is a build side")
    }

    /// Runs a stage into partitions for the operator at a position.
    fn parted_stage(
        &self,
        cut: usize,
        slots: &[usize],
        stage: impl FnOnce(&mut Sink<'_>) -> Flow,
    ) -> Result<Vec<SpilledRows>, ExecError> {
        let key = PartitionKey::Values(self.build_of(cut).keys);
        into_partitions(key, slots.len(), self.run, self.disk, |sink| stage(sink).map(drop))
    }

    /// Parts the rows of the relation that the operator at a position reads, by their keys.
    fn part_build_side(&self, cut: usize) -> Result<Vec<SpilledRows>, ExecError> {
        let build = self.build_of(cut);
        let (columns, keys) = (build.columns(), build.keys.len());
        if keys == 0 {
            return self.cut_build_side(cut, &build);
        }
        let all = Partitions::new(columns.len(), 0, self.disk);
        let push = |partitions: &mut Partitions, rows: &Batch| partitions.push(rows, &key_hashes(rows, keys));
        match build.source {
            Source::Stored(read) => {
                let stored = Stored::of(read, self.run);
                let part = |range: KeyRange| {
                    let _entered = self.run.budget.enter();
                    let (mut partitions, mut cursor) = (all.fork(), stored.scan(&range, &columns)?);
                    while let Some(rows) = cursor.next_batch(MAX_BATCH_ROWS)? {
                        push(&mut partitions, &rows)?;
                    }
                    partitions.finish()
                };
                let parts = stored.parts(&build.key_range(self.run), threads::count() * 2);
                let parted: Vec<_> = parts.into_par_iter().map(part).collect::<Result<_, ExecError>>()?;
                let mut gathered = vec![];
                parted.into_iter().for_each(|partitions| append_partitions(&mut gathered, partitions));
                Ok(gathered)
            }
            Source::Table(table) => {
                let (range, mut partitions) = (self.ranges.get(cut, *table, self.tables), all);
                self.tables[*table].read_columns(&columns, range, |rows| push(&mut partitions, &rows))?;
                partitions.finish()
            }
        }
    }

    /// Cuts the rows of the relation that the operator at a position reads into pieces, of which each thread can hold one.
    fn cut_build_side(&self, cut: usize, build: &Build<'_>) -> Result<Vec<SpilledRows>, ExecError> {
        let range = |position: usize, table: usize| self.ranges.get(position, table, self.tables);
        let tables = Tables { tables: self.tables, range: &range };
        let rows = AllRows::of(build.source, cut, build.key_range(self.run), &tables, self.run);
        let columns = build.columns();
        let writer = || SpillWriter::new(self.disk.file(), columns.len());
        let (mut pieces, mut piece, mut bytes) = (vec![], writer(), 0);
        rows.read(&columns, self.run, |block| {
            bytes += block.memory_bytes() + block.len * BUILD_BYTES_AROUND_ROW;
            piece.push(&block)?;
            // There is a table of the piece, and what the join makes of it.
            if bytes >= self.run.part_bytes() / 2 {
                pieces.push(std::mem::replace(&mut piece, writer()).finish()?);
                bytes = 0;
            }
            Ok(())
        })?;
        pieces.push(piece.finish()?);
        Ok(pieces)
    }

    /// Joins pairs of partitions by the operator at a position, and runs the operators after it to the end of the stage.
    fn join(
        &self,
        cut: usize,
        stage: Stage<'_>,
        slots: &[usize],
        pairs: Vec<(SpilledRows, SpilledRows)>,
        sink: &mut Sink<'_>,
    ) -> Flow {
        for some in pairs.chunks(threads::count()) {
            let forks: Option<Vec<Sink<'_>>> = some.iter().map(|_| sink.fork()).collect();
            let Some(forks) = forks else {
                for pair in some {
                    let flow = self.join_pair(cut, stage, slots, pair, sink)?;
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
                continue;
            };
            let join = |(pair, mut fork): (&(SpilledRows, SpilledRows), Sink<'_>)| {
                let _entered = self.run.budget.enter();
                let _ = self.join_pair(cut, stage, slots, pair, &mut fork)?;
                fork.into_gathered()
            };
            let joined: Vec<_> = some.par_iter().zip(forks).map(join).collect::<Result<_, ExecError>>()?;
            for gathered in joined {
                sink.merge(gathered)?;
                let flow = charge_sink(sink, self.run)?;
                if flow.is_break() {
                    return Ok(flow);
                }
            }
        }
        CONTINUE
    }

    fn join_pair(
        &self,
        cut: usize,
        stage: Stage<'_>,
        slots: &[usize],
        (probes, rows): &(SpilledRows, SpilledRows),
        sink: &mut Sink<'_>,
    ) -> Flow {
        if probes.is_empty() {
            return CONTINUE;
        }
        let (rule, run) = (self.rule, self.run);
        let mut worker = Worker::new(run, rule);
        worker.later = rule.operators.len() - stage.end;
        let (build_side, is_join) = (self.build_of(cut), matches!(rule.operators[cut].kind, OperatorKind::Join(_)));
        let keys = build_side.keys.len();
        let range = |position: usize, table: usize| self.ranges.get(position, table, self.tables);
        let tables = Tables { tables: self.tables, range: &range };
        let part_rule = build_side.by_expressions.map(|_| over_part(rule, cut, keys));
        // The rows of one key may be too many for the memory. A join takes them in parts; for a test, each key is needed once.
        let most_bytes = run.part_bytes();
        let (mut reader, mut is_first) = (rows.read_all(), true);
        while is_first || reader.rows_left() > 0 {
            is_first = false;
            let mut part =
                if is_join { next_part(&mut reader, rows, most_bytes)? } else { distinct(&mut reader, rows.width())? };
            let bytes = part.memory_bytes() + part.len * BUILD_BYTES_AROUND_ROW;
            run.budget.charge(bytes)?;
            let of_table = if part_rule.is_some() { std::mem::take(&mut part) } else { Batch::default() };
            let part_table = [Table::of_distinct(of_table)];
            let whole = |_: usize, _: usize| 0..part_table[0].len();
            let of_part = Tables { tables: &part_table, range: &whole };
            let mut operators = build(rule, &tables, run);
            operators[cut] = match &part_rule {
                Some(rule) => build_one(rule, cut, &of_part, run),
                None => part_join(rule, cut, IndexedRows::new(part, keys)),
            };
            let flow = self.drive_all(probes, slots, &operators[cut..stage.end], stage.head, &mut worker, sink);
            run.budget.release(bytes);
            if flow.as_ref().map_or(true, ControlFlow::is_break) {
                return flow;
            }
        }
        worker.finish(rule);
        CONTINUE
    }
}

impl Stages<'_> {
    /// Pushes rows on disk, which have the values of some slots, through operators into the sink.
    fn drive_all(
        &self,
        rows: &SpilledRows,
        slots: &[usize],
        operators: &[Box<dyn Operator + '_>],
        head: &[usize],
        worker: &mut Worker<'_>,
        sink: &mut Sink<'_>,
    ) -> Flow {
        let mut batches = rows.read_all();
        while let Some(batch) = batches.next_rows(MAX_BATCH_ROWS)? {
            self.run.budget.check()?;
            let _passing = temporary();
            let flow = drive(operators, head, in_slots(batch, slots, self.rule.slots), worker, sink)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        CONTINUE
    }
}

/// A batch of the slots of a rule, of which some are filled.
fn in_slots(rows: Batch, slots: &[usize], all: usize) -> Batch {
    let mut columns: Vec<Column> = empty_slots(all);
    for (slot, column) in slots.iter().zip(rows.columns) {
        columns[*slot] = column;
    }
    Batch { columns, len: rows.len }
}
