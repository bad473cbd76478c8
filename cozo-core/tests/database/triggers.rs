//! Triggers: what they see, when they run, and what becomes of their errors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cozo::{DataValue, DbInstance, NamedRows, SimpleFixedRule, format_error_as_json};
use serde_json::{Value, json};

use crate::common::{code, failure};

/// A database in which some scripts ran.
fn after(scripts: &[&str]) -> DbInstance {
    let db = DbInstance::default();
    run(&db, scripts);
    db
}

fn run(db: &DbInstance, scripts: &[&str]) {
    for script in scripts {
        db.run_default(script).unwrap_or_else(|error| panic!("{error:?}\n{script}"));
    }
}

fn rows(db: &DbInstance, script: &str) -> Value {
    db.run_default(script).unwrap().into_json()["rows"].clone()
}

/// Notes the rows that triggers see: `[what, key, value]`.
const LOGGED: &[&str] = &[
    ":create r {k => v}",
    ":create log {what, k => v}",
    "::set_triggers r
        on put { ?[what, k, v] := _new[k, v], what = 'put new' :put log {what, k => v} }
        on put { ?[what, k, v] := _old[k, v], what = 'put old' :put log {what, k => v} }
        on rm { ?[what, k] := _new[k], what = 'rm new' :put log {what, k => v = what} }
        on rm { ?[what, k, v] := _old[k, v], what = 'rm old' :put log {what, k => v} }",
];

const LOG: &str = "?[what, k, v] := *log[what, k, v]";

#[test]
fn every_operation_sets_off_its_triggers() {
    for (script, expected) in [
        (
            "?[k, v] <- [[1, 'b'], [2, 'b']] :put r {k => v}",
            json!([["put new", 1, "b"], ["put new", 2, "b"], ["put old", 1, "a"]]),
        ),
        ("?[k, v] <- [[2, 'b']] :insert r {k => v}", json!([["put new", 2, "b"]])),
        ("?[k, v] <- [[1, 'b']] :update r {k => v}", json!([["put new", 1, "b"], ["put old", 1, "a"]])),
        ("?[k] <- [[1], [7]] :rm r {k}", json!([["rm new", 1, "rm new"], ["rm new", 7, "rm new"], ["rm old", 1, "a"]])),
        ("?[k] <- [[1]] :delete r {k}", json!([["rm new", 1, "rm new"], ["rm old", 1, "a"]])),
        ("?[k, v] <- [[3, 'c']] :replace r {k => v}", json!([["put new", 3, "c"]])),
        ("?[k, v] <- [[1, 'a']] :ensure r {k => v}", json!([])),
        ("?[k] <- [[2]] :ensure_not r {k}", json!([])),
        ("?[k, v] <- [] :put r {k => v}", json!([])),
        ("?[k] <- [] :rm r {k}", json!([])),
    ] {
        let db = after(&[LOGGED[0], "?[k, v] <- [[1, 'a']] :put r {k => v}", LOGGED[1], LOGGED[2], script]);
        assert_eq!(rows(&db, LOG), expected, "{script}");
    }
}

#[test]
fn of_a_key_that_is_given_twice_the_row_that_stays_is_seen() {
    let db = after(LOGGED);
    run(&db, &["?[k, v] <- [[2, 'x'], [1, 'a'], [1, 'b']] :order -k, v :put r {k => v}"]);
    assert_eq!(rows(&db, LOG), json!([["put new", 1, "b"], ["put new", 2, "x"]]));
    // `:order` has put the 'b' last also where the value would sort first.
    run(&db, &["?[k, v] <- [[5, 'y'], [5, 'x']] :order -v :put r {k => v}"]);
    assert_eq!(rows(&db, "?[v] := *log{what: 'put new', k: 5, v}"), json!([["x"]]));
}

