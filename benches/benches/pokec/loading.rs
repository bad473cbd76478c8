//! Rows into a database: by scripts and imports, in batches of 300 rows and in large pieces, and from files of CSV; backup and restore.

use std::path::Path;
use std::time::{Duration, Instant};

use cozo::DbInstance;
use cozo_benches::Result;
use cozo_benches::pokec::{Network, database, export};

use super::Bench;
use super::report::watch;
use super::settings::Scratch;

/// Brings a network, which also lies in a folder as [`CSV`] if that is wanted, into a database.
type Load = fn(&DbInstance, &Network, &Path) -> Result<()>;

/// The ways to bring a network into a database that has its relations; the last is the quickest.
const WAYS: [(&str, Load); 4] = [
    (CSV, |db, _, folder| database::import_csv(db, folder)),
    ("import/scripts_of_300", |db, network, _| database::put(db, network, database::BATCH_ROWS)),
    ("import/batches_of_300", |db, network, _| database::import(db, network, database::BATCH_ROWS)),
    ("import/bulk", |db, network, _| database::import(db, network, database::BULK_ROWS)),
];

/// The way that reads files.
const CSV: &str = "import/csv";

/// Measures all ways; the database that the last has filled.
pub fn imports(bench: &mut Bench) -> Result<Scratch, String> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
    if bench.settings.wants(CSV) {
        export::write_csv(&bench.network, folder.path()).map_err(|error| error.to_string())?;
    }
    let mut loaded = None;
    for (id, load) in WAYS {
        if bench.settings.wants(id) {
            let repeats = bench.settings.repeats();
            loaded = None;
            let watch = watch();
            let mut durations = Vec::new();
            for _ in 0..repeats {
                // One database at a time, or the peak of memory is that of two.
                drop(loaded.take());
                let (scratch, duration) = timed_load(bench, load, folder.path())?;
                durations.push(duration);
                loaded = Some(scratch);
            }
            bench.report.peak(id, &watch);
            bench.report.run(id, durations, Some(database::rows(&bench.network)));
        }
    }
    match loaded {
        Some(scratch) => Ok(scratch),
        None => Ok(timed_load(bench, WAYS[WAYS.len() - 1].1, folder.path())?.0),
    }
}

/// A new database, filled and checked, and how long the filling took.
fn timed_load(bench: &Bench, load: Load, folder: &Path) -> Result<(Scratch, Duration), String> {
    let scratch = bench.settings.database()?;
    database::create(&scratch.db).map_err(|error| format!("{error:?}"))?;
    let start = Instant::now();
    load(&scratch.db, &bench.network, folder).map_err(|error| format!("{error:?}"))?;
    let duration = start.elapsed();
    database::check(&scratch.db, &bench.network);
    Ok((scratch, duration))
}

/// Measures the backup of a database, and restoring it into a new one.
pub fn backups(bench: &mut Bench, scratch: &Scratch) -> Result<(), String> {
    if !bench.settings.wants("backup/backup") && !bench.settings.wants("backup/restore") {
        return Ok(());
    }
    let rows = Some(database::rows(&bench.network));
    let path = scratch.folder.path().join("backup");
    let (mut backups, mut restores) = (Vec::new(), Vec::new());
    for _ in 0..bench.settings.repeats() {
        // A backup does not replace a file.
        let _ = std::fs::remove_file(&path);
        backups.push(bench.timed("backup/backup", || scratch.db.backup_db(&path)));
        let restored = bench.settings.database()?;
        restores.push(bench.timed("backup/restore", || restored.db.restore_backup(&path)));
        database::check(&restored.db, &bench.network);
    }
    bench.report.run("backup/backup", backups, rows);
    bench.report.run("backup/restore", restores, rows);
    Ok(())
}

impl Bench {
    /// How long something took. Panics if it fails.
    fn timed(&mut self, id: &str, run: impl FnOnce() -> Result<()>) -> Duration {
        let watch = watch();
        let start = Instant::now();
        let outcome = run();
        let duration = start.elapsed();
        outcome.unwrap_or_else(|error| panic!("{id}: {error:?}"));
        self.report.peak(id, &watch);
        duration
    }
}
