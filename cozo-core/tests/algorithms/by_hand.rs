//! What was computed by hand: the definitions of LDBC Graphalytics to the letter, and the words of the documentation.

use cozo::DbInstance;
use serde_json::{Value, json};

use crate::common::{failure, rows};

/// A directed graph with edges in both directions, a sink, and two parts.
const DIRECTED: &str = "e[a, b] <- [[1, 2], [2, 1], [2, 3], [3, 1], [1, 4], [4, 3], [5, 1], [8, 9]]";

fn answer(script: &str) -> Value {
    let rows = rows(&DbInstance::default(), script);
    rows.into_iter().map(|row| Value::from(cozo::DataValue::List(row))).collect()
}

#[test]
fn local_clustering_coefficients() {
    // 1 has 2, 3, 4, 5 around it, and among them 2 -> 3 and 4 -> 3, of 12. 2 has 1 and 3: 3 -> 1, of 2. 3 has 1, 2, 4: 1 -> 2,
    // 2 -> 1, 1 -> 4, of 6. 4 has 1 and 3: 3 -> 1, of 2. 5 has 1 alone.
    let script = format!("{DIRECTED} c[n, v] <~ LCC(e[]) ?[n, v] := c[n, x], v = round(x * 1000)");
    let expected = json!([[1, 167.0], [2, 500.0], [3, 500.0], [4, 500.0], [5, 0.0], [8, 0.0], [9, 0.0]]);
    assert_eq!(answer(&script), expected);
    // Without directions 1 has 2 - 3 and 3 - 4, of 6; 3 has 1 - 2 and 1 - 4, of 3.
    let script = format!("{DIRECTED} c[n, v] <~ LCC(e[], undirected: true) ?[n, v] := c[n, x], v = round(x * 1000)");
    let expected = json!([[1, 333.0], [2, 1000.0], [3, 667.0], [4, 1000.0], [5, 0.0], [8, 0.0], [9, 0.0]]);
    assert_eq!(answer(&script), expected);
}

#[test]
fn community_detection_by_label_propagation() {
    let after = |rounds: i64| answer(&format!("{DIRECTED} ?[n, label] <~ CDLP(e[], iterations: {rounds})"));
    // 1 sees 2 twice, for both directions; 2 sees 1 twice; 3 sees 1, 2, 4; 4 sees 1, 3; 5 sees 1; 8 and 9 one another.
    assert_eq!(after(1), json!([[1, 2], [2, 1], [3, 1], [4, 1], [5, 1], [8, 9], [9, 8]]));
    // 1 sees 1 five times; 2 sees 2, 2, 1; 3 sees 2, 1, 1; 4 sees 2, 1: the smaller; 5 sees 2.
    assert_eq!(after(2), json!([[1, 1], [2, 2], [3, 1], [4, 1], [5, 2], [8, 8], [9, 9]]));
    // 1 sees 2, 2, 1, 1, 2; 2 sees 1, 1, 1; 3 sees 1, 2, 1; 4 sees 1, 1; 5 sees 1.
    assert_eq!(after(3), json!([[1, 2], [2, 1], [3, 1], [4, 1], [5, 1], [8, 9], [9, 8]]));
    assert_eq!(after(10), after(2));
}

#[test]
fn costs_from_one_start() {
    let script = "e[a, b, w] <- [[1, 2, 0.5], [2, 3, 0.25], [1, 3, 1], [4, 1, 1]] s[x] <- [[1], [77]] ?[s, n, c] <~ SSSP(e[], s[])";
    assert_eq!(answer(script), json!([[1, 1, 0.0], [1, 2, 0.5], [1, 3, 0.75], [1, 4, "INFINITY"]]));
    let both = script.replace("s[])", "s[], undirected: true)");
    assert_eq!(answer(&both), json!([[1, 1, 0.0], [1, 2, 0.5], [1, 3, 0.75], [1, 4, 1.0]]));
}

#[test]
fn labels_of_strings_are_the_smallest_string() {
    let script = "e[a, b] <- [['b', 'c'], ['c', 'a'], ['a', 'b']] ?[n, label] <~ CDLP(e[], iterations: 1)";
    assert_eq!(answer(script), json!([["a", "b"], ["b", "a"], ["c", "a"]]));
}

