//! Our measures of nodes beside those of rustworkx-core.
//!
//! PageRank has no counterpart: that of petgraph gives nodes that an edge leads to no part of the random jumps, which other
//! definitions do, ours and that of LDBC Graphalytics among them. rustworkx-core has none.

use std::convert::Infallible;

use cozo::StoredGraph;
use cozo::petgraph::visit::IntoNodeIdentifiers;
use cozo::petgraph::{Incoming, Outgoing};
use rustworkx_core::centrality::{
    betweenness_centrality, closeness_centrality, degree_centrality, eigenvector_centrality,
};
use rustworkx_core::transitivity::graph_transitivity;
use rustworkx_core::traversal::descendants;

use crate::case::{Shape, for_each_case};

/// Graphs of this many nodes are divided among threads.
const PARALLEL: usize = 10;

#[test]
fn betweenness_is_the_same() {
    for_each_case(Shape::Any, 25, |case| {
        let ours = case.numbers("?[node, score] <~ BetweennessCentrality(*pair[])");
        let theirs = betweenness_centrality(&case.plain(), false, false, PARALLEL);
        case.expect_close(&ours, theirs.into_iter().flatten());
    });
    // Edges in both directions would be two paths for rustworkx-core, and it counts each pair once, not in both orders.
    for_each_case(Shape::Acyclic, 25, |case| {
        let ours = case.numbers("?[node, score] <~ BetweennessCentrality(*pair[], undirected: true)");
        let theirs = betweenness_centrality(&case.plain().undirected(), false, false, PARALLEL);
        case.expect_close(&ours, theirs.into_iter().flatten().map(|score| 2.0 * score));
    });
}

/// How many nodes a node reaches, itself among them.
fn reached(graph: &StoredGraph) -> Vec<f64> {
    graph.node_identifiers().map(|node| descendants(graph, node).count() as f64).collect()
}

#[test]
fn closeness_is_the_same_but_for_the_node_itself() {
    for_each_case(Shape::Any, 25, |case| {
        // rustworkx-core measures the distances to a node, and does not count the node itself.
        let ours = case.numbers("r[b, a] := *pair{a, b} ?[node, score] <~ ClosenessCentrality(r[])");
        let graph = case.plain();
        case.db.run_default("?[b, a] := *pair{a, b} :create turned {b, a}").unwrap();
        let reached = reached(&case.db.graph("turned").unwrap());
        let theirs = closeness_centrality(&graph, true, PARALLEL).into_iter().flatten().zip(reached);
        let with_itself = |(score, r): (f64, f64)| if r > 1.0 { score * (r / (r - 1.0)).powi(2) } else { 0.0 };
        case.expect_close(&ours, theirs.map(with_itself));
    });
}

#[test]
fn eigenvectors_are_the_same() {
    let compared = std::cell::Cell::new(0);
    for_each_case(Shape::Any, 25, |case| {
        let ours = case.numbers("?[node, score] <~ EigenvectorCentrality(*edge[], iterations: 200, epsilon: 1e-12)");
        let graph = case.weighted();
        let theirs =
            eigenvector_centrality(&graph, |edge| Ok::<f64, Infallible>(*edge.weight()), Some(200), Some(1e-12));
        // None if it has not converged.
        if let Some(theirs) = theirs.unwrap() {
            case.expect_close(&ours, theirs);
            compared.set(compared.get() + 1);
        }
    });
    assert!(compared.get() > 5, "{compared:?} graphs were compared");
}

#[test]
fn degrees_are_the_same() {
    for_each_case(Shape::Any, 25, |case| {
        let graph = case.weighted();
        let others = graph.node_count() as f64 - 1.0;
        if others == 0.0 {
            return;
        }
        let out = case.numbers("d[n, t, o, i] <~ DegreeCentrality(*edge[]) ?[n, o] := d[n, t, o, i]");
        case.expect_close(&out, degree_centrality(&graph, Some(Outgoing)).into_iter().map(|part| part * others));
        let into = case.numbers("d[n, t, o, i] <~ DegreeCentrality(*edge[]) ?[n, i] := d[n, t, o, i]");
        case.expect_close(&into, degree_centrality(&graph, Some(Incoming)).into_iter().map(|part| part * others));
    });
}

#[test]
fn triangles_are_as_many() {
    let total = std::cell::Cell::new(0.0);
    for_each_case(Shape::Acyclic, 12, |case| {
        let rows = case.run("?[node, c, triangles, degree] <~ ClusteringCoefficients(*pair[])");
        let sum = |of: fn(f64, f64) -> f64| {
            let each = rows.iter().map(|row| of(row[2].get_float().unwrap(), row[3].get_float().unwrap()));
            each.sum::<f64>()
        };
        let (triangles, triples) = (sum(|triangles, _| triangles), sum(|_, degree| degree * (degree - 1.0) / 2.0));
        let ours = if triangles == 0.0 { 0.0 } else { triangles / triples };
        case.expect_close(&[ours], [graph_transitivity(&case.plain().undirected())]);
        total.set(total.get() + triangles);
    });
    assert!(total.get() > 0.0, "some graph has triangles");
}
