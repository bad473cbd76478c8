//! Scripts that are kept ready to run give what they give by themselves, whatever has changed meanwhile.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use crate::common::{code, rows};
use cozo::ScriptMutability::{Immutable, Mutable};
use cozo::{DataValue, DbInstance};

fn parameters(pairs: &[(&str, i64)]) -> BTreeMap<String, DataValue> {
    pairs.iter().map(|(name, value)| (name.to_string(), (*value).into())).collect()
}

#[test]
fn they_see_what_has_changed_since_they_were_prepared() {
    let db = DbInstance::default();
    let find = db.prepare("?[v] := *r{k: $k, v}", Immutable).unwrap();
    assert_eq!(code(find.run(&parameters(&[("k", 1)])).unwrap_err()), "query::relation_not_found");
    db.run_default("?[k, v] <- [[1, 'a'], [2, 'b']] :create r {k: Int => v}").unwrap();
    assert_eq!(find.rows(&parameters(&[("k", 2)])).unwrap(), [["b".into()]]);
    db.run_default("?[k, w, v] <- [[1, 0, 'c'], [2, 1, 'd']] :replace r {k: Int, w: Int => v}").unwrap();
    let found = find.run(&parameters(&[("k", 2)])).unwrap();
    assert_eq!((found.headers, found.rows), (vec!["v".to_string()], vec![vec!["d".into()]]));
    assert!(find.rows(&parameters(&[("k", 3)])).unwrap().is_empty());
}

#[test]
fn rows_alone_are_those_of_the_whole_result() {
    let db = DbInstance::default();
    db.run_default("?[k, v] := k in int_range(3000), v = k % 7 :create r {k: Int => v: Int}").unwrap();
    let scripts = [
        "?[k, v] := *r{k, v}, v == $x",
        "?[count(k)] := *r{k}",
        "?[v, count(k)] := *r{k, v}, k > $x",
        "r[n] := n = 0 r[n] := r[m], m < 50, n = m + $x ?[n] := r[n]",
        "{?[k] := *r{k, v: $x} :limit 3 } {?[n] := n = $x + 1}",
        "%return {?[n] := n = $x}",
        "::relations",
    ];
    for script in scripts {
        let statement = db.prepare(script, Mutable).unwrap();
        assert_eq!(statement.script(), script);
        let given = parameters(&[("x", 3)]);
        let alone = db.run_script(script, given.clone(), Mutable).unwrap().rows;
        assert_eq!(statement.rows(&given).unwrap(), alone, "{script}");
        assert_eq!(statement.run(&given).unwrap().rows, alone, "{script}");
    }
}

#[test]
fn threads_share_one_that_writes() {
    let db = DbInstance::default();
    db.run_default(":create r {k: Int => v: Int}").unwrap();
    let put = db.prepare("?[k, v] <- [[$k, $v]] :put r {k => v}", Mutable).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let put = &put;
            scope.spawn(move || {
                for n in 0..250 {
                    let status = put.rows(&parameters(&[("k", thread * 1000 + n), ("v", n)])).unwrap();
                    assert_eq!(status, [["OK".into()]]);
                }
            });
        }
    });
    let sums = rows(&db, "?[count(k), sum(v)] := *r{k, v}");
    assert_eq!(sums, [[1000.into(), DataValue::from(4.0 * 31125.0)]]);
}

#[test]
fn what_is_wrong_is_told_as_by_scripts_that_run_at_once() {
    let db = DbInstance::default();
    db.run_default(":create r {k: Int => v: Int}").unwrap();
    let told = |error: cozo::Error| format!("{error:?}");
    let broken = "?[k] := *r{k";
    let [prepared, run] = [db.prepare(broken, Immutable).err(), db.run_default(broken).err()].map(Option::unwrap);
    assert_eq!(told(prepared), told(run));
    for script in ["?[k] <- [[1]] :put r {k}", "?[x] := x = $x + 'a'", "?[x] := x = $y"] {
        let given = parameters(&[("x", 1)]);
        let statement = db.prepare(script, Immutable).unwrap();
        let prepared = statement.run(&given).unwrap_err();
        let run = db.run_script(script, given, Immutable).unwrap_err();
        assert_eq!(told(prepared), told(run), "{script}");
    }
}
