//! What the planner knows about the data: sizes, estimated.

use crate::program::StoredRead;
use crate::schema::RelationSchema;

/// Sizes of stored relations. Wrong sizes make plans slow, never wrong.
pub trait Statistics {
    /// The number of rows.
    fn rows(&self, relation: &RelationSchema) -> f64;

    /// The number of different values in a column, at least 1.
    fn distinct(&self, relation: &RelationSchema, column: usize) -> f64;
}

/// The size of a relation, stored or derived.
#[derive(Clone, Debug)]
pub struct Size {
    /// The number of rows.
    pub rows: f64,
    /// The number of different values of each column.
    pub distinct: Vec<f64>,
    /// How many leading columns are the key.
    pub keys: usize,
}

impl Size {
    /// A relation whose number of rows alone is known. A column is assumed to repeat some values.
    pub fn guessed(rows: f64, arity: usize) -> Self {
        let distinct = if arity <= 1 { rows } else { rows.powf(0.8) };
        Size { rows, distinct: vec![distinct.max(1.0); arity], keys: arity }
    }

    /// The rows that are read of a stored relation: as of a time, at most one row of each history.
    pub fn of(read: &StoredRead, statistics: &dyn Statistics) -> Self {
        let (relation, keys) = (&*read.schema, read.identifying_columns());
        let distinct = (0..relation.arity()).map(|column| statistics.distinct(relation, column).max(1.0));
        let distinct: Vec<f64> = distinct.collect();
        let rows = statistics.rows(relation);
        let histories = if read.as_of.is_some() { distinct[..keys].iter().product() } else { rows };
        Size { rows: rows.min(histories), distinct, keys }
    }

    /// How many rows match values given for some columns.
    pub fn matches(&self, bound: &[usize]) -> f64 {
        if self.keys > 0 && (0..self.keys).all(|key| bound.contains(&key)) {
            return self.rows.min(1.0);
        }
        let combinations: f64 = bound.iter().map(|column| self.distinct[*column]).product();
        self.rows / combinations.min(self.rows.max(1.0))
    }
}
