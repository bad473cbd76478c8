//! Graphs of stored relations are kept from one query to the next: they must follow every change.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use cozo::{DataValue, DbInstance};

use crate::common::rows;
use crate::engines::SETTINGS;

/// Rules applied to the edges, some of which change the graph that they are given, and some that add nodes.
const RULES: &[&str] = &[
    "PageRank(EDGES)",
    "PageRank(EDGES, weighted: true)",
    "PageRank(EDGES, undirected: true)",
    "ConnectedComponents(EDGES)",
    "StronglyConnectedComponents(EDGES, extra[])",
    "DegreeCentrality(EDGES)",
    "ShortestPathDijkstra(EDGES, start[], undirected: true)",
    "BreadthFirstSearch(EDGES, extra[n], start[], condition: n == 3)",
    "CDLP(EDGES)",
    "MinimumSpanningForestKruskal(EDGES)",
    "TopSort(EDGES)",
    "KCore(EDGES)",
];

/// What a rule answers of edges. Those that rules have derived are not kept.
fn answer(db: &DbInstance, rule: &str, edges: &str) -> Vec<Vec<DataValue>> {
    let rule = rule.replace("EDGES", edges);
    let given = "extra[n] <- [[3], [77]]  start[n] <- [[1]]  derived[a, b, w] := *e{a, b, w}";
    rows(db, &format!("{given}  ?[] <~ {rule}"))
}

fn check(db: &DbInstance, context: &str) {
    for rule in RULES {
        let expected = answer(db, rule, "derived[a, b, w]");
        for time in ["first", "second"] {
            assert_eq!(answer(db, rule, "*e[a, b, w]"), expected, "{rule} {context}, the {time} time");
        }
    }
}

#[test]
fn kept_graphs_follow_the_changes_of_their_relations() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = setting.open(folder.path()).unwrap();
        rows(&db, ":create e {a: Int, b: Int => w: Float}");
        rows(&db, ":create other {a: Int}");
        let mut random = StdRng::seed_from_u64(7);
        for step in 0..12 {
            let operation = if step % 4 == 3 { "rm e {a, b}" } else { "put e {a, b => w}" };
            let mut end = || random.random_range(0..9);
            let edges: Vec<String> = (0..8).map(|i| format!("[{}, {}, {}]", end(), end(), i % 3)).collect();
            rows(&db, &format!("?[a, b, w] <- [{}] :{operation}", edges.join(", ")));
            check(&db, &format!("on {setting} after step {step}"));
            rows(&db, &format!("?[a] <- [[{step}]] :put other {{a}}"));
            check(&db, &format!("on {setting} after another relation changed in step {step}"));
        }
        rows(&db, "?[a, b, w] <- [[1, 2, 0.5]] :replace e {a: Int, b: Int => w: Float}");
        check(&db, &format!("on {setting} after the relation was replaced"));
    }
}

#[test]
fn a_transaction_sees_the_graph_with_its_own_writes_and_nobody_else_does() {
    for setting in SETTINGS {
        let folder = tempfile::tempdir().unwrap();
        let db = setting.open(folder.path()).unwrap();
        rows(&db, "?[a, b] <- [[1, 2], [3, 4]] :create e {a: Int, b: Int}");
        let question = "c[n, g] <~ ConnectedComponents(*e[])  ?[count_unique(g)] := c[_, g]";
        let components = || rows(&db, question)[0][0].get_int();
        assert_eq!(components(), Some(2), "{setting}");
        let txn = db.multi_transaction(true);
        let in_txn = || txn.run_script(question, Default::default()).unwrap().rows[0][0].get_int();
        assert_eq!(in_txn(), Some(2), "{setting}");
        txn.run_script("?[a, b] <- [[2, 3]] :put e {a, b}", Default::default()).unwrap();
        assert_eq!((in_txn(), components()), (Some(1), Some(2)), "{setting}");
        txn.commit().unwrap();
        assert_eq!(components(), Some(1), "{setting}");
    }
}
