//! What several test files share: running scripts and reading their answers and errors.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cozo::{DataValue, DbInstance, ScriptMutability, format_error_as_json};

/// Far more time than anything here takes on the slowest machine; only hanging takes longer.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The rows that a script answers.
pub fn rows(db: &DbInstance, script: &str) -> Vec<Vec<DataValue>> {
    db.run_default(script).unwrap_or_else(|error| panic!("{error:?}\n{script}")).rows
}

/// The one integer that a script answers.
pub fn number(db: &DbInstance, script: &str) -> i64 {
    let rows = rows(db, script);
    assert_eq!((rows.len(), rows[0].len()), (1, 1), "one value expected: {rows:?}\n{script}");
    rows[0][0].get_int().unwrap_or_else(|| panic!("an integer expected: {rows:?}\n{script}"))
}

/// The code of an error.
pub fn code(error: cozo::Error) -> String {
    format_error_as_json(error, None)["code"].as_str().unwrap_or_default().to_string()
}

/// The code with which a script fails.
pub fn failure(db: &DbInstance, script: &str) -> String {
    code(db.run_default(script).expect_err(script))
}

/// Runs a script that may write, with parameters.
pub fn run_with(db: &DbInstance, script: &str, parameters: &[(&str, i64)]) -> cozo::Result<cozo::NamedRows> {
    let parameters: BTreeMap<String, DataValue> =
        parameters.iter().map(|(name, value)| (name.to_string(), DataValue::from(*value))).collect();
    db.run_script(script, parameters, ScriptMutability::Mutable)
}

/// Waits for a script of another thread to run, and gives its number; the database must have been idle before.
pub fn running_number(db: &DbInstance) -> i64 {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let listed = rows(db, "::running");
        // The list has this very `::running`, which came last.
        if listed.len() >= 2 {
            return listed[0][0].get_int().expect("the number of a script is an integer");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("no script of another thread is running");
}
