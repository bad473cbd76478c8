//! A disk that takes no more: writes fail with an error, nothing acknowledged is lost, and reading goes on.
//!
//! The disk is full for a process that may not write files beyond a size: this test program again, started by a shell that sets the
//! limit, for its test `child`, which does nothing otherwise.
#![allow(clippy::unwrap_used)]

#[path = "common/engines.rs"]
mod engines;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use cozo::{DataValue, DbInstance, ScriptMutability};
use engines::persistent;

const FOLDER: &str = "COZO_FULL_DISK_FOLDER";
const SETTING: &str = "COZO_FULL_DISK_SETTING";

/// The most bytes of a file, in the blocks of `ulimit`: a few megabytes.
const BLOCKS: u32 = 6000;

fn count(db: &DbInstance) -> i64 {
    db.run_default("?[count(n)] := *r[n, s]").unwrap().rows[0][0].get_int().unwrap()
}

/// Writes until nothing more can be written, and says how much could.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let number: usize = std::env::var(SETTING).unwrap().parse().unwrap();
    let db = persistent().nth(number).unwrap().open(Path::new(&folder)).unwrap();
    db.run_default(":create r {n: Int => s: String}").unwrap();
    let mut written = 0;
    let refusal = loop {
        let parameters: BTreeMap<String, DataValue> = [("n".to_string(), written.into())].into();
        // Text that cannot be compressed.
        let put = "?[n, s] := i in int_range(100), n = $n + i, s = to_string(rand_uuid_v4()) :put r {n => s}";
        match db.run_script(put, parameters, ScriptMutability::Mutable) {
            Ok(_) => written += 100,
            Err(error) => break error,
        }
        assert!(written < 10_000_000, "the disk is never full");
    };
    let code = refusal.code().map(|code| code.to_string());
    // Where the disk takes nothing at all any more, it is not known what it has of the commit.
    let is_unknown = code.as_deref() == Some("storage::unknown_outcome");
    assert!(is_unknown || code.as_deref() == Some("storage::engine"), "{refusal:?}");
    assert_eq!(count(&db), written, "reading goes on");
    println!("\nwritten {written}{}", if is_unknown { " or 100 more" } else { "" });
}

#[test]
fn a_full_disk_costs_no_more_than_the_write_that_met_it() {
    for (number, setting) in persistent().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let program = std::env::current_exe().unwrap();
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!("trap '' XFSZ; ulimit -f {BLOCKS}; exec \"$0\" --exact child --nocapture"))
            .arg(&program)
            .env(FOLDER, folder.path())
            .env(SETTING, number.to_string())
            .output()
            .unwrap();
        let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let told = said.lines().find_map(|line| line.strip_prefix("written "));
        let told = told.unwrap_or_else(|| panic!("{setting}: {said}\n{complained}"));
        let is_unknown = told.ends_with(" or 100 more");
        let mut written: i64 = told.split(' ').next().unwrap().parse().unwrap();
        assert!(written > 0, "{setting}");
        let db = setting.open(folder.path()).unwrap_or_else(|error| panic!("{setting}: {error:?}"));
        if is_unknown && count(&db) == written + 100 {
            written += 100;
        }
        assert_eq!(count(&db), written, "{setting}");
        db.run_default("?[n, s] <- [[-1, 'there is room again']] :put r {n => s}").unwrap();
        assert_eq!(count(&db), written + 1, "{setting}");
        assert_eq!(db.check().unwrap().problems, Vec::<String>::new(), "{setting}");
    }
}
