//! Sorted runs, read as one.
//!
//! A merge row by row would compare each row several times. Instead, a [`Merge`] reads a part of each run, and takes the rows up to
//! its *bound*: the least of the last rows that were read of runs that go on. No row that is not read yet comes before the bound, so
//! these rows, sorted together, are the next ones.

use super::order::RunOrder;
use crate::budget::{Budget, temporary};
use crate::exec::error::ExecError;
use crate::exec::thresholds::{MAX_MERGE_ROWS, MERGE_SHARE_OF_MEMORY, MIN_MERGE_ROWS};
use crate::spill::{SpillReader, SpilledRows};
use crate::value::Batch;

/// Reads sorted runs as one.
pub struct Merge {
    order: RunOrder,
    inputs: Vec<Input>,
    /// The rows to read of a run at a time.
    rows: usize,
    /// All runs, to read them again.
    runs: Vec<SpilledRows>,
    budget: Budget,
}

/// A run, of which some rows are read.
struct Input {
    reader: SpillReader,
    read: Batch,
    /// The rows of `read` that are taken.
    taken: usize,
}

impl Input {
    /// Reads about so many more rows, if all that were read are taken. Returns whether there are rows.
    fn fill(&mut self, rows: usize) -> Result<bool, ExecError> {
        if self.taken < self.read.len {
            return Ok(true);
        }
        (self.read, self.taken) = (Batch::default(), 0);
        while self.read.len < rows {
            let Some(more) = self.reader.next_rows(rows - self.read.len)? else { break };
            self.read.append_all(more);
        }
        Ok(self.read.len > 0)
    }

    /// Takes the rows up to an end.
    fn take_to(&mut self, end: usize, taken: &mut Batch) {
        if self.taken == 0 && end == self.read.len {
            taken.append_all(std::mem::take(&mut self.read));
            return;
        }
        if taken.len == 0 {
            *taken = self.read.slice(self.taken..end);
        } else {
            for (column, source) in taken.columns.iter_mut().zip(&self.read.columns) {
                column.append_range(source, self.taken..end);
            }
            taken.len += end - self.taken;
        }
        self.taken = end;
    }
}

impl Merge {
    /// Reads runs. Equal rows count as coming in the order of their runs.
    pub fn new(order: RunOrder, runs: Vec<SpilledRows>, budget: Budget) -> Self {
        let (rows, bytes) =
            runs.iter().fold((0, 0), |(rows, bytes), run| (rows + run.len(), bytes + run.memory_bytes()));
        let row_bytes = bytes / rows.max(1) + 1;
        let share = budget.spill_above() / MERGE_SHARE_OF_MEMORY / runs.len().max(1);
        let inputs = runs.iter().map(|run| Input { reader: run.read_all(), read: Batch::default(), taken: 0 });
        let rows = (share / row_bytes).clamp(MIN_MERGE_ROWS, MAX_MERGE_ROWS);
        Merge { order, inputs: inputs.collect(), rows, runs, budget }
    }

    /// Reads the same runs from their beginning.
    pub fn again(&self) -> Self {
        Merge::new(self.order.clone(), self.runs.clone(), self.budget.clone())
    }

    /// Goes on when the script of the query has ended.
    pub fn outlive_script(&mut self) {
        self.budget = self.budget.without_interrupt();
    }

    /// The next rows in order; `None` after the last.
    pub fn next_rows(&mut self) -> Result<Option<Batch>, ExecError> {
        self.budget.check()?;
        let _sorting = temporary();
        let mut going = Vec::with_capacity(self.inputs.len());
        for mut input in std::mem::take(&mut self.inputs) {
            if input.fill(self.rows)? {
                going.push(input);
            }
        }
        self.inputs = going;
        let mut taken = Batch::default();
        if let [only] = self.inputs.as_mut_slice() {
            only.take_to(only.read.len, &mut taken);
            return Ok(Some(taken));
        }
        let Some(bound) = self.bound() else {
            self.inputs.iter_mut().for_each(|input| input.take_to(input.read.len, &mut taken));
            return (taken.len > 0).then(|| self.order.sort(taken)).transpose();
        };
        let order = &self.order;
        for input in &mut self.inputs {
            let end = end_within(order, &input.read, input.taken, &bound);
            input.take_to(end, &mut taken);
        }
        Ok(Some(self.order.sort(taken)?))
    }

    /// The least of the last rows that were read of runs that go on; `None` if none goes on.
    fn bound(&self) -> Option<Batch> {
        let going = self.inputs.iter().filter(|input| input.reader.rows_left() > 0).map(|input| &input.read);
        let least = going.min_by(|a, b| self.order.compare((a, a.len - 1), (b, b.len - 1)))?;
        Some(least.slice(least.len - 1..least.len))
    }
}

/// The end of the rows from `start` on that do not come after the bound.
fn end_within(order: &RunOrder, rows: &Batch, start: usize, bound: &Batch) -> usize {
    let (mut low, mut high) = (start, rows.len);
    while low < high {
        let middle = low + (high - low) / 2;
        if order.compare((rows, middle), (bound, 0)).is_le() { low = middle + 1 } else { high = middle }
    }
    low
}
