//! Joins input rows with the values that lists of several relations have in common.

use std::sync::{Arc, OnceLock};

use super::{Emit, Operator, Shape, stopped};
use crate::budget::temporary;
use crate::exec::access::sorted_lists::{SortedLists, intersect};
use crate::exec::access::tables::Tables;
use crate::exec::error::ExecError;
use crate::exec::rowset::table::Table;
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow};
use crate::plan::IntersectPlan;
use crate::value::{Batch, Column};

/// Intersects lists.
pub struct Intersect<'a> {
    plan: &'a IntersectPlan,
    shape: Shape<'a>,
    run: &'a Run<'a>,
    tables: &'a [Table],
    lists: OnceLock<Arc<SortedLists>>,
}

impl<'a> Intersect<'a> {
    pub fn new(plan: &'a IntersectPlan, shape: Shape<'a>, tables: &Tables<'a>, run: &'a Run<'a>) -> Self {
        Intersect { plan, shape, run, tables: tables.tables, lists: OnceLock::new() }
    }

    /// The lists, built once for each run.
    fn lists(&self) -> Result<&SortedLists, ExecError> {
        if let Some(lists) = self.lists.get() {
            return Ok(lists);
        }
        let lists =
            self.run.notes.build_once(self.shape.number, || SortedLists::read(self.plan, self.tables, self.run))?;
        Ok(self.lists.get_or_init(|| lists))
    }
}

impl Operator for Intersect<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let lists = self.lists()?;
        let frame = super::frame(&input, worker);
        let keys = self.plan.inputs.iter().map(|input| Ok(input.key.1.eval(frame)?.into_column(frame.len)?));
        let keys: Vec<Column> = keys.collect::<Result<_, ExecError>>()?;
        let mut room = self.shape.batch_rows(&input, worker.next_batch_rows()?);
        let (mut rows, mut found): (Vec<u32>, Vec<i64>) = (vec![], vec![]);
        let mut scratch = vec![];
        for row in 0..input.len {
            common(lists, &keys, row, &mut found, &mut scratch);
            rows.resize(found.len(), row as u32);
            if found.len() >= room {
                let flow = self.emit(lists, &input, &rows, &found, worker, emit)?;
                if stopped(&flow) {
                    return Ok(flow);
                }
                rows.clear();
                found.clear();
                room = self.shape.batch_rows(&input, worker.next_batch_rows()?);
            }
        }
        if found.is_empty() { CONTINUE } else { self.emit(lists, &input, &rows, &found, worker, emit) }
    }
}

/// Appends the values that the lists of one row have in common.
fn common(lists: &SortedLists, keys: &[Column], row: usize, found: &mut Vec<i64>, scratch: &mut Vec<i64>) {
    let list = |input: usize| lists.list(input, &keys[input], row);
    let before = found.len();
    intersect(list(0), list(1), found);
    for input in 2..keys.len() {
        scratch.clear();
        scratch.extend_from_slice(&found[before..]);
        found.truncate(before);
        intersect(scratch, list(input), found);
    }
}

impl Intersect<'_> {
    fn emit(
        &self,
        lists: &SortedLists,
        input: &Batch,
        rows: &[u32],
        found: &[i64],
        worker: &mut Worker<'_>,
        emit: &mut Emit<'_>,
    ) -> Flow {
        let _passing = temporary();
        let mut output = self.shape.take(input, rows)?;
        output.columns[self.plan.slot] = lists.values(found)?;
        emit(output, worker)
    }
}
