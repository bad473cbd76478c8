//! What holds for search indices of all kinds: definitions, access, errors, copies.

use std::sync::atomic::{AtomicBool, Ordering};

use cozo::{DataValue, DbInstance, Interrupt, ScriptMutability};

use crate::common::{code, failure, number, rows, run_with};
use crate::engines::{SETTINGS, persistent};

/// A relation with an index of each kind.
fn documents(db: &DbInstance) {
    rows(db, ":create d {id: Int => t: String, v: <F32; 2>}");
    rows(db, "?[id, t, v] <- [[1, 'red apple', [0, 0]], [2, 'green pear', [5, 5]]] :put d {id => t, v}");
    rows(db, "::hnsw create d:near { dim: 2, fields: [v], m: 8, ef_construction: 16 }");
    rows(db, "::lsh create d:like { extractor: t, tokenizer: Simple, target_threshold: 0.5 }");
}

const NEAR: &str = "?[id] := ~d:near{ id | query: vec([4, 4]), k: 1, ef: 10 }";
const LIKE: &str = "?[id] := ~d:like{ id | query: 'green pear' }";

#[test]
fn definitions_and_contents_survive_reopening_backup_and_restore() {
    for setting in persistent() {
        let folder = tempfile::tempdir().unwrap();
        let db = setting.open(folder.path()).unwrap();
        documents(&db);
        let expected = [rows(&db, NEAR), rows(&db, LIKE), rows(&db, "::indices d")];
        drop(db);
        let db = setting.open(folder.path()).unwrap();
        assert_eq!([rows(&db, NEAR), rows(&db, LIKE), rows(&db, "::indices d")], expected, "{setting:?}");
        let backup = folder.path().join("copy.db");
        db.backup_db(&backup).unwrap();
        let copy = DbInstance::default();
        copy.restore_backup(&backup).unwrap();
        assert_eq!([rows(&copy, NEAR), rows(&copy, LIKE), rows(&copy, "::indices d")], expected, "{setting:?}");
        rows(&copy, "?[id, t, v] <- [[2, 'blue plum', [9, 9]], [3, 'green pear', [4, 4]]] :put d {id => t, v}");
        assert_eq!([rows(&copy, NEAR), rows(&copy, LIKE)], [[[3.into()]], [[3.into()]]]);
        assert_eq!(copy.check().unwrap().problems, Vec::<String>::new());
        assert_eq!(db.check().unwrap().problems, Vec::<String>::new());
    }
}

#[test]
fn indices_are_renamed_listed_hidden_and_dropped_with_their_relation() {
    let db = DbInstance::default();
    documents(&db);
    rows(&db, "::rename d -> e");
    assert_eq!(rows(&db, &NEAR.replace("~d", "~e")), [[2.into()]]);
    let listed: Vec<_> = rows(&db, "::relations").into_iter().map(|row| row[0].to_string()).collect();
    assert_eq!(listed, ["\"e\"", "\"e:like\"", "\"e:like:inv\"", "\"e:near\""]);
    assert_eq!(failure(&db, "::remove e"), "tx::relation_has_indices");
    rows(&db, "::access_level hidden e");
    assert_eq!(failure(&db, &NEAR.replace("~d", "~e")), "tx::insufficient_access_level");
    rows(&db, "::access_level normal e");
    rows(&db, "::hnsw drop e:near");
    rows(&db, "::lsh drop e:like");
    assert_eq!(failure(&db, &NEAR.replace("~d", "~e")), "eval::hnsw_index_not_found");
    rows(&db, "::remove e");
}

#[test]
fn an_index_is_built_while_others_write() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = setting.open(folder.path()).unwrap();
        rows(&db, ":create d {id: Int => t: String, v: <F32; 2>}");
        rows(
            &db,
            "?[id, t, v] := id in int_range(9000), t = 'w' ++ to_string(id % 50), v = [id % 70, id % 61] :put d {id => t, v}",
        );
        let done = AtomicBool::new(false);
        let written = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut written = 0;
                while !done.load(Ordering::Relaxed) {
                    let script = "?[id, t, v] <- [[$n, 'fresh', [900, 900]]] :put d {id => t, v}";
                    match run_with(&db, script, &[("n", written % 6000)]) {
                        Ok(_) => written += 1,
                        // It began before the index did.
                        Err(error) => assert_eq!(code(error), "transact::schema_conflict"),
                    }
                }
                written
            });
            rows(&db, "::hnsw create d:near { dim: 2, fields: [v], m: 8, ef_construction: 16 }");
            rows(&db, "::fts create d:words { extractor: t, tokenizer: Simple }");
            rows(&db, "::lsh create d:like { extractor: t, tokenizer: Simple, target_threshold: 0.5 }");
            done.store(true, Ordering::Relaxed);
            writer.join().unwrap()
        });
        let k = written.clamp(1, 200);
        let found = rows(
            &db,
            &format!(
                "?[count(id)] := ~d:near{{ id | query: vec([900, 900]), k: {k}, ef: 400, bind_distance: d }}, d == 0"
            ),
        );
        assert_eq!(found, [[written.min(200).into()]], "{setting:?}");
        let found = rows(&db, "?[count(id)] := ~d:words{ id | query: 'fresh', k: 9000 }");
        assert_eq!(found, [[written.min(6000).into()]], "{setting:?}");
        let found = rows(&db, "?[count(id)] := ~d:like{ id | query: 'fresh' }");
        assert_eq!(found, [[written.min(6000).into()]], "{setting:?}");
        assert_eq!(db.check().unwrap().problems, Vec::<String>::new(), "{setting:?}");
    }
}

