//! The operators. Each takes a batch and emits batches of bounded size.
//!
//! [`build`] turns the operators of a rule into running ones: it has an arm for each [`OperatorKind`]. [`drive`] pushes a batch
//! through them, depth first, into the sink: an [`Operator`] emits each output batch at once, and the rest of the rule handles it
//! before the operator goes on. A batch has a column for each *slot* of the rule; a [`Shape`] says which slots of the input an
//! output carries over.
//!
//! | operator | each input row becomes | file |
//! |---|---|---|
//! | scan | itself with every row of a relation or key range | `scan`, `range` |
//! | look-up | itself with the stored rows of a key prefix, or an index join where that pays | `lookup` |
//! | index join | itself with the rows that an index finds | `probe` |
//! | equal join | itself with the rows for which expressions are equal | `equal` |
//! | range join | itself with the rows for which comparisons of expressions hold | `range_join` |
//! | semi-join | itself, if a relation has a match, or has none | `semi_join` |
//! | filter | itself, if an expression is true | `filter` |
//! | same | itself, if a slot and an expression are the same value | `filter` |
//! | unify, unnest | itself with a value, or with each element of a list | `unify` |
//! | intersect | itself with each value that several relations have in common | `intersect` |
//! | distinct | itself, unless an equal row came before | `distinct` |
//! | search | itself with each row that an index finds by likeness | `search`, `within`, `limits` |
//!
//! `in_order` wraps joins whose matches must come in the order of the input.

mod as_of;
mod distinct;
mod equal;
mod filter;
mod in_order;
mod intersect;
mod limits;
mod lookup;
mod probe;
pub mod range;
mod range_join;
mod scan;
mod search;
mod semi_join;
mod unify;
mod within;

use std::borrow::Cow;
use std::ops::ControlFlow;

use range_join::{FewRows, RangeJoin};
pub use scan::place;

use crate::budget::{Stop, temporary};
use crate::exec::access::all_rows::AllRows;
use crate::exec::access::build_side::BuildSide;
use crate::exec::access::lookup_counter::{LookupCounter, is_replaced};
use crate::exec::access::stored::Stored;
use crate::exec::access::tables::Tables;
use crate::exec::error::ExecError;
use crate::exec::index::hash_index::IndexedRows;
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow, Sink};
use crate::exec::thresholds::{MAX_BATCH_BYTES, SPILL_MIN_SHARE};
use crate::expr::{Expr, Frame};
use crate::plan::{ComparePlan, JoinPlan, MatchOrder, Method, OperatorKind, OperatorPlan, RulePlan, Source};
use crate::storage::KeyRange;
use crate::value::{Batch, Column};

/// A running operator.
pub trait Operator: Sync {
    /// Takes a batch and emits the resulting batches, until `emit` asks to stop.
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow;
}

/// Receives the batches that an operator emits.
pub type Emit<'e> = dyn FnMut(Batch, &mut Worker<'_>) -> Flow + 'e;

/// Turns the operators of a rule into running ones. `ARCHITECTURE.md`, "How to add things", names other code that a new operator
/// concerns.
pub fn build<'a>(rule: &'a RulePlan, tables: &Tables<'a>, run: &'a Run<'a>) -> Vec<Box<dyn Operator + 'a>> {
    (0..rule.operators.len()).map(|position| build_one(rule, position, tables, run)).collect()
}

