//! Graphs that are long, and runs that are to be stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use cozo::{DataValue, DbInstance, NamedRows};

use crate::common::{failure, number, rows};

const LENGTH: i64 = 100_000;

/// A chain 0 → 1 → ... as a stored relation.
fn chain() -> DbInstance {
    let db = DbInstance::default();
    rows(&db, &format!("?[a, b] := a in int_range({LENGTH}), b = a + 1 :create e {{a: Int, b: Int}}"));
    db
}

#[test]
fn a_long_chain_is_no_deep_stack() {
    let db = chain();
    let ends = format!("s[x] <- [[0]] t[x] <- [[{LENGTH}]] n[x] := *e[x, _] n[x] := *e[_, x]");
    for (rule, count) in [
        ("c[x, g] <~ SCC(*e[]) ?[count_unique(g)] := c[_, g]", LENGTH + 1),
        ("c[x, g] <~ WCC(*e[]) ?[count_unique(g)] := c[_, g]", 1),
        ("c[i, x] <~ TopSort(*e[]) ?[max(i)] := c[i, _]", LENGTH),
        ("c[a, b, p] <~ ShortestPathBFS(*e[], s[], t[]) ?[l] := c[_, _, p], l = length(p)", LENGTH + 1),
        (
            "c[a, b, w, p] <~ ShortestPathDijkstra(*e[], s[], t[], keep_ties: true) ?[l] := c[_, _, _, p], l = length(p)",
            LENGTH + 1,
        ),
        ("c[a, b, w, p] <~ KShortestPathYen(*e[], s[], t[], k: 1) ?[l] := c[_, _, _, p], l = length(p)", LENGTH + 1),
        ("c[a, b, p] <~ DFS(*e[], n[x], s[], condition: x == 100000) ?[l] := c[_, _, p], l = length(p)", LENGTH + 1),
        ("c[a, b, p] <~ BFS(*e[], n[x], s[], condition: x == 100000) ?[l] := c[_, _, p], l = length(p)", LENGTH + 1),
        ("c[a, b, w] <~ SSSP(*e[], s[]) ?[l] := c[_, b, l], b == 100000", LENGTH),
        ("c[a, b, w] <~ MaxFlow(*e[], s[], t[]) ?[count(a)] := c[a, _, _]", LENGTH),
        ("c[a, b] <~ BipartiteMatching(*e[]) ?[count(a)] := c[a, _]", LENGTH),
        ("c[p, l] <~ Cycles(*e[]) ?[count(p)] := c[p, _]", 0),
        ("c[x, k] <~ KCore(*e[]) ?[max(k)] := c[_, k]", 1),
        ("c[a, b, w] <~ MinimumSpanningTreePrim(*e[]) ?[count(a)] := c[a, _, _]", LENGTH),
        ("c[l, x] <~ Leiden(*e[]) ?[count(x)] := c[_, x]", LENGTH + 1),
        ("c[i, x, p] <~ RandomWalk(*e[], n[], s[], steps: 1000000) ?[l] := c[_, _, p], l = length(p)", LENGTH + 1),
    ] {
        assert_eq!(number(&db, &format!("{ends} {rule}")), count, "{rule}");
    }
}

#[test]
fn a_long_cycle_is_one() {
    let db = chain();
    rows(&db, &format!("?[a, b] <- [[{LENGTH}, 0]] :put e {{a, b}}"));
    assert_eq!(number(&db, "c[x, g] <~ SCC(*e[]) ?[count_unique(g)] := c[_, g]"), 1);
    assert_eq!(number(&db, "c[p, l] <~ Cycles(*e[]) ?[l] := c[_, l]"), LENGTH + 1);
    assert_eq!(number(&db, "c[i, x] <~ TopSort(*e[]) ?[count(i)] := c[i, _]"), 0);
}

/// In a graph of millions of edges, scores are rounded when they are passed on, by less than anybody notices who asks for no more.
#[test]
fn ranks_of_a_large_graph_are_as_exact_as_epsilon_asks() {
    const NODES: i64 = 100_000;
    let (rounds, theta) = (3, 0.85);
    let edges: BTreeSet<(i64, i64)> = (0..NODES * 46)
        .map(|i| {
            let (from, to) = (i % NODES, (i * 7_919 + i / NODES * 104_729) % NODES);
            // Some have many edges that lead to them, most have few.
            (from, to * to / NODES)
        })
        .collect();
    assert!(edges.len() > 17 << 18, "{} edges make fewer than 16 pieces", edges.len());
    let mut leaving = vec![0.0; NODES as usize];
    edges.iter().for_each(|(from, _)| leaving[*from as usize] += 1.0);
    let mut expected = vec![1.0 / NODES as f64; NODES as usize];
    for _ in 0..rounds {
        let mut next = vec![(1.0 - theta) / NODES as f64; NODES as usize];
        for (from, to) in &edges {
            next[*to as usize] += theta * expected[*from as usize] / leaving[*from as usize];
        }
        expected = next;
    }
    let db = DbInstance::default();
    rows(&db, ":create e {a: Int, b: Int}");
    let list = edges.iter().map(|(a, b)| vec![DataValue::from(*a), DataValue::from(*b)]).collect();
    let given = NamedRows::new(vec!["a".to_string(), "b".to_string()], list);
    db.import_relations(BTreeMap::from([("e".to_string(), given)])).expect("the rows fit");
    for (epsilon, off) in [("0.0001", 1e-7), ("0.0", 1e-13)] {
        let script = format!("?[n, s] <~ PageRank(*e[], epsilon: {epsilon}, iterations: {rounds})");
        let found = rows(&db, &script);
        assert_eq!(found.len(), NODES as usize);
        for row in found {
            let (node, score) = (row[0].get_int().unwrap() as usize, row[1].get_float().unwrap());
            assert!((score / expected[node] - 1.0).abs() < off, "{node}: {score}, not {}", expected[node]);
        }
    }
}

