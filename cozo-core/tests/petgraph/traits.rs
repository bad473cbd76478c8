//! What the traits of petgraph promise, by themselves: indices, both directions, loops, nodes that there are not.

use std::collections::BTreeSet;

use cozo::petgraph::data::DataMap;
use cozo::petgraph::graph::{EdgeIndex, NodeIndex};
use cozo::petgraph::visit::{
    EdgeIndexable, EdgeRef, GetAdjacencyMatrix, GraphProp, IntoEdgeReferences, IntoEdges, IntoEdgesDirected,
    IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, IntoNodeReferences, NodeIndexable, VisitMap, Visitable,
};
use cozo::petgraph::{Direction, EdgeType, Incoming, Outgoing};
use cozo::{DataValue, StoredGraph};

use crate::case::{Shape, for_each_case};

/// An edge as its index, both ends and its weight.
type Edge = (usize, usize, usize, f64);

fn parts(edge: impl EdgeRef<NodeId = NodeIndex, EdgeId = EdgeIndex, Weight = f64>) -> Edge {
    (edge.id().index(), edge.source().index(), edge.target().index(), *edge.weight())
}

fn sorted(edges: impl Iterator<Item = Edge>) -> Vec<Edge> {
    let mut edges: Vec<Edge> = edges.collect();
    edges.sort_by(|a, b| a.partial_cmp(b).unwrap());
    edges
}

#[test]
fn edges_are_the_rows_in_order() {
    for_each_case(Shape::Any, 20, |case| {
        let graph = case.weighted();
        let edges: Vec<Edge> = graph.edge_references().map(parts).collect();
        let expected = case.edges.iter().enumerate().map(|(id, (a, b, weight))| (id, *a, *b, *weight));
        assert_eq!(edges, expected.collect::<Vec<_>>(), "{case:?}");
        assert_eq!(graph.edge_references().len(), edges.len());
        assert_eq!(EdgeIndexable::edge_bound(&graph), edges.len());
        for (id, a, b, weight) in edges {
            let (id, ends) = (EdgeIndex::new(id), (NodeIndex::new(a), NodeIndex::new(b)));
            assert_eq!(graph.edge_endpoints(id), Some(ends), "{case:?}");
            assert_eq!(graph.edge_weight(id), Some(&weight));
            assert_eq!(EdgeIndexable::from_index(&graph, EdgeIndexable::to_index(&graph, id)), id);
        }
        assert!(case.plain().edge_references().all(|edge| *edge.weight() == 1.0) && !case.plain().is_weighted());
    });
}

#[test]
fn nodes_are_numbered_in_the_order_of_values() {
    for_each_case(Shape::Any, 20, |case| {
        let graph = case.weighted();
        let nodes: Vec<NodeIndex> = graph.node_identifiers().collect();
        assert_eq!(nodes, case.nodes().collect::<Vec<_>>());
        assert_eq!((graph.node_count(), graph.node_bound()), (nodes.len(), nodes.len()));
        let values: Vec<DataValue> = graph.node_references().map(|(_, value)| value.clone()).collect();
        assert_eq!(values, case.values, "{case:?}");
        for (node, value) in nodes.into_iter().zip(values) {
            assert_eq!(graph.value(node).as_ref(), Some(&value));
            assert_eq!(graph.node_weight(node), Some(&value));
            assert_eq!(graph.node(value), Some(node));
            assert_eq!(NodeIndexable::from_index(&graph, NodeIndexable::to_index(&graph, node)), node);
        }
    });
}

#[test]
fn directed_edges_have_a_side() {
    for_each_case(Shape::Any, 20, |case| {
        let graph = case.weighted();
        assert!(graph.is_directed());
        for node in graph.node_identifiers() {
            let rows = || case.edges.iter().enumerate().map(|(id, (a, b, weight))| (id, *a, *b, *weight));
            let (leaving, arriving) =
                (rows().filter(|edge| edge.1 == node.index()), rows().filter(|edge| edge.2 == node.index()));
            assert_eq!(sorted(graph.edges(node).map(parts)), sorted(leaving.clone()), "{node:?}: {case:?}");
            assert_eq!(sorted(graph.edges_directed(node, Outgoing).map(parts)), sorted(leaving), "{node:?}: {case:?}");
            assert_eq!(sorted(graph.edges_directed(node, Incoming).map(parts)), sorted(arriving), "{node:?}: {case:?}");
        }
        expect_neighbors(&graph);
    });
}

