//! Rows of integers on their way to a set that is not read before all rows have come.
//!
//! An [`IntCollector`] holds its rows in one of two forms:
//!
//! ```text
//! form    when                                                       duplicates are dropped
//! listed  few rows that lie far apart, if the caller allows a list   at the end, by sorting
//! set     otherwise (IntSet)                                         at once, by a bitmap
//! ```
//!
//! A bitmap is the fastest form if the rows lie close together. It is cleared from end to end, however, and its memory is not in
//! the caches: for few rows that lie far apart, sorting is faster. The list moves into the bitmap when it grows. Rows that fit
//! neither form are returned to the caller. Both forms give the rows in ascending order.

use crate::exec::index::packed_key::{PackedKey, all_ints};
use crate::exec::rowset::int_set::IntSet;
use crate::exec::rowset::table::Table;
use crate::exec::thresholds::{MAX_LISTED_ROWS, SORT_MIN_WORDS};
use crate::value::Batch;
use crate::value::sort::last_of_each_key;

/// Rows, which may have come more than once.
#[derive(Debug, Default)]
pub struct IntCollector {
    /// The rows as they came; empty if there is a set.
    listed: Batch,
    /// The codes that a bitmap of the listed rows would have.
    codes: PackedKey,
    set: IntSet,
}

impl IntCollector {
    /// At least the number of distinct rows: listed rows may have come more than once.
    pub fn len(&self) -> usize {
        self.listed.len + self.set.len()
    }

    /// Takes rows, and returns by how many [`IntCollector::len`] grew. Returns the rows if they are not integers, or too many for
    /// a list and too far apart for a bitmap. Rows are listed only if `may_list`.
    pub fn insert(&mut self, rows: Batch, may_list: bool) -> Result<usize, Batch> {
        let Some(columns) = all_ints(&rows.columns).filter(|columns| !columns.is_empty()) else { return Err(rows) };
        if may_list && self.set.len() == 0 {
            let codes = self.codes.widened(&columns);
            if is_worth_listing(&codes, self.listed.len + rows.len) {
                let added = rows.len;
                self.codes = codes;
                self.listed.append_all(rows);
                return Ok(added);
            }
        }
        let before = self.len();
        if !self.tell_apart() || !self.set.make_room(&columns, before + rows.len) {
            return Err(rows);
        }
        self.set.insert_all(&columns);
        // Rows that were listed more than once now count once.
        Ok(self.len().saturating_sub(before))
    }

    /// Moves the listed rows into the bitmap; returns `false` if they lie too far apart.
    fn tell_apart(&mut self) -> bool {
        if self.listed.is_empty() {
            return true;
        }
        let columns = all_ints(&self.listed.columns).expect("nothing but integers is listed");
        if !self.set.make_room(&columns, self.listed.len) {
            return false;
        }
        self.set.insert_all(&columns);
        self.listed = Batch::default();
        true
    }

    /// Takes the rows of another collector, or returns them if they lie too far apart.
    pub fn union(&mut self, other: IntCollector) -> Result<(), IntCollector> {
        if !other.listed.is_empty() {
            let refused = |listed| IntCollector { listed, ..IntCollector::default() };
            return self.insert(other.listed, true).map(drop).map_err(refused);
        }
        if other.set.len() == 0 {
            return Ok(());
        }
        if !self.tell_apart() {
            return Err(other);
        }
        self.set.union(other.set).map_err(|set| IntCollector { set, ..IntCollector::default() })
    }

    /// The set of the rows, in ascending order.
    pub fn into_table(self) -> Table {
        if self.set.len() > 0 {
            return Table::of_ints(self.set);
        }
        let width = self.listed.columns.len();
        Table::of_distinct(last_of_each_key(self.listed, width))
    }
}

/// Whether sorting so many rows with these codes is faster than a bitmap.
fn is_worth_listing(codes: &PackedKey, rows: usize) -> bool {
    rows <= MAX_LISTED_ROWS && codes.count().is_none_or(|bits| bits / 64 >= rows as u64 * SORT_MIN_WORDS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::value::{Column, DataValue};

    /// Rows of one column or two, multiplied by `apart`, each several times.
    fn rows(width: usize, len: i64, apart: i64, seed: i64) -> Batch {
        let value = |factor: i64| (0..len).map(|row| (row * factor + seed) % (len / 2 + 1) * apart).collect();
        Batch::new((0..width).map(|column| Column::ints(value(7919 + column as i64))).collect(), len as usize)
    }

    fn values(batch: &Batch) -> Vec<Vec<DataValue>> {
        batch.rows().collect()
    }

    #[test]
    fn each_row_is_kept_once_and_in_order_whether_listed_or_not() {
        for width in [1, 2] {
            // Close together, farther apart, and too far for a bitmap.
            for apart in [1, 500, 1 << 40] {
                for lens in [vec![20, 3, 9], vec![300, 2000, 1500], vec![3000, 10, 3000]] {
                    let parts = || lens.iter().zip(0..).map(|(len, seed)| rows(width, *len, apart, seed * 5));
                    let (mut one, mut united) = (IntCollector::default(), IntCollector::default());
                    let (mut refused, mut refused_of_union) = (vec![], vec![]);
                    for part in parts() {
                        let (before, mut other) = (one.len(), IntCollector::default());
                        match one.insert(part.clone(), true) {
                            Ok(added) => assert_eq!(added, one.len().saturating_sub(before)),
                            Err(part) => refused.extend(values(&part)),
                        }
                        match other.insert(part, true).map(|_| united.union(other)) {
                            Ok(Ok(())) => (),
                            Ok(Err(other)) => refused_of_union.extend(values(other.into_table().rows())),
                            Err(part) => refused_of_union.extend(values(&part)),
                        }
                    }
                    let expected: BTreeSet<_> = parts().flat_map(|part| values(&part)).collect();
                    let is_vast = apart == 1 << 40 && lens.iter().sum::<i64>() > MAX_LISTED_ROWS as i64;
                    for (rows, refused) in [(one, refused), (united, refused_of_union)] {
                        assert!(!refused.is_empty() || !is_vast, "there is no room for {lens:?} rows so far apart");
                        let kept = values(rows.into_table().rows());
                        assert!(kept.is_sorted_by(|a, b| a < b), "{width} {apart} {lens:?}");
                        let all: BTreeSet<_> = kept.into_iter().chain(refused).collect();
                        assert_eq!(all, expected, "{width} {apart} {lens:?}");
                    }
                }
            }
        }
    }
}