#[test]
fn a_build_that_fails_leaves_nothing() {
    let db = DbInstance::default();
    rows(&db, "?[id, t] := id in int_range(20000), t = if(id == 19999, id, 'text') :create d {id => t}");
    let creates = [
        "::fts create d:words { extractor: t, tokenizer: Simple }",
        "::lsh create d:like { extractor: t, tokenizer: Simple, target_threshold: 0.9 }",
    ];
    let interrupt = Interrupt::default();
    interrupt.kill();
    for create in creates {
        assert_eq!(failure(&db, create), "eval::fts::extractor::invalid_return_type");
        assert_eq!(rows(&db, "::indices d"), Vec::<Vec<DataValue>>::new());
    }
    rows(&db, "?[id] <- [[19999]] :rm d {id}");
    for create in creates {
        let killed = db.run_script_interruptible(create, Default::default(), ScriptMutability::Mutable, &interrupt);
        assert_eq!(code(killed.unwrap_err()), "eval::killed");
        assert_eq!(rows(&db, "::indices d"), Vec::<Vec<DataValue>>::new());
    }
    creates.iter().for_each(|create| drop(rows(&db, create)));
    assert_eq!(rows(&db, "?[count(id)] := ~d:like{ id | query: 'text' }"), [[19_999.into()]]);
    assert_eq!(rows(&db, "?[count(id)] := ~d:words{ id | query: 'text', k: 30000 }"), [[19_999.into()]]);
}

#[test]
fn errors_say_what_is_wrong() {
    let db = DbInstance::default();
    documents(&db);
    for (script, expected) in [
        ("?[id] := ~d:none{ id | query: 'x', k: 1 }", "eval::hnsw_index_not_found"),
        ("?[id] := ~none:near{ id | query: 'x', k: 1 }", "query::relation_not_found"),
        ("?[id] := ~d:near{ id, nope | query: vec([1, 2]), k: 1, ef: 10 }", "eval::named_field_not_found"),
        ("?[id] := ~d:near{ id | query: vec([1, 2]), k: 1, ef: 10, keep: 1 }", "parser::unknown_search_parameter"),
        ("?[id] := ~d:near{ id | query: vec([1, 2]), k: 1 }", "parser::hnsw_query_required"),
        ("?[id] := ~d:near{ id | query: q, k: 1, ef: 10 }", "eval::unbound_variable"),
        ("?[id] := ~d:near{ id | query: [1, 2], k: 1, ef: 10 }", "eval::search_query"),
        ("?[id] := ~d:near{ id | query: vec([1, 2]), k: 'a', ef: 10 }", "parser::expected_int_for_hnsw_k"),
        ("?[id] := ~d:near{ id | query: vec([1, 2]), k: 1, ef: 0 }", "parser::expected_int_for_hnsw_ef"),
        (
            "?[id] := ~d:near{ id | query: vec([1, 2]), k: 1, ef: 9, radius: -1 }",
            "parser::expected_float_for_hnsw_radius",
        ),
        ("?[id] := *d{id}, not ~d:near{ id | query: vec([1, 2]), k: 1, ef: 10 }", "eval::negated_search"),
        ("::hnsw create d:near { dim: 2, fields: [v], m: 8, ef_construction: 16 }", "tx::index_already_exists"),
        ("::hnsw create d:b { dim: 2, fields: [t], m: 8, ef_construction: 16 }", "tx::no_vector_column"),
        ("::hnsw create d:b { dim: 2, fields: [v], m: 8, ef_construction: 16, filter: nope }", "eval::bad_binding"),
        ("::hnsw create d:b { dim: 2, fields: [v], m: 8, ef_constructions: 16 }", "parser::option_missing"),
        (
            "::hnsw create d:b { dim: 2, fields: [v], m: 8, ef_construction: 16, foo: 1 }",
            "parser::unknown_index_option",
        ),
        (
            "::hnsw create d:b { dim: 2, fields: [v], m: 8, ef: 16, filter: t }",
            "eval::fts::extractor::invalid_return_type",
        ),
        ("::fts create d:b { extractor: to_string(rand_float()), tokenizer: Simple }", "eval::bad_extractor"),
        ("::fts create d:b { extractor: t ++ id, tokenizer: Simple }", "eval::search_extractor"),
        ("::lsh create d:b { extractor: nope, tokenizer: Simple }", "eval::bad_binding"),
        ("::lsh create d:b { extractor: $p, tokenizer: Simple }", "tx::parameter_in_index"),
        ("::lsh create d:b { extractor: id, tokenizer: Simple }", "eval::fts::extractor::invalid_return_type"),
        ("::fts drop d:none", "tx::idx_not_found"),
    ] {
        assert_eq!(failure(&db, script), expected, "{script}");
    }
}