#[test]
fn relations_without_rows_have_no_nodes() {
    let db = DbInstance::default();
    let none = "e[a, b, w] := a in [], b = 1, w = 1  n[x] := x in []  ";
    for rule in [
        "?[a, b] <~ BetweennessCentrality(e[])",
        "?[a, b] <~ BipartiteMatching(e[])",
        "?[a, b, c] <~ BFS(e[], n[x], condition: x == 1)",
        "?[a, b] <~ CDLP(e[])",
        "?[a, b] <~ ClosenessCentrality(e[])",
        "?[a, b, c, d] <~ ClusteringCoefficients(e[])",
        "?[a, b] <~ CommunityDetectionLouvain(e[])",
        "?[a, b] <~ ConnectedComponents(e[], n[])",
        "?[a, b] <~ Cycles(e[])",
        "?[a, b, c] <~ DFS(e[], n[x], condition: x == 1)",
        "?[a, b] <~ EigenvectorCentrality(e[])",
        "?[a, b] <~ KCore(e[])",
        "?[a, b, c, d] <~ KShortestPathYen(e[], n[], n[], k: 2)",
        "?[a, b] <~ LabelPropagation(e[])",
        "?[a, b] <~ LCC(e[])",
        "?[a, b] <~ Leiden(e[])",
        "?[a, b, c] <~ MaxFlow(e[], n[], n[])",
        "?[a, b, c] <~ MinCut(e[], n[], n[])",
        "?[a, b, c] <~ MinimumSpanningForestKruskal(e[])",
        "?[a, b, c] <~ MinimumSpanningTreePrim(e[])",
        "?[a, b, c] <~ NodeSimilarity(e[])",
        "?[a, b] <~ PageRank(e[])",
        "?[a, b] <~ PersonalizedPageRank(e[], n[])",
        "?[a, b, c] <~ RandomWalk(e[], n[], n[], steps: 3)",
        "?[a, b, c] <~ SSSP(e[], n[])",
        "?[a, b, c, d] <~ ShortestPathAStar(e[], n[], n[], n[], heuristic: 0)",
        "?[a, b, c] <~ ShortestPathBFS(e[], n[], n[])",
        "?[a, b, c, d] <~ ShortestPathDijkstra(e[], n[])",
        "?[a, b] <~ TopSort(e[])",
    ] {
        assert_eq!(rows(&db, &format!("{none}{rule}")).len(), 0, "{rule}");
    }
}

#[test]
fn trees_start_from_nodes_that_there_are() {
    let db = DbInstance::default();
    let run = |start: &str| {
        format!("e[a, b] <- [[1, 2]] s[x] := x in {start} ?[a, b, w] <~ MinimumSpanningTreePrim(e[], s[])")
    };
    assert_eq!(failure(&db, &run("[]")), "algo::empty_starting");
    assert_eq!(failure(&db, &run("[3]")), "algo::starting_node_not_found");
    assert_eq!(answer(&run("[2, 3]")), json!([[2, 1, 1.0]]), "the first row counts");
}

#[test]
fn weights_are_checked_where_they_count() {
    let db = DbInstance::default();
    let run = |weight: &str, rule: &str| format!("e[a, b, w] <- [[1, 2, {weight}]] n[x] <- [[1], [2]] {rule}");
    let rules = [
        "?[a, b] <~ BetweennessCentrality(e[])",
        "?[a, b] <~ ClosenessCentrality(e[])",
        "?[a, b] <~ CommunityDetectionLouvain(e[])",
        "?[a, b] <~ LabelPropagation(e[])",
        "?[a, b, c, d] <~ KShortestPathYen(e[], n[], n[], k: 2)",
        "?[a, b] <~ PageRank(e[], weighted: true)",
        "?[a, b, c] <~ SSSP(e[], n[])",
        "?[a, b, c, d] <~ ShortestPathAStar(e[], n[], n[], n[], heuristic: 0)",
    ];
    for rule in rules {
        for weight in ["-1", "'x'", "null", "1.0 / 0"] {
            assert_eq!(failure(&db, &run(weight, rule)), "algo::invalid_edge_weight", "{weight} {rule}");
        }
        rows(&db, &run("0", rule));
    }
    for rule in ["?[a, b, c] <~ MinimumSpanningForestKruskal(e[])", "?[a, b, c] <~ MinimumSpanningTreePrim(e[])"] {
        assert_eq!(answer(&run("-1", rule)), json!([[1, 2, -1.0]]), "{rule}");
        assert_eq!(failure(&db, &run("'x'", rule)), "algo::invalid_edge_weight");
    }
    rows(&db, &run("'x'", "?[a, b] <~ PageRank(e[])"));
    assert_eq!(failure(&db, &run("1", "?[a, b, c] <~ NodeSimilarity(e[], metric: 'cosine')")), "fixed_rule::arg_wrong");
}

#[test]
fn edges_without_weight_do_no_harm() {
    let graph = "e[a, b, w] <- [[1, 2, 0], [2, 1, 0], [2, 3, 0], [3, 2, 0], [1, 3, 0]] s[x] <- [[1]] g[x] <- [[3]]";
    let ties = format!("{graph} ?[a, b, c, p] <~ ShortestPathDijkstra(e[], s[], g[], keep_ties: true)");
    assert_eq!(answer(&ties), json!([[1, 3, 0.0, [1, 2, 3]], [1, 3, 0.0, [1, 3]]]));
    let yen = format!("{graph} ?[a, b, c, p] <~ KShortestPathYen(e[], s[], g[], k: 9)");
    assert_eq!(answer(&yen), answer(&ties));
    let labels = format!("{graph} c[l, n] <~ LabelPropagation(e[]) ?[count(n)] := c[_, n]");
    assert_eq!(answer(&labels), json!([[3]]));
    let louvain = format!("{graph} c[l, n] <~ CommunityDetectionLouvain(e[]) ?[count(n)] := c[_, n]");
    assert_eq!(answer(&louvain), json!([[3]]), "modularity is not defined where all weights are 0");
}