/// Runs what would take very long, and is to stop at a timeout of half a second.
fn expect_timeout(db: &DbInstance, script: &str) {
    let begin = Instant::now();
    assert_eq!(failure(db, &format!("{script} :timeout 0.5")), "eval::killed", "{script}");
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}: {script}", begin.elapsed());
}

#[test]
fn whatever_takes_long_stops_at_its_timeout() {
    let db = DbInstance::default();
    rows(
        &db,
        "?[a, b, w] := a in int_range(400), b in int_range(400), a != b, w = 1 + (a * 7 + b * 13) % 11 :create e {a, b => w}",
    );
    // A ladder has 2 to the power of its length of shortest paths.
    rows(
        &db,
        "?[a, b] := i in int_range(200), j in [0, 1], k in [0, 1], a = [i, j], b = [i + 1, k] :create ladder {a, b}",
    );
    rows(&db, "?[a, b] := a in int_range(30000), i in int_range(1, 9), b = (a * i + i) % 30000 :create wide {a, b}");
    let ends = "s[x] <- [[0]] t[x] <- [[1]] from[x] <- [[[0, 0]]] to[x] <- [[[200, 0]]] n[x] := *wide[x, _] \
                some[x] := x in int_range(2000) few[x] := x in int_range(200)";
    for rule in [
        "?[a, b, c, p] <~ ShortestPathDijkstra(*ladder[], from[], to[], keep_ties: true)",
        "?[a, b, c, p] <~ KShortestPathYen(*e[], s[], t[], k: 1000000)",
        "?[p, l] <~ Cycles(*e[], limit: 1000000000)",
        "?[n, c] <~ BetweennessCentrality(*wide[])",
        "?[n, c] <~ ClosenessCentrality(*wide[])",
        "?[a, b, c] <~ SSSP(*wide[], some[])",
        "?[a, b, p] <~ ShortestPathBFS(*wide[], n[], few[])",
        "?[n, c] <~ PageRank(*wide[], iterations: 1000000000, epsilon: 0)",
        "?[n, c] <~ EigenvectorCentrality(*ladder[], iterations: 1000000000, epsilon: 0)",
        "?[i, n, p] <~ RandomWalk(*e[], s[], s[], steps: 1000000000, iterations: 1000000000)",
    ] {
        let rule = rule.replace("RandomWalk(*e[], s[]", "RandomWalk(*wide[], n[]");
        expect_timeout(&db, &format!("{ends} {rule}"));
    }
}

#[test]
fn the_answer_does_not_depend_on_the_order_of_rows() {
    let db = DbInstance::default();
    let edge = |i: i64| vec![DataValue::from(i * i % 101), (i * 37 % 103).into(), ((i % 9) as f64 / 7.0).into()];
    let mut edges: Vec<Vec<DataValue>> = (0..900).map(edge).collect();
    let list = |edges: &[Vec<DataValue>]| DataValue::List(edges.iter().cloned().map(DataValue::List).collect());
    for rule in [
        "?[n, c] <~ PageRank(e[], weighted: true)",
        "?[n, c] <~ BetweennessCentrality(e[])",
        "?[n, c] <~ ClosenessCentrality(e[])",
        "?[l, n] <~ LabelPropagation(e[])",
        "?[l, n] <~ CommunityDetectionLouvain(e[], keep_depth: 1)",
        "?[l, n] <~ Leiden(e[])",
        "?[n, c] <~ EigenvectorCentrality(e[])",
        "?[a, b, p] <~ ShortestPathBFS(e[], s[], s[])",
        "?[a, b, c, p] <~ KShortestPathYen(e[], s[], s[], k: 3)",
        "?[a, b, c, p] <~ ShortestPathDijkstra(e[], s[])",
        "?[a, b, w] <~ MinimumSpanningTreePrim(e[])",
        "?[a, b, w] <~ MinimumSpanningForestKruskal(e[])",
        "?[i, n] <~ TopSort(e[])",
        "?[a, b] <~ BipartiteMatching(e[])",
    ] {
        let mut run = |reverse: bool| {
            if reverse {
                edges.reverse();
            }
            let parameters = [("e".to_string(), list(&edges))].into();
            let script = format!("e[a, b, w] <- $e  s[x] <- [[0], [4]]  {rule}");
            db.run_script(&script, parameters, cozo::ScriptMutability::Immutable).unwrap().rows
        };
        assert_eq!(run(false), run(true), "{rule}");
    }
}
