//! Components, trees, orders, cores and cycles.

use std::collections::BTreeSet;

use crate::random::{Graph, NEVER, for_each_graph};

/// Checks that nodes have the same number if and only if they belong together, and that numbers are from 0 without gaps.
fn check_partition(graph: &Graph, found: &[Option<f64>], nodes: &[usize], together: impl Fn(usize, usize) -> bool) {
    for a in 0..graph.len() {
        assert_eq!(found[a].is_some(), nodes.contains(&a), "{graph:?}");
        for b in nodes.iter().filter(|_| found[a].is_some()) {
            assert_eq!(found[a] == found[*b], together(a, *b), "{a} and {b} in {found:?}: {graph:?}");
        }
    }
    let numbers: BTreeSet<i64> = found.iter().flatten().map(|number| *number as i64).collect();
    assert_eq!(numbers, (0..numbers.len() as i64).collect());
}

fn both_ways(graph: &Graph) -> Graph {
    Graph { ids: graph.ids.clone(), edges: graph.edges.clone(), undirected: true }
}

fn one_way(graph: &Graph) -> Graph {
    Graph { ids: graph.ids.clone(), edges: graph.edges.clone(), undirected: false }
}

#[test]
fn components_are_what_hangs_together() {
    for_each_graph(100, |graph| {
        let distances = both_ways(graph).distances();
        let joined = |a: usize, b: usize| distances[a][b] < NEVER;
        for (rule, nodes) in [
            ("ConnectedComponents(p[])", graph.nodes()),
            ("WCC(e[])", graph.nodes()),
            ("WCC(p[], n[])", (0..graph.len()).collect()),
        ] {
            let rows = graph.run(&format!("?[node, component] <~ {rule}"));
            check_partition(graph, &graph.numbers(&rows, 0, 1), &nodes, joined);
        }
    });
}

#[test]
fn strong_components_reach_one_another() {
    for_each_graph(100, |graph| {
        let distances = one_way(graph).distances();
        let joined = |a: usize, b: usize| distances[a][b] < NEVER && distances[b][a] < NEVER;
        for (rule, nodes) in [("SCC(p[])", graph.nodes()), ("SCC(p[], n[])", (0..graph.len()).collect())] {
            let rows = graph.run(&format!("?[node, component] <~ {rule}"));
            check_partition(graph, &graph.numbers(&rows, 0, 1), &nodes, joined);
        }
    });
}

/// The tree edges of rows, checked to be edges of the graph.
fn tree(graph: &Graph, rows: &[Vec<cozo::DataValue>]) -> Graph {
    let edge = |row: &Vec<cozo::DataValue>| (graph.node(&row[0]), graph.node(&row[1]), row[2].get_float().unwrap());
    let edges: Vec<(usize, usize, f64)> = rows.iter().map(edge).collect();
    for (a, b, weight) in &edges {
        assert!(graph.edges.contains(&(*a, *b, *weight)) || graph.edges.contains(&(*b, *a, *weight)), "{graph:?}");
    }
    Graph { ids: graph.ids.clone(), edges, undirected: true }
}

/// Checks that a tree joins what `nodes` of the graph join, without a circle, and that no edge could take the place of a heavier one.
fn check_tree(graph: &Graph, tree: &Graph, nodes: &[usize]) {
    let (joined, in_tree) = (both_ways(graph).distances(), tree.distances());
    for a in nodes {
        for b in nodes {
            assert_eq!(joined[*a][*b] < NEVER, in_tree[*a][*b] < NEVER, "{tree:?} of {graph:?}");
        }
    }
    let components = nodes.iter().filter(|a| nodes.iter().all(|b| b >= *a || joined[**a][*b] == NEVER)).count();
    assert_eq!(tree.edges.len(), nodes.len() - components, "{tree:?} of {graph:?}");
    for (a, b, weight) in graph.edges.iter().filter(|(a, b, _)| a != b && nodes.contains(a)) {
        let paths = tree.simple_paths(*a, *b);
        assert_eq!(paths.len(), 1);
        let heaviest = paths[0].1.windows(2).map(|step| tree.lightest()[&(step[0], step[1])]).fold(0.0, f64::max);
        assert!(heaviest <= *weight, "{tree:?} of {graph:?}");
    }
}

