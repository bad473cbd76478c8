//! Searches: vectors in clusters, and texts of words as frequent as in a language (Zipf), in memory.
//!
//! `COZO_BENCH_VECTORS` and `COZO_BENCH_TEXTS` are how many there are. A folder in `COZO_BENCH_SEARCH_DIR` gets them as files, with which
//! `benches/search/run.sh` asks peers the same. Recall is the share of the ten nearest vectors that were found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability};
use cozo_benches::figures::Figures;
use cozo_benches::settings::{exit_code, number, setting};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const DIM: usize = 64;
const CLUSTERS: usize = 500;
const QUERIES: usize = 200;
const VOCABULARY: usize = 100_000;

fn main() -> ExitCode {
    exit_code(measure())
}

fn measure() -> Result<(), String> {
    let (vectors, texts) = (number("VECTORS", 50_000)?, number("TEXTS", 100_000)?);
    let mut figures = Figures::new("search", format!("{vectors} vectors of {DIM} elements, {texts} texts"));
    let mut random = StdRng::seed_from_u64(7);
    let points = clustered(&mut random, vectors);
    let queries = (0..QUERIES).map(|_| near(&mut random, &points)).collect::<Vec<_>>();
    let texts = zipf(&mut random, texts);
    if let Some(folder) = setting("SEARCH_DIR") {
        write_files(Path::new(&folder), &points, &queries, &texts).map_err(|error| format!("{folder}: {error}"))?;
    }
    search_vectors(&mut figures, &points, &queries)?;
    search_texts(&mut figures, &texts)?;
    figures.publish()
}

/// Vectors around centres.
fn clustered(random: &mut StdRng, count: usize) -> Vec<Vec<f32>> {
    let centres: Vec<Vec<f32>> = (0..CLUSTERS).map(|_| (0..DIM).map(|_| random.random::<f32>()).collect()).collect();
    let mut around = || {
        let centre = random.random_range(0..CLUSTERS);
        moved(random, &centres[centre], 0.3)
    };
    (0..count).map(|_| around()).collect()
}

fn moved(random: &mut StdRng, from: &[f32], by: f32) -> Vec<f32> {
    from.iter().map(|x| x + by * (random.random::<f32>() - 0.5)).collect()
}

/// A vector near one of those that there are.
fn near(random: &mut StdRng, points: &[Vec<f32>]) -> Vec<f32> {
    let from = points[random.random_range(0..points.len())].clone();
    moved(random, &from, 0.2)
}

/// Texts of 6 to 20 words; the n-th word is n times as rare as the first.
fn zipf(random: &mut StdRng, count: usize) -> Vec<String> {
    let mut sums: Vec<f64> = vec![];
    for n in 1..=VOCABULARY {
        sums.push(sums.last().unwrap_or(&0.0) + 1.0 / n as f64);
    }
    let total = sums[VOCABULARY - 1];
    let mut text = || {
        let mut words = String::new();
        for _ in 0..random.random_range(6..=20) {
            let drawn = random.random::<f64>() * total;
            let at = sums.partition_point(|sum| *sum < drawn);
            let _ = write!(words, "w{at} ");
        }
        words.trim_end().to_string()
    };
    (0..count).map(|_| text()).collect()
}

fn write_files(folder: &Path, points: &[Vec<f32>], queries: &[Vec<f32>], texts: &[String]) -> std::io::Result<()> {
    let bytes = |rows: &[Vec<f32>]| rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("vectors.f32"), bytes(points))?;
    std::fs::write(folder.join("queries.f32"), bytes(queries))?;
    std::fs::write(folder.join("texts.txt"), texts.join("\n"))
}

fn run(db: &DbInstance, script: &str, parameters: &[(&str, DataValue)]) -> Result<NamedRows, String> {
    let parameters: BTreeMap<String, DataValue> =
        parameters.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    db.run_script(script, parameters, ScriptMutability::Mutable).map_err(|error| format!("{error:?}\n{script}"))
}

fn list(vector: &[f32]) -> DataValue {
    DataValue::List(vector.iter().map(|x| f64::from(*x).into()).collect())
}

/// The keys in the first column.
fn keys(rows: &NamedRows) -> BTreeSet<DataValue> {
    rows.rows.iter().map(|row| row[0].clone()).collect()
}

