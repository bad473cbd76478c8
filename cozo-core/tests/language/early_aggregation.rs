//! Aggregations that are computed from counts for each joined value: the answers are those of the enumerated join.

use crate::common::rows;
use cozo::{DataValue, DbInstance};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// A database with a random graph `e`, the same with weights in `g`, a relation `s` of strings, a relation `m` of mixed numbers and nulls, and `k`, in which
/// each node has one kind.
fn random_database(seed: u64, nodes: i64, edges: usize) -> DbInstance {
    let mut random = StdRng::seed_from_u64(seed);
    let db = DbInstance::default();
    let mut list = |row: &dyn Fn(i64, i64, i64) -> String| {
        let mut row_of =
            || row(random.random_range(0..nodes), random.random_range(0..nodes), random.random_range(-3..9));
        (0..edges).map(|_| row_of()).collect::<Vec<_>>().join(", ")
    };
    let edges_of = list(&|a, b, w| format!("[{a}, {b}, {w}, {w}.5]"));
    rows(&db, &format!("?[a, b, w, f] <- [{edges_of}] :create g {{a: Int, b: Int => w: Int, f: Float}}"));
    rows(&db, "?[a, b] := *g[a, b, _, _] :create e {a: Int, b: Int}");
    rows(
        &db,
        &format!("?[a, b] <- [{}] :create s {{a: String, b: String}}", list(&|a, b, _| format!("['n{a}', 'n{b}']"))),
    );
    let mixed = |n: i64| match n % 5 {
        0 => format!("{n}.0"),
        1 => "null".to_string(),
        _ => n.to_string(),
    };
    rows(&db, &format!("?[a, b] <- [{}] :create m {{a, b}}", list(&|a, b, _| format!("[{}, {}]", mixed(a), mixed(b)))));
    rows(&db, &format!("?[a, k] <- [{}] :create k {{a: Int => k: Int}}", list(&|a, _, w| format!("[{a}, {w}]"))));
    rows(&db, "?[k, a] := *k[a, k] :create by_kind {k: Int, a: Int}");
    db
}

/// Aggregations over joins. `e` may stand for `s` or `m`, too, in the first ones.
const OF_ANY: &[&str] = &[
    "?[count(a)] := *e[a, b], *e[b, c], *e[c, d]",
    "?[count(d)] := *e[a, b], *e[b, c], *e[c, d], *e[d, x], *e[x, y]",
    "?[a, count(d)] := *e[a, b], *e[b, c], *e[c, d]",
    "?[count(d), a] := *e[a, b], *e[b, c], *e[c, d]",
    "?[a, c, count(d)] := *e[a, b], *e[b, c], *e[c, d]",
    "?[b, count(b)] := *e[b, x], *e[b, y], *e[b, z]",
    "?[count(b)] := *e[b, x], *e[b, y], *e[z, b], *e[z, u]",
    "?[count(a)] := *e[a, b], *e[b, c], *e[c, a], *e[a, x], *e[x, y]",
    "?[a, count(a)] := *e[a, b], *e[b, c], *e[c, a], *e[b, x], *e[c, y]",
    "?[count(a)] := *e[a, b], *e[b, c], *e[c, d], a != d",
    "?[count(a)] := *e[a, b], *e[b, c], *e[c, d], a != c, b != d",
    "?[count(a)] := *e[a, b], *e[b, c], not *e[a, c], a != c, *e[c, d]",
    "?[a, count(b)] := *e[a, b], *e[b, c], *e[c, d], b != d",
    "?[count(a)] := *e[a, b], *e[b, c], not *e[c, b], *e[c, d]",
    "?[count(a)] := *e[a, b], *e[b, c], not *e[c, _], *e[b, d]",
    "?[count(a)] := *e[a, _], *e[_, a], *e[a, b], *e[b, _]",
    "?[count_unique(d)] := *e[a, b], *e[b, c], *e[c, d]",
    "?[a, count_unique(d)] := *e[a, b], *e[b, c], *e[c, d]",
    "?[count(a), count_unique(b), count(d)] := *e[a, b], *e[b, c], *e[c, d]",
    "?[a, unique(b)] := *e[a, b], *e[b, c], *e[c, d], *e[d, _]",
    "r[a, b] := *e[a, b] r[a, b] := *e[b, a] ?[count(a)] := r[a, b], r[b, c], r[c, d], a != d",
    "r[a, count(b)] := *e[a, b], *e[b, _] ?[count(n)] := *e[x, a], r[a, n], *e[a, c], r[c, k]",
    "?[count(a)] := *e[a, b], *e[b, c], *e[c, d] ?[count(a)] := *e[a, b], *e[b, a], *e[a, c]",
    "?[a, count(c)] := *e[a, b], *e[b, c] ?[a, count(b)] := *e[a, b]",
    "?[count(a)] := *e[a, b], *e[c, d], *e[d, x]",
    "?[count(a)] := *e[a, b], *e[b, c], (*e[c, d] or *e[d, c])",
    "?[count(a)] := *e[a, b], *e[b, c], x = c, *e[x, d]",
    "?[count(a)] := *e[a, b], *e[b, b], *e[b, c], *e[c, c]",
];