#[test]
fn undirected_edges_begin_at_the_node_that_is_asked() {
    for_each_case(Shape::Any, 20, |case| {
        let graph = case.weighted().undirected();
        assert!(!graph.is_directed());
        assert_eq!(graph.edge_references().count(), case.edges.len(), "each edge counts once");
        for node in graph.node_identifiers() {
            let at = node.index();
            let rows = case.edges.iter().enumerate().filter(|(_, (a, b, _))| *a == at || *b == at);
            let from = rows.map(|(id, (a, b, weight))| (id, at, if *a == at { *b } else { *a }, *weight));
            let to = from.clone().map(|(id, a, b, weight)| (id, b, a, weight));
            assert_eq!(sorted(graph.edges(node).map(parts)), sorted(from.clone()), "{node:?}: {case:?}");
            assert_eq!(sorted(graph.edges_directed(node, Outgoing).map(parts)), sorted(from), "{node:?}: {case:?}");
            assert_eq!(sorted(graph.edges_directed(node, Incoming).map(parts)), sorted(to), "{node:?}: {case:?}");
        }
        expect_neighbors(&graph);
    });
}

/// Checks that neighbours are the other ends of edges, that iterators know their lengths, and which nodes are adjacent.
fn expect_neighbors<Ty: EdgeType>(graph: &StoredGraph<Ty>) {
    for node in graph.node_identifiers() {
        let edges = |direction: Direction| graph.edges_directed(node, direction);
        let others: Vec<NodeIndex> = edges(Outgoing).map(|edge| edge.target()).collect();
        assert_eq!(graph.neighbors(node).collect::<Vec<_>>(), others);
        assert_eq!(graph.neighbors_directed(node, Outgoing).collect::<Vec<_>>(), others);
        let into: Vec<NodeIndex> = edges(Incoming).map(|edge| edge.source()).collect();
        assert_eq!(graph.neighbors_directed(node, Incoming).collect::<Vec<_>>(), into);
        for direction in [Outgoing, Incoming] {
            let (least, most) = graph.neighbors_directed(node, direction).size_hint();
            let count = edges(direction).count();
            assert!(least <= count && count <= most.unwrap(), "{least} to {most:?}, and {count}");
            assert_eq!(edges(direction).size_hint(), (least, most));
        }
        let adjacent: BTreeSet<NodeIndex> = others.into_iter().collect();
        for other in graph.node_identifiers() {
            assert_eq!(graph.is_adjacent(&graph.adjacency_matrix(), node, other), adjacent.contains(&other));
        }
    }
}

#[test]
fn nodes_that_there_are_not_have_nothing() {
    for_each_case(Shape::Any, 5, |case| {
        let graph = case.weighted();
        for missing in [graph.node_count(), u32::MAX as usize] {
            let (node, edge) = (NodeIndex::new(missing), EdgeIndex::new(missing.max(graph.edge_count())));
            assert_eq!((graph.value(node), graph.node_weight(node)), (None, None));
            assert_eq!((graph.edge_endpoints(edge), graph.edge_weight(edge)), (None, None));
            for direction in [Outgoing, Incoming] {
                assert_eq!(graph.neighbors_directed(node, direction).count(), 0);
                assert_eq!(graph.edges_directed(node, direction).count(), 0);
                assert_eq!(graph.undirected().edges_directed(node, direction).count(), 0);
                assert_eq!(graph.undirected().neighbors_directed(node, direction).count(), 0);
            }
            assert!(
                !graph.is_adjacent(&(), node, NodeIndex::new(0)) && !graph.is_adjacent(&(), NodeIndex::new(0), node)
            );
        }
        assert_eq!(graph.node("no such node"), None);
        assert_eq!(graph.node(1.5), None);
    });
}

#[test]
fn maps_of_visits_have_room_for_all_nodes() {
    for_each_case(Shape::Any, 20, |case| {
        let graph = case.weighted();
        let mut map = graph.visit_map();
        assert!(graph.node_identifiers().all(|node| map.visit(node)) && !map.visit(NodeIndex::<u32>::new(0)));
        graph.reset_map(&mut map);
        assert!(graph.node_identifiers().all(|node| !map.is_visited(&node)));
        let mut small = Default::default();
        graph.reset_map(&mut small);
        assert!(graph.node_identifiers().all(|node| small.visit(node)));
    });
}
