//! The cache of indexes of stored relations, which queries share.
//!
//! Many look-ups cost more than reading all rows once and indexing them. The cache counts the cost of look-ups over all queries,
//! as long as the relation has [the same contents](ContentVersion). Once they have cost as much as an index would, an index is
//! built and kept for later queries.
//!
//! ```text
//! state     meaning                                                  next
//! Awaited   look-ups are counted; `rows` more until it pays          Made or Unfit, at 0 rows
//! Made      the index is there                                       dropped, least recently used first
//! Unfit     too large to keep, or found by hash                      none
//! any       the contents changed                                     Awaited
//! ```
//!
//! All entries together stay within a budget of bytes.

use std::sync::Arc;

use crate::exec::index::hash_index::IndexedRows;
use crate::exec::thresholds::{ROWS_PER_FOUND, ROWS_PER_LOOKUP, ROWS_PER_LOOKUP_OF_QUERY};
use crate::schema::RelationId;
use crate::storage::{AsOf, CachedValue, ContentCache, ContentVersion};

/// What is indexed: a relation and the time at which it is read, the key columns, and the columns that the index gives.
pub type Indexed = ((RelationId, Option<AsOf>), Vec<usize>, Vec<usize>);

/// How many keys a query may look up among so many rows before an index for this query alone pays.
pub fn lookups_before_index(rows: u64) -> u64 {
    rows / ROWS_PER_LOOKUP_OF_QUERY
}

/// The indexes that a database keeps.
pub struct IndexCache {
    indexes: ContentCache<Indexed, Progress>,
}

enum Progress {
    /// The index pays once look-ups have cost as much as reading so many rows.
    Awaited { rows: u64 },
    /// The index is there.
    Made(Arc<IndexedRows>),
    /// The index is too large to keep, or no faster than look-ups.
    Unfit,
}

/// How to find rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Advice {
    /// Look them up.
    LookUp,
    /// Use the index, or build it.
    Index,
    /// The cache cannot say: the index cannot be kept.
    Unknown,
}

impl IndexCache {
    /// An empty cache for so many bytes of indexes.
    pub fn new(budget_bytes: usize) -> Self {
        IndexCache { indexes: ContentCache::new(budget_bytes) }
    }

    /// Reads or changes an entry, if there is one for these contents.
    fn with<R>(&self, of: &Indexed, contents: ContentVersion, read: impl FnOnce(&mut Progress) -> R) -> Option<R> {
        self.indexes.with((of.0.0, contents), of, read)
    }

    fn put(&self, of: &Indexed, contents: ContentVersion, progress: Progress) {
        self.indexes.put((of.0.0, contents), of.clone(), progress);
    }

    /// How to find the rows of so many look-ups, which are counted. `rows` gives the cost of an index, in rows to read.
    pub fn advice(&self, of: &Indexed, contents: ContentVersion, lookups: usize, rows: impl FnOnce() -> u64) -> Advice {
        let count = |progress: &mut Progress| match progress {
            Progress::Awaited { rows: left } => {
                *left = left.saturating_sub(lookups as u64 * ROWS_PER_LOOKUP);
                if *left == 0 { Advice::Index } else { Advice::LookUp }
            }
            Progress::Made(_) => Advice::Index,
            Progress::Unfit => Advice::Unknown,
        };
        self.with(of, contents, count).unwrap_or_else(|| {
            let mut progress = Progress::Awaited { rows: rows() };
            let advice = count(&mut progress);
            self.put(of, contents, progress);
            advice
        })
    }

    /// Counts rows that look-ups found, after they were [advised](Self::advice).
    pub fn found(&self, of: &Indexed, contents: ContentVersion, rows: usize) {
        self.with(of, contents, |progress| {
            if let Progress::Awaited { rows: left } = progress {
                *left = left.saturating_sub(rows as u64 * ROWS_PER_FOUND);
            }
        });
    }

    /// The index of these contents, if it is kept.
    pub fn find(&self, of: &Indexed, contents: ContentVersion) -> Option<Arc<IndexedRows>> {
        let index = |progress: &mut Progress| match progress {
            Progress::Made(index) => Some(index.clone()),
            _ => None,
        };
        self.with(of, contents, index).flatten()
    }

