//! Running one rule on all that it reads, into a sink.
//!
//! If only one end of a key order is wanted, [`run_rule`] runs chunk by chunk ([`ordered`](super::ordered)). Otherwise it runs in
//! batches: in one part on this thread, or, if the first scan is large, in several parts on several threads. Each of them has a
//! fork of the sink, and the results are merged in the order of the parts.

use std::ops::{ControlFlow, Range};

use rayon::prelude::*;

use crate::exec::access::stored::Stored;
use crate::exec::access::tables::{Ranges, Tables};
use crate::exec::driver::ordered::{ordered, run_chunks};
use crate::exec::error::ExecError;
use crate::exec::operators::range::key_range;
use crate::exec::operators::{build, charge_sink, drive, scan_part, unit};
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow, Gathered, Sink};
use crate::exec::thresholds::{MERGE_MIN_RATIO, SPLIT_MIN_ROWS};
use crate::plan::{JoinPlan, MatchOrder, Method, OperatorKind, RulePlan, Source};
use crate::storage::KeyRange;
use crate::threads;

/// Runs a rule on all that it reads, into a sink.
pub fn run_rule<'a>(rule: &'a RulePlan, tables: &Tables<'a>, run: &'a Run<'a>, sink: &mut Sink<'_>) -> Flow {
    if let Some(ordered) = ordered(rule, tables, run, sink)? {
        return run_chunks(rule, ordered, tables, run, sink);
    }
    run_stage(rule, Stage { end: rule.operators.len(), head: &rule.head }, tables, run, sink)
}

/// The first operators of a rule.
#[derive(Clone, Copy)]
pub struct Stage<'s> {
    /// The position of the first operator that is left out.
    pub end: usize,
    /// The slots that the sink takes.
    pub head: &'s [usize],
}

/// Runs the first operators of a rule on all that they read, into a sink.
pub fn run_stage<'a>(
    rule: &'a RulePlan,
    stage: Stage<'_>,
    tables: &Tables<'a>,
    run: &'a Run<'a>,
    sink: &mut Sink<'_>,
) -> Flow {
    let Some(parts) = split(rule, tables, run) else {
        return run_part(rule, stage, &InputPart::Whole, tables, run, sink);
    };
    let Some(forks) = parts.iter().map(|_| sink.fork()).collect::<Option<Vec<_>>>() else {
        return run_part(rule, stage, &InputPart::Whole, tables, run, sink);
    };
    let gathered = run_parts(rule, stage, parts.into_iter().zip(forks).collect(), tables, run)?;
    sink.expect(gathered.iter().map(Gathered::listed).sum());
    for gathered in gathered {
        sink.merge(gathered)?;
        if charge_sink(sink, run)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    CONTINUE
}

/// A part of the input of a rule's first operator.
enum InputPart {
    /// All of it.
    Whole,
    /// Rows of a derived table.
    Rows(Range<usize>),
    /// Keys of a stored relation.
    Keys(KeyRange),
}

impl InputPart {
    /// The most rows that the first operator of a rule reads in this part; 0 if unknown.
    fn rows(&self, rule: &RulePlan, run: &Run<'_>) -> usize {
        match (self, &rule.operators[0].kind) {
            (InputPart::Rows(rows), _) => rows.len(),
            (InputPart::Keys(keys), OperatorKind::Join(JoinPlan { source: Source::Stored(source), .. })) => {
                Stored::of(source, run).most_rows(keys) as usize
            }
            _ => 0,
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
    // A scan of a few rows may begin a long join.
    let of_joins = if rule.reads.is_empty() { rule.work } else { 0 };
    let worth = |rows: u64| rows > 1 && rows.saturating_mul(rule.row_work()).max(of_joins) >= least;
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
    stage: Stage<'_>,
    parts: Vec<(InputPart, Sink<'_>)>,
    tables: &Tables<'a>,
    run: &'a Run<'a>,
) -> Result<Vec<Gathered>, ExecError> {
    let all = tables.tables;
    let ranges = Ranges::of(rule, tables);
    let run_in_thread = |(part, mut sink): (InputPart, Sink<'_>)| {
        let range = |position: usize, table: usize| match (&part, position) {
            (InputPart::Rows(rows), 0) => rows.clone(),
            _ => ranges.get(position, table, all),
        };
        let _entered = run.budget.enter();
        if rule.operators.len() == 1 {
            sink.expect(part.rows(rule, run));
        }
        let _: ControlFlow<()> = run_part(rule, stage, &part, &Tables { tables: all, range: &range }, run, &mut sink)?;
        sink.into_gathered()
    };
    parts.into_par_iter().map(run_in_thread).collect()
}

/// Runs a rule on a part of its input, in batches on this thread.
fn run_part<'a>(
    rule: &'a RulePlan,
    stage: Stage<'_>,
    part: &InputPart,
    tables: &Tables<'a>,
    run: &'a Run<'a>,
    sink: &mut Sink<'_>,
) -> Flow {
    let mut operators = build(rule, tables, run);
    if let InputPart::Keys(keys) = part {
        operators[0] = scan_part(rule, 0, keys.clone(), run);
    }
    let mut worker = Worker::new(run, rule);
    worker.later = rule.operators.len() - stage.end;
    let flow = drive(&operators[..stage.end], stage.head, unit(rule), &mut worker, sink);
    worker.finish(rule);
    flow
}
