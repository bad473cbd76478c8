//! Queries for one row at most, which run without columns, against the same queries run with them: `:timeout 0`, which
//! changes nothing else, has that effect.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use crate::common::rows;
use crate::engines::{SETTINGS, Setting};
use cozo::{DataValue, DbInstance, JsonData, Num, ScriptMutability, format_error_as_json};
use serde_json::json;
use tempfile::TempDir;

/// A database with relations whose keys and values are of many types.
fn database(setting: &Setting, folder: &TempDir) -> DbInstance {
    let db = setting.open(folder.path()).unwrap();
    for script in [
        "?[k, v, w] <- [[1, 'a', 2.5], [2, 'b', null], [3, null, -0.0]] :create one {k: Int => v: String?, w: Float?}",
        "?[a, b, v] <- [['x', 1, [1, 2]], ['x', 2, {'k': 1}], ['', 1, true], ['y', 1, null]]
         :create two {a: String, b: Int => v: Any?}",
        "?[k, v] <- [[1, 'int'], [1.0, 'float'], [null, 'null'], ['1', 'string'], [[1], 'list'], [true, 'bool']]
         :create any {k => v}",
        "?[k] <- [[7], [8]] :create keys {k: Int}",
        "?[k, v] <- [[1, 'a'], [8, 'b']] :create plain {k: Int => v: String?, w: Float default 0.5, u: Any? default null}",
        "?[k, at, v] <- [[1, [10, true], 'old'], [1, [20, true], 'new'], [2, [10, false], 'gone']]
         :create history {k: Int, at: Validity => v}",
        "::index create one:by_w {w}",
    ] {
        db.run_default(script).unwrap_or_else(|error| panic!("{setting}: {error:?}\n{script}"));
    }
    db
}

/// What a script gives, or the code of its error, its labels and its help.
fn outcome(db: &DbInstance, script: &str, key: &DataValue) -> Result<(Vec<String>, Vec<Vec<DataValue>>), String> {
    let parameters: BTreeMap<String, DataValue> = [("k".to_string(), key.clone())].into();
    match db.run_script(script, parameters, ScriptMutability::Mutable) {
        Ok(result) => Ok((result.headers, result.rows)),
        Err(error) => {
            let error = format_error_as_json(error, None);
            Err(json!([error["code"], error["labels"], error["help"], error["message"]]).to_string())
        }
    }
}

fn keys() -> Vec<DataValue> {
    let json = DataValue::Json(JsonData(json!({"k": 1})));
    let list = DataValue::List(vec![1.into()]);
    let values = [DataValue::Null, 1.into(), 2.into(), 3.into(), 9.into(), DataValue::Num(Num::Float(1.0)), json, list];
    values.into_iter().chain(["x".into(), "1".into(), true.into()]).collect()
}

#[test]
fn they_answer_as_with_columns() {
    let scripts = [
        "?[v, w] := *one{k: $k, v, w}",
        "?[v, v2, k] := *one{k: $k, v}, v2 = v, k = $k",
        "?[k, v] := k = $k, *one{k, v, w}, w > 1",
        "?[k] := *one{k, v: 'a'}, k = $k",
        "?[v] := *two{a: 'x', b: $k, v}",
        "?[v, w] := *two{a: $k, b: 1, v}, *one{k: 1, w}",
        "?[v] := *any{k: $k, v}",
        "?[v, a] := *any{k: $k, v}, a = if(v == 'int', 1, v == 'float', 2.5)",
        "?[v, a] := *any{k: $k, v}, a = cond(length(v) > 4, upper(v), $k == 1, v ~ 'none', true, $k)",
        "?[k] := *keys[k], k = $k + 6",
        "?[found] := *keys[$k], found = true",
        "?[next] := *one{k: $k}, next = $k + 1, *keys{k: next + 5}",
        "?[v] := *one{k: $k, v}, v",
        "?[v] := *one{k: $k, v}, v > 1 && w == 1, w = 1",
        "?[x] := x = $k / 0",
        "?[x] := *one{k: $k, v}, x = 1 + v",
        "?[x] := x = $k, x > 1",
        "?[a, b] <- [[$k, 1 + 1]]",
        "?[a] <- [[$k + 1]]",
        "?[count(k)] := *one{k}",
        "?[count(k), count(v)] := *one{k: $k, v}, k = $k",
        "?[count(b)] := *two{a: $k, b}",
        "?[count(b), count(b)] := a = $k, *two{a, b, v}",
        "?[count(v)] := *two{a: 'x', b: $k, v}",
        "?[count(k)] := *any{k: $k, v}, k = $k",
        "?[count(k)] := *one{k, w: $k}",
        "?[count(v)] := k = $k, k > 1, *one{k, v}",
        "?[count(a), n] := *two{a, b: n}",
        "?[count(a), sum(b)] := *two{a: $k, b}",
        "?[count(v)] := *two{a, b: $k, v}",
        "?[count(v)] := *history{k: $k, v}",
        "?[count(v)] := *history{k: $k, v @ 15}",
        "?[count(v)] := *history{v}",
        "?[v] := *history{k: $k, v @ 15}",
        "?[v] := *history{k: $k, at: validity(20, true), v}",
        "?[k] := *one:by_w{w: 2.5, k}, k = $k",
        "?[k] := *one{k: $k}, not *keys{k: $k}, k = $k",
        "?[k] := *keys{k: $k + 6}, k = $k",
        "?[k] := k = $k, not *keys{k}, not *two{a: 'x', b: $k}",
        "?[k] := k = $k, *two{a: 'x', b: k}, not *history{k, at: validity(10, true)}",
        "?[count(k)] := *one{k}, k = $k",
        "{:create _t {k => v}} {?[k, v] <- [[1, 2]] :put _t {k => v}} {?[v] := *_t{k: $k, v}}",
    ];
    let mut found = 0;
    for setting in SETTINGS {
        let folder = TempDir::new().unwrap();
        let db = database(setting, &folder);
        for script in scripts {
            let last = script.rfind('}').filter(|_| script.starts_with('{'));
            let (body, end) = script.split_at(last.unwrap_or(script.len()));
            for key in keys() {
                let (point, columns) =
                    (outcome(&db, script, &key), outcome(&db, &format!("{body} :timeout 0 {end}"), &key));
                found += usize::from(point.as_ref().is_ok_and(|(_, rows)| !rows.is_empty()));
                assert_eq!(point, columns, "{setting}: {script} with {key}");
            }
        }
    }
    assert!(found > 100, "only {found} queries had a row");
}

