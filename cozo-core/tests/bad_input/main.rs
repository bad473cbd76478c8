//! Bad scripts: each has its code, a place in the script to look at, and a way to mend it.
//!
//! These stand beside the bad scripts of `conformance/`, of which `conformance/diagnostics.rs` demands the same.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cozo::{DbInstance, ScriptMutability, format_error_as_json};
use serde_json::Value;

/// A script that must fail.
pub struct Bad {
    /// The case it is.
    pub name: &'static str,
    /// What runs before it, and succeeds.
    pub setup: &'static [&'static str],
    /// The script.
    pub script: &'static str,
    /// The code of the error.
    pub code: &'static str,
}

/// What is wrong with the error of a bad script, if anything is.
fn complaint(bad: &Bad) -> Option<String> {
    let db = DbInstance::default();
    for script in bad.setup {
        if let Err(error) = db.run_default(script) {
            return Some(format!("the setup fails: {error}"));
        }
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| db.run_default(bad.script)));
    match outcome {
        Err(_) => Some("it panics".to_string()),
        Ok(Ok(rows)) => Some(format!("it succeeds: {:?}", rows.rows)),
        Ok(Err(error)) => complaint_about(&format_error_as_json(error, Some(bad.script)), bad),
    }
}

fn complaint_about(error: &Value, bad: &Bad) -> Option<String> {
    if error["code"] != bad.code {
        return Some(format!("the code is {}, not {}: {}", error["code"], bad.code, error["message"]));
    }
    let message = error["message"].as_str().unwrap_or_default();
    if error["help"].as_str().is_none_or(str::is_empty) {
        return Some(format!("no help: {message}"));
    }
    let Some(label) = error["labels"].as_array().and_then(|labels| labels.first()) else {
        return Some(format!("no place: {message}"));
    };
    let number = |name: &str| label["span"][name].as_u64().and_then(|number| usize::try_from(number).ok());
    match (number("offset"), number("length")) {
        (Some(offset), Some(length)) if bad.script.get(offset..offset + length).is_some() => None,
        _ => Some(format!("the place is not in the script: {label}")),
    }
}

fn check(area: &[Bad]) {
    let mut complaints = String::new();
    for bad in area {
        if let Some(complaint) = complaint(bad) {
            let _ = writeln!(complaints, "{}: {complaint}\n    {}", bad.name, bad.script.replace('\n', "\n    "));
        }
    }
    assert!(complaints.is_empty(), "\n{complaints}");
}

macro_rules! areas {
    ($($test:ident: $cases:ident,)*) => {$(
        #[test]
        fn $test() {
            check(cases::$cases);
        }
    )*};
}

areas! {
    fixed_rules: FIXED_RULES,
    triggers: TRIGGERS,
    access_levels_and_system_operations: ACCESS,
}

#[test]
fn an_immutable_run_says_what_would_write() {
    let db = DbInstance::default();
    db.run_default(":create im {a}").unwrap();
    let bad = Bad { name: "", setup: &[], script: "?[a] <- [[1]]\n:put im {a}", code: "query::read_only" };
    let error = db.run_script(bad.script, BTreeMap::new(), ScriptMutability::Immutable).unwrap_err();
    assert_eq!(complaint_about(&format_error_as_json(error, Some(bad.script)), &bad), None);
}