#[test]
fn errors_of_queries_point_to_the_query() {
    let db = DbInstance::default();
    documents(&db);
    rows(&db, "::fts create d:words { extractor: t, tokenizer: Simple }");
    for (script, said) in [
        ("?[id] := ~d:words{ id | query: 'apple AND OR pear', k: 1 }", "'apple AND OR pear'"),
        ("?[id] := ~d:near{ id | query: [1, 2], k: 1, ef: 9 }", "[1, 2]"),
        ("?[id] := ~d:like{ id | query: 3 }", "3"),
    ] {
        let error = db.run_default(script).unwrap_err();
        let label = error.labels().unwrap().next().unwrap();
        assert_eq!(&script[label.offset()..label.offset() + label.len()], said, "{error:?}");
    }
}

#[test]
fn an_index_that_is_computed_is_not_exported() {
    let db = DbInstance::default();
    documents(&db);
    let error = db.export_relations(["d:near"].into_iter()).unwrap_err();
    assert_eq!(code(error), "query::index_not_stored");
    let hashes = rows(&db, "?[hash, src_id] := *d:like{hash, src_id}");
    assert_eq!(db.export_relations(["d:like"].into_iter()).unwrap()["d:like"].rows, hashes);
}

#[test]
fn searches_stand_wherever_relations_do() {
    let db = DbInstance::default();
    documents(&db);
    // In a join, with what is searched for from another relation.
    let pairs =
        "?[a, b] := *d{id: a, v}, ~d:near{ id: b | query: v, k: 2, ef: 10, bind_distance: x }, x > 0 :order a, b";
    assert_eq!(rows(&db, pairs), [[1.into(), 2.into()], [2.into(), 1.into()]]);
    // Bound before: compared with what is found.
    assert_eq!(rows(&db, "?[id] := id in [1, 2, 3], ~d:near{ id | query: vec([4, 4]), k: 1, ef: 10 }"), [[2.into()]]);
    assert_eq!(rows(&db, "?[t] := ~d:near{ id: 1, t | query: vec([4, 4]), k: 2, ef: 10 }"), [["red apple".into()]]);
    // Bound later, and counted.
    assert_eq!(
        rows(&db, "?[t] := ~d:near{ id | query: vec([4, 4]), k: 1, ef: 10 }, *d{id, t}"),
        [["green pear".into()]]
    );
    assert_eq!(rows(&db, "?[count(id)] := ~d:near{ id | query: vec([4, 4]), k: 5, ef: 10 }"), [[2.into()]]);
    // In recursion.
    let walk = "r[id] := id = 1  r[b] := r[a], *d{id: a, v}, ~d:near{ id: b | query: v, k: 2, ef: 10 }  ?[id] := r[id]";
    assert_eq!(rows(&db, walk), [[1.into()], [2.into()]]);
    // In a rule that is negated.
    let others = "near[id] := ~d:near{ id | query: vec([4, 4]), k: 1, ef: 10 }  ?[id] := *d{id}, not near[id]";
    assert_eq!(rows(&db, others), [[1.into()]]);
    // The filter of a search may use a variable of the rule.
    let filtered =
        "?[n, id] := n in [1, 2], ~d:near{ id | query: vec([4, 4]), k: 1, ef: 10, filter: id == n } :order n";
    assert_eq!(rows(&db, filtered), [[1.into(), 1.into()], [2.into(), 2.into()]]);
}

/// What `::indices` says of the search indices of a relation: segments, rows in them, dead rows and rows in the tail.
fn held(db: &DbInstance) -> Vec<[i64; 4]> {
    let of = |row: &Vec<DataValue>| match &row[3] {
        DataValue::Json(config) => {
            ["segments", "sealed_rows", "dead_rows", "tail_rows"].map(|name| config.0[name].as_i64())
        }
        other => panic!("{other:?}"),
    };
    rows(db, "::indices d").iter().filter_map(|row| of(row)[0].map(|_| of(row).map(Option::unwrap))).collect()
}

