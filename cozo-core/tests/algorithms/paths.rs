//! Shortest paths.

use std::collections::BTreeSet;

use cozo::DataValue;

use crate::random::{Graph, NEVER, for_each_graph};

/// Checks rows of start, goal, cost and path against all pairs that there must be: a path of that cost, and the cost the least.
fn check_paths(graph: &Graph, rows: &[Vec<DataValue>], starts: &[usize], goals: &[usize]) {
    let distances = graph.distances();
    let lightest = graph.lightest();
    let mut pairs: BTreeSet<(usize, usize)> = starts.iter().flat_map(|a| goals.iter().map(|b| (*a, *b))).collect();
    for row in rows {
        let (start, goal, path) = (graph.node(&row[0]), graph.node(&row[1]), graph.path(&row[3]));
        assert!(pairs.remove(&(start, goal)), "{start} {goal}: {graph:?}");
        assert_eq!(row[2].get_float(), Some(distances[start][goal]), "{row:?}: {graph:?}");
        if distances[start][goal] == NEVER {
            assert!(path.is_empty());
            continue;
        }
        assert_eq!((path[0], path[path.len() - 1]), (start, goal));
        let cost: f64 = path.windows(2).map(|step| lightest[&(step[0], step[1])]).sum();
        assert_eq!(cost, distances[start][goal], "{row:?}: {graph:?}");
    }
    assert!(pairs.is_empty(), "{pairs:?} are missing: {graph:?}");
}

#[test]
fn dijkstra_finds_the_cheapest_paths() {
    for_each_graph(100, |graph| {
        let nodes = graph.nodes();
        let every = graph.run("?[s, g, c, path] <~ ShortestPathDijkstra(e[], n[], undirected: $u)");
        check_paths(graph, &every, &nodes, &nodes);
        let goal = graph.edges[0].1;
        let some = graph.run(
            "g[x] := x = get(get($e, 0), 1)  ?[s, g, c, path] <~ ShortestPathDijkstra(e[], n[], g[], undirected: $u)",
        );
        check_paths(graph, &some, &nodes, &[goal]);
        let plain = graph.unweighted();
        let rows = plain.run("?[s, g, c, path] <~ ShortestPathDijkstra(p[], n[], n[], undirected: $u)");
        check_paths(&plain, &rows, &nodes, &nodes);
    });
}

#[test]
fn all_ties_are_kept() {
    for_each_graph(100, |graph| {
        let distances = graph.distances();
        let mut expected: BTreeSet<(usize, usize, Vec<usize>)> = BTreeSet::new();
        for start in graph.nodes() {
            for goal in graph.nodes() {
                let best = distances[start][goal];
                let paths = graph.simple_paths(start, goal).into_iter().filter(|(cost, _)| *cost == best);
                expected.extend(paths.map(|(_, path)| (start, goal, path)));
                if best == NEVER {
                    expected.insert((start, goal, vec![]));
                }
            }
        }
        let rows = graph.run("?[s, g, c, path] <~ ShortestPathDijkstra(e[], n[], keep_ties: true, undirected: $u)");
        let found: BTreeSet<(usize, usize, Vec<usize>)> =
            rows.iter().map(|row| (graph.node(&row[0]), graph.node(&row[1]), graph.path(&row[3]))).collect();
        assert_eq!(found, expected, "{graph:?}");
        assert_eq!(found.len(), rows.len());
    });
}

#[test]
fn breadth_finds_the_fewest_edges() {
    for_each_graph(100, |graph| {
        let plain = Graph { undirected: false, ..graph.unweighted() };
        let distances = plain.distances();
        let rows = plain.run("?[s, g, path] <~ ShortestPathBFS(p[], n[], n[])");
        assert_eq!(rows.len(), graph.len() * graph.len());
        for row in &rows {
            let (start, goal) = (graph.node(&row[0]), graph.node(&row[1]));
            if distances[start][goal] == NEVER || !plain.has_edges(start) {
                assert_eq!(row[2], DataValue::Null, "{start} {goal}: {plain:?}");
                continue;
            }
            let path = plain.path(&row[2]);
            assert_eq!((path[0], path[path.len() - 1], path.len() as f64), (start, goal, distances[start][goal] + 1.0));
            assert!(path.windows(2).all(|step| plain.lightest().contains_key(&(step[0], step[1]))), "{plain:?}");
        }
    });
}

