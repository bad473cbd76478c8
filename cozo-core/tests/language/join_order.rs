//! The planner's choices: the order of joins, and intersections. Answers never depend on them.

use crate::common::rows;
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

/// Two relations of so many rows without a column in common, `a` and `b` with types, `ua` and `ub` without. In `ub`, half of the numbers
/// are floats.
fn unconnected(rows_each: i64) -> DbInstance {
    let db = DbInstance::default();
    let fill = |name: &str, columns: &str, s: &str| {
        let value = format!("s = {s}, e = concat('N', to_string(i % 100)), j = json_object('id', i % 100)");
        rows(&db, &format!("?[i, s, e, j] := i in int_range({rows_each}), {value} :create {name} {columns}"));
    };
    let typed = "{i: Int => s: Int, e: String, j: Json}";
    fill("a", typed, "i % 100");
    fill("b", typed, "(i + 7) % 100");
    fill("ua", "{i => s, e, j}", "i % 100");
    fill("ub", "{i => s, e, j}", "if(i % 2 == 0, (i + 7) % 100, to_float((i + 7) % 100))");
    db
}

/// What an equality between two relations is spelt by, and the spelling with a variable in common.
const EQUALITIES: &[(&str, &[&str])] = &[
    (
        "*a{i: x, s}, *b{i: y, s}",
        &[
            "*a{i: x, s}, *b{i: y, s: t}, s == t",
            "*a{i: x, s}, *b{i: y, s: t}, t == s",
            "*a{i: x, s}, *b{i: y, s: t}, s = t",
            "*a{i: x, s}, *b{i: y, s: t}, t = s",
            "*a{i: x, s}, *b{i: y, s: t}, y >= 0 && s == t",
            "*a{i: x, s}, *b{i: y, s: t}, t in [s]",
            "*a{i: x, s}, *b{i: y, s: t}, k = s, k == t",
            "*a{i: x, s}, *b{i: y, s: t}, k = t + 1, k == s + 1",
            "*a{i: x, s}, *b{i: y, s: t}, to_string(s) == to_string(t)",
            "*ua{i: x, s}, *ub{i: y, s: t}, s == t",
            "*ua{i: x, s}, *ub{i: y, s: t}, t = s",
            "h[y, t] := *ub{i: y, s: t}  ?ONE[x, s], h[y, t], s == t",
            "h[x, s] := *ua{i: x, s} g[y, s] := *ub{i: y, s}  ?h[x, s], g[y, t], s == t",
        ],
    ),
    (
        "*a{i: x, e}, *b{i: y, e}",
        &[
            "*a{i: x, e}, *b{i: y, e: f}, e == f",
            "*a{i: x, e}, *b{i: y, e: f}, lowercase(e) == lowercase(f)",
            "*a{i: x, j: k}, *b{i: y, j: l}, k->'id' == l->'id'",
            "*a{i: x, j: k}, *b{i: y, j: l}, k == l",
            "*a{i: x, e}, *b{i: y, e: f}, e == f, x >= 0, y >= 0, concat(e, f) != 'x'",
        ],
    ),
    (
        "*a{i: x}, y = x + 1, *b{i: y}",
        &[
            "*a{i: x}, *b{i: y}, y = x + 1",
            "*a{i: x}, *b{i: y}, y == x + 1",
            "*a{i: x}, *b{i: y}, y - x == 1 && y - 1 == x",
            "*a{i: x}, *b{i: y}, y in [x + 1, x + 1]",
            "*ua{i: x}, *ub{i: y}, x + 1 == y",
        ],
    ),
    ("*a{i: x}, z in [x, x + 1], *b{i: z}, y = z", &["*a{i: x}, *b{i: y}, y in [x, x + 1]"]),
];

#[test]
fn equalities_join_however_they_are_spelt() {
    let db = unconnected(3000);
    for (shared, spellings) in EQUALITIES {
        let count = |query: &str| rows(&db, query)[0][0].clone();
        let expected = count(&format!("?[count(x)] := {shared}"));
        assert!(expected > DataValue::from(2000), "{shared} has rows");
        for spelling in *spellings {
            let query = match spelling.split_once('?') {
                Some((rules, body)) => format!("{rules} ?[count(x)] := {}", body.replace("ONE[x, s]", "*ua{i: x, s}")),
                None => format!("?[count(x)] := {spelling}"),
            };
            assert_eq!(count(&query), expected, "{query}");
            let operators = operators(&db, &query);
            let entry = &operators[operators.iter().rposition(|op| op.starts_with("load")).expect("it reads")..];
            let joins = entry.iter().filter(|op| op.contains("join")).count();
            assert_eq!(joins, 1, "{query}: {operators:?}");
        }
    }
}

