//! Groups that exceed the memory.
//!
//! Groups are collected in memory first. If they take too much of it, the rules give up, and their rows are parted by the grouping
//! columns on disk instead. Each partition has all rows of its groups, in their order, and is grouped on its own.

use rayon::prelude::*;

use crate::exec::error::ExecError;
use crate::exec::run::Run;
use crate::exec::sink::GroupSink;
use crate::exec::sorting::{Disk, part_again};
use crate::exec::thresholds::{MAX_BATCH_ROWS, MAX_PARTITION_LEVEL};
use crate::program::AggregationUse;
use crate::spill::{SpillWriter, SpilledRows};

/// The columns of a head that group.
pub fn grouping_columns(aggregations: &[Option<AggregationUse>]) -> Vec<usize> {
    aggregations.iter().enumerate().filter_map(|(column, used)| used.is_none().then_some(column)).collect()
}

/// Groups partitions of rows on disk.
pub struct PartedGroups<'r> {
    run: &'r Run<'r>,
    disk: &'r Disk,
    aggregations: &'r [Option<AggregationUse>],
    /// The grouping columns.
    keys: Vec<usize>,
    /// The bytes that the groups of one thread may take.
    most_bytes: usize,
}

impl<'r> PartedGroups<'r> {
    /// Groups by the columns without an aggregation.
    pub fn new(run: &'r Run<'r>, disk: &'r Disk, aggregations: &'r [Option<AggregationUse>]) -> Self {
        let most_bytes = run.part_bytes();
        PartedGroups { run, disk, aggregations, keys: grouping_columns(aggregations), most_bytes }
    }

    /// The groups of partitions of this level.
    pub fn finish(&self, partitions: Vec<SpilledRows>, level: u32) -> Result<SpilledRows, ExecError> {
        let finish = |rows: SpilledRows| {
            let _entered = self.run.budget.enter();
            self.finish_one(rows, level)
        };
        let groups: Vec<SpilledRows> = partitions.into_par_iter().map(finish).collect::<Result<_, _>>()?;
        let mut all = SpilledRows::empty(self.aggregations.len());
        groups.into_iter().for_each(|groups| all.append(groups));
        Ok(all)
    }

    /// The groups of one partition.
    fn finish_one(&self, rows: SpilledRows, level: u32) -> Result<SpilledRows, ExecError> {
        let budget = self.run.budget;
        let mut sink = GroupSink::new(self.aggregations.iter().map(Option::as_ref), self.run.input.parameters)?;
        let head: Vec<usize> = (0..self.aggregations.len()).collect();
        let (mut reader, mut bytes) = (rows.read_all(), 0);
        while let Some(batch) = reader.next_rows(MAX_BATCH_ROWS)? {
            budget.check()?;
            sink.take(batch, &head)?;
            let grown = std::mem::take(&mut sink.grown);
            budget.charge(grown).inspect_err(|_| budget.release(bytes))?;
            bytes += grown;
            if bytes > self.most_bytes && level < MAX_PARTITION_LEVEL && reader.rows_left() > MAX_BATCH_ROWS {
                drop(sink);
                budget.release(bytes);
                return self.finish(part_again(&rows, &self.keys, level + 1, self.disk)?, level + 1);
            }
        }
        let mut writer = SpillWriter::new(self.disk.file(), head.len());
        writer.push(&sink.finish()?)?;
        budget.release(bytes);
        Ok(writer.finish()?)
    }
}
