//! Vectors: random changes, with searches compared with a scan of the relation.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cozo::{DataValue, DbInstance};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::common::{PATIENCE, number, rows};
use crate::engines::SETTINGS;

const CREATE: &str = "::hnsw create p:ix { dim: 4, fields: [v], m: 8, ef_construction: 40 }";

/// With codes of a byte for each element.
const CREATE_CODES: &str =
    "::hnsw create p:ix { dim: 4, fields: [v], m: 8, ef_construction: 40, quantization: 'int8' }";

/// The rows `[k, distance]` that an index finds, and those that a scan finds.
fn both(db: &DbInstance, query: [f64; 4], k: usize, filter: &str) -> [Vec<(i64, f64)>; 2] {
    let run = |script: String| {
        let found = rows(db, &script);
        found.iter().map(|row| (row[0].get_int().unwrap(), row[1].get_float().unwrap())).collect::<Vec<_>>()
    };
    let condition = if filter.is_empty() { String::new() } else { format!(", filter: {filter}") };
    let after = if filter.is_empty() { String::new() } else { format!(", {filter}") };
    let found = format!(
        "?[k, d] := ~p:ix{{ k | query: vec({query:?}), k: {k}, ef: 200, bind_distance: d{condition} }} :order d, k"
    );
    let scanned =
        format!("?[k, d] := *p{{k, v, tag}}, v != null, d = l2_dist(v, vec({query:?})){after} :order d, k :limit {k}");
    [run(found), run(scanned)]
}

/// How many of the nearest the index finds. All that it finds must be at the right distance.
fn hits(db: &DbInstance, query: [f64; 4], k: usize, filter: &str) -> (usize, usize) {
    let [found, scanned] = both(db, query, k, filter);
    assert_eq!(found.len(), scanned.len(), "the search gives as many rows as there are: {query:?} {filter}");
    let near: BTreeMap<i64, f64> = scanned.iter().copied().collect();
    let hits = found.iter().filter(|(key, distance)| near.get(key).is_some_and(|near| (near - distance).abs() < 1e-6));
    (hits.count(), scanned.len())
}

/// What `::indices` says of the index.
fn held(db: &DbInstance, name: &str) -> i64 {
    let row = &rows(db, "::indices p")[0];
    let DataValue::Json(config) = &row[3] else { panic!("{row:?}") };
    config.0[name].as_i64().unwrap()
}

/// Puts, replaces and removes random rows.
fn change(db: &DbInstance, random: &mut StdRng, keys: i64, count: usize) {
    let mut put = vec![];
    for _ in 0..count {
        let vector: Vec<DataValue> = (0..4).map(|_| DataValue::from(random.random::<f64>())).collect();
        let vector = if random.random_bool(0.05) { DataValue::Null } else { DataValue::List(vector) };
        put.push(DataValue::List(vec![random.random_range(0..keys).into(), vector, random.random_range(0..10).into()]));
    }
    let parameters = BTreeMap::from([("rows".to_string(), DataValue::List(put))]);
    db.run_script("?[k, v, tag] <- $rows :put p {k => v, tag}", parameters, cozo::ScriptMutability::Mutable).unwrap();
    rows(db, &format!("?[k] := i in int_range({}), k = i * 7 % {keys} :rm p {{k}}", count / 10));
}

#[test]
fn what_is_found_follows_random_changes_on_every_engine() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = setting.open(folder.path()).unwrap();
        let mut random = StdRng::seed_from_u64(44);
        rows(&db, ":create p {k: Int => v: <F32; 4>?, tag: Int}");
        change(&db, &mut random, 1000, 300);
        rows(&db, if setting.options.contains("\"cache_mb\": 0") { CREATE_CODES } else { CREATE });
        let (mut found, mut wanted) = (0, 0);
        for round in 0..12 {
            change(&db, &mut random, 6000, if round % 4 == 0 { 2500 } else { 60 });
            for filter in ["", "tag == 3", "tag > 1", "k < 40"] {
                let query = [0; 4].map(|_| random.random::<f64>());
                let (hits, of) = hits(&db, query, 10, filter);
                (found, wanted) = (found + hits, wanted + of);
            }
        }
        let start = Instant::now();
        while held(&db, "sealed_rows") < 2000 {
            assert!(start.elapsed() < PATIENCE, "{setting:?}: {} rows are not sealed", held(&db, "tail_rows"));
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(found * 100 >= wanted * 98, "{setting:?}: {found} of {wanted}");
        assert_eq!(db.check().unwrap().problems, Vec::<String>::new(), "{setting:?}");
        if setting.is_persistent() {
            drop(db);
            let db = setting.open(folder.path()).unwrap();
            let (found, wanted) = hits(&db, [0.5; 4], 20, "");
            assert!(found + 1 >= wanted, "{setting:?}: {found} of {wanted} after reopening");
            rows(&db, "?[k, v, tag] <- [[-1, [0.5, 0.5, 0.5, 0.5], 0]] :put p {k => v, tag}");
            assert_eq!(both(&db, [0.5; 4], 1, "")[0], [(-1, 0.0)]);
        }
    }
}

