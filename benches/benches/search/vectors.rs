//! Vectors by an index: building it, and searching it with several widths and filters. Recall is the share of the ten nearest
//! vectors that were found.

use cozo::{DataValue, DbInstance};
use cozo_benches::figures::Figures;

use crate::data::{DIM, Vectors};
use crate::database::{keys, list, micros, run, seconds, with_vectors};

/// Filters with the share that passes.
pub const FILTERS: [(&str, &str); 4] = [
    ("half pass", "tag < 500"),
    ("a tenth passes", "tag < 100"),
    ("1 % passes", "tag < 10"),
    ("0.1 % passes", "tag < 1"),
];

/// Queries whose recall is computed.
const CHECKED: usize = 50;

/// Less recall is an error of the database rather than a figure.
const LEAST_RECALL: f64 = 0.7;

/// The figures of a part with so many vectors.
pub fn measure(part: &str, vectors: &Vectors) -> Result<Figures, String> {
    let mut figures = Figures::new("search", format!("{part}: {} vectors of {DIM} elements", vectors.points.len()));
    let db = with_vectors(&vectors.points)?;
    let queries: Vec<DataValue> = vectors.queries.iter().map(|query| list(query)).collect();
    for (system, quantization) in [("mem", "none"), ("mem, int8", "int8")] {
        let options = format!("dim: {DIM}, fields: v, m: 16, ef_construction: 100, quantization: '{quantization}'");
        let took = seconds(&db, &format!("::hnsw create p:i {{ {options} }}"))?;
        figures.add(system, "build vectors", "s", took);
        let widths = [("ef 32", 32, "true"), ("ef 64", 64, "true"), ("ef 128", 128, "true")];
        let filtered = FILTERS.map(|(test, filter)| (test, 64, filter));
        for (test, ef, filter) in widths.into_iter().chain(filtered) {
            let with_filter = if filter == "true" { String::new() } else { format!(", filter: {filter}") };
            let search =
                format!("?[k, d] := ~p:i{{k | query: vec($q), k: 10, ef: {ef}, bind_distance: d{with_filter}}}");
            let recall = recall(&db, &search, filter, &queries)?;
            if recall < LEAST_RECALL {
                return Err(format!("{test}: only {recall} of the nearest are found"));
            }
            figures.add(system, test, "us", micros(&db, &search, &queries)?);
            figures.add(system, &format!("{test}, recall"), "%", 100.0 * recall);
        }
        run(&db, "::hnsw drop p:i", &[])?;
    }
    Ok(figures)
}

/// The script for the nearest of the vectors that pass a filter, by a scan.
pub fn exact(filter: &str) -> String {
    let (column, filter) = if filter == "true" { ("", String::new()) } else { (", tag", format!(" {filter},")) };
    format!("?[k, d] := *p{{k, v{column}}},{filter} d = l2_dist(v, vec($q)) :order d :limit 10")
}

fn recall(db: &DbInstance, search: &str, filter: &str, queries: &[DataValue]) -> Result<f64, String> {
    let (exact, mut found, mut wanted) = (exact(filter), 0, 0);
    for query in queries.iter().take(CHECKED) {
        let near = keys(&run(db, &exact, &[("q", query.clone())])?);
        found += keys(&run(db, search, &[("q", query.clone())])?).intersection(&near).count();
        wanted += near.len();
    }
    Ok(found as f64 / wanted as f64)
}