#[test]
fn replacing_a_relation_keeps_its_triggers_which_see_its_new_columns() {
    let db = after(&[
        "?[k] <- [[1], [2]] :create r {k}",
        ":create kept {k}",
        ":create log {k, v}",
        "::set_triggers r
            on replace { ?[k] := *r[k] :put kept {k} }
            on put { ?[k, v] := _new[k, v] :put log {k, v} }",
        "?[k, v] <- [[3, 'c']] :replace r {k => v}",
    ]);
    assert_eq!(rows(&db, "?[k] := *kept[k]"), json!([[1], [2]]), "the rows are there before they are dropped");
    assert_eq!(rows(&db, "?[k, v] := *log[k, v]"), json!([[3, "c"]]));
    run(&db, &["?[k, v] <- [[4, 'd']] :put r {k => v}", "::rename r -> s", "?[k, v] <- [[5, 'e']] :put s {k => v}"]);
    assert_eq!(rows(&db, "?[k, v] := *log[k, v]"), json!([[3, "c"], [4, "d"], [5, "e"]]));
    assert_eq!(rows(&db, "::show_triggers s")[0], json!(["put", 0, "?[k, v] := _new[k, v] :put log {k, v} "]));
}

#[test]
fn triggers_that_are_set_anew_take_the_place_of_those_before() {
    let db = after(&[":create r {k}", ":create a {k}", ":create b {k}"]);
    for (relation, key) in [("a", 1), ("b", 2), ("a", 3)] {
        run(&db, &[&format!("::set_triggers r on put {{ ?[k] := _new[k] :put {relation} {{k}} }}")]);
        run(&db, &[&format!("?[k] <- [[{key}]] :put r {{k}}")]);
    }
    assert_eq!(rows(&db, "?[k] := *a[k]"), json!([[1], [3]]));
    assert_eq!(rows(&db, "?[k] := *b[k]"), json!([[2]]));
}

#[test]
fn names_in_a_trigger_are_looked_up_when_it_runs() {
    let db = after(&[":create r {k}", "::set_triggers r on put { ?[k] := _new[k] :put late {k} }"]);
    let script = "?[k] <- [[1]] :put r {k}";
    assert_eq!(failure(&db, script), "query::relation_not_found");
    assert_eq!(rows(&db, "?[k] := *r[k]"), json!([]), "nothing is written");
    run(&db, &[":create late {k}", script]);
    assert_eq!(rows(&db, "?[k] := *late[k]"), json!([[1]]));
    run(&db, &["::remove late", ":create late {k: String}"]);
    assert_eq!(failure(&db, script), "eval::coercion_failed", "the trigger is compiled for the relation as it is now");
}

#[test]
fn fixed_rules_in_triggers_take_the_rows_of_the_operation() {
    let db = after(&[
        ":create r {k => v}",
        ":create ranked {what, v => rank}",
        "::set_triggers r
            on put { n[i, v] <~ ReorderSort(_new[_, v], out: [v], sort_by: v)  o[i, v] <~ ReorderSort(_old[_, v], out: [v], sort_by: v)
                     ?[what, v, rank] := (n[rank, v], what = 'new') or (o[rank, v], what = 'old')
                     :put ranked {what, v => rank} }",
        "?[k, v] <- [[1, 'b'], [2, 'a'], [3, 'c']] :put r {k => v}",
        "?[k, v] <- [[1, 'z']] :put r {k => v}",
    ]);
    let expected = json!([["new", "a", 1], ["new", "b", 2], ["new", "c", 3], ["new", "z", 1], ["old", "b", 1]]);
    assert_eq!(rows(&db, "?[what, v, rank] := *ranked[what, v, rank]"), expected);
}

#[test]
fn a_fixed_rule_of_the_host_is_looked_up_when_the_trigger_runs() {
    let db = after(&[
        ":create r {k}",
        ":create sums {sum}",
        "::set_triggers r on put { s[x] <~ Sum(_new[])  ?[sum] := s[sum] :put sums {sum} }",
    ]);
    let sum_plus = |more: i64| {
        SimpleFixedRule::new(1, move |inputs, _| {
            let sum: i64 = inputs[0].rows.iter().filter_map(|row| row[0].get_int()).sum();
            Ok(NamedRows::new(vec![], vec![vec![DataValue::from(sum + more)]]))
        })
    };
    let script = "?[k] <- [[1], [2]] :put r {k}";
    assert_eq!(failure(&db, script), "parser::fixed_rule_not_found");
    db.register_fixed_rule("Sum".to_string(), sum_plus(0)).unwrap();
    run(&db, &[script]);
    db.unregister_fixed_rule("Sum").unwrap();
    assert_eq!(failure(&db, script), "parser::fixed_rule_not_found");
    db.register_fixed_rule("Sum".to_string(), sum_plus(100)).unwrap();
    run(&db, &[script]);
    assert_eq!(rows(&db, "?[sum] := *sums[sum]"), json!([[3], [103]]));
}