#[test]
fn a_transaction_finds_its_own_rows() {
    let db = DbInstance::default();
    rows(&db, ":create p {k: Int => v: <F32; 4>?, tag: Int}");
    rows(&db, CREATE);
    rows(&db, "?[k, v, tag] <- [[1, [0, 0, 0, 0], 0], [2, [1, 1, 1, 1], 0]] :put p {k => v, tag}");
    let search = "?[k] := ~p:ix{ k | query: vec([0, 0, 0, 0]), k: 1, ef: 10 }";
    let txn = db.multi_transaction(true);
    let run = |script: &str| txn.run_script(script, BTreeMap::new()).unwrap().rows;
    assert_eq!(run(search), [[DataValue::from(1)]]);
    run("?[k] <- [[1]] :rm p {k}");
    assert_eq!(run(search), [[DataValue::from(2)]]);
    run("?[k, v, tag] <- [[3, [0.1, 0, 0, 0], 0]] :put p {k => v, tag}");
    assert_eq!(run(search), [[DataValue::from(3)]]);
    assert_eq!(rows(&db, search), [[DataValue::from(1)]], "others do not see it");
    txn.abort().unwrap();
    assert_eq!(rows(&db, search), [[DataValue::from(1)]]);
}

#[test]
fn equal_vectors_are_all_found_and_gone_when_removed() {
    let db = DbInstance::default();
    rows(&db, ":create p {k: Int => v: <F32; 4>?, tag: Int}");
    rows(&db, "?[k, v, tag] := k in int_range(3000), v = [k % 3, 0, 0, 0], tag = 0 :put p {k => v, tag}");
    rows(&db, CREATE);
    let search = |k: usize| {
        format!("?[count(k)] := ~p:ix{{ k | query: vec([0, 0, 0, 0]), k: {k}, ef: {k}, bind_distance: d }}, d == 0")
    };
    assert_eq!(number(&db, &search(1500)), 1000);
    rows(&db, "?[k] := k in int_range(3000) :rm p {k}");
    assert_eq!(number(&db, &search(10)), 0);
    rows(&db, "?[k, v, tag] := k in int_range(3000), v = [k % 3, 0, 0, 0], tag = 0 :put p {k => v, tag}");
    assert_eq!(number(&db, &search(1500)), 1000);
}

/// A search for each of many rows is divided among threads.
#[test]
fn many_rows_are_searched_for_together() {
    let db = DbInstance::default();
    rows(&db, ":create p {k: Int => v: <F32; 4>?, tag: Int}");
    rows(
        &db,
        "?[k, v, tag] := k in int_range(1500), v = [k * 37 % 101, k * 11 % 89, k % 7, 0], tag = k % 10 :put p {k => v, tag}",
    );
    rows(&db, CREATE);
    for (filter, condition) in [("", ""), (", filter: tag < 3 && other != left", ", tag < 3, other != left")] {
        let joined = rows(
            &db,
            &format!(
                "?[left, x, other] := *p{{k: left, v}}, ~p:ix{{k: other | query: v, k: 2, ef: 9, bind_distance: x{filter}}} :order left, x"
            ),
        );
        // With a filter over the left row each search is tested by itself.
        let of_each = rows(
            &db,
            &format!(
                "d[left, x, other] := *p{{k: left, v}}, left % 100 == 7, *p{{k: other, v: w, tag}}, x = l2_dist(v, w){condition}
             ?[left, x, other] := d[left, x, other] :order left, x"
            ),
        );
        let mut compared = 0;
        for k in (7..1500).step_by(100) {
            let of = |rows: &[Vec<DataValue>]| -> Vec<f64> {
                let of_k = rows.iter().filter(|row| row[0] == DataValue::from(k));
                of_k.map(|row| row[1].get_float().unwrap()).take(2).collect()
            };
            assert_eq!(of(&joined), of(&of_each), "{k} {filter}");
            compared += 1;
        }
        assert_eq!(compared, 15);
    }
}

/// Distances that are no numbers are one NaN and come last, whatever the index keeps of a vector.
#[test]
fn vectors_without_a_distance_come_last() {
    for quantization in ["none", "int8"] {
        for distance in ["L2", "Cosine", "IP"] {
            let db = DbInstance::default();
            rows(
                &db,
                "?[id, v] := id = 1, v = vec([1, 1])  ?[id, v] := id = 2, v = vec([1.0 / 0.0, 1])
                 ?[id, v] := id = 3, v = vec([0.0 / 0.0, 1])  ?[id, v] := id = 4, v = vec([1e-23, 0])
                 ?[id, v] := id = 5, v = vec([3e38, 3e38])  :create r {id: Int => v: <F32; 2>}",
            );
            rows(
                &db,
                &format!(
                    "::hnsw create r:n {{dim: 2, fields: v, m: 8, ef_construction: 20, distance: {distance},
                         quantization: '{quantization}'}}"
                ),
            );
            let function = BTreeMap::from([("L2", "l2_dist"), ("Cosine", "cos_dist"), ("IP", "ip_dist")])[distance];
            for query in ["[1, 1]", "[1.0 / 0.0, 1]"] {
                let found = rows(
                    &db,
                    &format!(
                    "?[d, id] := ~r:n{{id | query: vec({query}), k: 20, ef: 50, bind_distance: x}}, d = round(x * 1000)
                     :order d, id"
                ),
                );
                let scanned = rows(
                    &db,
                    &format!("?[d, id] := *r{{id, v}}, d = round({function}(v, vec({query})) * 1000) :order d, id"),
                );
                assert_eq!(found, scanned, "{distance} {quantization} {query}");
            }
        }
    }
}

#[test]
fn graphs_of_few_links_are_no_damage() {
    for m in [1, 2] {
        let db = DbInstance::default();
        rows(&db, "?[id, v] := id in int_range(3000), v = rand_vec(4) :create q {id: Int => v: <F32; 4>}");
        rows(&db, &format!("::hnsw create q:n {{dim: 4, fields: v, m: {m}, ef_construction: 20}}"));
        assert_eq!(db.check().unwrap().problems, Vec::<String>::new(), "{m}");
    }
}
