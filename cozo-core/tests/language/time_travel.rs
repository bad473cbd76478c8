//! Reads as of a time, `*relation{... @ time}`: times, joins, negation, plans and errors, and random histories against a
//! filter of all rows.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::common::{code, failure, number, rows, run_with};
use cozo::{DataValue, DbInstance, ScriptMutability, format_error_as_json};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

/// The rows that a script answers, as JSON.
fn answer(db: &DbInstance, script: &str) -> Value {
    rows(db, script).into_iter().map(|row| row.into_iter().map(Value::from).collect::<Value>()).collect()
}

/// Moods of three people; `bob` has none from 14 to 19.
fn moods() -> DbInstance {
    let db = DbInstance::default();
    rows(
        &db,
        "{:create mood {name: String, at: Validity => mood: String?}}
         {?[name, at, mood] <- [['ann', [10, true], 'calm'], ['ann', [20, true], 'busy'], ['bob', [10, true], 'sad'],
                                ['bob', [14, false], null], ['bob', [20, true], 'glad'], ['cy', [30, true], 'new']]
          :put mood {name, at => mood}}",
    );
    db
}

#[test]
fn times_are_given_in_several_ways() {
    let db = moods();
    for (time, expected) in [
        ("9", json!([])),
        ("10", json!([["ann", "calm"], ["bob", "sad"]])),
        ("7 * 2", json!([["ann", "calm"]])),
        ("14.0", json!([["ann", "calm"]])),
        ("'1970-01-01T00:00:00.000020Z'", json!([["ann", "busy"], ["bob", "glad"]])),
        ("if(true, 20, 10)", json!([["ann", "busy"], ["bob", "glad"]])),
        ("'NOW'", json!([["ann", "busy"], ["bob", "glad"], ["cy", "new"]])),
        ("'END'", json!([["ann", "busy"], ["bob", "glad"], ["cy", "new"]])),
        ("to_int(now())", json!([["ann", "busy"], ["bob", "glad"], ["cy", "new"]])),
        ("-9223372036854775807 - 1", json!([])),
        ("9223372036854775807", json!([["ann", "busy"], ["bob", "glad"], ["cy", "new"]])),
    ] {
        assert_eq!(answer(&db, &format!("?[name, mood] := *mood{{name, mood @ {time}}}")), expected, "{time}");
        assert_eq!(answer(&db, &format!("?[name, mood] := *mood[name, _, mood, @ {time}]")), expected, "{time}");
    }
}

#[test]
fn a_compiled_script_takes_another_time_at_each_run() {
    let db = moods();
    let script = "?[mood] := *mood{name: 'ann', mood @ $t}";
    for (time, expected) in
        [(DataValue::from(9), ""), (10.into(), "calm"), ("END".into(), "busy"), (15.0.into(), "calm")]
    {
        let parameters = BTreeMap::from([("t".to_string(), time)]);
        let found = db.run_script(script, parameters, ScriptMutability::Immutable).unwrap().rows;
        assert_eq!(found.first().and_then(|row| row[0].get_str()).unwrap_or_default(), expected);
    }
    let parameters = BTreeMap::from([("t".to_string(), DataValue::from(1.5))]);
    let error = db.run_script(script, parameters, ScriptMutability::Immutable).unwrap_err();
    assert_eq!(code(error), "parser::bad_validity_spec");
    assert_eq!(failure(&db, script), "parser::param_not_found");
}

#[test]
fn the_validity_column_shows_the_rows_own_validity() {
    let db = moods();
    assert_eq!(answer(&db, "?[name, at] := *mood{name, at @ 25}"), json!([["ann", [20, true]], ["bob", [20, true]]]));
    // Bound, it is compared with the visible version; it does not choose the version.
    assert_eq!(answer(&db, "?[name] := *mood{name, at: validity(10) @ 12}"), json!([["ann"], ["bob"]]));
    assert_eq!(answer(&db, "?[name] := *mood{name, at: validity(10) @ 25}"), json!([]));
    assert_eq!(answer(&db, "?[mood] := *mood{name: 'ann', at: validity(10), mood @ 12}"), json!([["calm"]]));
    assert_eq!(answer(&db, "?[mood] := *mood{name: 'ann', at: validity(10), mood @ 25}"), json!([]));
    // The versions that are those of another time too.
    let same = "?[name] := *mood{name, at @ 12}, *mood{name, at @ 15}";
    assert_eq!(answer(&db, same), json!([["ann"]]));
    let changed = "?[name] := *mood{name, at @ 12}, not *mood{name, at @ 15}";
    assert_eq!(answer(&db, changed), json!([["bob"]]));
}

