//! Searches among the rows whose keys a relation has: `within`.

use cozo::{DataValue, DbInstance, ScriptMutability};

use crate::common::rows;
use crate::engines::SETTINGS;

const ROWS: i64 = 3000;

/// Rows with keys of two columns: the number of a document and of a part of it.
fn fill(db: &DbInstance) {
    rows(db, ":create p {doc: Int, part: Int => v: <F32; 2>, t: String, tag: Int}");
    rows(
        db,
        &format!(
            "?[doc, part, v, t, tag] := i in int_range({ROWS}), doc = to_int(floor(i / 3)), part = i % 3, x = i * 7919 % 1000,
                 v = [x / 10.0, i % 97], t = concat('word', to_string(i % 5), ' number ', to_string(i)), tag = i % 10
             :put p {{doc, part => v, t, tag}}"
        ),
    );
    rows(db, "::hnsw create p:v { dim: 2, fields: [v], m: 8, ef_construction: 40 }");
    rows(db, "::fts create p:t { extractor: t, tokenizer: Simple, filters: [] }");
    rows(db, "::lsh create p:l { extractor: t, tokenizer: Simple, filters: [], n_gram: 1, target_threshold: 0.3 }");
    rows(db, "?[d, n] := d in int_range(0, 900, 7), n = d % 4 :create chosen {d: Int => n: Int}");
    // These rows are in the tail of each index.
    rows(db, "?[doc, part, v, t, tag] <- [[7, 0, [50, 50], 'word1 anew', 3]] :put p {doc, part => v, t, tag}");
}

/// Relations of keys, as they are applied in `within`, and as a condition of a scan.
const RELATIONS: [(&str, &str, &str); 5] = [
    ("", "few[doc, part]", "*chosen{d: doc, n: 1}, part = 2"),
    ("", "*pairs{a: doc, b: part}", "*pairs{a: doc, b: part}"),
    ("", "*pairs[doc, part, _]", "*pairs[doc, part, _]"),
    ("many[n, part, doc] := *chosen{d: doc, n}, part in [0, 1]", "many[_, part, doc]", "many[_, part, doc]"),
    ("none[doc, part] := *chosen{d: doc, n: 9}, part = 0", "none[doc, part]", "none[doc, part]"),
];

const FEW: &str = "few[doc, part] := *chosen{d: doc, n: 1}, part = 2";

/// What a script that fails says.
fn refusal(db: &DbInstance, script: &str) -> String {
    format!("{:?}", db.run_script(script, Default::default(), ScriptMutability::Mutable).unwrap_err())
}

#[test]
fn what_is_found_is_within_a_relation() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = setting.open(folder.path()).unwrap();
        fill(&db);
        rows(
            &db,
            "?[a, b, c] := *chosen{d: a}, b in [0, 1, 2], a % 2 == 0, c = a :create pairs {a: Int, b: Int => c: Int}",
        );
        for (rules, within, condition) in RELATIONS {
            for (filter, tested) in [("", ""), (", filter: tag < 2", ", tag < 2")] {
                let vectors = |search: &str| {
                    rows(&db, &format!("{FEW} {rules} ?[d, doc, part] := {search} :order d, doc, part :limit 8"))
                };
                let found = vectors(&format!(
                    "~p:v{{doc, part | query: vec([33, 40]), k: 8, ef: 200, bind_distance: d, within: {within}{filter}}}"
                ));
                let scanned =
                    vectors(&format!("*p{{doc, part, v, tag}}, {condition}{tested}, d = l2_dist(v, vec([33, 40]))"));
                assert_eq!(found, scanned, "{setting:?} {within} {filter}");

                let texts = |search: &str| rows(&db, &format!("{FEW} {rules} ?[doc, part] := {search}"));
                let found = texts(&format!("~p:t{{doc, part | query: 'word1', k: 5000, within: {within}{filter}}}"));
                let wanted = texts(&format!("*p{{doc, part, t, tag}}, {condition}{tested}, starts_with(t, 'word1 ')"));
                assert_eq!(found, wanted, "{setting:?} {within} {filter}");

                let found = texts(&format!("~p:l{{doc, part | query: 'word1 number 1', within: {within}{filter}}}"));
                let all = texts("~p:l{doc, part | query: 'word1 number 1'}");
                let allowed = texts(&format!("*p{{doc, part, tag}}, {condition}{tested}"));
                let wanted: Vec<_> = all.into_iter().filter(|row| allowed.contains(row)).collect();
                assert_eq!(found, wanted, "{setting:?} {within} {filter}");
            }
        }
    }
}

