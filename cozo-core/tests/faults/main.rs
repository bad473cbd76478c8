//! Faults of the disk: calls that fail, power that is cut, files that are damaged. Each is tried against a model of what was acknowledged.
//!
//! ```text
//!   the test                     a process                                  the files
//!   --------                     ---------                                  ---------
//!   draws a workload    seed     child: runs the steps,      inject.c       db.sqlite, db.sqlite-wal,
//!   and a fault       ────────>  says "begins 7",        ─────────────────> db.sqlite-commits-3, ...
//!                      fault     "done 7", "refused 8"     lets the n-th
//!                                                          call fail            │
//!   judge: the states   trace                                   │               │ killed or closed, as after a
//!   that are possible <─────────────────────────────────────────┘               │ cut of power, or damaged
//!          │                                                                    v
//!          └──── compares ──── examiner: opens the database, checks it, reads everything
//! ```
//!
//! A step that is acknowledged is there afterwards, a refused one is not, and one of an unknown outcome is there as a whole or
//! not at all. No process panics, ends by itself, or hangs. Indices agree with their relations. A database can be written to and opened again.
//!
//! | kind | what is done | what must hold |
//! |---|---|---|
//! | I/O errors | one call fails, or several, or all from then on: opens, writes (short ones, too), syncs, renames, removals, reads | all that was acknowledged is there |
//! | cuts of power | the files hold what was synced, and any part of the rest | with `durability: "disk"` the same; with `"os"` all up to some moment |
//! | damage | a bit changes, a page is zero, a file is shorter, longer, older or gone | the same, or the opening or the check tells the loss, and what cannot be read stays under some name |
//!
//! Backups, restores and files of CozoDB 0.7 take part: a workload makes backups and begins with a restore, and these files are damaged, too.
//! One workload in four has two writers at once.
//!
//! | module | what |
//! |---|---|
//! | `inject.c`, `injector` | the library that is preloaded into a process, and its faults |
//! | `trace` | what a process did with its files, in order |
//! | `disk` | what a disk may hold after a cut of power |
//! | `workload`, `model` | steps, and what a database holds after them |
//! | `child` | the process that runs steps |
//! | `examine` | the process that opens databases |
//! | `lab` | a folder for all of this, and the findings |
//! | `io_errors`, `power`, `damage`, `older` | the tests |
//!
//! `COZO_IO_ERRORS`, `COZO_POWER_LOSSES` and `COZO_DAMAGES` say how much is tried of an engine, `COZO_FAULTS_SEED` which workloads.
//! A finding prints a `COZO_FAULTS_CASE`, with which test `again` runs its process once more and prints what it said. Threads of the engine work
//! beside the steps, so that a case may need some attempts. With `COZO_FAULTS_KEEP=1` the files stay.
//!
//! Linux alone: elsewhere libraries are preloaded in other ways, or not at all.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod child;
mod damage;
mod disk;
mod examine;
mod injector;
mod io_errors;
mod lab;
mod model;
mod older;
mod power;
mod settings;
mod trace;
mod workload;

#[test]
fn child() {
    child::run();
}

#[test]
fn examiner() {
    examine::run();
}

#[test]
fn again() {
    if let Ok(case) = std::env::var("COZO_FAULTS_CASE") {
        io_errors::again(&case);
    }
}

#[test]
fn traces_are_complete_with_sqlite() {
    io_errors::traces_are_complete("sqlite");
}

#[test]
fn traces_are_complete_with_rocksdb() {
    io_errors::traces_are_complete("rocksdb");
}

#[test]
fn io_errors_with_sqlite() {
    io_errors::try_engine("sqlite");
}

#[test]
fn io_errors_with_rocksdb() {
    io_errors::try_engine("rocksdb");
}

#[test]
fn power_losses_with_sqlite() {
    power::try_engine("sqlite");
}

#[test]
fn power_losses_with_rocksdb() {
    power::try_engine("rocksdb");
}

#[test]
fn damage_with_sqlite() {
    damage::try_engine("sqlite");
}

#[test]
fn damage_with_rocksdb() {
    damage::try_engine("rocksdb");
}

#[test]
fn damage_of_files_of_cozodb_0_7() {
    older::try_all();
}
