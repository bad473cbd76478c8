//! Repeats a row for each row of a relation that an index finds by likeness.
//!
//! For each input row the search asks its index for the best rows. If there is a filter, it asks for more than `k` of them, and for
//! ever more until `k` pass the filter or the index has no others. The columns of the relation are then looked up for many hits at
//! once.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::limits::Limits;
use super::{Emit, Operator, Shape, empty_slots, frame, stopped};
use crate::budget::temporary;
use crate::exec::access::stored::indexed;
use crate::exec::error::ExecError;
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::thresholds::{MAX_BATCH_ROWS, SEARCH_GROWTH};
use crate::expr::{EvalError, Expr};
use crate::index::search::{
    AllowedEntries, Hits, IndexView, NearestWanted, SearchColumn, SearchIndexError, TextsWanted, best_texts,
    candidates, nearest,
};
use crate::plan::SearchPlan;
use crate::schema::SearchOptions;
use crate::storage::{KeyRange, Snapshot};
use crate::value::{Batch, DataValue};

/// A search in an index for each input row.
pub struct IndexSearch<'a> {
    plan: &'a SearchPlan,
    shape: Shape<'a>,
    snapshot: &'a dyn Snapshot,
    /// The outputs that are columns of the relation, with their slots.
    stored: Vec<(usize, usize)>,
    /// The other outputs, with their slots.
    extras: Vec<(SearchColumn, usize)>,
    /// The slots of the input that the filter reads.
    tested: Vec<usize>,
    /// The columns of the relation that the filter reads, with their slots, if it reads nothing else.
    filtered: Option<Vec<(usize, usize)>>,
}

impl<'a> IndexSearch<'a> {
    pub fn new(plan: &'a SearchPlan, shape: Shape<'a>, run: &'a Run<'a>) -> Self {
        let (mut stored, mut extras) = (vec![], vec![]);
        for (column, slot) in &plan.outputs {
            match column {
                SearchColumn::Stored(column) => stored.push((*column, *slot)),
                extra => extras.push((*extra, *slot)),
            }
        }
        let mut read = BTreeSet::new();
        let mut note = |part: &Expr| {
            if let Expr::Slot(slot, _) = part {
                read.insert(*slot);
            }
        };
        plan.filter.iter().for_each(|filter| filter.walk(&mut note));
        let tested =
            read.iter().copied().filter(|slot| plan.outputs.iter().all(|(_, filled)| filled != slot)).collect();
        let filtered: Vec<(usize, usize)> = stored.iter().copied().filter(|(_, slot)| read.contains(slot)).collect();
        let filtered = (filtered.len() == read.len()).then_some(filtered);
        let snapshot = run.input.view.of(plan.call.schema.id);
        IndexSearch { plan, shape, snapshot, stored, extras, tested, filtered }
    }
}

impl Operator for IndexSearch<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let limits = Limits::of(self.plan, worker.run.input.parameters)?;
        let queries = self.plan.query.eval(frame(&input, worker))?.into_shared_column(input.len)?;
        let mut row = 0;
        while row < input.len {
            let _passing = temporary();
            let room = self.shape.batch_rows(&input, worker.next_batch_rows()?);
            let mut rows: Vec<u32> = vec![];
            let mut keys = Batch::empty(self.plan.call.schema.keys.len());
            let mut extras = Batch::empty(self.extras.len());
            while row < input.len && rows.len() < room {
                worker.run.budget.check()?;
                let hits = self.hits(&queries.get(row), &limits, &input, row, worker)?;
                rows.resize(rows.len() + hits.keys.len, row as u32);
                keys.append(&hits.keys);
                extras.append(&hits.extras);
                row += 1;
            }
            let mut output = self.shape.take(&input, &rows)?;
            self.fill(&mut output, &keys, extras)?;
            let flow = emit(output, worker)?;
            if stopped(&flow) {
                return Ok(flow);
            }
        }
        CONTINUE
    }
}