#[test]
fn an_error_in_a_trigger_shows_the_operation_and_the_trigger() {
    let db = after(&[":create r {k}", "::set_triggers r on put { ?[k] := _new[j], k = j + 1 }"]);
    let script = "?[k] <- [['x']]\n:put r {k}";
    let error = format_error_as_json(db.run_default(script).unwrap_err(), Some(script));
    assert_eq!(error["code"], "eval::throw");
    assert_eq!(error["message"], "the trigger 0 'on put' of 'r' failed");
    assert!(error["help"].is_string() && !error["causes"].as_array().unwrap().is_empty(), "{error}");
    let operation = json!([{"label": "set off by this operation", "span": {"offset": 16, "length": 10}}]);
    assert_eq!(error["labels"], operation);
    let related = &error["related"][0];
    assert_eq!((&related["code"], related["labels"][0]["span"]["offset"].as_u64()), (&error["code"], Some(21)));
    let display = error["display"].as_str().unwrap();
    assert!(display.contains(":put r {k}") && display.contains("k = j + 1"), "{display}");
}

#[test]
fn what_triggers_write_is_undone_with_what_set_them_off() {
    let db = after(LOGGED);
    run(
        &db,
        &["{?[k, v] <- [[1, 'a']] :put r {k => v}} %ignore_error {?[k, v] <- [[2, 'b'], [1, 'c']] :insert r {k => v}}"],
    );
    assert_eq!(rows(&db, LOG), json!([["put new", 1, "a"]]));
    run(&db, &["::set_triggers log on put { ?[k] := _new[_, k, _], k > 10 :assert none }"]);
    run(&db, &["%ignore_error {?[what, k, v] <- [['', 11, 0]] :put log {what, k => v}}"]);
    assert_eq!(rows(&db, LOG), json!([["put new", 1, "a"]]));
    run(&db, &["?[k, v] <- [[12, 'b']] :put r {k => v}"]);
    assert_eq!(rows(&db, LOG).as_array().unwrap().len(), 2, "writes of triggers set off no triggers");
}

#[test]
fn triggers_run_inside_of_scripts_and_held_transactions() {
    let db = after(LOGGED);
    let script = "{?[k] <- [[0]] :create _n {k}}
        %loop
            {?[k, v] := *_n[n], k = n + 1, v = 'a' :put r {k => v}}
            %if {?[n] := *log{what: 'put new', k: n}, n = 3} %then %break %end
            {?[k] := *_n[n], k = n + 1 :replace _n {k}}
        %end
        {?[count(k)] := *log[_, k, _]}";
    assert_eq!(rows(&db, script), json!([[3]]));
    let transaction = db.multi_transaction(true);
    let put =
        |k: &str| transaction.run_script(&format!("?[k, v] <- [[{k}, 'b']] :put r {{k => v}}"), Default::default());
    put("4").unwrap();
    assert_eq!(code(put("nofn()").unwrap_err()), "eval::no_implementation");
    let seen = transaction.run_script("?[k] := *log{what: 'put new', k, v: 'b'}", Default::default()).unwrap();
    assert_eq!(seen.into_json()["rows"], json!([[4]]));
    transaction.commit().unwrap();
    assert_eq!(rows(&db, "?[count(k)] := *log[_, k, _]"), json!([[4]]));
}

#[test]
fn rows_of_all_types_and_large_batches_reach_triggers() {
    let db = after(&[
        ":create r {k: Int => s: String?, f: Float, j}",
        ":create copy {k: Int => s: String?, f: Float, j}",
        "::set_triggers r on put { ?[k, s, f, j] := _new[k, s, f, j] :put copy {k => s, f, j} }
            on rm { ?[k] := _old[k, _, _, _] :rm copy {k} }",
        "?[k, s, f, j] := k in int_range(20000), s = if(k % 3 == 0, null, to_string(k)), f = k / 2, j = [k, {'k': k}]
            :put r {k => s, f, j}",
        "?[k] := *r{k}, k % 2 == 0 :rm r {k}",
    ]);
    assert_eq!(rows(&db, "?[count(k)] := *r[k, s, f, j], *copy[k, s, f, j]"), json!([[10000]]));
    assert_eq!(rows(&db, "?[count(k)] := *copy{k}"), json!([[10000]]));
}
