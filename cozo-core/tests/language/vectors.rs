//! Relations with vectors: the results are the same, whether the vectors of a column lie in one buffer or as single values.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use cozo::{DataValue, DbInstance, ScriptMutability, Vector};

const ROWS: i64 = 700;

fn vector(elements: &[f32]) -> DataValue {
    DataValue::Vec(Vector::F32(elements.to_vec().into()))
}

fn run(db: &DbInstance, script: &str) -> Result<Vec<Vec<DataValue>>, String> {
    let params = BTreeMap::from([("q".to_string(), vector(&[1.0, 2.0, 0.5]))]);
    let rows = db.run_script(script, params, ScriptMutability::Mutable).map_err(|error| error.to_string())?;
    Ok(rows.rows)
}

/// `typed` has vectors and nulls; `mixed` has the same rows, and others of other types from the key `ROWS` on.
fn relations() -> DbInstance {
    let db = DbInstance::default();
    run(&db, ":create typed {k: Int => v: <F32; 3>?}").unwrap();
    run(&db, ":create mixed {k: Int => v}").unwrap();
    run(&db, ":create keyed {v: <F32; 3> => k: Int}").unwrap();
    let row = |k: i64| match k % 7 {
        0 => DataValue::Null,
        n => vector(&[n as f32, (k % 3) as f32, (k % 2) as f32 / 2.0]),
    };
    let rows = DataValue::List((0..ROWS).map(|k| DataValue::List(vec![k.into(), row(k)])).collect());
    for relation in ["typed", "mixed"] {
        let script = format!("?[k, v] <- $rows :put {relation} {{k => v}}");
        let params = BTreeMap::from([("rows".to_string(), rows.clone())]);
        db.run_script(&script, params, ScriptMutability::Mutable).unwrap();
    }
    let odd = (ROWS..2 * ROWS).step_by(2).map(|k| format!("[{k}, vec([{k}])], [{}, [1.0, 2.0, 3.0]]", k + 1));
    let odd = odd.collect::<Vec<_>>().join(",");
    run(&db, &format!("?[k, v] := e in [{odd}], k = first(e), v = last(e) :put mixed {{k => v}}")).unwrap();
    run(&db, "m[v, min(k)] := *typed{k, v}, !is_null(v) ?[v, k] := m[v, k] :put keyed {v => k}").unwrap();
    db
}

#[test]
fn results_do_not_depend_on_the_form_of_a_column() {
    let db = relations();
    for body in [
        "?[k, d] := r[k, v], is_vec(v), d = l2_dist(v, $q)",
        "?[k, d] := r[k, v], is_vec(v), d = cos_dist($q, v)",
        "?[k, d] := r[k, v], is_vec(v), d = ip_dist(v, v)",
        "?[k, d] := r[k, v], d = l2_dist(v, $q)",
        "?[k, w] := r[k, v], !is_null(v), w = l2_normalize(v * 2 + $q) / (k + 1) - vec([1, 2, 3])",
        "?[k, w] := r[k, v], !is_null(v), w = v + vec([1, 2, 3], 'F64')",
        "?[k] := r[k, v], v == $q",
        "?[k] := r[k, v], v != $q",
        "?[k, n] := r[k, v], is_vec(v), n = length(v)",
        "?[v, count(k)] := r[k, v]",
        "?[unique(v), count_unique(v), collect(v)] := r[k, v], k < 50",
        "?[k, l] := r[k, v], r[l, v], k < 100, l < 60",
        "?[k, l] := r[k, v], *keyed{v, k: l}",
        "?[k] := r[k, v], not *keyed{v}",
        "?[k, v] := r[k, v] :order -v, k :limit 30",
        "?[k, v] := r[k, v], v > $q :order v, k",
        "seen[v] := r[1, v] seen[w] := seen[v], w = v / 2, l2_dist(w, w * 0) > 0.1 ?[v] := seen[v]",
        "?[v] := r[k, v] or v = $q",
        "?[k, v] := r[k, v], k > 690 or (k = -1, v = null)",
        "?[k, x] := r[k, v], k < 20, x in concat([v], [k])",
    ] {
        let of = |relation: &str| run(&db, &format!("r[k, v] := *{relation}{{k, v}}, k < {ROWS} {body}"));
        let found = of("typed");
        assert_eq!(found, of("mixed"), "{body}");
        let fails = body.contains("[k, v], d = ") || body.contains("v > $q");
        assert!(found.is_ok_and(|rows| !rows.is_empty()) != fails, "{body}");
    }
}

#[test]
fn rows_with_vectors_are_changed_and_removed() {
    let db = relations();
    let both = |script: &str| {
        let of = |relation: &str| run(&db, &script.replace("RELATION", relation));
        assert_eq!(of("typed"), of("mixed"), "{script}");
        let rows = |relation: &str| run(&db, &format!("?[k, v] := *{relation}{{k, v}}, k < {ROWS}")).unwrap();
        assert_eq!(rows("typed"), rows("mixed"), "{script}");
    };
    for script in [
        "?[k, v] <- [[3, null]] :put RELATION {k => v}",
        "?[k, v] := k = 7, v = $q :put RELATION {k => v}",
        "?[k, v] := k = -5, v = vec([0, 0, 0]) :insert RELATION {k => v}",
        "?[k, v] := *RELATION{k, v: w}, k % 5 == 1, k < 400, !is_null(w), v = w + 1 :put RELATION {k => v}",
        "?[k] := *RELATION{k}, k % 3 == 0, k < 300 :rm RELATION {k}",
        "?[k, v] := k in [8, 9, 10, 11, 12], v = null :put RELATION {k => v}",
        "?[v] := *RELATION{k: 4, v}",
        "{?[k, v] := k = 10, v = $q :put RELATION {k => v}} {?[k] := *RELATION{k, v}, v == $q}",
    ] {
        both(script);
    }
}

#[test]
fn lists_become_vectors_or_do_not_fit() {
    let db = DbInstance::default();
    run(&db, ":create r {k: Int => v: <F64; 2>}").unwrap();
    run(&db, "?[k, v] <- [[1, [1, 2.5]], [2, [-0.5, 3]]] :put r {k => v}").unwrap();
    let sum = "?[k, s] := *r{k, v}, s = v == vec([1, 2.5], 'F64')";
    assert_eq!(run(&db, sum).unwrap(), [[1.into(), true.into()], [2.into(), false.into()]]);
    for misfit in ["[1, 2, 3]", "[1]", "[1, 'a']", "null", "vec([1, 2])", "3"] {
        let rows = format!("?[k, v] := e in [[3, [1, 2]], [4, {misfit}]], k = first(e), v = last(e) :put r {{k => v}}");
        assert!(run(&db, &rows).is_err(), "{misfit}");
    }
    assert_eq!(run(&db, "?[count(k)] := *r{k}").unwrap(), [[DataValue::from(2)]]);
}