impl IndexSearch<'_> {
    /// The rows that the search of one input row finds.
    fn hits(
        &self,
        query: &DataValue,
        limits: &Limits,
        input: &Batch,
        row: usize,
        worker: &Worker<'_>,
    ) -> Result<Hits, ExecError> {
        let mut count = limits.candidates(self.plan.filter.is_some());
        loop {
            let hits = self.nearest(query, count, limits, worker.run, None)?;
            let passing = self.passing(&hits, input, row, worker)?;
            if passing.len() >= limits.k || hits.is_all {
                return Ok(self.distinct(hits.take(&passing[..passing.len().min(limits.k)])));
            }
            if let Some(allowed) = &*self.allowed(worker)? {
                return Ok(self.distinct(self.nearest(query, limits.k, limits, worker.run, Some(allowed))?));
            }
            count = count.saturating_mul(SEARCH_GROWTH);
        }
    }

    /// The entries of all rows that pass the filter, for all searches of the run. None if the filter depends on more than columns of the
    /// relation, or fails for a row, which the search might not find.
    fn allowed(&self, worker: &Worker<'_>) -> Result<Arc<Option<AllowedEntries>>, ExecError> {
        let call = &self.plan.call;
        let columns = self.filtered.as_ref().filter(|_| !matches!(call.index.options, SearchOptions::Duplicates(_)));
        let Some((filter, columns)) = self.plan.filter.as_ref().zip(columns) else { return Ok(Arc::new(None)) };
        worker.run.notes.build_once(self.shape.number, || {
            let keys = call.schema.keys.len();
            let mut passing = Batch::empty(keys);
            let read: Vec<usize> = (0..keys).chain(columns.iter().map(|(column, _)| *column)).collect();
            let mut cursor = self.snapshot.scan(call.schema.id, &KeyRange::all(), &read, None)?;
            while let Some(mut rows) = cursor.next_batch(MAX_BATCH_ROWS)? {
                worker.run.budget.check()?;
                let mut slots = Batch { columns: empty_slots(self.shape.slots), len: rows.len };
                for ((_, slot), column) in columns.iter().zip(rows.columns.split_off(keys)) {
                    slots.columns[*slot] = column;
                }
                match filter.eval_condition(frame(&slots, worker)) {
                    Ok(holds) => {
                        let rows_that_pass: Vec<u32> =
                            (0..rows.len as u32).filter(|row| holds.holds(*row as usize)).collect();
                        passing.append(&rows.take(&rows_that_pass));
                    }
                    Err(EvalError::Stop(stop)) => return Err(stop.into()),
                    Err(_) => return Ok(None),
                }
            }
            Ok(Some(AllowedEntries::of(IndexView::open(indexed(call, worker.run))?, &passing)))
        })
    }

    /// The best rows, at most `count`.
    fn nearest(
        &self,
        query: &DataValue,
        count: usize,
        limits: &Limits,
        run: &Run<'_>,
        allowed: Option<&AllowedEntries>,
    ) -> Result<Hits, ExecError> {
        let call = &self.plan.call;
        let view = || allowed.map_or_else(|| IndexView::open(indexed(call, run)), |allowed| Ok(allowed.view.clone()));
        let extras: Vec<SearchColumn> = self.extras.iter().map(|(column, _)| *column).collect();
        let of = indexed(call, run);
        match &call.index.options {
            SearchOptions::Duplicates(_) => {
                let (least, snapshot) = (limits.min_similarity, self.snapshot);
                Ok(candidates(&call.index, &call.extractor, query, least, &extras, snapshot)?)
            }
            SearchOptions::Vectors(_) => {
                let (ef, radius, extras) = (limits.ef.max(count), limits.radius, extras.as_slice());
                Ok(nearest(of, &*view()?, query, NearestWanted { count, ef, radius, extras, allowed })?)
            }
            SearchOptions::Text(_) => {
                let (scoring, options, extras) = (limits.scoring, limits.phrases, extras.as_slice());
                Ok(best_texts(of, &*view()?, query, TextsWanted { count, scoring, options, extras, allowed })?)
            }
        }
    }

    /// The numbers of the hits that pass the filter.
    fn passing(&self, hits: &Hits, input: &Batch, row: usize, worker: &Worker<'_>) -> Result<Vec<u32>, ExecError> {
        let all = 0..hits.keys.len as u32;
        let Some(filter) = &self.plan.filter else { return Ok(all.collect()) };
        let rows = vec![row as u32; hits.keys.len];
        let mut slots = Batch { columns: empty_slots(self.shape.slots), len: rows.len() };
        for slot in &self.tested {
            slots.columns[*slot] = input.columns[*slot].copy_rows(&rows)?;
        }
        self.fill(&mut slots, &hits.keys, hits.extras.clone())?;
        let holds = filter.eval_condition(frame(&slots, worker))?;
        Ok(all.filter(|hit| holds.holds(*hit as usize)).collect())
    }

    /// The hits without those that give an equal row as one before: several entries of a row may be found.
    fn distinct(&self, hits: Hits) -> Hits {
        let mut seen = BTreeSet::new();
        let is_first = |row: &u32| {
            let mut values = hits.keys.row(*row as usize);
            values.extend(hits.extras.row(*row as usize));
            seen.insert(values)
        };
        let first: Vec<u32> = match &self.plan.call.index.options {
            SearchOptions::Vectors(_) => (0..hits.keys.len as u32).filter(is_first).collect(),
            SearchOptions::Text(_) | SearchOptions::Duplicates(_) => return hits,
        };
        if first.len() == hits.keys.len { hits } else { hits.take(&first) }
    }

    /// Fills the slots of the outputs.
    fn fill(&self, output: &mut Batch, keys: &Batch, extras: Batch) -> Result<(), ExecError> {
        for ((_, slot), column) in self.extras.iter().zip(extras.columns) {
            output.columns[*slot] = column;
        }
        let schema = &self.plan.call.schema;
        let columns: Vec<usize> = self.stored.iter().map(|(column, _)| *column).collect();
        if columns.iter().all(|column| *column < schema.keys.len()) {
            self.stored.iter().for_each(|(column, slot)| output.columns[*slot] = keys.columns[*column].clone());
            return Ok(());
        }
        let mut found = Batch::empty(columns.len());
        if keys.len > 0 {
            let mut cursor = self.snapshot.lookup(schema.id, &keys.columns, &columns, None)?;
            while let Some(matches) = cursor.next_matches(MAX_BATCH_ROWS)? {
                found.append(&matches.batch);
            }
        }
        if found.len != keys.len {
            return Err(SearchIndexError::OutOfStep { index: self.plan.call.name().to_string() }.into());
        }
        for ((_, slot), column) in self.stored.iter().zip(found.columns) {
            output.columns[*slot] = column;
        }
        Ok(())
    }
}