#[test]
fn an_index_is_made_anew() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = setting.open(folder.path()).unwrap();
        rows(&db, ":create d {k: Int => v: <F32; 2>, t: String, n: Int}");
        let put = "v = [k % 7, k % 11], t = concat('word', to_string(k % 5)), n = k % 3 :put d {k => v, t, n}";
        rows(&db, &format!("?[k, v, t, n] := k in int_range(3000), {put}"));
        for create in [
            "::hnsw create d:v {dim: 2, fields: v, m: 8, ef_construction: 20}",
            "::fts create d:t {extractor: t, tokenizer: Simple}",
            "::lsh create d:l {extractor: t, tokenizer: Simple, target_threshold: 0.5}",
            "::index create d:n {n}",
        ] {
            rows(&db, create);
        }
        rows(&db, &format!("?[k, v, t, n] := i in int_range(100), k = i * 31 % 3000 + 2, {put}"));
        rows(&db, "?[k] := k in int_range(0, 3000, 9) :rm d {k}");
        let found = || {
            [
                "?[k, d] := ~d:v{k | query: vec([3, 3]), k: 60, ef: 100, bind_distance: d} :order d, k",
                "?[k, s] := ~d:t{k | query: 'word1 OR word2', k: 3000, bind_score: s} :order k",
                "?[k] := ~d:l{k | query: 'word3'}",
                "?[k] := *d:n{n: 2, k}",
            ]
            .map(|search| rows(&db, search))
        };
        let before = found();
        assert!(held(&db).iter().all(|[_, _, _, tail]| *tail > 0), "{setting:?}");
        // The second time there is no tail.
        for index in ["v", "t", "l", "n", "v", "t", "l", "n"] {
            rows(&db, &format!("::reindex d:{index}"));
        }
        assert_eq!(found()[1..], before[1..], "{setting:?}");
        assert_eq!(found()[0].len(), before[0].len(), "{setting:?}");
        let living = number(&db, "?[count(k)] := *d{k}");
        assert_eq!(held(&db), [[1, living, 0, 0]; 2], "{setting:?}");
        assert_eq!(db.check().unwrap().problems, Vec::<String>::new(), "{setting:?}");
        rows(&db, "?[k, v, t, n] <- [[-1, [3, 3], 'word3', 2]] :put d {k => v, t, n}");
        let with_new = found();
        let has_new = |rows: &Vec<Vec<DataValue>>| rows.iter().any(|row| row[0] == DataValue::from(-1));
        assert_eq!(with_new.each_ref().map(has_new), [true, false, true, true], "{setting:?}");
        assert_eq!(failure(&db, "::reindex d:none"), "tx::idx_not_found");
        assert_eq!(failure(&db, "::reindex none:d"), "query::relation_not_found");
    }
}

#[test]
fn rankings_are_merged_by_rank() {
    let db = DbInstance::default();
    let merged = |options: &str| {
        format!(
            "x[k, s] <- [['a', 3], ['b', 2.5], ['c', 2.5], ['e', 0]]  one[k, s] := x[k, s] or (k = 'd', s = to_float('NAN'))
             two[k, s] <- [['b', 1], ['a', 0]]
             r[k, s] <~ ReciprocalRankFusion(one[], two[]{options})
             ?[k, n] := r[k, s], n = round(s * 1000000) :order k"
        )
    };
    let expected = |scores: [f64; 5]| -> Vec<Vec<DataValue>> {
        let keys = ["a", "b", "c", "d", "e"].into_iter();
        keys.zip(scores).map(|(key, score)| vec![key.into(), (score * 1e6).round().into()]).collect()
    };
    let rank = |rank: f64| 1.0 / (60.0 + rank);
    // Equal scores have one rank. NaN is behind all scores.
    let even = [rank(1.0) + rank(2.0), rank(2.0) + rank(1.0), rank(2.0), rank(5.0), rank(4.0)];
    assert_eq!(rows(&db, &merged("")), expected(even));
    let weighted = [2.0 * rank(1.0), 2.0 * rank(2.0), 2.0 * rank(2.0), 2.0 * rank(5.0), 2.0 * rank(4.0)];
    assert_eq!(rows(&db, &merged(", weights: [2, 0]")), expected(weighted));
    for weights in ["[1]", "[1, -1]", "[1, 1.0 / 0.0]", "[1, 'x']"] {
        assert_eq!(failure(&db, &merged(&format!(", weights: {weights}"))), "fixed_rule::arg_wrong", "{weights}");
    }
    let no_number = "l[k, s] <- [['a', 1], ['b', 'x']]  ?[k, s] <~ ReciprocalRankFusion(l[])";
    assert_eq!(failure(&db, no_number), "algo::bad_input_value");
}