const OF_NUMBERS: &[&str] = &[
    "?[sum(w)] := *g[a, b, w, _], *e[b, c], *e[c, d]",
    "?[a, sum(w), sum(f), count(w), min(w), max(f)] := *g[a, b, w, f], *e[b, c], *e[c, d]",
    "?[a, int_sum(w)] := *g[a, b, w, _], *e[b, c], *e[c, d]",
    "?[d, sum(w)] := *g[a, b, w, _], *e[b, c], *e[c, d]",
    "?[sum(w)] := *g[a, b, u, _], *g[b, c, v, _], *e[c, d], w = u + v",
    "?[a, min(w)] := *e[a, b], *e[b, c], *g[c, d, w, _]",
    "?[a, max(w)] := *e[a, b], *g[b, c, w, _], w < 5, *e[c, d]",
    "?[a, mean(w)] := *g[a, b, w, _], *e[b, c], *e[c, d]",
    "?[a, collect(w)] := *g[a, b, w, _], *e[b, c], a < 4",
    "?[count(a)] := *g[a, b, w, _], w > 3, *g[b, c, u, _], u > w, *e[c, d]",
    "?[count(a)] := *e[a, b], *k[b, x], *e[b, c], *k[c, x], *e[c, a], *k[a, x]",
    "?[x, count(a)] := *k[a, x], *e[a, b], *e[b, c], *e[c, d]",
    "?[x, count(a)] := *k[a, x], *by_kind[x, b], *e[b, c], *e[c, d]",
    "?[count(a)] := *k[a, x], *k[b, x], *k[c, x], *e[a, b], *e[b, c], a != c",
    "?[count(b)] := *e[1, b], *e[b, c], *e[c, d]",
    "?[count(a)] := *e[a, b], *e[b, 2], *e[a, c], *e[c, d]",
    "?[y, count(y)] := *e[a, b], *e[b, c], *e[c, d], y = a % 3",
    "?[count(a)] := *e[a, b], *e[b, c], *e[c, d], 10 / (a - 1000) < b",
    "?[count(a)] := *e[a, b], *e[b, c], *e[c, d], a + 0.0 != d",
    "?[count(a)] := *e[a, b], *e[b, c], *e[c, d], a != d, 10 % (a - d) != 77",
    "?[count(a)] := *e[a, b], *e[b, c], a != c, x = 10 % (a - c), *e[c, d]",
    "l[a, count(b)] := *e[a, b] n[a, c] := l[a, c] n[a, c] := *k[a, _], not *e[a, _], c = 1
     ?[int_sum(w)] := *e[a, b], n[b, u], *e[b, c], n[c, v], w = u * v",
];

/// Whether the plan of a query has a part.
fn has_part(db: &DbInstance, query: &str) -> bool {
    let is_part = |row: &Vec<DataValue>| row[8].get_str().is_some_and(|name| name.contains(" part "));
    rows(db, &format!("::explain {{ {query} }}")).iter().any(is_part)
}

#[test]
fn early_aggregations_change_no_answer() {
    let mut with_parts = 0;
    for seed in 0..6 {
        let db = random_database(seed, 20 + 10 * seed as i64, 150 + 70 * seed as usize);
        let of_any = OF_ANY.iter().flat_map(|query| ["e", "s", "m"].map(|of| query.replace("*e[", &format!("*{of}["))));
        for query in of_any.chain(OF_NUMBERS.iter().map(|query| query.to_string())) {
            let enumerated = rows(&db, &format!("{query} :disable_join_reorder true"));
            assert_eq!(rows(&db, &query), enumerated, "seed {seed}: {query}");
            with_parts += usize::from(has_part(&db, &query));
        }
    }
    assert!(with_parts > 200, "only {with_parts} plans have parts");
}

#[test]
fn a_sum_of_what_is_no_number_is_the_same_error() {
    let db = random_database(1, 40, 400);
    rows(&db, "?[a, b, w] := *e[a, b], w = if(a == 7, 'seven', a) :create mixed {a, b => w}");
    let query = "?[sum(w)] := *mixed[a, b, w], *e[b, c], *e[c, d]";
    let error = |query: &str| {
        db.run_script(query, Default::default(), cozo::ScriptMutability::Immutable).expect_err("it fails")
    };
    assert_eq!(error(query).to_string(), error(&format!("{query} :disable_join_reorder true")).to_string());
}

#[test]
fn a_query_that_looks_at_little_does_not_aggregate_a_whole_relation() {
    let db = random_database(2, 2000, 20_000);
    let query = "?[count(d)] := *e[1, b], *e[b, c], *e[c, d]";
    assert!(!has_part(&db, query));
    assert!(has_part(&db, &query.replace("[1, b]", "[a, b]")));
}

#[test]
fn the_headers_are_those_of_the_script() {
    let db = random_database(3, 40, 400);
    let query = "?[a, count(d), sum(w)] := *g[a, b, w, _], *e[b, c], *e[c, d]";
    assert!(has_part(&db, query));
    let found = db.run_script(query, Default::default(), cozo::ScriptMutability::Immutable).expect("it runs");
    assert_eq!(found.headers, ["a", "count(d)", "sum(w)"]);
}