#[test]
fn operations_write_what_they_would_with_columns() {
    let scripts = [
        "?[k, v, w] <- [[$k, 'put', 1.5]] :put one {k => v, w}",
        "?[k, v, w] := k = $k, *one{k, w}, v = 'update' :put one {k => v, w}",
        "?[k, v] := k = $k, v = concat('n', to_string($k)) :update one {k => v}",
        "?[k] := k = $k, *one{k} :rm one {k}",
        "?[k] <- [[$k]] :insert keys {k}",
        "?[k] <- [[$k]] :ensure keys {k} :returning",
        "{?[k] <- [[$k]] :put keys {k}} {?[n] := *keys{k: $k}, n = 1}",
        "?[k, v] := k = $k, *two{a: 'x', b: $k, v} :put any {k => v} :returning",
        "?[w, v, u, k] := k = $k, v = 'moved', w = 1.5, u = 7 :put plain {k => w, v, u}",
        "?[k, v] <- [[$k, 'with a default']] :put plain {k => v}",
        "?[k, x, w] := k = $k, x = 'twice', w = 0.0 :put plain {k => v = x, u = x, w}",
        "?[k, v, w] <- [[$k, 'converted', 1]] :put plain {k => v, w}",
        "?[k, v, w] <- [[$k, null, null]] :put plain {k => v, w}",
        "?[k, v, w, u] <- [[1, $k, 2.5, $k]] :put plain {k => v, w, u}",
        "?[k, v, w, u] := k = $k, v = null, w = -0.0, u = int_range(500) :put plain {k => v, w, u}",
        "{?[k, v] <- [[$k, [1]]] :put any {k => v}} {?[k, v] := *any{k: $k, v: u}, k = $k, v = u ++ [2] :put any {k => v}}",
        "?[k] <- [[$k]] :rm any {k}",
        "?[v, k] := k = $k, *plain{k, v} :order v :rm plain {k}",
        "?[v, k] := k = $k + 1, *plain{k, v} :rm plain {k}",
        "?[k, v] <- [[$k, 'inserted']] :insert plain {k => v}",
        "?[k, v, w, u] <- [[$k, 'inserted', 2.5, [$k]]] :insert plain {k => v, w, u}",
        "?[u, k] := k = $k, *plain{k}, u = 'updated' :update plain {k => u}",
        "?[k, w, v] := k = $k, not *keys{k}, v = null, w = 7.5 :update plain {k => w, v}",
        "?[k, u] <- [[$k, 'updated again']] :update plain {k => u}",
        "?[k, v] <- [[$k, $k]] :update any {k => v}",
        "{?[k, v] <- [[$k, 'inserted']] :insert any {k => v}} {?[k, v] <- [[$k, 'updated']] :update any {k => v}}",
        "?[k] <- [[$k]] :delete keys {k}",
        "?[k] := k = $k, *keys{k} :delete any {k}",
        "?[v, k] := k = $k, *plain{k, v} :delete plain {k}",
        "?[k] := k = $k, not *one{k} :delete any {k}",
    ];
    let contents = |db: &DbInstance| {
        let relations = [
            "*one{k, v, w}",
            "*one:by_w{k, w}, v = 0",
            "*any{k, v}, w = 0",
            "*keys{k}, v = 0, w = 0",
            "*plain{k, v, w: x, u}, w = [x, u]",
        ];
        relations.map(|relation| rows(db, &format!("?[k, v, w] := {relation}")))
    };
    for setting in SETTINGS {
        let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
        let [point, columns] = folders.each_ref().map(|folder| database(setting, folder));
        for script in scripts {
            let with_columns = match script.find("} {") {
                Some(end) => format!("{} :timeout 0 {} :timeout 0 }}", &script[..end], &script[end..script.len() - 1]),
                None => format!("{script} :timeout 0"),
            };
            for key in keys() {
                let (a, b) = (outcome(&point, script, &key), outcome(&columns, &with_columns, &key));
                assert_eq!(a, b, "{setting}: {script} with {key}");
            }
            assert_eq!(contents(&point), contents(&columns), "{setting}: after {script}");
        }
    }
}

#[test]
fn a_row_may_not_be_larger_than_a_query() {
    let db = DbInstance::new("mem", "", r#"{"query_memory_mb": 1}"#).unwrap();
    assert_eq!(crate::common::failure(&db, "?[x] := x = int_range(1000000)"), "eval::out_of_memory");
}
