//! Joins input rows with rows that have the same values in some columns, by a hash table on those columns.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::{Emit, Operator, Shape, Tables, key_columns, stopped};
use crate::exec::index::{Found, Index, IndexedRows};
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::stored::Stored;
use crate::exec::table::Table;
use crate::exec::{ExecError, MAX_BATCH_ROWS, Run, Worker};
use crate::expr::Expr;
use crate::plan::{JoinPlan, Source};
use crate::storage::KeyRange;
use crate::value::{Batch, Column};

/// Rows that are found by hash.
pub enum Rows<'a> {
    /// Those of a derived table within a range, by one of its indexes.
    Table { table: &'a Table, index: &'a Index, range: Range<usize> },
    /// Those of a stored relation; its hash table is made when first needed.
    Stored {
        run: &'a Run<'a>,
        stored: Stored<'a>,
        keys: Vec<usize>,
        outputs: Vec<usize>,
        built: OnceLock<Arc<IndexedRows>>,
    },
}

impl<'a> Rows<'a> {
    /// The rows of a source, by these key columns.
    pub fn of(
        source: &Source,
        keys: &[(usize, Expr)],
        outputs: &[(usize, usize)],
        position: usize,
        tables: &Tables<'a>,
        run: &'a Run<'a>,
    ) -> Self {
        let columns: Vec<usize> = keys.iter().map(|(column, _)| *column).collect();
        match source {
            Source::Table(number) => {
                let table = &tables.tables[*number];
                let range = (tables.range)(position, *number);
                Rows::Table { table, index: table.index(&columns), range }
            }
            Source::Stored(source) => {
                let outputs = outputs.iter().map(|(column, _)| *column).collect();
                let stored = Stored::of(source, run);
                Rows::Stored { run, stored, keys: columns, outputs, built: OnceLock::new() }
            }
        }
    }

    /// The rows, their index, and which of them count.
    pub fn resolve(&self) -> Result<Probe<'_>, ExecError> {
        match self {
            Rows::Table { table, index, range } => {
                Ok(Probe { rows: table.rows(), index, range: range.clone(), table: Some(table) })
            }
            Rows::Stored { run, stored, keys, outputs, built } => {
                let indexed = match built.get() {
                    Some(indexed) => indexed,
                    None => {
                        let indexed = hash_stored(run, stored, keys, outputs)?;
                        built.get_or_init(|| indexed)
                    }
                };
                Ok(Probe { rows: &indexed.rows, index: &indexed.index, range: 0..indexed.rows.len, table: None })
            }
        }
    }

    /// The column of the resolved rows that gives the `nth` output.
    fn output_column(&self, nth: usize, column: usize) -> usize {
        match self {
            Rows::Table { .. } => column,
            Rows::Stored { keys, .. } => keys.len() + nth,
        }
    }
}

/// Reads a stored relation into a hash table, once for each run.
fn hash_stored(
    run: &Run<'_>,
    stored: &Stored<'_>,
    keys: &[usize],
    outputs: &[usize],
) -> Result<Arc<IndexedRows>, ExecError> {
    let identity = (stored.identity(), keys.to_vec(), outputs.to_vec());
    let mut hashed = run.hashed.lock();
    if let Some(indexed) = hashed.get(&identity) {
        return Ok(indexed.clone());
    }
    let columns: Vec<usize> = keys.iter().chain(outputs).copied().collect();
    let mut rows = Batch::empty(columns.len());
    let mut cursor = stored.scan(&KeyRange::all(), &columns)?;
    while let Some(batch) = cursor.next_batch(MAX_BATCH_ROWS)? {
        run.cancellation.check()?;
        run.cancellation.charge(batch.memory_bytes())?;
        rows.append(&batch);
    }
    let indexed = Arc::new(IndexedRows::new(rows, keys.len()));
    hashed.insert(identity, indexed.clone());
    Ok(indexed)
}

/// Rows and an index of them.
pub struct Probe<'a> {
    pub rows: &'a Batch,
    index: &'a Index,
    range: Range<usize>,
    table: Option<&'a Table>,
}

impl Probe<'_> {
    /// Looks for the rows that match so many rows of the keys.
    pub fn find(&self, keys: &[&Column], rows: usize) -> Found {
        self.index.find(self.rows, keys, rows)
    }

    /// The matches in range of a row that was looked for, last first.
    #[inline]
    pub fn matches(&self, found: &Found, row: usize) -> impl Iterator<Item = u32> + use<'_> {
        let mut next = found.last(row);
        std::iter::from_fn(move || {
            loop {
                let row = next?;
                // Rows come in descending order: below the range there are no more.
                if (row as usize) < self.range.start {
                    return None;
                }
                next = self.index.before(row);
                if (row as usize) < self.range.end && !self.table.is_some_and(|table| table.is_dead(row as usize)) {
                    return Some(row);
                }
            }
        })
    }
}

/// Joins by hash.
pub struct HashJoin<'a> {
    pub plan: &'a JoinPlan,
    pub shape: Shape<'a>,
    pub rows: Rows<'a>,
}

impl Operator for HashJoin<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let probe = self.rows.resolve()?;
        let keys = key_columns(&self.plan.keys, &input, worker)?;
        let found = probe.find(&keys.iter().collect::<Vec<_>>(), input.len);
        let mut room = worker.next_batch_rows()?;
        let (mut left, mut right): (Vec<u32>, Vec<u32>) = (vec![], vec![]);
        for row in 0..input.len {
            let first = right.len();
            for matching in probe.matches(&found, row) {
                right.push(matching);
            }
            // As a look-up in the relation or one of its indices gives them.
            right[first..].reverse();
            left.resize(right.len(), row as u32);
            let is_last = row + 1 == input.len && !left.is_empty();
            if right.len() < room && !is_last {
                continue;
            }
            let mut start = 0;
            while start < left.len() {
                let part = start..left.len().min(start + room);
                let flow = self.emit(&probe, &input, &left[part.clone()], &right[part.clone()], worker, emit)?;
                if stopped(&flow) {
                    return Ok(flow);
                }
                start = part.end;
                room = worker.next_batch_rows()?;
            }
            left.clear();
            right.clear();
        }
        CONTINUE
    }
}

impl HashJoin<'_> {
    fn emit(
        &self,
        probe: &Probe<'_>,
        input: &Batch,
        left: &[u32],
        right: &[u32],
        worker: &mut Worker<'_>,
        emit: &mut Emit<'_>,
    ) -> Flow {
        let mut output = self.shape.take(input, left);
        for (nth, (column, slot)) in self.plan.outputs.iter().enumerate() {
            output.columns[*slot] = probe.rows.columns[self.rows.output_column(nth, *column)].take(right);
        }
        emit(output, worker)
    }
}
