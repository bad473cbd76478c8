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

use rayon::prelude::*;

use crate::budget::temporary;
use crate::exec::access::build_side::BuildSide;
use crate::exec::access::stored::Stored;
use crate::exec::access::tables::Tables;
use crate::exec::driver::rule::{Stage, run_rule, run_stage};
use crate::exec::error::ExecError;
use crate::exec::index::hash_index::IndexedRows;
use crate::exec::operators::{build, charge_sink, drive, empty_slots, part_join};
use crate::exec::rowset::row_set::key_hashes;
use crate::exec::rowset::table::Table;
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow, PartitionKey, Sink, into_partitions};
use crate::exec::sorting::{Disk, Partitions, append_partitions};
use crate::exec::thresholds::{BUILD_BYTES_AROUND_ROW, MAX_BATCH_ROWS, PARTITION_SHARE_OF_MEMORY};
use crate::expr::Expr;
use crate::plan::{MatchOrder, Method, OperatorKind, OperatorPlan, RulePlan, Source};
use crate::spill::{SpillReader, SpilledRows};
use crate::storage::KeyRange;
use crate::threads;
use crate::value::{Batch, Column};

/// The build side of a join or semi-join: a relation, the columns to find its rows by, and the columns to give.
struct Build<'r> {
    source: &'r Source,
    keys: &'r [(usize, Expr)],
    outputs: &'r [(usize, usize)],
}

impl<'r> Build<'r> {
    /// The build side of an operator that looks rows up by an index, if it does.
    fn of(operator: &'r OperatorPlan) -> Option<Self> {
        match &operator.kind {
            OperatorKind::Join(join) if join.equal.is_none() && join.compare.is_none() => {
                let is_indexed = !matches!((&join.source, join.method), (_, Method::Scan | Method::Range))
                    && !matches!((&join.source, join.method), (Source::Stored(_), Method::Prefix));
                is_indexed.then_some(Build { source: &join.source, keys: &join.keys, outputs: &join.outputs })
            }
            OperatorKind::SemiJoin(exists) => {
                let is_looked_up = matches!((&exists.source, exists.method), (Source::Stored(_), Method::Prefix));
                let is_indexed = !is_looked_up && !exists.keys.is_empty();
                is_indexed.then_some(Build { source: &exists.source, keys: &exists.keys, outputs: &[] })
            }
            _ => None,
        }
    }

    /// The columns of the relation that are needed, those of the key first.
    fn columns(&self) -> Vec<usize> {
        self.keys.iter().map(|(column, _)| *column).chain(self.outputs.iter().map(|(column, _)| *column)).collect()
    }

    /// Whether an index of the relation takes too much memory.
    fn is_large(&self, tables: &[Table], run: &Run<'_>) -> bool {
        let rows = match self.source {
            Source::Table(table) => tables[*table].len(),
            Source::Stored(read) => {
                let stored = Stored::of(read, run);
                if BuildSide::of_stored(stored, self.keys, self.outputs, run).copies_nothing() {
                    return false;
                }
                Stored::of(read, run).most_rows(&KeyRange::all()) as usize
            }
        };
        // To read a relation in partitions takes longer than an index in memory, so the index may take as much as blocks may.
        let most_bytes = run.budget.hold_bytes();
        let row_bytes = (self.keys.len() + self.outputs.len()) * size_of::<i64>() + BUILD_BYTES_AROUND_ROW;
        rows.saturating_mul(row_bytes) > most_bytes
    }
}

/// Whether an operator of a rule reads its relation in partitions on disk.
fn parts_its_build_side(rule: &RulePlan, operator: &OperatorPlan, tables: &[Table], run: &Run<'_>) -> bool {
    let in_any_order =
        |operator: &OperatorPlan| !matches!(&operator.kind, OperatorKind::Join(join) if join.order != MatchOrder::Any);
    run.space.is_some()
        && rule.reads.is_empty()
        && run.wanted.enough.is_none()
        && Build::of(operator).is_some_and(|build| build.is_large(tables, run))
        && rule.operators.iter().all(in_any_order)
}