/// A comparison that fails for a pair of rows fails, and one that fails for rows that are not paired with any does not.
#[test]
fn what_fails_in_an_equality_fails_for_pairs_alone() {
    let db = DbInstance::default();
    let texts = |count: usize| (0..count).map(|i| format!("[{i}, 'T{i}']")).collect::<Vec<_>>().join(", ");
    let fails = |query: &str| db.run_default(query).is_err();
    rows(&db, &format!("?[i, e] <- [{}] :create a {{i => e}}", texts(50)));
    rows(&db, &format!("?[i, e] <- [{}, [99, 3]] :create b {{i => e}}", texts(50)));
    rows(&db, "?[i, e] <- [] :create none {i => e}");
    let pairs = |query: &str| rows(&db, query).len();
    assert!(fails("?[x, y] := *a{i: x, e}, *b{i: y, e: f}, lowercase(e) == lowercase(f)"));
    assert!(fails("?[x, y] := *b{i: x, e}, *a{i: y, e: f}, lowercase(e) == lowercase(f)"));
    assert!(fails("?[x, y] := *b{i: x, e}, *a{i: y, e: f}, f in [lowercase(e)]"));
    assert!(fails("?[x, y] := *a{i: x, e}, *b{i: y, e: f}, e in f"));
    assert_eq!(pairs("?[x, y] := *none{i: x, e}, *b{i: y, e: f}, lowercase(e) == lowercase(f)"), 0);
    assert_eq!(pairs("?[x, y] := *b{i: x, e}, *none{i: y, e: f}, lowercase(e) == lowercase(f)"), 0);
    assert_eq!(pairs("?[x, y] := *a{i: x, e}, *b{i: y, e: f}, is_string(f), lowercase(e) == lowercase(f)"), 50);
    assert_eq!(pairs("?[x, y] := *a{i: x, e}, *b{i: y, e: f}, is_string(f) && lowercase(e) == lowercase(f)"), 50);
    assert_eq!(pairs("?[x, y] := *b{i: x, e}, *a{i: y, e: f}, is_string(e) && lowercase(e) == lowercase(f)"), 50);
}

/// Aggregations see relations in ascending order, atoms as written, whatever indices there are, and however many rows are wanted.
#[test]
fn the_order_that_aggregations_see_depends_on_nothing_else() {
    let db = DbInstance::default();
    rows(&db, "?[k, a, b] <- [[1, 1, 9], [2, 1, 5], [3, 2, 1], [4, 1, 7]] :create r {k => a, b}");
    rows(&db, "?[x] := x in int_range(5000) :create big {x}");
    rows(&db, "?[x] <- [[0], [1], [2]] :create s {x}");
    let queries = [
        "?[collect(k)] := *r{k, a: 1}",
        "?[collect(p)] := *s[a], *r{k, a}, p = [a, k]",
        "?[a, collect(b)] := *s[a], *r{a, b}",
        "?[a, choice(b)] := *r{k, a, b}, b < 9, *s[a]",
        "?[collect(p)] := *r{a: 1, b}, *r{b, k}, p = [b, k]",
        "?[smallest_by(p)] := *r{k, a: 1}, p = [k, 0]",
        "?[latest_by(p)] := *r{k, a: 1}, p = [k, 0]",
        "?[min_cost(p)] := *r{k, a: 1}, p = [k, 0]",
        "?[shortest(p)] := *r{k, a: 1}, p = [k]",
        "?[choice(p)] := *s[x], *big[y], (x == 2 && y < 10) || (x == 0 && y > 4000), p = [x, y]",
        "d[collect(p)] := *r{k: x}, *r{k: y}, p = [x, y] ?[l] := d[l]",
        "d[collect(y)] := *s[x], *big[y], y > 4990 ?[l] := d[l]",
        "d[collect(p)] := *big[x], *big[y], x + 4995 == y, p = [x, y] ?[l] := d[l]",
        "w[n, choice(v)] := n = 0, v = 0
         w[n, choice(v)] := w[m, _], n = m + 1, *r{k: v, a: n}
         ?[n, v] := w[n, v]",
    ];
    let expected: Vec<_> = queries.iter().map(|query| rows(&db, query)).collect();
    assert_eq!(expected[0], [[DataValue::List([1, 2, 4].map(DataValue::from).to_vec())]]);
    assert_eq!(expected[9], [[DataValue::List([0, 4001].map(DataValue::from).to_vec())]]);
    let same = |how: &str| {
        for (query, expected) in queries.iter().zip(&expected) {
            assert_eq!(rows(&db, query), *expected, "{how}: {query}");
            for limit in [1, 10, 3000] {
                let first: Vec<_> = expected.iter().take(limit).cloned().collect();
                assert_eq!(rows(&db, &format!("{query} :limit {limit}")), first, "{how}, {limit}: {query}");
            }
        }
    };
    same("without an index");
    for columns in ["a", "a, b", "b", "b, a", "a, b, k"] {
        rows(&db, &format!("::index create r:i {{{columns}}}"));
        same(columns);
        rows(&db, "::index drop r:i");
    }
}

#[test]
fn an_analysis_shows_estimates_beside_what_was_found() {
    let db = random_graph(3, 100, 2000);
    let analyzed = db
        .run_default("::explain analyze { ?[a, d] := *e[a, b], *e[b, c], *e[c, d], a < 50 }")
        .expect("the query runs");
    let column = |name: &str| analyzed.headers.iter().position(|header| header == name).expect("the column is there");
    let (rows, estimate) = (column("rows"), column("estimate"));
    let estimated: Vec<&Vec<DataValue>> = analyzed.rows.iter().filter(|row| row[estimate] != DataValue::Null).collect();
    // For each edge. Sizes of uniform data are guessed well.
    assert!(estimated.len() >= 3, "{:?}", analyzed.rows);
    let numbers = |row: &Vec<DataValue>| [rows, estimate].map(|at| row[at].get_int().expect("a number") as f64);
    let ratios = estimated.iter().map(|row| numbers(row)).map(|[found, guessed]| found.max(1.0) / guessed.max(1.0));
    assert!(ratios.into_iter().all(|ratio| (0.02..50.0).contains(&ratio)), "{:?}", analyzed.rows);
}