#[test]
fn costs_from_a_start_are_those_of_the_cheapest_paths() {
    for_each_graph(100, |graph| {
        for (graph, rule) in
            [(graph, "SSSP(e[], n[], undirected: $u)"), (&graph.unweighted(), "SSSP(p[], n[], undirected: $u)")]
        {
            let distances = graph.distances();
            let rows = graph.run(&format!("?[s, node, cost] <~ {rule}"));
            assert_eq!(rows.len(), graph.nodes().len() * graph.nodes().len());
            for row in &rows {
                let expected = distances[graph.node(&row[0])][graph.node(&row[1])];
                assert_eq!(row[2].get_float(), Some(expected), "{row:?}: {graph:?}");
            }
        }
    });
}

#[test]
fn yen_finds_the_cheapest_paths_in_order() {
    for_each_graph(60, |graph| {
        for k in [1, 2, 3, 7, 1000] {
            let rows =
                graph.run(&format!("?[s, g, c, path] <~ KShortestPathYen(e[], n[], n[], k: {k}, undirected: $u)"));
            for start in 0..graph.len() {
                for goal in 0..graph.len() {
                    let mut expected = graph.simple_paths(start, goal);
                    expected.retain(|_| graph.has_edges(start) && graph.has_edges(goal));
                    expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
                    let mine = rows.iter().filter(|row| (graph.node(&row[0]), graph.node(&row[1])) == (start, goal));
                    let mut found: Vec<(f64, Vec<usize>)> =
                        mine.map(|row| (row[2].get_float().unwrap(), graph.path(&row[3]))).collect();
                    found.sort_by(|a, b| a.partial_cmp(b).unwrap());
                    assert!(found.iter().all(|path| expected.contains(path)), "{found:?}: {graph:?}");
                    let costs =
                        |paths: &[(f64, Vec<usize>)]| paths.iter().map(|(cost, _)| *cost).take(k).collect::<Vec<_>>();
                    assert_eq!(costs(&found), costs(&expected), "{start} {goal} {k}: {graph:?}");
                }
            }
        }
    });
}

#[test]
fn a_star_finds_what_dijkstra_does() {
    for_each_graph(60, |graph| {
        let graph = Graph { ids: graph.ids.clone(), edges: graph.edges.clone(), undirected: false };
        let everything: Vec<usize> = (0..graph.len()).collect();
        let script = |heuristic: &str| {
            format!(
                "v[id, i] := n[id], i = 1.0  t[goal] := n[goal]
                     ?[s, g, c, path] <~ ShortestPathAStar(e[], v[id, i], n[], t[goal], heuristic: {heuristic})"
            )
        };
        for heuristic in ["0", "if(id == goal, 0, i)", "if(id == goal, 0.0, 0.5)"] {
            let rows = graph.run(&script(heuristic));
            let rows: Vec<Vec<DataValue>> = rows
                .into_iter()
                // The paths of nodes that the graph does not have to themselves are none.
                .filter(|row| row[0] != row[1] || graph.has_edges(graph.node(&row[0])))
                .collect();
            let pairs =
                everything.len() * everything.len() - everything.iter().filter(|node| !graph.has_edges(**node)).count();
            assert_eq!(rows.len(), pairs);
            let known: Vec<Vec<DataValue>> = rows
                .into_iter()
                .filter(|row| graph.has_edges(graph.node(&row[0])) && graph.has_edges(graph.node(&row[1])))
                .collect();
            check_paths(&graph, &known, &graph.nodes(), &graph.nodes());
        }
    });
}