    /// Keeps an index that is found by position and is not too large. Otherwise, or for `None`, no index of these contents is
    /// advised again.
    pub fn keep(&self, of: &Indexed, contents: ContentVersion, index: Option<&Arc<IndexedRows>>) {
        let most = self.indexes.budget_bytes();
        let fits = |index: &&Arc<IndexedRows>| bytes_to_keep(index).is_some_and(|bytes| bytes <= most);
        let progress = index.filter(fits).map_or(Progress::Unfit, |index| Progress::Made(index.clone()));
        self.indexes.drop_others((of.0.0, contents));
        self.put(of, contents, progress);
        self.indexes.keep_within_budget(|_| ());
    }
}

/// The bytes of an index that is found by position. An index that is found by hash is not kept.
fn bytes_to_keep(index: &IndexedRows) -> Option<usize> {
    match index {
        IndexedRows::Placed(places) => Some(places.memory_bytes()),
        IndexedRows::Grouped(groups) => Some(groups.memory_bytes()),
        IndexedRows::Indexed { .. } => None,
    }
}

impl CachedValue for Progress {
    fn memory_bytes(&self) -> usize {
        match self {
            Progress::Made(index) => bytes_to_keep(index).unwrap_or(0),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::index::clustered_rows::ClusteredRows;
    use crate::storage::Identity;
    use crate::value::{Batch, Column};

    fn indexed(rows: i64) -> Arc<IndexedRows> {
        let columns = vec![Column::ints((0..rows).collect()), Column::ints(vec![7; rows as usize])];
        let mut groups = ClusteredRows::new(1);
        groups.append(&Batch::new(columns, rows as usize), rows as u64).expect("keys ascend and lie close together");
        Arc::new(IndexedRows::Grouped(groups))
    }

    #[test]
    fn look_ups_and_what_they_find_are_counted_until_an_index_is_due_and_begin_anew_with_other_contents() {
        let kept = IndexCache::new(1 << 20);
        let of: Indexed = ((RelationId(3), None), vec![0], vec![1]);
        let (first, second) = (Identity::default().id(), Identity::default().id());
        let advice = |contents, lookups| kept.advice(&of, contents, lookups, || 100 * ROWS_PER_LOOKUP);
        assert_eq!(
            [advice(first, 60), advice(first, 39), advice(first, 1)],
            [Advice::LookUp, Advice::LookUp, Advice::Index]
        );
        assert!(kept.find(&of, first).is_none());
        kept.keep(&of, first, Some(&indexed(400)));
        assert_eq!(advice(first, 1), Advice::Index);
        assert!(kept.find(&of, first).is_some() && kept.find(&of, second).is_none());
        assert_eq!([advice(second, 99), advice(second, 1)], [Advice::LookUp, Advice::Index]);
        let third = Identity::default().id();
        assert_eq!(advice(third, 80), Advice::LookUp);
        kept.found(&of, second, 1000);
        assert_eq!(advice(third, 10), Advice::LookUp);
        kept.found(&of, third, 5 * (ROWS_PER_LOOKUP / ROWS_PER_FOUND) as usize);
        assert_eq!(advice(third, 5), Advice::Index);
    }

    #[test]
    fn what_does_not_fit_is_not_kept_and_what_was_used_longest_ago_gives_way() {
        let IndexedRows::Grouped(one) = &*indexed(1_000) else { unreachable!("made so") };
        let kept = IndexCache::new(one.memory_bytes() * 2);
        let of = |relation| ((RelationId(relation), None), vec![0], vec![1]);
        let contents = Identity::default().id();
        kept.keep(&of(1), contents, Some(&indexed(10_000)));
        assert_eq!(kept.advice(&of(1), contents, 1, || 10_000), Advice::Unknown);
        (2..4).for_each(|relation| kept.keep(&of(relation), contents, Some(&indexed(1_000))));
        assert!(kept.find(&of(2), contents).is_some());
        kept.keep(&of(4), contents, Some(&indexed(1_000)));
        assert_eq!([2, 3, 4].map(|relation| kept.find(&of(relation), contents).is_some()), [true, false, true]);
    }
}
