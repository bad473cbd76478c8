//! Sorted parts of rows on disk.

use std::sync::{Arc, Weak};

use super::merge::Merge;
use super::order::RunOrder;
use crate::budget::{Budget, temporary};
use crate::exec::error::ExecError;
use crate::exec::thresholds::{MAX_SHARED_FILE_BYTES, MIN_MERGE_ROWS, SORT_SHARE_OF_MEMORY};
use crate::spill::{SpillFile, SpillSpace, SpillWriter, SpilledRows};
use crate::sync::Mutex;
use crate::value::Batch;

/// Where a query puts rows, and its budget.
#[derive(Clone)]
pub struct Disk {
    space: Arc<SpillSpace>,
    budget: Budget,
    /// The file that was created last. Those who need one share it while it is small, so that a query has few files.
    newest: Arc<Mutex<Weak<SpillFile>>>,
}

impl Disk {
    /// The disk of a database, for a query with this budget.
    pub fn new(space: &Arc<SpillSpace>, budget: &Budget) -> Self {
        Disk { space: space.clone(), budget: budget.clone(), newest: Arc::default() }
    }

    /// The disk of a database, for the budget that the thread works for.
    pub fn of_current(space: &Arc<SpillSpace>) -> Self {
        let budget = Budget::current().unwrap_or_else(|| Budget::within_current(usize::MAX));
        Disk { space: space.clone(), budget, newest: Arc::default() }
    }

    /// The budget of the query.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// A file to write into.
    pub fn file(&self) -> Arc<SpillFile> {
        let mut newest = self.newest.lock();
        if let Some(file) = newest.upgrade().filter(|file| file.len() < MAX_SHARED_FILE_BYTES) {
            return file;
        }
        let file = SpillFile::new(&self.space, &self.budget);
        *newest = Arc::downgrade(&file);
        file
    }
}

/// Rows on disk, in sorted parts.
pub struct SortedRuns {
    order: RunOrder,
    disk: Disk,
    /// About how many bytes are sorted at a time.
    part_bytes: usize,
    file: Arc<SpillFile>,
    runs: Vec<SpilledRows>,
    /// The last row of the last run.
    last: Batch,
    /// Rows that do not fill a part yet,
    pending: Batch,
    /// and their bytes.
    pending_bytes: usize,
}

impl SortedRuns {
    /// No rows yet.
    pub fn new(order: RunOrder, disk: &Disk) -> Self {
        SortedRuns::one_of(1, order, disk)
    }

    /// One of several that grow at the same time, and share the memory.
    pub fn one_of(several: usize, order: RunOrder, disk: &Disk) -> Self {
        let part_bytes = disk.budget.spill_above() / SORT_SHARE_OF_MEMORY / several;
        let (file, disk, last, pending) = (disk.file(), disk.clone(), Batch::default(), Batch::default());
        SortedRuns { order, disk, part_bytes, file, runs: vec![], last, pending, pending_bytes: 0 }
    }

    /// Takes rows, and writes them when there are enough for a part.
    pub fn push(&mut self, rows: Batch) -> Result<(), ExecError> {
        self.disk.budget.check()?;
        self.pending_bytes += rows.memory_bytes();
        self.pending.append_all(rows);
        let is_part = self.pending.len >= MIN_MERGE_ROWS && self.pending_bytes >= self.part_bytes;
        if is_part { self.write_pending() } else { Ok(()) }
    }

    fn write_pending(&mut self) -> Result<(), ExecError> {
        self.pending_bytes = 0;
        let rows = std::mem::take(&mut self.pending);
        self.add(rows)
    }

    /// Sorts rows and writes them as a part.
    pub fn add(&mut self, rows: Batch) -> Result<(), ExecError> {
        if rows.is_empty() {
            return Ok(());
        }
        let _sorting = temporary();
        let rows = self.order.sort(rows)?;
        let mut writer = SpillWriter::new(self.file.clone(), rows.columns.len());
        writer.push(&rows)?;
        let written = writer.finish()?;
        let goes_on = self.last.len > 0 && self.order.compare((&self.last, 0), (&rows, 0)).is_lt();
        match self.runs.last_mut().filter(|_| goes_on) {
            Some(run) => run.append(written),
            None => self.runs.push(written),
        }
        self.last = rows.slice(rows.len - 1..rows.len);
        Ok(())
    }

    /// Takes the runs of a fork, whose rows come after these.
    pub fn append(&mut self, other: SortedRuns) {
        self.runs.extend(other.runs);
        // A run of a fork is not continued: that would cost a look at its first row.
        self.last = Batch::default();
    }

    /// The number of rows, of which some may be equal.
    pub fn len(&self) -> usize {
        self.runs.iter().map(SpilledRows::len).sum::<usize>() + self.pending.len
    }

    /// All rows in order.
    pub fn merge(mut self) -> Result<Merge, ExecError> {
        self.write_pending()?;
        Ok(Merge::new(self.order, self.runs, self.disk.budget))
    }

    /// All rows in order, on disk. One run is left as it is.
    pub fn into_rows(mut self) -> Result<SpilledRows, ExecError> {
        self.write_pending()?;
        if self.runs.len() == 1 {
            return Ok(self.runs.swap_remove(0));
        }
        let width = self.runs.first().map_or(0, SpilledRows::width);
        // A file of its own, so that the runs are freed.
        let mut writer = SpillWriter::new(self.disk.file(), width);
        let mut merge = self.merge()?;
        while let Some(rows) = merge.next_rows()? {
            writer.push(&rows)?;
        }
        Ok(writer.finish()?)
    }
}
