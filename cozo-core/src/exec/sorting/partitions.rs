//! Rows on disk, parted by hash.
//!
//! Rows with the same key are in the same partition. So each partition can be grouped, or joined with the partition of another
//! relation, on its own, in a fraction of the memory. A partition that is still too large is parted again, by other bits of the hash.

use std::sync::Arc;

use super::runs::Disk;
use crate::exec::error::ExecError;
use crate::exec::thresholds::{MAX_PARTITION_LEVEL, PARTITION_BITS};
use crate::spill::{SpillFile, SpillWriter, SpilledRows};
use crate::value::Batch;

/// Writes rows into partitions.
pub struct Partitions {
    disk: Disk,
    file: Arc<SpillFile>,
    writers: Vec<SpillWriter>,
    width: usize,
    level: u32,
    /// For each partition, its rows of the batch that is written. Kept for the memory.
    chosen: Vec<Vec<u32>>,
}

/// The number of partitions.
const PARTITIONS: usize = 1 << PARTITION_BITS;

impl Partitions {
    /// Empty partitions for rows of so many columns. The level is 0, or one more than that of the partition that is parted again; at most
    /// [`MAX_PARTITION_LEVEL`].
    pub fn new(width: usize, level: u32, disk: &Disk) -> Self {
        debug_assert!(level <= MAX_PARTITION_LEVEL, "the hash has bits for each level");
        Partitions::of_file(disk.file(), width, level, disk)
    }

    fn of_file(file: Arc<SpillFile>, width: usize, level: u32, disk: &Disk) -> Self {
        let writers = (0..PARTITIONS).map(|_| SpillWriter::new(file.clone(), width)).collect();
        Partitions { disk: disk.clone(), file, writers, width, level, chosen: vec![vec![]; PARTITIONS] }
    }

    /// Empty partitions for another thread, in the same file.
    pub fn fork(&self) -> Self {
        Partitions::of_file(self.file.clone(), self.width, self.level, &self.disk)
    }

    /// Writes rows, whose keys have these hashes.
    pub fn push(&mut self, rows: &Batch, hashes: &[u64]) -> Result<(), ExecError> {
        self.disk.budget().check()?;
        let shift = u64::BITS - PARTITION_BITS * (self.level + 1);
        for (row, hash) in hashes.iter().enumerate() {
            self.chosen[(hash >> shift) as usize % PARTITIONS].push(row as u32);
        }
        for (writer, chosen) in self.writers.iter_mut().zip(&mut self.chosen) {
            if !chosen.is_empty() {
                writer.push_some(rows, chosen)?;
                chosen.clear();
            }
        }
        Ok(())
    }

    /// The partitions.
    pub fn finish(self) -> Result<Vec<SpilledRows>, ExecError> {
        Ok(self.writers.into_iter().map(SpillWriter::finish).collect::<Result<_, _>>()?)
    }
}

/// The partitions, of this level, of rows on disk, by the hash of some columns.
pub fn part_again(
    rows: &SpilledRows,
    columns: &[usize],
    level: u32,
    disk: &Disk,
) -> Result<Vec<SpilledRows>, ExecError> {
    let (mut partitions, mut reader) = (Partitions::new(rows.width(), level, disk), rows.read_all());
    while let Some(batch) = reader.next_rows(usize::MAX)? {
        let mut hashes = vec![0; batch.len];
        columns.iter().for_each(|column| batch.columns[*column].hash_into(&mut hashes));
        partitions.push(&batch, &hashes)?;
    }
    partitions.finish()
}

/// Appends the partitions of another thread, one by one.
pub fn append_partitions(all: &mut Vec<SpilledRows>, more: Vec<SpilledRows>) {
    if all.is_empty() {
        *all = more;
    } else {
        all.iter_mut().zip(more).for_each(|(rows, more)| rows.append(more));
    }
}