#[test]
fn each_row_before_a_search_has_its_own() {
    let db = DbInstance::default();
    fill(&db);
    let searched = rows(
        &db,
        &format!(
            "{FEW} q[x] := x in [10, 20, 30, 40]
             ?[x, a, b] := q[x], ~p:v{{doc: a, part: b, tag | query: vec([x, x]), k: 2, ef: 50, within: few[a, b],
                 filter: tag != x / 10}}"
        ),
    );
    assert_eq!(searched.len(), 8);
    let within = rows(&db, &format!("{FEW} ?[a, b] := few[a, b]"));
    assert!(searched.iter().all(|row| within.contains(&row[1..].to_vec())));
}

#[test]
fn the_relation_is_complete_before_the_search() {
    let db = DbInstance::default();
    fill(&db);
    // The keys that are reached by searching from each one that is reached, among those that are allowed.
    let reached = "allowed[doc, part] := *p{doc, part, tag}, tag == 3
         near[doc, part] := doc = 7, part = 0
         near[doc, part] := near[a, b], *p{doc: a, part: b, v},
             ~p:v{doc, part | query: v, k: 3, ef: 50, within: allowed[doc, part]}
         ?[count(doc)] := near[doc, part]";
    assert!(rows(&db, reached)[0][0].get_int().unwrap() >= 3);
    let own = reached.replace("within: allowed", "within: near");
    let message = refusal(&db, &own);
    assert!(message.contains("the 'within' of a search"), "{message}");
}

#[test]
fn a_relation_without_the_keys_is_refused() {
    let db = DbInstance::default();
    fill(&db);
    for (within, said) in [
        ("few[doc, _]", "'within' takes the keys of 'p'"),
        ("few[doc, doc]", "'within' takes the keys of 'p'"),
        ("few[doc, tag]", "'within' takes the keys of 'p'"),
        ("few[doc, 1]", "'within' takes the keys of 'p'"),
        ("few", "'within' takes the keys of 'p'"),
        ("few[doc, part, _]", "2"),
        ("nowhere[doc, part]", "nowhere"),
        ("*nowhere[doc, part]", "nowhere"),
        ("few[doc, part], within: few[doc, part]", "`within` is given twice"),
    ] {
        let script = format!("{FEW} ?[doc] := ~p:v{{doc, part | query: vec([1, 1]), k: 1, ef: 9, within: {within}}}");
        let message = refusal(&db, &script);
        assert!(message.contains(said), "{within}: {message}");
    }
}

#[test]
fn explain_names_the_relation_and_analyze_the_ways() {
    let db = DbInstance::default();
    fill(&db);
    let said = |script: String| format!("{:?}", rows(&db, &script));
    let search = |more: &str| format!("{FEW} ?[doc] := ~p:v{{doc, part | query: vec([1, 1]), k: 1, ef: 9{more}}}");
    let text = said(format!("::explain {{ {} }}", search(", within: few[doc, part]")));
    assert!(text.contains("within: few, _0 = doc, _1 = part") && text.contains("two hops"), "{text}");
    for (query, way) in [
        (search(", within: few[doc, part]"), "exact 2, visited 3"),
        // A row of the graph has changed, so that the walk must leave it out.
        (search(""), "exact 1, one hop 1, visited"),
        ("?[doc] := ~p:t{doc | query: 'word1', k: 1}".into(), "postings 1, visited"),
        ("?[doc] := ~p:l{doc | query: 'word1 number 1'}".into(), "bands 1, visited"),
    ] {
        let analyzed = rows(&db, &format!("::explain analyze {{ {query} }}"));
        let did: Vec<&str> = analyzed.iter().filter_map(|row| row[12].get_str()).collect();
        assert!(did.len() == 1 && did[0].contains(way), "{query}: {did:?}");
    }
    assert!(rows(&db, "::explain analyze { ?[doc] := *p{doc} }").iter().all(|row| row[12] == DataValue::Null));
}
