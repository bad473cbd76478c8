//! Running a rule chunk by chunk, where only one end of a key order is wanted: `min`, `max`, `:order` with `:limit`.

use std::ops::ControlFlow;

use crate::exec::access::ordered_scan::OrderedScan;
use crate::exec::access::stored::Stored;
use crate::exec::access::tables::Tables;
use crate::exec::error::ExecError;
use crate::exec::operators::range::key_range;
use crate::exec::operators::{build, drive, place, scan_part, unit};
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow, SetSink, Sink};
use crate::expr::{Expr, Frame};
use crate::plan::{Method, OperatorKind, RulePlan, Source};
use crate::storage::{End, KeyRange};
use crate::value::Batch;

/// A scan in key order of which only one end is wanted.
pub struct Ordered<'a> {
    /// The chunks of the relation.
    chunks: OrderedScan<'a>,
    /// The operator that reads the chunks,
    position: usize,
    /// and its input: one row.
    input: Batch,
}

/// The ordered scan of a rule: of the relation that it reads first, or of the relation that it looks up for the one row of a table. `None`
/// unless the relation lies in an order of which only one end is wanted.
pub fn ordered<'a>(
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
    let (Source::Stored(source), true) = (&join.source, position == 0 || join.scan_method() == Method::Prefix) else {
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
    if range.len() != 1 || table.is_dead(range.start) || table.spilled().is_some() {
        return None;
    }
    let columns = join.outputs.iter().map(|(column, _)| table.rows().columns[*column].slice(range.clone()));
    Some(place(join, unit(rule), Batch { columns: columns.collect(), len: 1 }))
}

/// Runs a rule chunk by chunk, until no further chunk can hold a wanted row.
pub fn run_chunks<'a>(
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
