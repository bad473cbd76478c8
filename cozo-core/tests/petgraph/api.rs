//! From a relation to a graph: what the call takes, refuses and shows.

use cozo::petgraph::Incoming;
use cozo::petgraph::algo::{connected_components, kosaraju_scc};
use cozo::petgraph::visit::{IntoEdgeReferences, IntoEdges, IntoNeighborsDirected, IntoNodeIdentifiers};
use cozo::{DataValue, DbInstance, StoredGraph};

use crate::common::code;

fn database(script: &str) -> DbInstance {
    let db = DbInstance::default();
    db.run_default(script).unwrap();
    db
}

fn weights(graph: &StoredGraph) -> Vec<f64> {
    graph.edge_references().map(|edge| *edge.weight()).collect()
}

#[test]
fn a_relation_that_there_is_not_is_named() {
    let db = database("?[a, b] <- [[1, 2]] :create follows {a, b}");
    for error in [db.graph("folows").unwrap_err(), db.weighted_graph("folows").unwrap_err()] {
        assert!(format!("{error:?}").contains("follows"), "{error:?}");
        assert_eq!(code(error), "query::relation_not_found");
    }
}

#[test]
fn edges_need_two_columns() {
    let db = database("?[a] <- [[1]] :create node {a}");
    assert_eq!(code(db.graph("node").unwrap_err()), "algo::not_an_edge");
}

#[test]
fn weights_are_finite_numbers_where_they_count() {
    for weight in ["'far'", "null", "1.0 / 0"] {
        let db = database(&format!("?[a, b, w] <- [[1, 2, 3], [2, 3, {weight}]] :create edge {{a, b => w}}"));
        assert_eq!(code(db.weighted_graph("edge").unwrap_err()), "algo::invalid_edge_weight", "{weight}");
        assert_eq!(weights(&db.graph("edge").unwrap()), [1.0, 1.0]);
    }
}

#[test]
fn the_third_column_has_the_weights() {
    let db = database("?[a, b, w] <- [[1, 2, -3], [2, 3, 0.5]] :create edge {a, b => w}");
    assert_eq!(weights(&db.weighted_graph("edge").unwrap()), [-3.0, 0.5]);
    assert!(db.weighted_graph("edge").unwrap().is_weighted());
    db.run_default("?[a, b] := *edge{a, b} :create pair {a, b}").unwrap();
    let graph = db.weighted_graph("pair").unwrap();
    assert_eq!((weights(&graph), graph.is_weighted()), (vec![1.0, 1.0], false));
}

#[test]
fn further_key_columns_tell_parallel_edges_apart() {
    let db = database("?[a, b, at] <- [[1, 2, 7], [1, 2, 5], [1, 1, 6]] :create trip {a, b, at}");
    let graph = db.weighted_graph("trip").unwrap();
    assert_eq!((graph.node_count(), graph.edge_count()), (2, 3));
    let one = graph.node(1).unwrap();
    let weights: Vec<f64> = graph.edges(one).map(|edge| *edge.weight()).collect();
    assert_eq!(weights, [6.0, 5.0, 7.0], "in the order of targets and weights");
}

#[test]
fn all_rows_of_a_history_are_edges() {
    let db = database("?[a, b, at] <- [[1, 2, [1, true]], [1, 2, [2, false]]] :create knows {a, b, at: Validity}");
    assert_eq!(db.graph("knows").unwrap().edge_count(), 2);
}

#[test]
fn values_are_told_apart_as_in_relations() {
    let db = database("?[a, b] <- [[1, 1.0], [1.0, 'x'], ['x', [1]]] :create edge {a, b}");
    let graph = db.graph("edge").unwrap();
    assert_eq!(graph.node_count(), 4);
    assert_ne!(graph.node(1), graph.node(1.0));
    assert_eq!(graph.node(DataValue::from(vec![1])).and_then(|node| graph.value(node)), Some(vec![1].into()));
}

#[test]
fn an_index_of_a_relation_is_a_graph_too() {
    let db = database("?[a, b] <- [[1, 2], [1, 3]] :create edge {a, b}");
    db.run_default("::index create edge:turned {b, a}").unwrap();
    let graph = db.graph("edge:turned").unwrap();
    let (one, two) = (graph.node(1).unwrap(), graph.node(2).unwrap());
    assert_eq!(graph.edges(two).map(|edge| edge.target()).collect::<Vec<_>>(), [one]);
}

#[test]
fn a_hidden_relation_is_refused() {
    let db = database("?[a, b] <- [[1, 2]] :create edge {a, b}");
    db.run_default("::access_level hidden edge").unwrap();
    let error = db.graph("edge").unwrap_err();
    assert!(format!("{error}").contains("it cannot be read"), "{error}");
}

#[test]
fn a_graph_shows_the_moment_when_it_was_made() {
    let folder = std::env::temp_dir().join(format!("cozo-petgraph-{}", std::process::id()));
    for (engine, path) in [("mem", ""), ("sqlite", folder.to_str().unwrap())] {
        let db = DbInstance::new(engine, path, "").unwrap();
        db.run_default("?[a, b] <- [[1, 2], [3, 4]] :create edge {a, b}").unwrap();
        let before = db.graph("edge").unwrap();
        // The second comes from the cache of graphs.
        let again = db.graph("edge").unwrap();
        db.run_default("?[a, b] <- [[2, 3]] :put edge {a, b}").unwrap();
        let after = db.graph("edge").unwrap();
        drop(db);
        assert_eq!([&before, &again, &after].map(|graph| graph.edge_count()), [2, 2, 3], "{engine}");
        assert_eq!([&before, &again, &after].map(connected_components), [2, 2, 1], "{engine}");
    }
    std::fs::remove_file(folder).unwrap();
}

#[test]
fn a_relation_without_rows_is_a_graph_without_nodes() {
    let db = database("?[a, b] <- [] :create edge {a, b}");
    let graph = db.graph("edge").unwrap();
    assert_eq!((graph.node_count(), graph.edge_count()), (0, 0));
    assert_eq!(kosaraju_scc(&graph).len(), 0);
    assert_eq!(graph.undirected().edge_references().count(), 0);
}

#[test]
fn a_graph_beyond_the_memory_of_a_query_is_refused() {
    let db = DbInstance::new("mem", "", r#"{"query_memory_mb": 1}"#).unwrap();
    let rows = (0..100_000_i64).map(|i| vec![i.into(), (i * 7919 % 100_000).into()]).collect();
    db.run_default(":create edge {a: Int, b: Int}").unwrap();
    let rows = cozo::NamedRows::new(vec!["a".to_string(), "b".to_string()], rows);
    db.import_relations([("edge".to_string(), rows)].into()).unwrap();
    assert_eq!(code(db.graph("edge").unwrap_err()), "eval::out_of_memory");
}

#[test]
fn threads_and_clones_share_a_graph() {
    let db = database("n[x] := x in int_range(2000) ?[a, b] := n[a], b = (a * 7 + 1) % 2000 :create edge {a, b}");
    let graph = db.graph("edge").unwrap();
    let ends = std::thread::scope(|scope| {
        let count = |graph: StoredGraph| {
            let nodes = graph.node_identifiers();
            nodes.map(|node| graph.neighbors_directed(node, Incoming).count()).sum::<usize>()
        };
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn({
                    let graph = graph.clone();
                    move || count(graph)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(ends, [2000; 4]);
    assert_eq!(format!("{graph:?}"), "StoredGraph { directed: true, nodes: 2000, edges: 2000, weighted: false }");
}
