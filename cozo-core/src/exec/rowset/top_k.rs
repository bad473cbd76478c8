//! The first rows of an order, where no others are wanted (`:order` with `:limit`).
//!
//! A [`TopK`] cuts the table of the entry to the wanted rows whenever the table has grown to about twice as many. The last wanted
//! row is then the *threshold*: rows that sort after it are dropped as they come.
//!
//! [`OrderedScan`](crate::exec::access::ordered_scan::OrderedScan) uses the threshold to stop reading.

use crate::exec::rowset::table::Table;
use crate::exec::sorting::compare;
use crate::exec::thresholds::TOP_K_SLACK;
use crate::plan::SortKey;
use crate::value::{Batch, DataValue};

/// Which rows are wanted.
#[derive(Clone, Debug)]
pub struct TopKSpec {
    /// The order, by one column at least.
    pub keys: Vec<SortKey>,
    /// How many rows from its beginning, at least one.
    pub rows: usize,
}

/// Cuts a table to the wanted rows from time to time.
#[derive(Clone, Debug)]
pub struct TopK {
    wanted: TopKSpec,
    /// The last wanted row so far, if there are enough rows.
    threshold: Option<Batch>,
}

impl TopK {
    pub fn new(wanted: TopKSpec) -> Self {
        TopK { wanted, threshold: None }
    }

    /// The rows that do not sort after the threshold; `None` if that is all of them.
    pub fn before_threshold(&self, rows: &Batch) -> Option<Vec<u32>> {
        let threshold = self.threshold.as_ref()?;
        let leading = self.leading_key();
        let [ints, last] = [rows, threshold].map(|batch| batch.columns[leading.column].as_dense_ints());
        let is_ahead = |row: usize| match (ints, last) {
            // Nearly all comparisons are decided by the leading column.
            (Some(ints), Some(last)) if ints[row] != last[0] => (ints[row] > last[0]) == leading.descending,
            _ => compare(&self.wanted.keys, (rows, row), (threshold, 0)).is_le(),
        };
        let ahead: Vec<u32> = (0..rows.len as u32).filter(|row| is_ahead(*row as usize)).collect();
        (ahead.len() < rows.len).then_some(ahead)
    }

    /// How many rows are wanted.
    pub fn wanted_rows(&self) -> usize {
        self.wanted.rows
    }

    /// The column that is sorted by first.
    pub fn leading_key(&self) -> SortKey {
        self.wanted.keys[0]
    }

    /// Whether a table has grown so much that it is worth cutting.
    pub fn is_worth_cutting(&self, table: &Table) -> bool {
        table.len() / 2 > self.wanted.rows.saturating_add(TOP_K_SLACK / 2)
    }

    /// Whether a table has enough rows for the first time, so that a cut sets the threshold.
    pub fn has_enough(&self, table: &Table) -> bool {
        self.threshold.is_none() && table.len() >= self.wanted.rows
    }

    /// Cuts a table to the wanted rows, and sets the threshold. The table must have enough rows.
    pub fn cut(&mut self, table: &mut Table) {
        let wanted = self.wanted.rows;
        let rows = std::mem::replace(table, Table::set(table.rows().columns.len())).into_rows();
        let mut order: Vec<u32> = (0..rows.len as u32).collect();
        let keys = &self.wanted.keys;
        order.select_nth_unstable_by(wanted - 1, |a, b| compare(keys, (&rows, *a as usize), (&rows, *b as usize)));
        self.threshold = Some(rows.take(&order[wanted - 1..wanted]));
        *table = Table::of_distinct(if rows.len == wanted { rows } else { rows.take(&order[..wanted]) });
    }

    /// Whether all rows with `value`, or one after it in the order, in the leading column sort after the threshold. `without`
    /// excludes `value` itself.
    pub fn is_past(&self, value: &DataValue, without: bool) -> bool {
        let Some(threshold) = &self.threshold else { return false };
        let key = self.leading_key();
        let order = value.cmp(&threshold.columns[key.column].get(0));
        let is_after = if key.descending { order.is_lt() } else { order.is_gt() };
        is_after || (without && order.is_eq())
    }
}
