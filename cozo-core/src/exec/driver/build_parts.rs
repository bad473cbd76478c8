//! The build sides of joins that exceed the memory: what of a relation a join needs, and how it is joined part by part.

use crate::exec::access::build_side::BuildSide;
use crate::exec::access::stored::Stored;
use crate::exec::error::ExecError;
use crate::exec::operators::range::key_range;
use crate::exec::rowset::table::Table;
use crate::exec::run::Run;
use crate::exec::thresholds::{BUILD_BYTES_AROUND_ROW, MAX_BATCH_ROWS};
use crate::expr::Expr;
use crate::plan::{JoinPlan, Method, OperatorKind, OperatorPlan, RulePlan, Source, TablePart};
use crate::spill::{SpillReader, SpilledRows};
use crate::storage::KeyRange;
use crate::value::Batch;

/// The build side of a join or semi-join: a relation, the columns to find its rows by, and the columns to give.
pub struct Build<'r> {
    pub source: &'r Source,
    pub keys: &'r [(usize, Expr)],
    pub outputs: &'r [(usize, usize)],
    /// The join, if its rows are found by expressions over them, and not by an index on the keys.
    pub by_expressions: Option<&'r JoinPlan>,
}

impl<'r> Build<'r> {
    /// The build side of an operator that looks rows up by an index, if it does.
    pub fn of(operator: &'r OperatorPlan) -> Option<Self> {
        match &operator.kind {
            OperatorKind::Join(join) => {
                let (keys, by_expressions) = match (&join.source, join.method) {
                    (_, Method::Scan | Method::Range) | (Source::Stored(_), Method::Prefix) => return None,
                    (_, Method::Hash | Method::Prefix) => (join.keys.as_slice(), None),
                    (_, Method::Equal | Method::Compare) => {
                        let by_key = join.compare.as_ref().is_some_and(|compare| compare.by_key);
                        (if by_key { join.keys.as_slice() } else { &[] }, Some(join))
                    }
                };
                Some(Build { source: &join.source, keys, outputs: &join.outputs, by_expressions })
            }
            OperatorKind::SemiJoin(exists) => {
                let is_looked_up = matches!((&exists.source, exists.method), (Source::Stored(_), Method::Prefix));
                let is_indexed = !is_looked_up && !exists.keys.is_empty();
                let (source, keys) = (&exists.source, &exists.keys);
                is_indexed.then_some(Build { source, keys, outputs: &[], by_expressions: None })
            }
            _ => None,
        }
    }

    /// The columns of the relation that are needed, those of the key first.
    pub fn columns(&self) -> Vec<usize> {
        self.keys.iter().map(|(column, _)| *column).chain(self.outputs.iter().map(|(column, _)| *column)).collect()
    }

    /// The keys of a stored relation that are read.
    pub fn key_range(&self, run: &Run<'_>) -> KeyRange {
        match self.by_expressions {
            Some(join) if self.keys.is_empty() => key_range(join, run.input.parameters),
            _ => KeyRange::all(),
        }
    }

    /// Whether an index of the relation takes too much memory. A recursive rule needs it in each round.
    pub fn is_large(&self, recurs: bool, tables: &[Table], run: &Run<'_>) -> bool {
        let rows = match self.source {
            Source::Table(table) => tables[*table].len(),
            Source::Stored(read) => Stored::of(read, run).most_rows(&self.key_range(run)) as usize,
        };
        // To read a relation in partitions takes longer than an index in memory, so the index may take as much as blocks may,
        // and twice that where it is used again and again.
        let most_bytes = run.budget.hold_bytes() * if recurs { 2 } else { 1 };
        let row_bytes = (self.keys.len() + self.outputs.len()) * size_of::<i64>() + BUILD_BYTES_AROUND_ROW;
        rows.saturating_mul(row_bytes) > most_bytes && !self.copies_nothing(run)
    }

    /// Whether an index of the relation copies no rows.
    fn copies_nothing(&self, run: &Run<'_>) -> bool {
        match self.source {
            Source::Stored(read) if self.by_expressions.is_none() => {
                BuildSide::of_stored(Stored::of(read, run), self.keys, self.outputs, run).copies_nothing()
            }
            _ => false,
        }
    }
}

/// The next rows, about so many bytes of them.
pub fn next_part(reader: &mut SpillReader, rows: &SpilledRows, most_bytes: usize) -> Result<Batch, ExecError> {
    let row_bytes = rows.memory_bytes() / rows.len().max(1) + BUILD_BYTES_AROUND_ROW;
    let (most_rows, mut part) = ((most_bytes / row_bytes).max(MAX_BATCH_ROWS), Batch::empty(rows.width()));
    while part.len < most_rows {
        let Some(more) = reader.next_rows(most_rows - part.len)? else { break };
        part.append_all(more);
    }
    Ok(part)
}

/// All rows, each once.
pub fn distinct(reader: &mut SpillReader, width: usize) -> Result<Batch, ExecError> {
    let mut table = Table::set(width);
    while let Some(rows) = reader.next_rows(MAX_BATCH_ROWS)? {
        table.insert(rows);
    }
    Ok(table.into_rows())
}

/// A rule whose join at a position, by expressions over the rows of its relation, reads a part of them from the only table: the columns of
/// the first `keys` of its keys, and its outputs.
pub fn over_part(rule: &RulePlan, position: usize, keys: usize) -> RulePlan {
    let mut rule = rule.clone();
    // The rows are others for each part, so nothing may be kept of them.
    rule.reads = vec![(position, TablePart::Known)];
    let OperatorKind::Join(join) = &mut rule.operators[position].kind else {
        unreachable!("only joins are by expressions over their rows")
    };
    join.source = Source::Table(0);
    join.keys.truncate(keys);
    let columns =
        join.keys.iter_mut().map(|(column, _)| column).chain(join.outputs.iter_mut().map(|(column, _)| column));
    columns.enumerate().for_each(|(nth, column)| *column = nth);
    if let Some(compare) = &mut join.compare {
        compare.instead_of = Method::Scan;
    }
    rule
}
