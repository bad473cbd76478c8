//! The progress of a backup or a restore.

use crate::budget::{Interrupt, Stop};
use crate::schema::RelationSchema;

/// The progress of a backup or a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupProgress {
    /// The relation or index that is being copied.
    pub relation: String,
    /// The rows copied so far, of all relations and indices.
    pub rows: u64,
    /// The approximate number of all rows.
    pub total_rows: u64,
}

/// A function that is called at intervals during a backup or a restore.
pub type OnProgress<'a> = &'a mut dyn FnMut(&BackupProgress);

/// Reports progress, and checks the interrupt.
pub struct Meter<'a> {
    progress: BackupProgress,
    interrupt: &'a Interrupt,
    on_progress: OnProgress<'a>,
}

impl<'a> Meter<'a> {
    /// A meter that has measured nothing.
    pub fn new(total_rows: u64, interrupt: &'a Interrupt, on_progress: OnProgress<'a>) -> Self {
        Meter { progress: BackupProgress { relation: String::new(), rows: 0, total_rows }, interrupt, on_progress }
    }

    /// The copy of a relation or an index begins.
    pub fn begins(&mut self, schema: &RelationSchema) {
        self.progress.relation = schema.name.to_string();
        (self.on_progress)(&self.progress);
    }

    /// Rows were copied.
    pub fn copied(&mut self, rows: usize) -> Result<(), Stop> {
        self.progress.rows += rows as u64;
        (self.on_progress)(&self.progress);
        self.interrupt.check()
    }
}
