//! The calls for backups. [`backup`] does the work.

use std::path::Path;

use super::db::DbInstance;
use crate::budget::Interrupt;
use crate::session::backup::{self, BackupProgress, Strictness};

impl DbInstance {
    /// Writes a backup: a new file, which is a database of the engine `sqlite`, with all relations as they are now. The database
    /// may be written to meanwhile.
    pub fn backup_db(&self, out_file: impl AsRef<Path>) -> miette::Result<()> {
        self.backup_with_progress(out_file, |_| ())
    }

    /// [`DbInstance::backup_db`] with reports of its progress.
    pub fn backup_with_progress(
        &self,
        out_file: impl AsRef<Path>,
        on_progress: impl FnMut(&BackupProgress),
    ) -> miette::Result<()> {
        self.backup_interruptible(out_file, &Interrupt::default(), on_progress)
    }

    /// [`DbInstance::backup_with_progress`], which [`Interrupt::kill`] can stop from another thread. Then there is no file.
    pub fn backup_interruptible(
        &self,
        out_file: impl AsRef<Path>,
        interrupt: &Interrupt,
        mut on_progress: impl FnMut(&BackupProgress),
    ) -> miette::Result<()> {
        backup::write(self.pipeline()?, out_file.as_ref(), interrupt, &mut on_progress)
    }

    /// Fills this database, which must have no relations, from a backup, any database of the engine `sqlite`, or a database of
    /// CozoDB 0.7. After an error nothing has changed. Rows of a damaged file that fit no relation are an error. Other losses are
    /// returned by [`DbInstance::restore_with_progress`].
    pub fn restore_backup(&self, in_file: impl AsRef<Path>) -> miette::Result<()> {
        self.restore_with_progress(in_file, Strictness::EveryRow, |_| ()).map(drop)
    }

    /// [`DbInstance::restore_backup`] with reports of its progress. Returns what could not be carried over, in words.
    pub fn restore_with_progress(
        &self,
        in_file: impl AsRef<Path>,
        strictness: Strictness,
        on_progress: impl FnMut(&BackupProgress),
    ) -> miette::Result<Vec<String>> {
        self.restore_interruptible(in_file, strictness, &Interrupt::default(), on_progress)
    }

    /// [`DbInstance::restore_with_progress`], which [`Interrupt::kill`] can stop from another thread. Then nothing has changed.
    pub fn restore_interruptible(
        &self,
        in_file: impl AsRef<Path>,
        strictness: Strictness,
        interrupt: &Interrupt,
        mut on_progress: impl FnMut(&BackupProgress),
    ) -> miette::Result<Vec<String>> {
        backup::restore(self.pipeline()?, in_file.as_ref(), strictness, interrupt, &mut on_progress)
    }

    /// Puts the rows of some relations of a backup into the relations with the same names; all of them or none. Columns are
    /// matched by name, and the values must fit.
    pub fn import_from_backup(&self, in_file: impl AsRef<Path>, relations: &[String]) -> miette::Result<()> {
        let mut txn = backup::import(self.pipeline()?, in_file.as_ref(), relations)?;
        Ok(self.core()?.commit(&mut txn)?)
    }
}