#[test]
fn spanning_trees_are_the_lightest() {
    for_each_graph(100, |graph| {
        let forest = tree(graph, &graph.run("?[a, b, w] <~ MinimumSpanningForestKruskal(e[])"));
        check_tree(graph, &forest, &graph.nodes());
        let first = graph.edges.iter().map(|edge| edge.0).min().unwrap();
        let distances = both_ways(graph).distances();
        for (start, rule) in
            [(first, "MinimumSpanningTreePrim(e[])"), (graph.edges[0].1, "MinimumSpanningTreePrim(e[], s[])")]
        {
            let start_row = format!("s[x] := x = get(get($e, 0), 1)  ?[a, b, w] <~ {rule}");
            let found = tree(graph, &graph.run(&start_row));
            let reached: Vec<usize> = (0..graph.len()).filter(|node| distances[start][*node] < NEVER).collect();
            check_tree(graph, &found, &reached);
            for (from, to, _) in &found.edges {
                let from_start = found.simple_paths(start, *to);
                assert_eq!(
                    from_start[0].1[from_start[0].1.len() - 2],
                    *from,
                    "the end that was reached first comes first"
                );
            }
        }
    });
}

#[test]
fn every_edge_leads_onward_in_an_order() {
    for_each_graph(100, |graph| {
        let directed = one_way(graph);
        let distances = directed.distances();
        let on_cycle = |node: usize| directed.edges.iter().any(|(a, b, _)| *a == node && distances[*b][node] < NEVER);
        let expected: Vec<usize> = graph
            .nodes()
            .into_iter()
            .filter(|node| (0..graph.len()).all(|other| !on_cycle(other) || distances[other][*node] == NEVER))
            .collect();
        let order: Vec<usize> = graph.run("?[i, node] <~ TopSort(p[])").iter().map(|row| graph.node(&row[1])).collect();
        let sorted: BTreeSet<usize> = order.iter().copied().collect();
        assert_eq!(sorted.into_iter().collect::<Vec<_>>(), expected, "{graph:?}");
        let place = |node: usize| order.iter().position(|other| *other == node);
        for (a, b, _) in &graph.edges {
            assert!(place(*b).is_none() || place(*a) < place(*b), "{order:?} of {graph:?}");
        }
    });
}

#[test]
fn cores_are_what_is_left_when_the_rest_is_taken_away() {
    for_each_graph(100, |graph| {
        let pairs: BTreeSet<(usize, usize)> = both_ways(graph).lightest().into_keys().collect();
        let core = |node: usize| {
            let mut k = 0;
            loop {
                let mut left: BTreeSet<usize> = graph.nodes().into_iter().collect();
                let degree =
                    |left: &BTreeSet<usize>, a: usize| left.iter().filter(|b| pairs.contains(&(a, **b))).count();
                while let Some(gone) = left.iter().copied().find(|a| degree(&left, *a) <= k) {
                    left.remove(&gone);
                }
                if !left.contains(&node) {
                    return k as f64;
                }
                k += 1;
            }
        };
        let found = graph.numbers(&graph.run("?[node, core] <~ KCore(p[])"), 0, 1);
        graph.expect("core", &found, &graph.nodes(), core);
    });
}

#[test]
fn cycles_are_found_once_and_up_to_a_length() {
    for_each_graph(100, |graph| {
        let directed = one_way(graph);
        let mut expected: BTreeSet<Vec<usize>> = BTreeSet::new();
        for (a, b, _) in &graph.edges {
            // A cycle is an edge and a path back; it is written from its smallest node on.
            for (_, path) in directed.simple_paths(*b, *a).into_iter().filter(|(_, path)| path.iter().min() == Some(b))
            {
                expected.insert(path);
            }
        }
        for longest in [1, 2, 3, 4, 9] {
            let script = format!("?[cycle, length] <~ Cycles(p[], max_length: {longest}, limit: 1000000)");
            let rows = graph.run(&script);
            let found: BTreeSet<Vec<usize>> = rows.iter().map(|row| graph.path(&row[0])).collect();
            let short = expected.iter().filter(|cycle| cycle.len() <= longest).cloned().collect();
            assert_eq!(found, short, "up to {longest}: {graph:?}");
            assert!(rows.iter().all(|row| row[1].get_int() == Some(graph.path(&row[0]).len() as i64)));
        }
        let all = graph.run("?[cycle, length] <~ Cycles(p[], limit: 100000)");
        assert_eq!(all.len(), expected.len());
        assert_eq!(graph.run("?[cycle, length] <~ Cycles(p[], limit: 2)").len(), expected.len().min(2));
    });
}
