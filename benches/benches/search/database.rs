//! The database as the parts of the bench ask it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability};

use crate::data::{DIM, tag};

/// Rows put at once.
const BATCH_ROWS: usize = 10_000;

/// Runs a script that may write.
pub fn run(db: &DbInstance, script: &str, parameters: &[(&str, DataValue)]) -> Result<NamedRows, String> {
    let parameters: BTreeMap<String, DataValue> =
        parameters.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    db.run_script(script, parameters, ScriptMutability::Mutable).map_err(|error| format!("{error:?}\n{script}"))
}

/// Runs a script; how many seconds it takes.
pub fn seconds(db: &DbInstance, script: &str) -> Result<f64, String> {
    let start = Instant::now();
    run(db, script, &[])?;
    Ok(start.elapsed().as_secs_f64())
}

/// Runs a script with each of some values as `$q`; how many microseconds one takes.
pub fn micros(db: &DbInstance, script: &str, values: &[DataValue]) -> Result<f64, String> {
    let start = Instant::now();
    for value in values {
        run(db, script, &[("q", value.clone())])?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / values.len() as f64)
}

/// A vector as a parameter.
pub fn list(vector: &[f32]) -> DataValue {
    DataValue::List(vector.iter().map(|x| f64::from(*x).into()).collect())
}

/// The keys in the first column, which are integers.
pub fn keys(rows: &NamedRows) -> BTreeSet<i64> {
    rows.rows.iter().filter_map(|row| row[0].get_int()).collect()
}

/// A relation `p` of vectors with tags, by their numbers.
pub fn with_vectors(points: &[Vec<f32>]) -> Result<DbInstance, String> {
    let db = DbInstance::default();
    run(&db, &format!(":create p {{k: Int => v: <F32; {DIM}>, tag: Int}}"), &[])?;
    let rows: Vec<DataValue> = points.iter().enumerate().map(|(k, v)| row(k, v)).collect();
    for rows in rows.chunks(BATCH_ROWS) {
        run(&db, "?[k, v, tag] <- $rows :put p {k => v, tag}", &[("rows", DataValue::List(rows.to_vec()))])?;
    }
    Ok(db)
}

/// A row of `p`.
pub fn row(k: usize, vector: &[f32]) -> DataValue {
    DataValue::List(vec![(k as i64).into(), list(vector), (tag(k) as i64).into()])
}

/// A relation `d` of texts by their numbers.
pub fn with_texts(texts: &[String]) -> Result<DbInstance, String> {
    let db = DbInstance::default();
    run(&db, ":create d {k: Int => t: String}", &[])?;
    let row = |(k, text): (usize, &String)| DataValue::List(vec![(k as i64).into(), text.as_str().into()]);
    let rows: Vec<DataValue> = texts.iter().enumerate().map(row).collect();
    for rows in rows.chunks(BATCH_ROWS) {
        run(&db, "?[k, t] <- $rows :put d {k => t}", &[("rows", DataValue::List(rows.to_vec()))])?;
    }
    Ok(db)
}