fn search_vectors(figures: &mut Figures, points: &[Vec<f32>], queries: &[Vec<f32>]) -> Result<(), String> {
    let db = DbInstance::default();
    run(&db, &format!(":create p {{k: Int => v: <F32; {DIM}>, tag: Int}}"), &[])?;
    let rows: Vec<DataValue> = points
        .iter()
        .enumerate()
        .map(|(k, v)| DataValue::List(vec![(k as i64).into(), list(v), ((k * 7919 % 1000) as i64).into()]))
        .collect();
    for rows in rows.chunks(10_000) {
        run(&db, "?[k, v, tag] <- $rows :put p {k => v, tag}", &[("rows", DataValue::List(rows.to_vec()))])?;
    }
    for (system, quantization) in [("mem", "none"), ("mem, int8", "int8")] {
        let options = format!("dim: {DIM}, fields: v, m: 16, ef_construction: 100, quantization: '{quantization}'");
        let start = Instant::now();
        run(&db, &format!("::hnsw create p:i {{ {options} }}"), &[])?;
        figures.add(system, "build vectors", "s", start.elapsed().as_secs_f64());
        for (test, ef, filter) in [
            ("ef 32", 32, "true"),
            ("ef 64", 64, "true"),
            ("ef 128", 128, "true"),
            ("half pass", 64, "tag < 500"),
            ("a tenth passes", 64, "tag < 100"),
            ("1 % passes", 64, "tag < 10"),
            ("0.1 % passes", 64, "tag < 1"),
        ] {
            let with_filter = if filter == "true" { String::new() } else { format!(", filter: {filter}") };
            let search =
                format!("?[k, d] := ~p:i{{k | query: vec($q), k: 10, ef: {ef}, bind_distance: d{with_filter}}}");
            let exact = format!("?[k, d] := *p{{k, v, tag}}, {filter}, d = l2_dist(v, vec($q)) :order d :limit 10");
            let (mut found, mut wanted) = (0, 0);
            for query in queries.iter().take(20) {
                let near = keys(&run(&db, &exact, &[("q", list(query))])?);
                found += keys(&run(&db, &search, &[("q", list(query))])?).intersection(&near).count();
                wanted += near.len();
            }
            let recall = found as f64 / wanted as f64;
            if recall < 0.7 {
                return Err(format!("{test}: {found} of {wanted} are found"));
            }
            let start = Instant::now();
            for query in queries {
                run(&db, &search, &[("q", list(query))])?;
            }
            figures.add(system, test, "us", start.elapsed().as_secs_f64() * 1e6 / queries.len() as f64);
            figures.add(system, &format!("{test}, recall"), "%", 100.0 * recall);
        }
        run(&db, "::hnsw drop p:i", &[])?;
    }
    Ok(())
}

fn search_texts(figures: &mut Figures, texts: &[String]) -> Result<(), String> {
    let db = DbInstance::default();
    run(&db, ":create d {k: Int => t: String}", &[])?;
    let row = |(k, text): (usize, &String)| DataValue::List(vec![(k as i64).into(), text.as_str().into()]);
    let rows: Vec<DataValue> = texts.iter().enumerate().map(row).collect();
    for rows in rows.chunks(10_000) {
        run(&db, "?[k, t] <- $rows :put d {k => t}", &[("rows", DataValue::List(rows.to_vec()))])?;
    }
    let start = Instant::now();
    run(&db, "::fts create d:i {extractor: t, tokenizer: Simple}", &[])?;
    figures.add("mem", "build texts", "s", start.elapsed().as_secs_f64());
    for (test, query, words) in [
        ("3 common words, OR", "w0 OR w1 OR w2", vec!["w0", "w1", "w2"]),
        ("2 common words, AND", "w0 AND w1", vec!["w0", "w1"]),
        ("a rare word", "w5000", vec!["w5000"]),
    ] {
        for kind in ["tf_idf", "bm25"] {
            let search = format!("?[k] := ~d:i{{k | query: '{query}', k: 10, score_kind: '{kind}'}}");
            for k in keys(&run(&db, &search, &[])?) {
                let text = &texts[k.get_int().unwrap_or(0) as usize];
                let has = |word: &&str| text.split(' ').any(|known| known == *word);
                let fits = if query.contains("AND") { words.iter().all(has) } else { words.iter().any(has) };
                if !fits {
                    return Err(format!("{query} finds '{text}'"));
                }
            }
            let start = Instant::now();
            for _ in 0..QUERIES {
                run(&db, &search, &[])?;
            }
            figures.add("mem", &format!("{test}, {kind}"), "us", start.elapsed().as_secs_f64() * 1e6 / QUERIES as f64);
        }
    }
    Ok(())
}
