//! The allocator's memory has no huge pages while a database is small, however it was opened, and has them once a relation is large.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use cozo::{DataValue, DbInstance, ScriptMutability, new_cozo_mem};

/// Names, in the environment of a process of its own, how it opens a database: the memory is that of the process.
const OPENED_BY: &str = "COZO_TEST_OPENED_BY";

/// The allocator asks the system for memory between these addresses, where nothing else is.
const PLACES: std::ops::Range<usize> = 2 << 40..32 << 40;

/// What the system has been told about huge pages in the allocator's memory: "hg" for them, "nh" against them.
fn advice() -> BTreeSet<String> {
    let maps = std::fs::read_to_string("/proc/self/smaps").expect("Linux has it");
    let start = |line: &str| line.split_once('-').and_then(|(start, _)| usize::from_str_radix(start, 16).ok());
    let (mut within, mut advice) = (false, BTreeSet::new());
    for line in maps.lines() {
        if let Some(flags) = line.strip_prefix("VmFlags:") {
            let flags = flags.split_whitespace().filter(|flag| within && ["hg", "nh"].contains(flag));
            advice.extend(flags.map(String::from));
        } else if let Some(start) = start(line) {
            within = PLACES.contains(&start);
        }
    }
    advice
}

fn run(db: &DbInstance, script: &str, parameters: BTreeMap<String, DataValue>) {
    db.run_script(script, parameters, ScriptMutability::Mutable).expect("the script runs");
}

fn create(db: &DbInstance, name: &str, rows: i64) {
    let script = format!("?[id] := id in int_range($rows) :create {name} {{id: Int}}");
    run(db, &script, BTreeMap::from([("rows".to_string(), rows.into())]));
}

/// Puts values of kilobytes into a relation, a few of them at a time.
fn put_long_values(db: &DbInstance) {
    run(db, ":create long {id: Int => value: String}", BTreeMap::new());
    for first in (0..1000).step_by(50) {
        let script = "?[id, value] := id in int_range($first, $first + 50), value = $value :put long {id => value}";
        let value = DataValue::from("long".repeat(2500));
        run(db, script, BTreeMap::from([("first".to_string(), first.into()), ("value".to_string(), value)]));
    }
}

fn check(db: &DbInstance, grow: impl FnOnce(&DbInstance)) {
    let expected = |flag: &str| match Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
        true => BTreeSet::from([flag.to_string()]),
        false => BTreeSet::new(),
    };
    create(db, "small", 1000);
    assert_eq!(advice(), expected("nh"));
    grow(db);
    assert_eq!(advice(), expected("hg"));
}

#[test]
fn memory_has_huge_pages_once_a_relation_is_large_however_the_database_was_opened() {
    let many_rows = |db: &DbInstance| create(db, "large", 2_000_000);
    match std::env::var(OPENED_BY).as_deref() {
        Ok("new") => check(&DbInstance::new("mem", "", "").expect("a database"), many_rows),
        Ok("default") => check(&DbInstance::default(), many_rows),
        Ok("new_cozo_mem") => check(&new_cozo_mem().expect("a database"), put_long_values),
        _ => {
            for opened_by in ["new", "default", "new_cozo_mem"] {
                let itself = std::env::current_exe().expect("a test has a file");
                let ran = Command::new(itself).env(OPENED_BY, opened_by).output().expect("it was run just now");
                assert!(ran.status.success(), "{opened_by}: {}", String::from_utf8_lossy(&ran.stdout));
            }
        }
    }
}
