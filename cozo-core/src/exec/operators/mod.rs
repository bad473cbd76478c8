//! The operators, one kind to a file. Each takes a batch and emits batches of bounded size.

mod distinct;
mod equal;
mod filter;
mod in_order;
mod intersect;
mod lookup;
mod probe;
pub mod range;
mod scan;
mod semi_join;
mod unify;

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

pub use distinct::Seen;
pub use equal::EqualRows;
pub use scan::place;

use rustc_hash::FxHashMap;

use super::sink::{CONTINUE, Flow, Sink};
use super::stored::Stored;
use super::table::Table;
use super::{ExecError, Run, Worker};
use crate::budget::{Stop, temporary};
use crate::expr::{Expr, Frame};
use crate::plan::{JoinPlan, MatchOrder, Method, OperatorKind, OperatorPlan, RulePlan, Source};
use crate::storage::KeyRange;
use crate::sync::Mutex;
use crate::value::{Batch, Column};

/// A running operator.
pub trait Operator: Sync {
    /// Takes a batch and emits what becomes of it, until `emit` asks to stop.
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow;
}

/// Receives the batches that an operator emits.
pub type Emit<'e> = dyn FnMut(Batch, &mut Worker<'_>) -> Flow + 'e;

/// The derived tables while a rule runs, and which of their rows each operator reads.
pub struct Tables<'a> {
    /// All tables, by number.
    pub tables: &'a [Table],
    /// The rows that an operator (by position in its rule) reads of a table.
    pub range: &'a dyn Fn(usize, usize) -> Range<usize>,
}

/// Makes a rule's operators run: the only place that lists them all.
pub fn build<'a>(rule: &'a RulePlan, tables: &Tables<'a>, run: &'a Run<'a>) -> Vec<Box<dyn Operator + 'a>> {
    let build = |(position, operator): (usize, &'a OperatorPlan)| -> Box<dyn Operator + 'a> {
        let shape = Shape::of(operator, rule);
        match &operator.kind {
            OperatorKind::Join(join) => {
                let made = build_join(join, rule, position, tables, run);
                match &join.order {
                    MatchOrder::Keys { row, by } => Box::new(in_order::Sorted { join: made, shape, row: *row, by }),
                    MatchOrder::Any | MatchOrder::Input => made,
                }
            }
            OperatorKind::SemiJoin(exists) => match (&exists.source, exists.method) {
                (Source::Stored(source), Method::Prefix) => {
                    Box::new(semi_join::PrefixSemiJoin { plan: exists, shape, stored: Stored::of(source, run) })
                }
                (source, _) => {
                    let rows = probe::BuildSide::of(source, &exists.keys, &[], position, tables, run);
                    Box::new(semi_join::IndexSemiJoin { plan: exists, shape, rows })
                }
            },
            OperatorKind::Filter(expr) => Box::new(filter::Filter { expr, shape }),
            OperatorKind::Same(slot, expr) => Box::new(filter::Same { slot: *slot, expr, shape }),
            OperatorKind::Unify(slot, expr) => Box::new(unify::Unify { slot: *slot, expr, shape }),
            OperatorKind::Distinct => Box::new(distinct::Distinct { position, shape }),
            OperatorKind::Intersect(plan) => Box::new(intersect::Intersect::new(plan, shape, tables, run)),
            OperatorKind::Unnest(slot, expr) => Box::new(unify::Unnest { slot: *slot, expr, shape }),
        }
    };
    rule.operators.iter().enumerate().map(build).collect()
}

fn build_join<'a>(
    join: &'a JoinPlan,
    rule: &'a RulePlan,
    position: usize,
    tables: &Tables<'a>,
    run: &'a Run<'a>,
) -> Box<dyn Operator + 'a> {
    let shape = Shape::of(&rule.operators[position], rule);
    let scan = |shape| scan(join, shape, rule, position, tables, run);
    if let Some(equal) = &join.equal {
        let reader = scan(Shape { keep: &[], ..shape });
        let product = product(join, shape, scan(shape));
        let kept = equal::Kept {
            is_complete: !rule.reads.iter().any(|(at, _)| *at == position),
            is_recursive: !rule.reads.is_empty(),
        };
        return Box::new(equal::EqualJoin::new(join, equal, shape, [reader, product], kept, run));
    }
    match (&join.source, join.method) {
        (_, Method::Scan | Method::Range) => product(join, shape, scan(shape)),
        (Source::Stored(source), Method::Prefix) => {
            let recursive = !rule.reads.is_empty();
            Box::new(lookup::PrefixLookup::new(join, shape, Stored::of(source, run), recursive, run))
        }
        (source, _) => {
            let rows = probe::BuildSide::of(source, &join.keys, &join.outputs, position, tables, run);
            Box::new(probe::IndexJoin { plan: join, shape, rows })
        }
    }
}

/// Joins every input row with all rows that a scan reads, row by row if they must come in order.
fn product<'a>(join: &JoinPlan, shape: Shape<'a>, scan: Box<dyn Operator + 'a>) -> Box<dyn Operator + 'a> {
    if join.order == MatchOrder::Any { scan } else { Box::new(in_order::RowByRow { scan, shape }) }
}