/// Turns the operator at a position into a running one.
pub fn build_one<'a>(
    rule: &'a RulePlan,
    position: usize,
    tables: &Tables<'a>,
    run: &'a Run<'a>,
) -> Box<dyn Operator + 'a> {
    let operator = &rule.operators[position];
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
                let (stored, recursive) = (Stored::of(source, run), !rule.reads.is_empty());
                let counter = LookupCounter::new(stored, &exists.keys, &[], shape.number, recursive, run);
                Box::new(semi_join::PrefixSemiJoin { plan: exists, shape, stored, counter })
            }
            (source, _) => {
                let rows = BuildSide::of(source, &exists.keys, &[], position, tables, run);
                Box::new(semi_join::IndexSemiJoin { plan: exists, shape, rows })
            }
        },
        OperatorKind::Filter(expr) => Box::new(filter::Filter { expr, shape }),
        OperatorKind::Same(slot, expr) => Box::new(filter::Same { slot: *slot, expr, shape }),
        OperatorKind::Unify(slot, expr) => Box::new(unify::Unify { slot: *slot, expr, shape }),
        OperatorKind::Search(search) => Box::new(search::IndexSearch::new(search, shape, tables, run)),
        OperatorKind::AsOf(read) => Box::new(as_of::AsOfJoin::new(read, shape, run)),
        OperatorKind::Distinct => Box::new(distinct::Distinct { position, shape }),
        OperatorKind::Intersect(plan) => Box::new(intersect::Intersect::new(plan, shape, rule, position, tables, run)),
        OperatorKind::Unnest(slot, expr) => Box::new(unify::Unnest { slot: *slot, expr, shape }),
    }
}

/// The join or semi-join at a position, with indexed rows instead of those of its relation.
pub fn part_join<'a>(rule: &'a RulePlan, position: usize, rows: IndexedRows) -> Box<dyn Operator + 'a> {
    let operator = &rule.operators[position];
    let shape = Shape::of(operator, rule);
    match &operator.kind {
        OperatorKind::Join(plan) => {
            let rows = BuildSide::Part { rows, keys: plan.keys.len() };
            Box::new(probe::IndexJoin { plan, shape, rows })
        }
        OperatorKind::SemiJoin(plan) => {
            let rows = BuildSide::Part { rows, keys: plan.keys.len() };
            Box::new(semi_join::IndexSemiJoin { plan, shape, rows })
        }
        _ => unreachable!("only joins have a build side"),
    }
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
        return Box::new(equal::EqualJoin::new(join, equal, shape, [reader, product], kept(rule, position), run));
    }
    if let Some(compare) = &join.compare {
        let product = || product(join, shape, scan(shape));
        return range_join(join, compare, rule, position, product, tables, run);
    }
    match (&join.source, join.method) {
        (_, Method::Scan | Method::Range) => product(join, shape, scan(shape)),
        (Source::Stored(source), Method::Prefix) => {
            let recursive = !rule.reads.is_empty();
            Box::new(lookup::PrefixLookup::new(join, shape, Stored::of(source, run), recursive, run))
        }
        (source, _) => {
            let rows = BuildSide::of(source, &join.keys, &join.outputs, position, tables, run);
            Box::new(probe::IndexJoin { plan: join, shape, rows })
        }
    }
}

/// How long the rows that the operator at a position reads can be used.
fn kept(rule: &RulePlan, position: usize) -> equal::Kept {
    equal::Kept { is_complete: !rule.reads.iter().any(|(at, _)| *at == position), is_recursive: !rule.reads.is_empty() }
}

/// Joins by comparisons. `product` makes the join with all rows.
fn range_join<'a>(
    join: &'a JoinPlan,
    compare: &'a ComparePlan,
    rule: &'a RulePlan,
    position: usize,
    product: impl FnOnce() -> Box<dyn Operator + 'a>,
    tables: &Tables<'a>,
    run: &'a Run<'a>,
) -> Box<dyn Operator + 'a> {
    let (shape, kept) = (Shape::of(&rule.operators[position], rule), kept(rule, position));
    let few = match (&join.source, compare.by_key) {
        (_, false) => Some(FewRows::Product(product())),
        (Source::Stored(source), true) if compare.instead_of == Method::Prefix => {
            let stored = Stored::of(source, run);
            let look_ups = lookup::PrefixLookup::new(join, shape, stored, kept.is_recursive, run);
            Some(FewRows::LookUps(Box::new(look_ups)))
        }
        _ => None,
    };
    let keys = if compare.by_key { KeyRange::all() } else { range::key_range(join, run.input.parameters) };
    let all = AllRows::of(&join.source, position, keys, tables, run);
    Box::new(RangeJoin { plan: join, compare, shape, all, few, kept, run, state: range_join::State::default() })
}

