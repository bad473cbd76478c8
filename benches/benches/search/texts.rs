//! Texts by an index: building it, and queries of common and rare words.

use std::time::Instant;

use cozo_benches::figures::Figures;

use crate::data::QUERIES;
use crate::database::{keys, run, seconds, with_texts};

/// A query with its words.
const QUESTIONS: [(&str, &str, &[&str]); 3] = [
    ("3 common words, OR", "w0 OR w1 OR w2", &["w0", "w1", "w2"]),
    ("2 common words, AND", "w0 AND w1", &["w0", "w1"]),
    ("a rare word", "w5000", &["w5000"]),
];

/// The figures of the part.
pub fn measure(texts: &[String]) -> Result<Figures, String> {
    let mut figures = Figures::new("search", format!("texts: {} texts of 6 to 20 words", texts.len()));
    let db = with_texts(texts)?;
    figures.add("mem", "build texts", "s", seconds(&db, "::fts create d:i {extractor: t, tokenizer: Simple}")?);
    for (test, query, words) in QUESTIONS {
        for kind in ["tf_idf", "bm25"] {
            let search = format!("?[k] := ~d:i{{k | query: '{query}', k: 10, score_kind: '{kind}'}}");
            for k in keys(&run(&db, &search, &[])?) {
                let text = &texts[k as usize];
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
            let took = start.elapsed().as_secs_f64() * 1e6 / QUERIES as f64;
            figures.add("mem", &format!("{test}, {kind}"), "us", took);
        }
    }
    Ok(figures)
}