/// Reads all rows of a relation, or those between bounds of its key.
fn scan<'a>(
    join: &'a JoinPlan,
    shape: Shape<'a>,
    rule: &'a RulePlan,
    position: usize,
    tables: &Tables<'a>,
    run: &'a Run<'a>,
) -> Box<dyn Operator + 'a> {
    match &join.source {
        Source::Table(table) => {
            let range = (tables.range)(position, *table);
            // Only look-ups gain by an order.
            let sort_by = join
                .sort_by
                .filter(|_| !rule.operators.get(position + 1).is_some_and(|next| lookup::is_joined(next, run)));
            Box::new(scan::TableScan { plan: join, shape, table: &tables.tables[*table], range, sort_by })
        }
        Source::Stored(source) => {
            let range = range::key_range(join, run.input.parameters);
            Box::new(scan::StoredScan::new(join, shape, Stored::of(source, run), range))
        }
    }
}

/// An operator of a rule that reads a stored relation, in order, for a part of the relation.
pub fn scan_part<'a>(rule: &'a RulePlan, position: usize, range: KeyRange, run: &'a Run<'a>) -> Box<dyn Operator + 'a> {
    let operator = &rule.operators[position];
    let OperatorKind::Join(join @ JoinPlan { source: Source::Stored(source), .. }) = &operator.kind else {
        unreachable!("only scans of stored relations are split by key")
    };
    let shape = Shape::of(operator, rule);
    Box::new(scan::StoredScan::new(join, shape, Stored::of(source, run), range))
}

/// Pushes a batch through the operators into the sink.
pub fn drive(
    operators: &[Box<dyn Operator + '_>],
    head: &[usize],
    batch: Batch,
    worker: &mut Worker<'_>,
    sink: &mut Sink<'_>,
) -> Flow {
    worker.runs(operators.len());
    match operators.split_first() {
        None => {
            worker.gave(0, batch.len);
            let flow = sink.take(batch, head)?;
            worker.run.budget.charge(sink.grown())?;
            Ok(flow)
        }
        Some((operator, rest)) => {
            // What an operator makes has passed through once it has emitted it all.
            let _passing = temporary();
            operator.push(batch, worker, &mut |output, worker| {
                if output.is_empty() {
                    return CONTINUE;
                }
                worker.gave(operators.len(), output.len);
                let flow = drive(rest, head, output, worker, sink);
                worker.runs(operators.len());
                flow
            })
        }
    }
}

/// Of rows that are large a batch has fewer, so that it takes about so many bytes.
const MAX_BATCH_BYTES: usize = 8 << 20;

/// No slot filled. (Cloning an empty column would ask each of them what it is.)
pub fn empty_slots(slots: usize) -> Vec<Column> {
    std::iter::repeat_with(Column::default).take(slots).collect()
}

/// What an operator's output looks like.
#[derive(Clone, Copy)]
pub struct Shape<'a> {
    /// The operator's number in the plan.
    number: usize,
    /// The number of slots.
    slots: usize,
    /// The slots carried over from the input.
    keep: &'a [usize],
}

impl<'a> Shape<'a> {
    fn of(operator: &'a OperatorPlan, rule: &RulePlan) -> Self {
        Shape { number: operator.number, slots: rule.slots, keep: &operator.keep }
    }

    /// The kept slots of some rows of the input. Rows may come again and again, so that room is made for them first.
    fn take(&self, input: &Batch, rows: &[u32]) -> Result<Batch, Stop> {
        let mut columns = empty_slots(self.slots);
        for slot in self.keep {
            columns[*slot] = input.columns[*slot].copy_rows(rows)?;
        }
        Ok(Batch { columns, len: rows.len() })
    }

    /// How many rows, each with the kept slots of a row of the input, a batch may have: so many, or fewer of large ones.
    fn batch_rows(&self, input: &Batch, rows: usize) -> usize {
        let largest = self.keep.iter().map(|slot| input.columns[*slot].largest_bytes()).sum::<usize>();
        rows.min(MAX_BATCH_BYTES / largest.max(1)).max(1)
    }

    /// The kept slots of all rows of the input.
    fn pass(&self, mut input: Batch) -> Batch {
        for (slot, column) in input.columns.iter_mut().enumerate() {
            if !self.keep.contains(&slot) {
                *column = Column::default();
            }
        }
        input
    }

    /// Whether no input slot is carried over.
    fn keeps_nothing(&self) -> bool {
        self.keep.is_empty()
    }
}

/// A batch as expressions see it.
fn frame<'a>(batch: &'a Batch, worker: &Worker<'a>) -> Frame<'a> {
    Frame { columns: &batch.columns, len: batch.len, parameters: worker.run.input.parameters }
}

/// The values of the keys' expressions, a column for each.
fn key_columns<'a>(
    keys: &'a [(usize, Expr)],
    input: &'a Batch,
    worker: &Worker<'a>,
) -> Result<Vec<Cow<'a, Column>>, ExecError> {
    let frame = frame(input, worker);
    keys.iter().map(|(_, expr)| Ok(expr.eval(frame)?.into_shared_column(input.len)?)).collect()
}

/// The same, for look-ups in a stored relation.
fn probe_columns(keys: &[(usize, Expr)], input: &Batch, worker: &Worker<'_>) -> Result<Vec<Column>, ExecError> {
    Ok(key_columns(keys, input, worker)?.into_iter().map(Cow::into_owned).collect())
}

/// What is made once for each run, by the number of the operator that it is made for.
fn once_a_run<T>(
    made: &Mutex<FxHashMap<usize, Arc<T>>>,
    operator: usize,
    make: impl FnOnce() -> Result<T, ExecError>,
) -> Result<Arc<T>, ExecError> {
    let mut made = made.lock();
    if let Some(known) = made.get(&operator) {
        return Ok(known.clone());
    }
    let new = Arc::new(make()?);
    made.insert(operator, new.clone());
    Ok(new)
}

/// Whether to go on.
fn stopped(flow: &ControlFlow<()>) -> bool {
    flow.is_break()
}