#[test]
fn negated_reads_ask_for_the_absence_of_a_visible_row() {
    let db = moods();
    let script = |time: &str| format!("p[name] <- [['ann'], ['bob'], ['cy'], ['dan']] ?[name] := p[name], {time}");
    assert_eq!(answer(&db, &script("not *mood{name @ 12}")), json!([["cy"], ["dan"]]));
    assert_eq!(answer(&db, &script("not *mood{name @ 15}")), json!([["bob"], ["cy"], ["dan"]]));
    assert_eq!(answer(&db, &script("not *mood{name @ 'END'}")), json!([["dan"]]));
    assert_eq!(answer(&db, &script("not *mood{name, mood: 'calm' @ 12}")), json!([["bob"], ["cy"], ["dan"]]));
    assert_eq!(answer(&db, &script("not (*mood{name, mood @ 25}, mood > 'c')")), json!([["ann"], ["cy"], ["dan"]]));
    assert_eq!(answer(&db, "p[m] <- [['calm'], ['glad']] ?[m] := p[m], not *mood{mood: m @ 12}"), json!([["glad"]]));
    assert_eq!(failure(&db, "p[m] <- [['calm']] ?[m] := p[m], not *mood{@ 12}"), "eval::unsafe_negation");
}

#[test]
fn now_is_the_instant_that_the_script_writes() {
    let db = moods();
    let script = "{?[name, at, mood] <- [['ann', 'ASSERT', 'here']] :put mood {name, at => mood}}
                  {?[name, at, mood] <- [['bob', 'RETRACT', null]] :put mood {name, at => mood}}
                  {?[name, mood] := *mood{name, mood @ 'NOW'}}";
    assert_eq!(answer(&db, script), json!([["ann", "here"], ["cy", "new"]]));
    let transaction = db.multi_transaction(true);
    transaction
        .run_script(
            "?[name] <- [['ann']] ?[name, at, mood] <- [['ann', [40, false], null]] :put mood {name, at => mood}",
            BTreeMap::new(),
        )
        .unwrap_err();
    let put = "?[name, at, mood] <- [['cy', [40, false], null]] :put mood {name, at => mood}";
    transaction.run_script(put, BTreeMap::new()).unwrap();
    let seen = transaction.run_script("?[count(name)] := *mood{name @ 50}", BTreeMap::new()).unwrap().rows;
    assert_eq!(seen[0][0].get_int(), Some(2), "a transaction sees its own retraction");
    assert_eq!(number(&db, "?[count(name)] := *mood{name @ 50}"), 3);
}

#[test]
fn ephemeral_relations_have_histories_too() {
    let script = "{?[k, at, v] <- [['a', [1, true], 1], ['a', [5, false], 0], ['b', [3, true], 2]]
                   :create _h {k, at: Validity => v}}
                  {?[k, v] := *_h{k, v @ 5}}";
    assert_eq!(answer(&DbInstance::default(), script), json!([["b", 2]]));
}

