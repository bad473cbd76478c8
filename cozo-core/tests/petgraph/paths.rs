//! Our shortest paths beside those of petgraph and rustworkx-core.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::hash::RandomState;

use cozo::DataValue;
use cozo::petgraph::algo::{all_simple_paths, astar, bellman_ford, bidirectional_dijkstra, dijkstra};
use cozo::petgraph::graph::NodeIndex;
use rustworkx_core::dictmap::DictMap;
use rustworkx_core::{shortest_path, traversal};

use crate::case::{Case, Shape, for_each_case};

/// The costs from a node to all nodes, infinite for those that it does not reach.
fn costs(case: &Case, from: NodeIndex, relation: &str, undirected: bool) -> Vec<f64> {
    let mut costs = vec![f64::NAN; case.values.len()];
    let script = format!(
        "s[x] <- [[{}]] ?[start, node, cost] <~ SSSP(*{relation}[], s[], undirected: {undirected})",
        literal(&case.values[from.index()])
    );
    for row in case.run(&script) {
        costs[case.node(&row[1]).index()] = row[2].get_float().unwrap();
    }
    costs
}

/// A value as a script spells it.
fn literal(value: &DataValue) -> String {
    value.get_str().map_or_else(|| value.to_string(), |text| format!("'{text}'"))
}

/// The costs of a map, infinite for nodes that it lacks.
fn of_map(case: &Case, found: impl Fn(NodeIndex) -> Option<f64>) -> Vec<f64> {
    case.nodes().map(|node| found(node).unwrap_or(f64::INFINITY)).collect()
}

#[test]
fn distances_are_the_same() {
    for_each_case(Shape::Any, 25, |case| {
        let (graph, without) = (case.weighted(), case.weighted().undirected());
        for from in case.nodes() {
            let ours = costs(case, from, "edge", false);
            let theirs = dijkstra(&graph, from, None, |edge| *edge.weight());
            assert_eq!(ours, of_map(case, |node| theirs.get(&node).copied()), "from {from:?}: {case:?}");
            let theirs = bellman_ford(&graph, from).unwrap();
            assert_eq!(ours, theirs.distances, "from {from:?}: {case:?}");
            let theirs: Result<DictMap<NodeIndex, f64>, Infallible> =
                shortest_path::dijkstra(&graph, from, None, |edge| Ok(*edge.weight()), None);
            assert_eq!(ours, of_map(case, |node| theirs.as_ref().unwrap().get(&node).copied()), "{case:?}");
            for to in case.nodes() {
                let one = astar(&graph, from, |node| node == to, |edge| *edge.weight(), |_| 0.0);
                assert_eq!(ours[to.index()], one.map_or(f64::INFINITY, |(cost, _)| cost), "{case:?}");
                let one = bidirectional_dijkstra(&graph, from, to, |edge| *edge.weight());
                // The two searches of a node for itself may never meet.
                assert!(from == to || ours[to.index()] == one.unwrap_or(f64::INFINITY), "{case:?}");
            }
            let ours = costs(case, from, "edge", true);
            let theirs = dijkstra(&without, from, None, |edge| *edge.weight());
            assert_eq!(ours, of_map(case, |node| theirs.get(&node).copied()), "from {from:?}: {case:?}");
        }
    });
}

#[test]
fn breadth_first_layers_are_distances_without_weights() {
    for_each_case(Shape::Any, 25, |case| {
        let graph = case.plain();
        for from in case.nodes() {
            let mut theirs = vec![f64::INFINITY; case.values.len()];
            for (distance, layer) in traversal::bfs_layers(&graph, [from]).into_iter().enumerate() {
                layer.into_iter().for_each(|node| theirs[node.index()] = distance as f64);
            }
            assert_eq!(costs(case, from, "pair", false), theirs, "from {from:?}: {case:?}");
        }
    });
}

/// The paths that a script gives for a pair of nodes, with their costs.
fn paths(case: &Case, rule: &str, from: NodeIndex, to: NodeIndex) -> Vec<(f64, Vec<NodeIndex>)> {
    let ends = [from, to].map(|node| literal(&case.values[node.index()]));
    let script = format!("s[x] <- [[{}]] g[x] <- [[{}]] ?[start, goal, cost, path] <~ {rule}", ends[0], ends[1]);
    let path = |row: &Vec<DataValue>| row[3].get_slice().unwrap().iter().map(|value| case.node(value)).collect();
    case.run(&script).iter().map(|row| (row[2].get_float().unwrap(), path(row))).collect()
}

#[test]
fn all_shortest_paths_are_the_same() {
    for_each_case(Shape::Any, 10, |case| {
        let graph = case.weighted();
        for (from, to) in case.nodes().flat_map(|from| case.nodes().map(move |to| (from, to))).filter(|(a, b)| a != b) {
            let rule = "ShortestPathDijkstra(*edge[], s[], g[], keep_ties: true)";
            let mut ours: BTreeSet<_> = paths(case, rule, from, to).into_iter().map(|(_, path)| path).collect();
            ours.remove(&vec![]);
            let weight = |edge: cozo::fixed_rule::graph::EdgeReference<'_>| Ok::<f64, Infallible>(*edge.weight());
            let theirs = shortest_path::all_shortest_paths(&graph, from, to, weight).unwrap();
            assert_eq!(ours, theirs.into_iter().collect(), "{from:?} to {to:?}: {case:?}");
        }
    });
}

#[test]
fn k_shortest_paths_are_the_cheapest_of_all() {
    for shape in [Shape::Acyclic, Shape::Any] {
        for_each_case(shape, 7, |case| {
            let graph = case.weighted();
            let mut lightest: HashMap<(usize, usize), f64> = HashMap::new();
            for (a, b, weight) in &case.edges {
                let known = lightest.entry((*a, *b)).or_insert(*weight);
                *known = weight.min(*known);
            }
            for (from, to) in
                case.nodes().flat_map(|from| case.nodes().map(move |to| (from, to))).filter(|(a, b)| a != b)
            {
                let all: BTreeSet<Vec<NodeIndex>> =
                    all_simple_paths::<Vec<_>, _, RandomState>(&graph, from, to, 0, None).collect();
                let cost = |path: &Vec<NodeIndex>| {
                    path.windows(2).map(|step| lightest[&(step[0].index(), step[1].index())]).sum::<f64>()
                };
                let mut theirs: Vec<f64> = all.iter().map(cost).collect();
                theirs.sort_by(f64::total_cmp);
                theirs.truncate(5);
                let ours = paths(case, "KShortestPathYen(*edge[], s[], g[], k: 5)", from, to);
                assert!(ours.iter().all(|(_, path)| all.contains(path)), "{ours:?} {case:?}");
                let ours: Vec<f64> = ours.into_iter().map(|(cost, _)| cost).collect();
                assert_eq!(ours, theirs, "{from:?} to {to:?}: {case:?}");
            }
        });
    }
}
