//! Faults.

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
