//! BM25 beside that of SQLite's FTS5, an implementation of others: the same words, the same rows, the same changes.
//!
//! With N texts of which n have a word, FTS5 weighs the word ln(x) and this database ln(1 + x), for x = (N - n + 0.5) / (n + 0.5). Boosts of
//! ln(x) / ln(1 + x) make the scores equal. Without them the two weights of a word differ by that factor, which bounds how far the order of
//! queries of several words may differ. FTS5 floors what is negative, so that each word here is in less than half of the texts.

use std::collections::{BTreeMap, BTreeSet};

use cozo::{DataValue, DbInstance, ScriptMutability};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rusqlite::Connection;

use crate::common::rows;

/// Texts by key.
type Texts = BTreeMap<i64, String>;

/// Keys with scores, the best first.
type Ranking = Vec<(i64, f64)>;

/// How far scores may differ that are equal but for the order of additions, as a share.
const ROUNDING: f64 = 1e-9;

/// Queries of one to three words, from frequent to rare ones, and how the words are joined.
const QUERIES: &[(&[&str], &str)] = &[
    (&["w0"], "OR"),
    (&["w7"], "OR"),
    (&["w60"], "OR"),
    (&["w0", "w1"], "OR"),
    (&["w3", "w40"], "OR"),
    (&["w2", "w5"], "AND"),
    (&["w0", "w9", "w30"], "OR"),
    (&["w11", "w12", "w13"], "OR"),
    (&["w0", "w1", "w2"], "AND"),
];

/// A text of 3 to 40 words. Squares make the words of small numbers frequent; a third of the words repeat the one before.
fn text(random: &mut StdRng) -> String {
    let length = random.random_range(3..=40);
    let mut words: Vec<String> = vec![];
    for _ in 0..length {
        let share: f64 = random.random();
        let new = format!("w{}", (share * share * 800.0) as u32);
        words.push(words.last().filter(|_| random.random_bool(0.3)).cloned().unwrap_or(new));
    }
    words.join(" ")
}

/// The same texts in both, some of which were replaced and removed after the indices had been made.
fn both(random: &mut StdRng) -> (DbInstance, Connection, Texts) {
    let db = DbInstance::default();
    let sqlite = Connection::open_in_memory().unwrap();
    rows(&db, ":create d {k: Int => t: String}");
    sqlite.execute_batch("create virtual table d using fts5(t)").unwrap();
    let mut texts: Texts = (0..1_500).map(|k| (k, text(random))).collect();
    put(&db, &sqlite, &texts);
    rows(&db, "::fts create d:ix {extractor: t, tokenizer: Simple}");
    let changed: Texts = (0..2_000).step_by(3).map(|k| (k, text(random))).collect();
    put(&db, &sqlite, &changed);
    texts.extend(changed);
    rows(&db, "?[k] := *d{k}, k % 5 == 1 :rm d {k}");
    sqlite.execute_batch("delete from d where rowid % 5 = 1").unwrap();
    texts.retain(|k, _| k % 5 != 1);
    (db, sqlite, texts)
}

fn put(db: &DbInstance, sqlite: &Connection, texts: &Texts) {
    let row = |(k, text): (&i64, &String)| DataValue::List(vec![(*k).into(), text.as_str().into()]);
    let parameters = BTreeMap::from([("rows".to_string(), DataValue::List(texts.iter().map(row).collect()))]);
    db.run_script("?[k, t] <- $rows :put d {k => t}", parameters, ScriptMutability::Mutable).unwrap();
    for (k, text) in texts {
        sqlite.execute("insert or replace into d(rowid, t) values (?1, ?2)", (k, text)).unwrap();
    }
}

/// What FTS5 finds; its scores are the better, the less they are.
fn theirs(sqlite: &Connection, query: &str) -> Ranking {
    let mut select = sqlite.prepare("select rowid, -bm25(d) from d where d match ?1 order by bm25(d)").unwrap();
    let found = select.query_map([query], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    found.map(Result::unwrap).collect()
}

fn ours(db: &DbInstance, query: &str, k: usize) -> Ranking {
    let script =
        format!("?[k, s] := ~d:ix{{k | query: '{query}', k: {k}, score_kind: 'bm25', bind_score: s}} :order -s, k");
    rows(db, &script).iter().map(|row| (row[0].get_int().unwrap(), row[1].get_float().unwrap())).collect()
}

/// What FTS5's weight of a word is of ours.
fn boost(texts: &Texts, word: &str) -> f64 {
    let n = texts.values().filter(|text| text.split(' ').any(|other| other == word)).count();
    assert!(n > 0 && n < texts.len() / 2, "{word} is in {n} of {} texts", texts.len());
    let x = (texts.len() as f64 - n as f64 + 0.5) / (n as f64 + 0.5);
    x.ln() / (1.0 + x).ln()
}

/// Their scores in our order may rise from one to the next by no more than a factor.
fn assert_ordered(query: &str, ours: &Ranking, theirs: &BTreeMap<i64, f64>, factor: f64) {
    let mut least = f64::INFINITY;
    for (k, score) in ours {
        let other = theirs[k];
        assert!(other <= least * factor, "{query}: {k} has {score}, and {other} in FTS5, after one with {least}");
        least = least.min(other);
    }
}

#[test]
fn bm25_orders_as_fts5_does() {
    let mut random = StdRng::seed_from_u64(41);
    let (db, sqlite, texts) = both(&mut random);
    for (words, operator) in QUERIES {
        let query = words.join(&format!(" {operator} "));
        let theirs = theirs(&sqlite, &query);
        assert!(theirs.len() >= 20, "{query} finds only {} texts", theirs.len());
        let by_key: BTreeMap<i64, f64> = theirs.iter().copied().collect();
        let boosts: Vec<f64> = words.iter().map(|word| boost(&texts, word)).collect();

        let boosted: Vec<String> = words.iter().zip(&boosts).map(|(word, boost)| format!("{word}^{boost}")).collect();
        let equal = ours(&db, &boosted.join(&format!(" {operator} ")), texts.len());
        assert_eq!(
            equal.iter().map(|hit| hit.0).collect::<BTreeSet<i64>>(),
            by_key.keys().copied().collect(),
            "{query}"
        );
        for (k, score) in &equal {
            let wanted = by_key[k];
            assert!((score - wanted).abs() <= ROUNDING * wanted, "{query}: {k} has {score}, and {wanted} in FTS5");
        }
        assert_ordered(&query, &equal, &by_key, 1.0 + ROUNDING);

        let least = boosts.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = boosts.iter().copied().fold(0.0, f64::max);
        let plain = ours(&db, &query, texts.len());
        assert_eq!(plain.len(), theirs.len(), "{query}");
        assert_ordered(&query, &plain, &by_key, greatest / least * (1.0 + ROUNDING));

        let top = ours(&db, &query, 10);
        assert_eq!(top, plain[..10], "{query}: the best ten are those of all");
    }
}
