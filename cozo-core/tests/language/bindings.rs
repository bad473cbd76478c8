//! Rules that are asked for some of their rows only: bindings restrict what they read, and never change an answer.

use crate::common::rows;
use cozo::{DataValue, DbInstance};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Shortest paths and sums, asked for some of their groups. `{}` is a node.
const QUERIES: &[&str] = &[
    "sp[a, b, min(w)] := *e[a, b, w] sp[a, c, min(w)] := sp[a, b, u], *e[b, c, v], w = u + v ?[x, w] := sp[{}, x, w]",
    "sp[a, b, min(w)] := *e[a, b, w] sp[a, c, min(w)] := *e[a, b, u], sp[b, c, v], w = u + v ?[x, w] := sp[{}, x, w]",
    "sp[a, b, min(w)] := *e[a, b, w] sp[a, c, min(w)] := sp[a, b, u], sp[b, c, v], w = u + v ?[x, w] := sp[{}, x, w]",
    "sp[a, b, min(w)] := *e[a, b, w] sp[a, c, min(w)] := sp[a, b, u], *e[b, c, v], w = u + v ?[x, w] := sp[x, {}, w]",
    "sp[a, b, min(w)] := *e[a, b, w] sp[a, c, min(w)] := sp[a, b, u], *e[b, c, v], w = u + v
     start[x] := *e[{}, x, _] ?[s, x, w] := start[s], sp[s, x, w]",
    "n[a, count(b), sum(w)] := *e[a, b, w] ?[c, s] := n[{}, c, s]",
    "n[a, count(b), sum(w)] := *e[a, b, w] ?[a, c] := a in [1, 1, {}], n[a, c, _]",
    "n[a, count(b)] := b in [1, 1, 2], *e[a, b, _] ?[c] := n[{}, c]",
    "n[a, count(a)] := a in [1, 1, {}], *e[a, _, _] ?[c] := n[{}, c]",
    "n[a, collect(b)] := *e[b, a, _] ?[c] := n[{}, c]",
    "n[b, count(a)] := *e[a, b, _] m[a, max(k)] := *e[a, b, _], n[b, k] ?[k] := m[{}, k]",
    "n[a, count(b)] := *e[a, b, _] ?[a, b] := *e[{}, a, _], n[a, k], *e[a, b, _], n[b, k]",
    "n[a, count(b)] := *e[a, b, _] ?[k] := n[{}, k] or n[1, k]",
    "n[a, count(b)] := *e[a, b, _] ?[a] := *e[{}, a, _], not n[a, 2]",
    "t[a, b] := *e[a, b, _] t[a, c] := t[a, b], *e[b, c, _] n[a, count(b)] := t[a, b] ?[k] := n[{}, k]",
];

#[test]
fn bindings_that_reach_aggregations_change_no_answer() {
    let mut random = StdRng::seed_from_u64(5);
    for round in 0..6 {
        let db = DbInstance::default();
        let edges: Vec<String> = (0..60 + 20 * round)
            .map(|_| (random.random_range(0..24), random.random_range(0..24), random.random_range(1..9)))
            .map(|(a, b, w)| format!("[{a}, {b}, {w}]"))
            .collect();
        rows(&db, &format!("?[a, b, w] <- [{}] :create e {{a: Int, b: Int => w: Int}}", edges.join(", ")));
        for query in QUERIES {
            let query = query.replace("{}", &random.random_range(0..24).to_string());
            let whole = rows(&db, &format!("{query} :disable_magic_rewrite true"));
            assert_eq!(rows(&db, &query), whole, "{query}");
        }
    }
}

/// How often a magic predicate is in the plan of a query.
fn restrictions(db: &DbInstance, query: &str) -> usize {
    let is_magic = |row: &Vec<DataValue>| row[8].get_str().is_some_and(|name| name.starts_with("magic "));
    rows(db, &format!("::explain {{ {query} }}")).iter().filter(|row| is_magic(row)).count()
}

#[test]
fn an_aggregation_is_restricted_to_the_groups_that_a_value_asks_for() {
    let db = DbInstance::default();
    rows(&db, ":create e {a: Int, b: Int => w: Int}");
    for query in QUERIES.iter().take(2).chain(&QUERIES[3..6]) {
        let query = query.replace("{}", "3");
        assert!(restrictions(&db, &query) > 0, "{query}");
    }
    let with_parameter = "n[a, count(b)] := *e[a, b, _] ?[c] := n[$a, c]";
    let params = [("a".to_string(), DataValue::from(1))].into();
    let explained =
        db.run_script(&format!("::explain {{ {with_parameter} }}"), params, cozo::ScriptMutability::Immutable);
    assert!(format!("{:?}", explained.expect("it runs").rows).contains("magic "));
    // All groups are asked for, so that a restriction would only cost.
    for query in [
        "n[a, count(b)] := *e[a, b, _] ?[a, b, c] := *e[a, b, _], n[b, c]",
        "n[a, count(b)] := *e[a, b, _] ?[a, c] := n[a, c], c > 3",
    ] {
        assert_eq!(restrictions(&db, query), 0, "{query}");
    }
}