/// Builds the indexes of derived tables that a rule needs, or extends them by the new rows. Tables on disk that the rule does not read
/// from end to end are loaded first.
pub fn ensure_indexes(rule: &RulePlan, tables: &mut [Table], run: &Run<'_>) -> Result<(), ExecError> {
    let any_on_disk = tables.iter().any(|table| table.spilled().is_some());
    for operator in &rule.operators {
        if parts_its_build_side(rule, operator, tables, run) {
            continue;
        }
        let sources = if any_on_disk { operator.kind.sources() } else { Default::default() };
        for source in sources {
            if let Source::Table(table) = source
                && !operator.kind.reads_through()
            {
                tables[*table].load(run.budget)?;
            }
        }
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
    Ok(())
}

/// The positions of the operators that read their relations in partitions on disk.
fn cuts(rule: &RulePlan, tables: &Tables<'_>, run: &Run<'_>) -> Vec<usize> {
    let parts = |position: &usize| parts_its_build_side(rule, &rule.operators[*position], tables.tables, run);
    (0..rule.operators.len()).filter(parts).collect()
}

/// Runs a rule, in stages if it has joins whose build side exceeds the memory.
pub fn run_one<'a>(rule: &'a RulePlan, tables: &Tables<'a>, run: &'a Run<'a>, sink: &mut Sink<'_>) -> Flow {
    let cuts = cuts(rule, tables, run);
    if cuts.is_empty() { run_rule(rule, tables, run, sink) } else { run_in_stages(rule, &cuts, tables, run, sink) }
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
    let stages = Stages { rule, tables: tables.tables, run, disk };
    let mut slots = stages.needed(cuts[0]);
    let mut probes = stages.parted_stage(cuts[0], &slots, |sink| {
        run_stage(rule, Stage { end: cuts[0], head: &slots }, tables, run, sink)
    })?;
    for (nth, cut) in cuts.iter().enumerate() {
        let build = stages.part_build_side(*cut)?;
        let pairs: Vec<_> = probes.into_iter().zip(build).collect();
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
                let parts = stored.parts(&KeyRange::all(), threads::count() * 2);
                let parted: Vec<_> = parts.into_par_iter().map(part).collect::<Result<_, ExecError>>()?;
                let mut gathered = vec![];
                parted.into_iter().for_each(|partitions| append_partitions(&mut gathered, partitions));
                Ok(gathered)
            }
            Source::Table(table) => {
                let (table, mut partitions) = (&self.tables[*table], all);
                let mut take = |rows: &Batch| -> Result<(), ExecError> {
                    let taken = columns.iter().map(|column| rows.columns[*column].clone()).collect();
                    push(&mut partitions, &Batch::new(taken, rows.len))
                };
                match table.spilled() {
                    Some(rows) => {
                        let mut reader = rows.read_all();
                        while let Some(rows) = reader.next_rows(MAX_BATCH_ROWS)? {
                            take(&rows)?;
                        }
                    }
                    None => {
                        for rows in table.living(0..table.len()).chunks(MAX_BATCH_ROWS) {
                            take(&table.rows().take(rows))?;
                        }
                    }
                }
                partitions.finish()
            }
        }
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
        // A rule that is cut is not recursive, so it reads tables as a whole.
        let whole = |_: usize, table: usize| 0..self.tables[table].len();
        let mut operators = build(rule, &Tables { tables: self.tables, range: &whole }, run);
        let mut worker = Worker::new(run, rule);
        worker.later = rule.operators.len() - stage.end;
        let (keys, is_join) =
            (self.build_of(cut).keys.len(), matches!(rule.operators[cut].kind, OperatorKind::Join(_)));
        // The rows of one key may be too many for the memory. A join takes them in parts; for a test, each key is needed once.
        let most_bytes = run.budget.spill_above() / PARTITION_SHARE_OF_MEMORY / threads::count();
        let (mut reader, mut is_first) = (rows.read_all(), true);
        while is_first || reader.rows_left() > 0 {
            is_first = false;
            let part =
                if is_join { next_part(&mut reader, rows, most_bytes)? } else { distinct(&mut reader, rows.width())? };
            let bytes = part.memory_bytes() + part.len * BUILD_BYTES_AROUND_ROW;
            run.budget.charge(bytes)?;
            operators[cut] = part_join(rule, cut, IndexedRows::new(part, keys));
            let mut batches = probes.read_all();
            while let Some(batch) = batches.next_rows(MAX_BATCH_ROWS)? {
                run.budget.check()?;
                let _passing = temporary();
                let input = in_slots(batch, slots, rule.slots);
                let flow = drive(&operators[cut..stage.end], stage.head, input, &mut worker, sink)?;
                if flow.is_break() {
                    run.budget.release(bytes);
                    return Ok(flow);
                }
            }
            run.budget.release(bytes);
        }
        worker.finish(rule);
        CONTINUE
    }
}

/// The next rows, about so many bytes of them.
fn next_part(reader: &mut SpillReader, rows: &SpilledRows, most_bytes: usize) -> Result<Batch, ExecError> {
    let row_bytes = rows.memory_bytes() / rows.len().max(1) + BUILD_BYTES_AROUND_ROW;
    let (most_rows, mut part) = ((most_bytes / row_bytes).max(MAX_BATCH_ROWS), Batch::empty(rows.width()));
    while part.len < most_rows {
        let Some(more) = reader.next_rows(most_rows - part.len)? else { break };
        part.append_all(more);
    }
    Ok(part)
}

/// All rows, each once.
fn distinct(reader: &mut SpillReader, width: usize) -> Result<Batch, ExecError> {
    let mut table = Table::set(width);
    while let Some(rows) = reader.next_rows(MAX_BATCH_ROWS)? {
        table.insert(rows);
    }
    Ok(table.into_rows())
}

/// A batch of the slots of a rule, of which some are filled.
fn in_slots(rows: Batch, slots: &[usize], all: usize) -> Batch {
    let mut columns: Vec<Column> = empty_slots(all);
    for (slot, column) in slots.iter().zip(rows.columns) {
        columns[*slot] = column;
    }
    Batch { columns, len: rows.len }
}
