//! Many changes combined into few: for each relation, the rows put and the keys removed in the end.

use std::collections::BTreeMap;

use crate::schema::RelationId;
use crate::storage::changes::{ChangeKind, RowChanges};
use crate::storage::shape::RelationShape;
use crate::value::sort::last_of_each;
use crate::value::{Batch, Column, DataValue};

/// Changes of relations, in order.
#[derive(Default)]
pub struct Merge(BTreeMap<RelationId, Gathered>);

impl Merge {
    /// Adds the next change. `shape` returns the shape of a relation. Changes of a missing relation are skipped.
    pub fn take(&mut self, change: &RowChanges, shape: impl Fn(RelationId) -> Option<RelationShape>) {
        if let Some(gathered) = self.0.get_mut(&change.relation) {
            gathered.take(change);
        } else if let Some(shape) = shape(change.relation) {
            self.0.entry(change.relation).or_insert(Gathered::new(shape)).take(change);
        }
    }

    /// The combined changes.
    pub fn finish(self) -> Vec<RowChanges> {
        self.0.into_iter().flat_map(|(relation, gathered)| gathered.finish(relation)).collect()
    }
}

/// The changes of one relation, in order.
struct Gathered {
    keys: usize,
    /// Rows put, and the keys of rows removed, with nulls after them.
    rows: Batch,
    is_removed: Vec<bool>,
}

impl Gathered {
    fn new(shape: RelationShape) -> Self {
        Gathered { keys: shape.keys, rows: Batch::empty(shape.arity), is_removed: vec![] }
    }

    fn take(&mut self, change: &RowChanges) {
        for rows in change.rows.batches() {
            self.take_batch(change.kind, &rows.expect("the log holds rows in memory"));
        }
    }

    fn take_batch(&mut self, kind: ChangeKind, rows: &Batch) {
        self.is_removed.resize(self.is_removed.len() + rows.len, kind == ChangeKind::Remove);
        if kind == ChangeKind::Put {
            self.rows.append(rows);
            return;
        }
        let mut padded = rows.columns[..self.keys].to_vec();
        padded.resize(self.rows.columns.len(), Column::repeat(&DataValue::Null, rows.len));
        self.rows.append(&Batch::new(padded, rows.len));
    }

    fn finish(self, relation: RelationId) -> Vec<RowChanges> {
        let keys = &self.rows.columns[..self.keys];
        let last: Vec<u32> = last_of_each_key(keys, self.rows.len);
        let (removed, put): (Vec<u32>, Vec<u32>) = last.iter().partition(|row| self.is_removed[**row as usize]);
        let removed = Batch::new(keys.iter().map(|column| column.take(&removed)).collect(), removed.len());
        // Rows that came sorted, each key once, are not copied.
        let is_as_it_came = put.len() == self.rows.len && put.is_sorted();
        let put = if is_as_it_came { self.rows } else { self.rows.take(&put) };
        [(ChangeKind::Put, put), (ChangeKind::Remove, removed)]
            .into_iter()
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(kind, rows)| RowChanges::new(relation, kind, rows))
            .collect()
    }
}

/// The last row of each key, sorted by key.
fn last_of_each_key(keys: &[Column], len: usize) -> Vec<u32> {
    let dense: Option<Vec<&[i64]>> = keys.iter().map(Column::as_dense_ints).collect();
    match dense.as_deref() {
        Some([first]) => last_of_ints((0..len).map(|row| (first[row], row as u32)).collect()),
        Some([first, second]) => last_of_ints((0..len).map(|row| ((first[row], second[row]), row as u32)).collect()),
        _ => last_of_each(keys, len),
    }
}

/// [`last_of_each_key`] for integer keys, each with its row.
fn last_of_ints<K: Ord>(mut rows: Vec<(K, u32)>) -> Vec<u32> {
    rows.sort_unstable_by(|(a, row_a), (b, row_b)| a.cmp(b).then(row_b.cmp(row_a)));
    rows.dedup_by(|a, b| a.0 == b.0);
    rows.into_iter().map(|(_, row)| row).collect()
}
