//! Statistics of stored relations for the planner, from small samples.

use std::cell::RefCell;
use std::collections::HashMap;

use rustc_hash::FxHashMap;

use crate::plan::{Size, Statistics};
use crate::schema::{RelationId, RelationSchema};
use crate::storage::KeyRange;
use crate::txn::Transaction;
use crate::value::{Batch, Column};

/// The number of places in a relation where rows are sampled.
const SAMPLED_PLACES: usize = 8;

/// The number of rows sampled at each place.
const SAMPLED_ROWS: usize = 256;

/// Statistics from samples. A relation is sampled on first use.
pub struct Sampled<'a> {
    txn: &'a Transaction,
    distinct: RefCell<HashMap<RelationId, Vec<f64>>>,
}

impl<'a> Sampled<'a> {
    /// Statistics of the relations that the transaction sees.
    pub fn new(txn: &'a Transaction) -> Self {
        Sampled { txn, distinct: RefCell::default() }
    }

    /// The number of different values of each column.
    fn sample(&self, relation: &RelationSchema) -> Vec<f64> {
        let rows = self.rows(relation);
        let batches = self.batches(relation).unwrap_or_default();
        if batches.iter().all(Batch::is_empty) {
            return Size::guessed(rows, relation.arity()).distinct;
        }
        let column = |column: usize| match column {
            0 => distinct_of_sorted(&batches, rows),
            _ => distinct_of_spread(&batches, column, rows),
        };
        (0..relation.arity()).map(column).collect()
    }

    /// The sampled rows. None if they cannot be read, which the query itself will report.
    fn batches(&self, relation: &RelationSchema) -> Option<Vec<Batch>> {
        let snapshot = self.txn.estimates_of(relation.id);
        let columns: Vec<usize> = (0..relation.arity()).collect();
        let places = snapshot.partition(relation.id, &KeyRange::all(), SAMPLED_PLACES);
        let batch = |range: &KeyRange| {
            let mut cursor = snapshot.scan(relation.id, range, &columns, None).ok()?;
            Some(cursor.next_batch(SAMPLED_ROWS).ok()?.unwrap_or_else(|| Batch::empty(columns.len())))
        };
        places.iter().map(batch).collect()
    }
}

impl Statistics for Sampled<'_> {
    fn rows(&self, relation: &RelationSchema) -> f64 {
        row_count(relation.id, self.txn) as f64 + self.txn.rows_put(relation.id) as f64
    }

    fn distinct(&self, relation: &RelationSchema, column: usize) -> f64 {
        if let Some(distinct) = self.distinct.borrow().get(&relation.id) {
            return distinct[column];
        }
        let distinct = self.sample(relation);
        let of_column = distinct[column];
        self.distinct.borrow_mut().insert(relation.id, distinct);
        of_column
    }
}

fn row_count(relation: RelationId, txn: &Transaction) -> u64 {
    txn.estimates_of(relation).row_count(relation)
}

/// The number of different values of the first column. Rows are sorted by it, so the share of rows where it changes in the samples
/// estimates the share in the relation.
fn distinct_of_sorted(batches: &[Batch], rows: f64) -> f64 {
    let changes = |batch: &Batch| {
        let column = &batch.columns[0];
        (1..batch.len).filter(|row| !column.equals_at(row - 1, column, *row)).count()
    };
    let sampled: usize = batches.iter().map(|batch| batch.len).sum();
    let changes: usize = batches.iter().map(changes).sum();
    rows * (changes as f64 + 1.0) / (sampled as f64).max(1.0)
}

/// The number of different values of another column, from the numbers of values that occur once and more often in the sample (the
/// estimator GEE of Charikar, Chaudhuri, Motwani and Narasayya 2000).
fn distinct_of_spread(batches: &[Batch], column: usize, rows: f64) -> f64 {
    // The keys are hashes already.
    let mut counts: FxHashMap<u64, usize> = FxHashMap::default();
    let mut sampled = 0;
    for batch in batches {
        let column: &Column = &batch.columns[column];
        sampled += batch.len;
        (0..batch.len).for_each(|row| *counts.entry(column.hash_at(row)).or_default() += 1);
    }
    let once = counts.values().filter(|count| **count == 1).count() as f64;
    let often = counts.len() as f64 - once;
    (rows / (sampled as f64).max(1.0)).max(1.0).sqrt() * once + often
}

/// The numbers of rows for which a plan was made.
#[derive(Default)]
pub struct Sizes {
    rows: Vec<(RelationId, u64)>,
}

/// A relation that has grown or shrunk by more than this factor may need another plan.
const GROWN: u64 = 8;

/// Smaller sizes count as this one, since the plan for them hardly matters.
const SMALL: u64 = 256;

impl Sizes {
    /// The sizes of these relations.
    pub fn now(relations: &[RelationId], txn: &Transaction) -> Self {
        Sizes { rows: relations.iter().map(|id| (*id, row_count(*id, txn))).collect() }
    }

    /// Whether the relations are still about as large.
    pub fn still_hold(&self, txn: &Transaction) -> bool {
        let near = |(id, planned): &(RelationId, u64)| {
            let (now, planned) = (row_count(*id, txn).max(SMALL), (*planned).max(SMALL));
            now <= planned * GROWN && planned <= now * GROWN
        };
        self.rows.iter().all(near)
    }
}
