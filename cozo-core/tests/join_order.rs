//! The planner's choices: the order of joins, and intersections. Answers never depend on them.

mod common;

use common::rows;
use cozo::{DataValue, DbInstance};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The operators of a query's plan, in the order in which they run, rule after rule.
fn operators(db: &DbInstance, query: &str) -> Vec<String> {
    let mut explained = rows(db, &format!("::explain {{ {query} }}"));
    explained.sort_by_key(|row| (row[0].clone(), row[1].clone(), row[3].clone()));
    explained.iter().map(|row| row[4].get_str().expect("op is a string").to_string()).collect()
}

/// A database with the edges of a random graph: `e` over integers, `s` over strings, `m` over integers and floats mixed.
fn random_graph(seed: u64, nodes: i64, edges: usize) -> DbInstance {
    let mut random = StdRng::seed_from_u64(seed);
    let db = DbInstance::default();
    let pairs: Vec<(i64, i64)> =
        (0..edges).map(|_| (random.random_range(0..nodes), random.random_range(0..nodes))).collect();
    let list = |node: &dyn Fn(i64) -> String| {
        pairs.iter().map(|(a, b)| format!("[{}, {}]", node(*a), node(*b))).collect::<Vec<_>>().join(", ")
    };
    let mixed = |n: i64| if n % 3 == 0 { format!("{n}.0") } else { n.to_string() };
    rows(&db, &format!("?[a, b] <- [{}] :create e {{a: Int, b: Int}}", list(&|n| n.to_string())));
    rows(&db, &format!("?[a, b] <- [{}] :create s {{a, b}}", list(&|n| format!("'n{n}'"))));
    rows(&db, &format!("?[a, b] <- [{}] :create m {{a, b}}", list(&mixed)));
    db
}

/// Patterns with cycles; `e` stands for the relation.
const CYCLES: &[&str] = &[
    "?[a, b, c] := *e[a, b], *e[b, c], *e[c, a]",
    "?[count(a)] := *e[a, b], *e[a, c], *e[b, c]",
    "?[a, count(c)] := *e[a, b], *e[c, b], *e[a, c], a != c",
    "?[count(a)] := *e[a, b], *e[b, c], *e[c, d], *e[d, a]",
    "?[a, d] := *e[a, b], *e[b, c], *e[c, d], *e[d, a], *e[a, c]",
    "r[a, b] := *e[a, b] r[a, b] := *e[b, a] ?[count(b)] := r[a, b], r[b, c], r[c, a]",
    "r[a, b] := *e[a, b], *e[b, _] ?[a, b, c] := r[a, b], r[b, c], *e[a, c], not *e[c, a]",
    "t[a, c] := *e[a, b], *e[b, c], *e[a, c] t[a, c] := t[a, b], *e[b, c], *e[c, a] ?[a, c] := t[a, c]",
];

#[test]
fn intersections_and_other_orders_change_no_answer() {
    let mut intersections = 0;
    for seed in 0..12 {
        let db = random_graph(seed, 8 + 6 * seed as i64, 40 + 40 * seed as usize);
        for (relation, pattern) in ["e", "s", "m"].iter().flat_map(|r| CYCLES.iter().map(move |p| (r, p))) {
            let query = pattern.replace("*e[", &format!("*{relation}["));
            let written = rows(&db, &format!("{query} :disable_join_reorder true"));
            assert_eq!(rows(&db, &query), written, "seed {seed}: {query}");
            intersections += operators(&db, &query).iter().filter(|op| *op == "intersect").count();
        }
    }
    assert!(intersections > 100, "only {intersections} plans had an intersection");
}

#[test]
fn a_cycle_is_intersected_only_where_many_are_asked_for() {
    let db = random_graph(1, 300, 6000);
    let triangles = "?[count(a)] := *e[a, b], *e[b, c], *e[c, a]";
    assert_eq!(operators(&db, triangles), ["load_stored", "intersect", "aggr_out"]);
    let of_one = "?[b, c] := *e[1, b], *e[b, c], *e[c, 1]";
    assert!(!operators(&db, of_one).contains(&"intersect".to_string()));
    assert!(!operators(&db, &format!("{triangles} :disable_join_reorder true")).contains(&"intersect".to_string()));
}

#[test]
fn a_clearly_worse_order_is_changed() {
    let db = DbInstance::default();
    rows(&db, "?[a, b] := a in int_range(2000), b = a % 50 :create big {a: Int => b: Int}");
    rows(&db, "?[a] := a in [3, 77] :create small {a: Int}");
    let query = "?[x, b] := *big{a: x, b}, *small{a: x}";
    assert_eq!(operators(&db, query), ["load_stored", "stored_prefix_join", "out"]);
    let read_first = |query: &str| rows(&db, &format!("::explain {{ {query} }}")).last().expect("a scan")[5].clone();
    assert_eq!(read_first(query), DataValue::from(":small"));
    assert_eq!(read_first(&format!("{query} :disable_join_reorder true")), DataValue::from(":big"));
    let answer = vec![vec![DataValue::from(3), 3.into()], vec![77.into(), 27.into()]];
    assert_eq!(rows(&db, query), answer);
}

#[test]
fn a_cached_plan_is_made_anew_when_relations_have_grown() {
    let db = DbInstance::default();
    rows(&db, "{:create a {k: Int, v: Int}} {:create b {v: Int}}");
    let query = "?[k] := *a{k, v}, *b{v}";
    assert!(rows(&db, query).is_empty());
    rows(&db, "?[k, v] := k in int_range(5000), v = k :put a {k, v}");
    rows(&db, "?[v] <- [[7]] :put b {v}");
    assert_eq!(rows(&db, query), vec![vec![DataValue::from(7)]]);
    rows(&db, "?[v] := v in int_range(5000) :put b {v}");
    assert_eq!(rows(&db, query).len(), 5000);
}

#[test]
fn a_recursive_rule_begins_with_what_is_new() {
    let db = random_graph(3, 100, 300);
    let closure = "path[a, b] := *e[a, b] path[a, c] := *e[a, b], path[b, c] ?[a, b] := path[a, b]";
    let ops = operators(&db, closure);
    assert_eq!(ops[2..4], ["load_mem", "stored_mat_join"], "{ops:?}");
    assert_eq!(rows(&db, closure), rows(&db, &format!("{closure} :disable_join_reorder true")));
}

#[test]
fn explain_analyze_counts_rows() {
    let db = random_graph(5, 60, 600);
    let edges = rows(&db, "?[count(a)] := *e[a, b]")[0][0].clone();
    let analyzed = rows(&db, "::explain analyze { ?[a] := *e[a, b], b > 1000 :limit 5 }");
    let by_op = |op: &str| analyzed.iter().find(|row| row[4].get_str() == Some(op)).expect("the operator is there");
    assert_eq!(by_op("load_stored")[9], edges);
    assert_eq!(by_op("filter")[9], DataValue::from(0));
    assert!(by_op("load_stored")[11].get_float().is_some_and(|seconds| seconds > 0.0));
    rows(&db, "::explain analyze { ?[a, b] <- [[1000, 1000]] :put e {a, b} }");
    assert_eq!(rows(&db, "?[count(a)] := *e[a, b]")[0][0], edges, "nothing is written");
}
