//! Our components, orders, trees and cores, beside those of petgraph and rustworkx-core.

use std::collections::BTreeSet;

use cozo::petgraph::algo::{
    connected_components, is_cyclic_directed, kosaraju_scc, min_spanning_tree, min_spanning_tree_prim, tarjan_scc,
    toposort,
};
use cozo::petgraph::data::Element;
use rustworkx_core::connectivity;

use crate::case::{Shape, as_sets, for_each_case};

#[test]
fn connected_components_are_the_same() {
    for_each_case(Shape::Any, 40, |case| {
        let ours = case.groups("?[node, component] <~ ConnectedComponents(*edge[])");
        let graph = case.weighted();
        assert_eq!(ours, as_sets(connectivity::connected_components(&graph)), "{case:?}");
        assert_eq!(ours, as_sets(connectivity::connected_components(&graph.undirected())), "{case:?}");
        assert_eq!(ours.len(), connected_components(&graph), "{case:?}");
    });
}

#[test]
fn strongly_connected_components_are_the_same() {
    for_each_case(Shape::Any, 40, |case| {
        let ours = case.groups("?[node, component] <~ StronglyConnectedComponent(*edge[])");
        let graph = case.weighted();
        assert_eq!(ours, as_sets(kosaraju_scc(&graph)), "{case:?}");
        assert_eq!(ours, as_sets(tarjan_scc(&graph)), "{case:?}");
    });
}

#[test]
fn an_order_of_all_nodes_is_a_sign_of_no_cycles() {
    for shape in [Shape::Any, Shape::Acyclic] {
        for_each_case(shape, 20, |case| {
            let graph = case.plain();
            let ours = case.run("?[index, node] <~ TopSort(*pair[])");
            assert_eq!(ours.len() < graph.node_count(), is_cyclic_directed(&graph), "{case:?}");
            let Ok(theirs) = toposort(&graph, None) else { return };
            // Either is an order in which every edge leads forward.
            let ours: Vec<_> = ours.iter().map(|row| case.node(&row[1])).collect();
            for order in [ours, theirs] {
                let place = |node: usize| order.iter().position(|other| other.index() == node).unwrap();
                assert!(case.edges.iter().all(|(a, b, _)| place(*a) < place(*b)), "{order:?} of {case:?}");
            }
        });
    }
}

/// The number and the total weight of the edges of a tree.
fn edges_of(tree: impl Iterator<Item = Element<cozo::DataValue, f64>>) -> (usize, f64) {
    let weight = |element| match element {
        Element::Edge { weight, .. } => Some(weight),
        Element::Node { .. } => None,
    };
    tree.filter_map(weight).fold((0, 0.0), |(count, sum), weight| (count + 1, sum + weight))
}

#[test]
fn spanning_trees_are_as_light() {
    for_each_case(Shape::Any, 40, |case| {
        let graph = case.weighted();
        let of = |rows: Vec<Vec<cozo::DataValue>>| {
            let weights = rows.iter().map(|row| row[2].get_float().unwrap());
            weights.fold((0, 0.0), |(count, sum), weight| (count + 1, sum + weight))
        };
        let kruskal = of(case.run("?[a, b, w] <~ MinimumSpanningForestKruskal(*edge[])"));
        assert_eq!(kruskal, edges_of(min_spanning_tree(&graph)), "{case:?}");
        let first = "s[min(node)] := *edge{a: node} or *edge{b: node}";
        let prim = of(case.run(&format!("{first} ?[a, b, w] <~ MinimumSpanningTreePrim(*edge[], s[])")));
        assert_eq!(prim, edges_of(min_spanning_tree_prim(&graph.undirected())), "{case:?}");
    });
}

#[test]
fn cores_are_the_same() {
    for shape in [Shape::Acyclic, Shape::Bipartite] {
        for_each_case(shape, 20, |case| {
            let ours = case.numbers("?[node, core] <~ KCore(*pair[])");
            let theirs = connectivity::core_number(case.plain());
            let theirs = case.nodes().map(|node| theirs[&node] as f64);
            case.expect_close(&ours, theirs);
        });
    }
}

#[test]
fn cycles_are_the_same() {
    for_each_case(Shape::Any, 7, |case| {
        let ours = case.run("?[cycle, length] <~ Cycles(*pair[], limit: 1000000)");
        let ours = ours.iter().map(|row| row[0].get_slice().unwrap().iter().map(|value| case.node(value)));
        let mut ours: Vec<Vec<_>> = ours.map(Iterator::collect).filter(|cycle: &Vec<_>| cycle.len() > 1).collect();
        // On a copy, since it finds edges by a trait of rustworkx-core, which only graphs of petgraph implement. Without loops.
        let mut copy = case.directed_copy();
        let mut seen = BTreeSet::new();
        copy.retain_edges(|copy, edge| {
            let ends = copy.edge_endpoints(edge);
            ends.is_some_and(|(a, b)| a != b) && seen.insert(ends)
        });
        let mut found = connectivity::johnson_simple_cycles(&copy, None);
        let mut theirs = vec![];
        while let Some(mut cycle) = found.next(&copy) {
            let first = (0..cycle.len()).min_by_key(|place| cycle[*place]).unwrap();
            cycle.rotate_left(first);
            theirs.push(cycle);
        }
        theirs.sort();
        ours.sort();
        assert_eq!(ours, theirs, "{case:?}");
    });
}
