//! A sink that parts rows by hash, on disk.

use super::Sink;
use super::groups::project;
use crate::exec::error::ExecError;
use crate::exec::run::Run;
use crate::exec::sorting::{Disk, Partitions, append_partitions};
use crate::expr::{Expr, Frame};
use crate::spill::SpilledRows;
use crate::value::{Batch, DataValue};

/// What the rows are parted by.
#[derive(Clone, Copy)]
pub enum PartitionKey<'a> {
    /// Some columns of the head.
    Head(&'a [usize]),
    /// The values of the key expressions of a join.
    Values(&'a [(usize, Expr)]),
}

/// The partitions of what `fill` puts into a sink: rows of so many columns.
pub fn into_partitions(
    key: PartitionKey<'_>,
    width: usize,
    run: &Run<'_>,
    disk: &Disk,
    fill: impl FnOnce(&mut Sink<'_>) -> Result<(), ExecError>,
) -> Result<Vec<SpilledRows>, ExecError> {
    let sink = PartitionSink::new(key, run.input.parameters, Partitions::new(width, 0, disk));
    let mut sink = Sink::Partitions(sink);
    fill(&mut sink)?;
    match sink {
        Sink::Partitions(sink) => sink.finish(),
        _ => unreachable!("the sink was just made"),
    }
}

/// Parts rows by the hash of a key.
pub struct PartitionSink<'a> {
    key: PartitionKey<'a>,
    parameters: &'a [&'a DataValue],
    partitions: Partitions,
    /// The partitions of forks.
    gathered: Vec<SpilledRows>,
}

impl<'a> PartitionSink<'a> {
    /// A sink into empty partitions.
    pub fn new(key: PartitionKey<'a>, parameters: &'a [&'a DataValue], partitions: Partitions) -> Self {
        PartitionSink { key, parameters, partitions, gathered: vec![] }
    }

    /// Takes a batch of solutions; `head` has the slots to keep.
    pub fn take(&mut self, mut solutions: Batch, head: &[usize]) -> Result<(), ExecError> {
        let mut hashes = vec![0; solutions.len];
        match self.key {
            PartitionKey::Head(columns) => {
                columns.iter().for_each(|column| solutions.columns[head[*column]].hash_into(&mut hashes));
            }
            PartitionKey::Values(keys) => {
                let frame = Frame { columns: &solutions.columns, len: solutions.len, parameters: self.parameters };
                for (_, key) in keys {
                    key.eval(frame)?.into_shared_column(solutions.len)?.hash_into(&mut hashes);
                }
            }
        }
        self.partitions.push(&project(&mut solutions, head, &[]), &hashes)
    }

    /// An empty sink for another thread.
    pub fn fork(&self) -> PartitionSink<'_> {
        PartitionSink::new(self.key, self.parameters, self.partitions.fork())
    }

    /// Adds the partitions of a fork.
    pub fn merge(&mut self, partitions: Vec<SpilledRows>) {
        append_partitions(&mut self.gathered, partitions);
    }

    /// The partitions.
    pub fn finish(self) -> Result<Vec<SpilledRows>, ExecError> {
        let mut all = self.gathered;
        append_partitions(&mut all, self.partitions.finish()?);
        Ok(all)
    }
}
