//! Texts: random changes, with searches compared with what an index made anew finds.

use std::collections::BTreeMap;

use cozo::{DataValue, DbInstance, ScriptMutability};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::common::rows;
use crate::engines::SETTINGS;

const CREATE: &str =
    "::fts create d:ix { extractor: t, extract_filter: tag != 7, tokenizer: Simple, filters: [Lowercase] }";

const QUERIES: &[&str] = &[
    "apple",
    "apple AND pear",
    "apple OR pear OR plum",
    "apple NOT pear",
    "ap*",
    "NEAR/2(apple pear)",
    "\"red apple\" OR fig^2",
    "(red OR green) AND (apple OR plum) NOT ripe",
];

/// All that searches find, with scores, and the rows of the index.
fn found(db: &DbInstance) -> Vec<Vec<Vec<DataValue>>> {
    let mut all = vec![];
    for query in QUERIES {
        for kind in ["tf", "tf_idf", "bm25"] {
            all.push(rows(db, &format!(
                "?[s, id, p] := ~d:ix{{ id | query: '{query}', k: 12, score_kind: '{kind}', bind_score: x, bind_spans: p }},
                 s = -round(x * 1000000) :order s, id"
            )));
        }
    }
    all.push(rows(db, "?[word, src_id, position, total_length] := *d:ix{word, src_id, position, total_length}"));
    all
}

/// Puts, replaces and removes random rows.
fn change(db: &DbInstance, random: &mut StdRng, keys: i64, count: usize) {
    let words = ["Red", "green", "ripe", "apple", "apples", "pear", "plum", "fig", "and", "a"];
    let mut put = vec![];
    for _ in 0..count {
        let text: Vec<&str> =
            (0..random.random_range(0..9)).map(|_| words[random.random_range(0..words.len())]).collect();
        let text = if random.random_bool(0.05) { DataValue::Null } else { text.join(" ").into() };
        put.push(DataValue::List(vec![random.random_range(0..keys).into(), text, random.random_range(0..10).into()]));
    }
    let parameters = BTreeMap::from([("rows".to_string(), DataValue::List(put))]);
    db.run_script("?[id, t, tag] <- $rows :put d {id => t, tag}", parameters, ScriptMutability::Mutable).unwrap();
    rows(db, &format!("?[id] := i in int_range({}), id = i * 7 % {keys} :rm d {{id}}", count / 10));
}

#[test]
fn what_is_found_follows_random_changes_on_every_engine() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = setting.open(folder.path()).unwrap();
        let mut random = StdRng::seed_from_u64(45);
        rows(&db, ":create d {id: Int => t: String?, tag: Int}");
        change(&db, &mut random, 200, 100);
        rows(&db, CREATE);
        for round in 0..8 {
            change(&db, &mut random, 2000, if round % 4 == 0 { 800 } else { 40 });
            let followed = found(&db);
            let anew = DbInstance::default();
            rows(&anew, ":create d {id: Int => t: String?, tag: Int}");
            let all = db.export_relations(["d"].into_iter()).unwrap();
            anew.import_relations(all).unwrap();
            rows(&anew, CREATE);
            assert_eq!(followed, found(&anew), "{setting:?} in round {round}");
        }
        assert_eq!(db.check().unwrap().problems, Vec::<String>::new(), "{setting:?}");
        if setting.is_persistent() {
            let before = found(&db);
            drop(db);
            assert_eq!(found(&setting.open(folder.path()).unwrap()), before, "{setting:?} after reopening");
        }
    }
}

#[test]
fn phrases_are_exact_where_that_is_asked_for() {
    let db = DbInstance::default();
    rows(&db, "?[id, t] <- [[1, 'New York City'], [2, 'York is not new'], [3, 'the new York']] :create d {id => t}");
    rows(&db, "::fts create d:ix { extractor: t, tokenizer: Simple, filters: [Lowercase] }");
    let search = |options: &str| {
        rows(&db, &format!("?[id] := ~d:ix{{ id | query: '\"new york\"', k: 9{options} }} :order id")).concat()
    };
    assert_eq!(search(""), [1.into(), 2.into(), 3.into()] as [DataValue; 3]);
    assert_eq!(search(", exact_phrases: true"), [1.into(), 3.into()] as [DataValue; 2]);
    let spans = rows(&db, "?[p] := ~d:ix{ id: 1 | query: '\"new york\"', k: 9, exact_phrases: true, bind_spans: p }");
    assert_eq!(spans[0][0].to_string(), "[[0, 3], [4, 8]]");
    let prefixes =
        |options: &str| rows(&db, &format!("?[count(id)] := ~d:ix{{ id | query: 'YO*', k: 9{options} }}")).concat();
    assert_eq!(prefixes(""), [0.into()] as [DataValue; 1]);
    assert_eq!(prefixes(", prefix_analyzed: true"), [3.into()] as [DataValue; 1]);
}

#[test]
fn filters_come_before_the_limit() {
    let db = DbInstance::default();
    rows(&db, "?[id, t, y] := id in int_range(3000), t = 'word ' ++ to_string(id % 3), y = id :create d {id => t, y}");
    rows(&db, "::fts create d:ix { extractor: t, tokenizer: Simple }");
    let found =
        rows(&db, "?[id] := ~d:ix{ id | query: 'word', k: 3, filter: y > 2990 && y % 2 == 0 } :order id").concat();
    assert_eq!(found, [2992.into(), 2994.into(), 2996.into()] as [DataValue; 3]);
}
