//! Large relations in memory lie in huge pages, small ones and the rows of queries do not.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability};

/// In the environment of a process that may not have all the addresses it asks for.
const ADDRESSES_ARE_LIMITED: &str = "COZO_TEST_ADDRESSES_ARE_LIMITED";

/// The megabytes in memory where the system has been told to use huge pages.
fn megabytes_in_huge_pages() -> u64 {
    let maps = std::fs::read_to_string("/proc/self/smaps").expect("Linux has it");
    let (mut resident, mut kilobytes) = (0, 0);
    for line in maps.lines() {
        if let Some(size) = line.strip_prefix("Rss:") {
            resident = size.trim_end_matches("kB").trim().parse().expect("a number of kB");
        } else if let Some(flags) = line.strip_prefix("VmFlags:")
            && flags.split_whitespace().any(|flag| flag == "hg")
        {
            kilobytes += resident;
        }
    }
    kilobytes >> 10
}

fn run(db: &DbInstance, script: &str, rows: i64) -> NamedRows {
    let parameters = BTreeMap::from([("rows".to_string(), DataValue::from(rows))]);
    db.run_script(script, parameters, ScriptMutability::Mutable).expect("the script runs")
}

/// In one test, since the memory is that of the process.
#[test]
fn large_relations_lie_in_huge_pages_and_nothing_else_does() {
    let db = DbInstance::default();
    for number in 0..20 {
        run(&db, &format!("?[id] := id in int_range($rows) :create small{number} {{id: Int}}"), 1000);
    }
    let pairs = "n[a] := a in int_range($rows)  pairs[a, b] := n[a], b = a * 7919 % 1000003  ?[a, b] := pairs[a, b]";
    assert_eq!(run(&db, pairs, 1_000_000).rows.len(), 1_000_000);
    assert_eq!(megabytes_in_huge_pages(), 0);

    run(
        &db,
        "?[id, square] := id in int_range($rows), square = id * id :create large {id: Int => square: Int}",
        4_000_000,
    );
    let are_limited = std::env::var(ADDRESSES_ARE_LIMITED).is_ok();
    // Of eight bytes for each square; a system without huge pages takes no advice on them.
    let expected = match Path::new("/sys/kernel/mm/transparent_hugepage").exists() && !are_limited {
        true => 20..200,
        false => 0..1,
    };
    let megabytes = megabytes_in_huge_pages();
    assert!(expected.contains(&megabytes), "{megabytes}");

    if !are_limited {
        let itself = std::env::current_exe().expect("a test has a file");
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -v 16000000 && exec \"$0\""]).arg(itself).env(ADDRESSES_ARE_LIMITED, "1");
        let ran = limited.output().expect("there is a shell");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    }
}
