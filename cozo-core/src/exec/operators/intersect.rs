//! Joins input rows with the values that lists of several relations have in common.

use std::sync::{Arc, OnceLock};

use super::{Emit, Operator, Shape, stopped};
use crate::budget::temporary;
use crate::exec::access::sorted_lists::{Adjacencies, Adjacency, ListNumber, SortedLists, intersect};
use crate::exec::access::tables::Tables;
use crate::exec::error::ExecError;
use crate::exec::piece::Piece;
use crate::exec::rowset::table::Table;
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow};
use crate::plan::{IntersectPlan, RulePlan};
use crate::value::{Batch, Column};

/// Intersects lists.
pub struct Intersect<'a> {
    plan: &'a IntersectPlan,
    shape: Shape<'a>,
    run: &'a Run<'a>,
    tables: &'a [Table],
    rule: &'a RulePlan,
    position: usize,
    lists: OnceLock<Arc<SortedLists>>,
}

impl<'a> Intersect<'a> {
    pub fn new(
        plan: &'a IntersectPlan,
        shape: Shape<'a>,
        rule: &'a RulePlan,
        position: usize,
        tables: &Tables<'a>,
        run: &'a Run<'a>,
    ) -> Self {
        Intersect { plan, shape, run, tables: tables.tables, rule, position, lists: OnceLock::new() }
    }

    /// The lists, built once for each run of the rule.
    fn lists(&self) -> Result<&SortedLists, ExecError> {
        if let Some(lists) = self.lists.get() {
            return Ok(lists);
        }
        let (number, notes) = (self.shape.number, &self.run.notes);
        let lists = notes.build_once(number, || {
            let known = notes.piece(number);
            // A recursive rule would read its relations again in each round.
            let may_divide = self.rule.reads.is_empty() && self.rule.is_in_any_order();
            let lists = SortedLists::read(self.plan, self.tables, self.run, known.unwrap_or(Piece::WHOLE), may_divide)?;
            if known.is_none() {
                notes.divide(self.rule, self.position, lists.pieces);
            }
            Ok(lists)
        })?;
        Ok(self.lists.get_or_init(|| lists))
    }
}

impl Operator for Intersect<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let lists = self.lists()?;
        match &lists.adjacencies {
            Adjacencies::Narrow(adjacencies, least) => self.intersect(lists, adjacencies, *least, &input, worker, emit),
            Adjacencies::Wide(adjacencies) => self.intersect(lists, adjacencies, 0, &input, worker, emit),
        }
    }
}

impl Intersect<'_> {
    fn intersect<N: ListNumber>(
        &self,
        lists: &SortedLists,
        adjacencies: &[Adjacency<N>],
        least: i64,
        input: &Batch,
        worker: &mut Worker<'_>,
        emit: &mut Emit<'_>,
    ) -> Flow {
        let frame = super::frame(input, worker);
        let keys = self.plan.inputs.iter().map(|input| Ok(input.key.1.eval(frame)?.into_column(frame.len)?));
        let keys: Vec<Column> = keys.collect::<Result<_, ExecError>>()?;
        let list = |input: usize, row: usize| lists.list(adjacencies, input, &keys[input], row);
        let mut room = self.shape.batch_rows(input, worker.next_batch_rows()?);
        let (mut rows, mut found): (Vec<u32>, Vec<N>) = (vec![], vec![]);
        let mut scratch = vec![];
        let mut output = |rows: &mut Vec<u32>, found: &mut Vec<N>, worker: &mut Worker<'_>| {
            let _passing = temporary();
            let mut output = self.shape.take(input, rows)?;
            output.columns[self.plan.slot] = lists.values(found.iter().map(|number| number.far(least)).collect())?;
            rows.clear();
            found.clear();
            emit(output, worker)
        };
        for row in 0..input.len {
            common(keys.len(), |input| list(input, row), &mut found, &mut scratch);
            rows.resize(found.len(), row as u32);
            if found.len() >= room {
                let flow = output(&mut rows, &mut found, worker)?;
                if stopped(&flow) {
                    return Ok(flow);
                }
                room = self.shape.batch_rows(input, worker.next_batch_rows()?);
            }
        }
        if found.is_empty() { CONTINUE } else { output(&mut rows, &mut found, worker) }
    }
}

/// Appends the values that some lists have in common.
fn common<'l, N: ListNumber + 'l>(
    lists: usize,
    list: impl Fn(usize) -> &'l [N],
    found: &mut Vec<N>,
    scratch: &mut Vec<N>,
) {
    let before = found.len();
    intersect(list(0), list(1), found);
    for input in 2..lists {
        scratch.clear();
        scratch.extend_from_slice(&found[before..]);
        found.truncate(before);
        intersect(scratch, list(input), found);
    }
}