#[test]
fn what_is_not_a_time_or_has_no_history_is_refused() {
    let db = moods();
    rows(&db, "{:create plain {k => v}} {:create perhaps {k, at: Validity? => v}} {:create value {k => at: Validity}}");
    let cases = [
        ("?[v] := *plain{k, v @ 5}", "eval::invalid_time_travel", "5"),
        ("?[v] := *perhaps{k, v @ 5}", "eval::invalid_time_travel", "5"),
        ("?[k] := *value{k @ 'NOW'}", "eval::invalid_time_travel", "'NOW'"),
        ("?[v] := *mood{mood: v @ 'yesterday'}", "parser::bad_validity_spec", "'yesterday'"),
        ("?[v] := *mood{mood: v @ '~2020-01-01T00:00:00Z'}", "parser::bad_validity_spec", "'~2020-01-01T00:00:00Z'"),
        ("?[v] := *mood{mood: v @ 1.5}", "parser::bad_validity_spec", "1.5"),
        ("?[v] := *mood{mood: v @ null}", "parser::bad_validity_spec", "null"),
        ("?[v] := *mood{mood: v @ true}", "parser::bad_validity_spec", "true"),
        ("?[v] := *mood{mood: v @ [5, true]}", "parser::bad_validity_spec", "[5, true]"),
        ("?[v] := *mood{mood: v @ now() / 3}", "parser::bad_validity_spec", "now() / 3"),
        ("?[v] := *mood{mood: v @ 1 / 'a'}", "eval::throw", "1 / 'a'"),
        ("?[v] := *mood{mood: v @ t + 1}", "eval::unbound_variable", "*mood{mood: v @ t + 1}"),
        ("?[v] := p[v], not *mood{mood: v @ v} p[v] <- [[1]]", "eval::negated_as_of", "*mood{mood: v @ v}"),
    ];
    for (script, expected, place) in cases {
        let error = format_error_as_json(db.run_default(script).unwrap_err(), Some(script));
        assert_eq!(error["code"], expected, "{script}");
        let label = &error["labels"][0]["span"];
        let (offset, length) = (label["offset"].as_u64().unwrap() as usize, label["length"].as_u64().unwrap() as usize);
        assert_eq!(&script[offset..offset + length], place, "{error:#}");
        assert!(error["help"].as_str().is_some_and(|help| !help.is_empty()), "{error:#}");
    }
}

#[test]
fn plans_show_the_time_and_how_versions_are_found() {
    let db = moods();
    let operators = |body: &str| -> Vec<(String, String)> {
        let rows = rows(&db, &format!("::explain {{ {body} }}"));
        let text = |value: &DataValue| value.get_str().unwrap_or_default().to_string();
        rows.iter().rev().map(|row| (text(&row[4]), text(&row[5]))).filter(|(_, of)| of.starts_with(":mood")).collect()
    };
    let found = |op: &str, of: &str| vec![(op.to_string(), of.to_string())];
    assert_eq!(operators("?[v] := *mood{mood: v @ 5}"), found("load_stored_with_validity", ":mood @ 5"));
    assert_eq!(operators("?[v] := *mood{name: 'ann', mood: v @ 5}"), found("stored_prefix_join", ":mood @ 5"));
    // The Validity is no part of the key to look up, and its own value is not that of the time.
    assert_eq!(
        operators("?[v] := *mood{name: 'ann', at: validity(5), mood: v @ 5}"),
        found("stored_prefix_join", ":mood @ 5")
    );
    let joined = "p[n] <- [['ann']] ?[v] := p[m], *mood{mood: m, name: v @ 5}";
    assert_eq!(operators(joined), found("stored_mat_join", ":mood @ 5"));
    let negated = "p[n] <- [['ann']] ?[n] := p[n], not *mood{name: n @ 5}";
    assert_eq!(operators(negated), found("stored_neg_prefix_join", ":mood @ 5"));
}

/// A key of `edge`, in the order of the relation.
type Version = (i64, i64, Reverse<(i64, bool)>);

/// A relation `edge {a, b, at => w}` of random histories, and what a filter of all rows finds.
struct Edges {
    db: DbInstance,
    rows: BTreeMap<Version, i64>,
}

/// The visible edges with their weights.
type Visible = BTreeMap<(i64, i64), i64>;

impl Edges {
    fn random(nodes: i64, edges: usize, versions: usize, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let mut found: BTreeMap<Version, i64> = BTreeMap::new();
        for _ in 0..edges {
            let (a, b) = (random.random_range(0..nodes), random.random_range(0..nodes));
            for _ in 0..random.random_range(0..=2 * versions) {
                let validity = Reverse((random.random_range(0..100i64), random.random_bool(0.7)));
                found.insert((a, b, validity), random.random_range(0..5));
            }
        }
        let db = DbInstance::default();
        let list: Vec<String> = found
            .iter()
            .map(|((a, b, Reverse((time, asserts))), w)| format!("[{a},{b},[{time},{asserts}],{w}]"))
            .collect();
        let put = format!("?[a, b, at, w] <- [{}] :create edge {{a: Int, b: Int, at: Validity => w}}", list.join(","));
        rows(&db, &put);
        Edges { db, rows: found }
    }

