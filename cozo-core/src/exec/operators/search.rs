//! Repeats a row for each row of a relation that an index finds by likeness.
//!
//! For each input row the search asks its index for the best rows. If there is a filter, it asks for more than `k` of them, and for
//! ever more until `k` pass the filter or the index has no others. The columns of the relation are then looked up for many hits at
//! once.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::limits::Limits;
use super::within::{WithinKeys, WithinRows};
use super::{Emit, Operator, Shape, empty_slots, frame, stopped};
use crate::budget::temporary;
use crate::exec::access::stored::indexed;
use crate::exec::access::tables::Tables;
use crate::exec::error::ExecError;
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::thresholds::{MAX_BATCH_ROWS, SEARCH_GROWTH};
use crate::expr::Expr;
use crate::index::search::{
    AllowedEntries, Hits, IndexView, NearestWanted, SearchColumn, SearchIndexError, TextsWanted, best_texts,
    candidates, nearest,
};
use crate::plan::SearchPlan;
use crate::schema::SearchOptions;
use crate::storage::Snapshot;
use crate::value::{Batch, DataValue};

/// A search in an index for each input row.
pub struct IndexSearch<'a> {
    pub(super) plan: &'a SearchPlan,
    pub(super) shape: Shape<'a>,
    pub(super) snapshot: &'a dyn Snapshot,
    /// The outputs that are columns of the relation, with their slots.
    stored: Vec<(usize, usize)>,
    /// The other outputs, with their slots.
    extras: Vec<(SearchColumn, usize)>,
    /// The slots of the input that the filter reads.
    tested: Vec<usize>,
    /// The columns of the relation that the filter reads, with their slots, if it reads nothing else.
    pub(super) filtered: Option<Vec<(usize, usize)>>,
    /// The relation of `within`.
    pub(super) within: Option<WithinRows<'a>>,
}

impl<'a> IndexSearch<'a> {
    pub fn new(plan: &'a SearchPlan, shape: Shape<'a>, tables: &Tables<'a>, run: &'a Run<'a>) -> Self {
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
        let filtered = (plan.filter.is_some() && filtered.len() == read.len()).then_some(filtered);
        let within = plan.within.as_ref().map(|within| WithinRows::of(within, tables, run));
        let snapshot = run.input.view.of(plan.call.schema.id);
        IndexSearch { plan, shape, snapshot, stored, extras, tested, filtered, within }
    }
}

impl Operator for IndexSearch<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let limits = Limits::of(self.plan, worker.run.input.parameters)?;
        let queries = self.plan.query.eval(frame(&input, worker))?.into_shared_column(input.len)?;
        let run = worker.run;
        let searched = Searched { limits: &limits, run, view: self.view(run)?, within: self.within(run)? };
        let mut row = 0;
        while row < input.len {
            let _passing = temporary();
            let room = self.shape.batch_rows(&input, worker.next_batch_rows()?);
            let mut rows: Vec<u32> = vec![];
            let mut keys = Batch::empty(self.plan.call.schema.keys.len());
            let mut extras = Batch::empty(self.extras.len());
            while row < input.len && rows.len() < room {
                worker.run.budget.check()?;
                let hits = self.hits(&queries.get(row), &searched, &input, row, worker)?;
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

/// What the searches of a batch have in common.
struct Searched<'s> {
    limits: &'s Limits,
    run: &'s Run<'s>,
    /// What the index holds; none for near-duplicates.
    view: Option<Arc<IndexView>>,
    /// The keys of `within`.
    within: Option<Arc<WithinKeys>>,
}

impl IndexSearch<'_> {
    /// The rows that the search of one input row finds.
    fn hits(
        &self,
        query: &DataValue,
        of: &Searched<'_>,
        input: &Batch,
        row: usize,
        worker: &mut Worker<'_>,
    ) -> Result<Hits, ExecError> {
        let limits = of.limits;
        let within = of.within.as_deref();
        let mut count = limits.candidates(self.plan.filter.is_some());
        loop {
            let mut hits = self.nearest(query, of, count, within.and_then(|within| within.entries.as_ref()))?;
            worker.searched(&hits.work);
            if let (Some(within), None) = (within, &of.view) {
                hits = within.only(hits);
            }
            let passing = self.passing(&hits, input, row, worker)?;
            if passing.len() >= limits.k || hits.is_all {
                return Ok(self.distinct(hits.take(&passing[..passing.len().min(limits.k)])));
            }
            if let Some(allowed) = &self.passing_entries(worker)?.0 {
                let hits = self.nearest(query, of, limits.k, Some(allowed))?;
                worker.searched(&hits.work);
                return Ok(self.distinct(hits));
            }
            count = count.saturating_mul(SEARCH_GROWTH);
        }
    }

    /// The best rows, at most `count`.
    fn nearest(
        &self,
        query: &DataValue,
        of: &Searched<'_>,
        count: usize,
        allowed: Option<&AllowedEntries>,
    ) -> Result<Hits, ExecError> {
        let (call, limits) = (&self.plan.call, of.limits);
        let extras: Vec<SearchColumn> = self.extras.iter().map(|(column, _)| *column).collect();
        let indexed = indexed(call, of.run);
        let at_query = |error: SearchIndexError| ExecError::from(error.at(self.plan.query.span()));
        let Some(view) = allowed.map(|allowed| &allowed.view).or(of.view.as_ref()) else {
            let (least, snapshot) = (limits.min_similarity, self.snapshot);
            return candidates(&call.index, &call.extractor, query, least, &extras, snapshot).map_err(at_query);
        };
        let extras = extras.as_slice();
        if let SearchOptions::Text(_) = call.index.options {
            let (scoring, options) = (limits.scoring, limits.phrases);
            return best_texts(indexed, view, query, TextsWanted { count, scoring, options, extras, allowed })
                .map_err(at_query);
        }
        let (ef, radius) = (limits.ef.max(count), limits.radius);
        nearest(indexed, view, query, NearestWanted { count, ef, radius, extras, allowed }).map_err(at_query)
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