/// Joins every input row with all rows that a scan reads, row by row if matches must come in order.
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
            // An order helps look-ups, but not an index join.
            let sort_by =
                join.sort_by.filter(|_| !rule.operators.get(position + 1).is_some_and(|next| is_replaced(next, run)));
            Box::new(scan::TableScan { plan: join, shape, table: &tables.tables[*table], range, sort_by })
        }
        Source::Stored(source) => {
            let range = range::key_range(join, run.input.parameters);
            Box::new(scan::StoredScan::new(join, shape, Stored::of(source, run), range))
        }
    }
}

/// An operator of a rule that scans a stored relation, for a part of the relation.
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
            let charged = charge_sink(sink, worker.run)?;
            Ok(if charged.is_break() { charged } else { flow })
        }
        Some((operator, rest)) => {
            // The batches of an operator live only until they are emitted.
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

/// Charges the budget for what a sink has grown. When memory is used up, the rows of a set go to disk, and rules with an [`Allowance`](crate::exec::sink::Allowance) give up.
pub fn charge_sink(sink: &mut Sink<'_>, run: &Run<'_>) -> Flow {
    let (grown, budget) = (sink.grown(), run.budget);
    budget.charge(grown)?;
    if let Some(allowance) = sink.allowance() {
        return if allowance.take(grown, budget) { CONTINUE } else { Ok(ControlFlow::Break(())) };
    }
    if budget.should_spill()
        && let Some(disk) = run.disk()
    {
        sink.spill(budget.spill_above() / SPILL_MIN_SHARE, disk)?;
    }
    CONTINUE
}

/// Slots without values. Not by cloning, which would look at the type of each column.
pub fn empty_slots(slots: usize) -> Vec<Column> {
    std::iter::repeat_with(Column::default).take(slots).collect()
}

/// The input of a rule's first operator: one row without filled slots.
pub fn unit(rule: &RulePlan) -> Batch {
    Batch { columns: empty_slots(rule.slots), len: 1 }
}

/// The slots of an operator's output.
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

    /// The slots carried over from some rows of the input. A row may occur many times, so the budget is asked for room first.
    fn take(&self, input: &Batch, rows: &[u32]) -> Result<Batch, Stop> {
        let mut columns = empty_slots(self.slots);
        for slot in self.keep {
            columns[*slot] = input.columns[*slot].copy_rows(rows)?;
        }
        Ok(Batch { columns, len: rows.len() })
    }

    /// How many output rows a batch may have: `rows`, or fewer if the carried values are large.
    fn batch_rows(&self, input: &Batch, rows: usize) -> usize {
        let largest = self.keep.iter().map(|slot| input.columns[*slot].largest_bytes()).sum::<usize>();
        rows.min(MAX_BATCH_BYTES / largest.max(1)).max(1)
    }

    /// The slots carried over from all rows of the input.
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

/// The values of the key expressions, a column for each.
fn key_columns<'a>(
    keys: &'a [(usize, Expr)],
    input: &'a Batch,
    worker: &Worker<'a>,
) -> Result<Vec<Cow<'a, Column>>, ExecError> {
    let frame = frame(input, worker);
    keys.iter().map(|(_, expr)| Ok(expr.eval(frame)?.into_shared_column(input.len)?)).collect()
}

/// [`key_columns`] for look-ups in a stored relation, which take owned columns.
fn probe_columns(keys: &[(usize, Expr)], input: &Batch, worker: &Worker<'_>) -> Result<Vec<Column>, ExecError> {
    Ok(key_columns(keys, input, worker)?.into_iter().map(Cow::into_owned).collect())
}

/// Whether to stop.
fn stopped(flow: &ControlFlow<()>) -> bool {
    flow.is_break()
}