    fn visible(&self, time: i64) -> Visible {
        let mut decided = BTreeSet::new();
        let mut visible = Visible::new();
        for ((a, b, Reverse((timestamp, asserts))), w) in &self.rows {
            if *timestamp <= time && decided.insert((*a, *b)) && *asserts {
                visible.insert((*a, *b), *w);
            }
        }
        visible
    }

    fn integers(&self, script: &str, times: &[(&str, i64)]) -> Vec<Vec<i64>> {
        let found = run_with(&self.db, script, times).unwrap_or_else(|error| panic!("{error:?}\n{script}")).rows;
        found.iter().map(|row| row.iter().map(|value| value.get_int().unwrap()).collect()).collect()
    }
}

fn sorted(rows: impl IntoIterator<Item = Vec<i64>>) -> Vec<Vec<i64>> {
    rows.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
}

#[test]
fn random_histories_read_as_by_a_filter_of_all_rows() {
    for seed in 0..12 {
        let edges = Edges::random(6 + 10 * (seed as i64 % 3), 60, 1 + seed as usize % 5 * 4, seed);
        let mut random = StdRng::seed_from_u64(seed);
        for _ in 0..8 {
            let (t, u, n) = (random.random_range(-2..104), random.random_range(-2..104), random.random_range(0..6i64));
            let (now, then) = (edges.visible(t), edges.visible(u));
            let times = [("t", t), ("u", u), ("n", n)];
            let check = |script: &str, expected: Vec<Vec<i64>>| {
                let used: Vec<(&str, i64)> =
                    times.iter().copied().filter(|(name, _)| script.contains(&format!("${name}"))).collect();
                assert_eq!(edges.integers(script, &used), expected, "seed {seed}, {used:?}\n{script}");
            };
            let row = |((a, b), w): (&(i64, i64), &i64)| vec![*a, *b, *w];
            check("?[a, b, w] := *edge{a, b, w @ $t}", sorted(now.iter().map(row)));
            check("?[a] := *edge{a @ $t}", sorted(now.keys().map(|(a, _)| vec![*a])));
            check(
                "?[b, w] := *edge{a: $n, b, w @ $t}",
                sorted(now.iter().filter(|((a, _), _)| *a == n).map(|((_, b), w)| vec![*b, *w])),
            );
            check(
                "?[a, w] := *edge{a, b: $n, w @ $t}",
                sorted(now.iter().filter(|((_, b), _)| *b == n).map(|((a, _), w)| vec![*a, *w])),
            );
            check(
                "?[a, b, v, w] := *edge{a, b, w: v @ $t}, *edge{a, b, w @ $u}",
                sorted(now.iter().filter_map(|((a, b), v)| Some(vec![*a, *b, *v, *then.get(&(*a, *b))?]))),
            );
            check(
                "?[a, c] := *edge{a, b @ $t}, *edge{a: b, b: c @ $u}",
                sorted(
                    now.keys()
                        .flat_map(|(a, b)| then.keys().filter(move |(x, _)| x == b).map(move |(_, c)| vec![*a, *c])),
                ),
            );
            check(
                "?[a, c] := *edge{a, b @ $t}, *edge{a: c, b @ $u}",
                sorted(
                    now.keys()
                        .flat_map(|(a, b)| then.keys().filter(move |(_, x)| x == b).map(move |(c, _)| vec![*a, *c])),
                ),
            );
            check(
                "?[a, b] := *edge{a, b @ $t}, not *edge{a, b @ $u}",
                sorted(now.keys().filter(|key| !then.contains_key(key)).map(|(a, b)| vec![*a, *b])),
            );
            check(
                "?[a, b] := *edge{a, b @ $t}, not *edge{a: b @ $u}",
                sorted(now.keys().filter(|(_, b)| !then.keys().any(|(a, _)| a == b)).map(|(a, b)| vec![*a, *b])),
            );
            check(
                "?[a, b] := *edge{a, b @ $t}, not *edge{b: a @ $u}",
                sorted(now.keys().filter(|(a, _)| !then.keys().any(|(_, b)| a == b)).map(|(a, b)| vec![*a, *b])),
            );
            check(
                "?[a, w] := *edge{a, b: a, w @ $t}",
                sorted(now.iter().filter(|((a, b), _)| a == b).map(|((a, _), w)| vec![*a, *w])),
            );
            check("?[sum(w), count(w)] := *edge{w @ $t}", vec![vec![now.values().sum(), now.len() as i64]]);
        }
    }
}

