//! Near-duplicates. Precision is the share of what is found that is as similar as the index aims at. Recall is the share of
//! what is as similar that is found. Both are over all pairs of different texts, by the exact Jaccard similarity of their
//! shingles. `verified` leaves out what the index estimates to be less similar.

use std::collections::HashMap;

use cozo::{DataValue, DbInstance};
use cozo_benches::figures::Figures;

use crate::data::{QUERIES, SHINGLE, similarities};
use crate::database::{micros, run, seconds, with_texts};

/// Similarities that the index aims at.
const THRESHOLDS: [f64; 2] = [0.5, 0.8];
/// Hash functions asked for.
const PERMUTATIONS: usize = 200;

/// The figures of the part.
pub fn measure(texts: &[String]) -> Result<Figures, String> {
    let title = format!("alike: {} texts of 30 to 60 words, each with four more or less like it", texts.len());
    let mut figures = Figures::new("search", title);
    let similar = similarities(texts);
    let db = with_texts(texts)?;
    let queries: Vec<DataValue> = texts.iter().rev().take(QUERIES).map(|text| text.as_str().into()).collect();
    for threshold in THRESHOLDS {
        let create = format!(
            "::lsh create d:like {{extractor: t, tokenizer: Simple, n_gram: {SHINGLE}, n_perm: {PERMUTATIONS},
                                   target_threshold: {threshold}}}"
        );
        figures.add("mem", &format!("build {threshold}"), "s", seconds(&db, &create)?);
        for (name, least) in [("", 0.0), (", verified", threshold)] {
            let search = format!("?[k] := ~d:like{{k | query: $q, min_similarity: {least}}}");
            let test = format!("{threshold}{name}");
            figures.add("mem", &format!("query {test}"), "us", micros(&db, &search, &queries)?);
            let (precision, recall) = accuracy(&db, least, threshold, &similar)?;
            figures.add("mem", &format!("precision {test}"), "%", 100.0 * precision);
            figures.add("mem", &format!("recall {test}"), "%", 100.0 * recall);
        }
        run(&db, "::lsh drop d:like", &[])?;
    }
    Ok(figures)
}

/// Precision and recall of the search for what is like each text.
fn accuracy(
    db: &DbInstance,
    least: f64,
    threshold: f64,
    similar: &HashMap<(usize, usize), f64>,
) -> Result<(f64, f64), String> {
    let all = format!("?[a, b] := *d{{k: a, t}}, ~d:like{{k: b | query: t, min_similarity: {least}}}, a != b");
    let found = run(db, &all, &[])?.rows;
    let number = |value: &DataValue| value.get_int().unwrap_or(-1) as usize;
    let is_similar = |row: &&Vec<DataValue>| similar.get(&(number(&row[0]), number(&row[1]))) >= Some(&threshold);
    let right = found.iter().filter(is_similar).count() as f64;
    let wanted = similar.values().filter(|similarity| **similarity >= threshold).count();
    if found.is_empty() || wanted == 0 {
        return Err(format!("no texts are found that have a similarity of {threshold}"));
    }
    Ok((right / found.len() as f64, right / wanted as f64))
}