#[test]
fn lists_to_intersect_are_read_each_at_its_own_time() {
    let edges = Edges::random(60, 1500, 3, 7);
    let body = "*edge{a, b @ $t}, *edge{a: b, b: c @ $u}, *edge{a: c, b: a @ $v}";
    let plan = rows(
        &edges.db,
        &format!("::explain {{ ?[a, b, c] := {} }}", body.replace("$t", "20").replace("$u", "50").replace("$v", "80")),
    );
    assert!(plan.iter().any(|row| row[4].get_str() == Some("intersect")), "{plan:?}");
    for (t, u, v) in [(20, 50, 80), (50, 50, 50), (90, 10, 10), (-1, 50, 50)] {
        let [first, second, third] = [t, u, v].map(|time| edges.visible(time));
        let mut expected = vec![];
        for (a, b) in first.keys() {
            for c in second.range((*b, i64::MIN)..=(*b, i64::MAX)).map(|((_, c), _)| c) {
                if third.contains_key(&(*c, *a)) {
                    expected.push(vec![*a, *b, *c]);
                }
            }
        }
        let found = edges.integers(&format!("?[a, b, c] := {body}"), &[("t", t), ("u", u), ("v", v)]);
        assert_eq!(found, sorted(expected), "{t} {u} {v}");
    }
}

#[test]
fn recursion_is_restricted_and_still_reads_as_of_the_time() {
    for seed in 0..4 {
        let edges = Edges::random(30, 80, 4, 100 + seed);
        for time in [0, 30, 60, 99] {
            let visible = edges.visible(time);
            let mut reached = BTreeSet::new();
            let mut waiting = vec![3];
            while let Some(node) = waiting.pop() {
                let next = visible.keys().filter(|(a, _)| *a == node).map(|(_, b)| *b);
                waiting.extend(next.filter(|b| reached.insert(*b)).collect::<Vec<_>>());
            }
            let rules = "path[a, b] := *edge{a, b @ $t}  path[a, c] := path[a, b], *edge{a: b, b: c @ $t}
                         ?[b] := path[3, b]";
            for option in ["", ":disable_magic_rewrite true"] {
                let found = edges.integers(&format!("{rules} {option}"), &[("t", time)]);
                assert_eq!(found, sorted(reached.iter().map(|b| vec![*b])), "seed {seed}, {time} {option}");
            }
        }
    }
}

#[test]
fn large_histories_are_split_among_threads_without_being_cut() {
    let db = DbInstance::default();
    rows(
        &db,
        "?[k, at, v] := k in int_range(3000), t in int_range(20), at = validity(t * 10, (k + t) % 3 != 0), v = t
         :create h {k: Int, at: Validity => v: Int}",
    );
    // At 105, the version is that of 100, the tenth.
    let expected = (0..3000).filter(|k| (k + 10) % 3 != 0).count() as i64;
    assert_eq!(number(&db, "?[count(k)] := *h{k @ 105}"), expected);
    assert_eq!(number(&db, "?[sum(v)] := *h{k, v @ 105}"), 10 * expected);
    assert_eq!(
        number(&db, "?[count(k)] := *h{k @ 105}, *h{k, v @ 115}"),
        (0..3000).filter(|k| k % 3 == 0).count() as i64
    );
    assert_eq!(rows(&db, "?[k] := *h{k @ 105} :limit 7").len(), 7);
    assert_eq!(
        number(&db, "?[count(k)] := *h{k @ 105}, not *h{k @ 95}"),
        (0..3000).filter(|k| k % 3 == 0).count() as i64
    );
}
