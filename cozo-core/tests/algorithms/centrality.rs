//! How much nodes count: degrees, closeness, betweenness, ranks, clustering, similarity.

use std::collections::{BTreeMap, BTreeSet};

use crate::random::{Graph, NEVER, for_each_graph};

#[test]
fn degrees_count_ends() {
    for_each_graph(50, |graph| {
        let rows = graph.run("?[node, total, out, in] <~ DegreeCentrality(e[], n[])");
        let all: Vec<usize> = (0..graph.len()).collect();
        let out = |node: usize| graph.edges.iter().filter(|edge| edge.0 == node).count() as f64;
        let into = |node: usize| graph.edges.iter().filter(|edge| edge.1 == node).count() as f64;
        graph.expect("total", &graph.numbers(&rows, 0, 1), &all, |node| out(node) + into(node));
        graph.expect("out", &graph.numbers(&rows, 0, 2), &all, out);
        graph.expect("in", &graph.numbers(&rows, 0, 3), &all, into);
    });
}

#[test]
fn closeness_is_that_of_the_distances() {
    for_each_graph(100, |graph| {
        for (graph, rule) in [(graph, "e[]"), (&graph.unweighted(), "p[]")] {
            let distances = graph.distances();
            let nodes = graph.nodes();
            let rows = graph.run(&format!("?[node, c] <~ ClosenessCentrality({rule}, undirected: $u)"));
            graph.expect("closeness", &graph.numbers(&rows, 0, 1), &nodes, |node| {
                let reached: Vec<f64> = distances[node].iter().copied().filter(|cost| *cost < NEVER).collect();
                let (count, sum) = (reached.len() as f64, reached.iter().sum::<f64>());
                if sum == 0.0 { 0.0 } else { count * count / (sum * (nodes.len() as f64 - 1.0)) }
            });
        }
    });
}

#[test]
fn betweenness_counts_the_paths_through_a_node() {
    for_each_graph(100, |graph| {
        for (graph, rule) in [(graph, "e[]"), (&graph.unweighted(), "p[]")] {
            let distances = graph.distances();
            let mut expected = vec![0.0; graph.len()];
            for (start, distances) in distances.iter().enumerate() {
                for goal in (0..graph.len()).filter(|goal| *goal != start) {
                    let mut paths = graph.simple_paths(start, goal);
                    paths.retain(|(cost, _)| *cost == distances[goal]);
                    for (_, path) in &paths {
                        path[1..path.len() - 1].iter().for_each(|node| expected[*node] += 1.0 / paths.len() as f64);
                    }
                }
            }
            let rows = graph.run(&format!("?[node, c] <~ BetweennessCentrality({rule}, undirected: $u)"));
            graph.expect("betweenness", &graph.numbers(&rows, 0, 1), &graph.nodes(), |node| expected[node]);
        }
    });
}

/// Scores after very many rounds, by the definition; `part` is what falls to a node anyway.
fn ranks(graph: &Graph, theta: f64, part: impl Fn(usize) -> f64) -> Vec<f64> {
    let edges = graph.all_edges();
    let out = |node: usize| edges.iter().filter(|edge| edge.0 == node).map(|edge| edge.2).sum::<f64>();
    let mut scores: Vec<f64> = (0..graph.len()).map(&part).collect();
    for _ in 0..300 {
        let mut next: Vec<f64> = (0..graph.len()).map(|node| (1.0 - theta) * part(node)).collect();
        edges.iter().for_each(|(from, to, weight)| next[*to] += theta * scores[*from] * weight / out(*from));
        scores = next;
    }
    scores
}

#[test]
fn page_rank_is_the_fixed_point() {
    for_each_graph(60, |graph| {
        let nodes = graph.nodes();
        let part = 1.0 / nodes.len() as f64;
        // Without `weighted` each row of edges counts once, whatever stands in its third column.
        let even = Graph {
            ids: graph.ids.clone(),
            edges: graph.edges.iter().map(|(a, b, _)| (*a, *b, 1.0)).collect(),
            ..*graph
        };
        for (counted, options) in [(&even, ""), (graph, ", weighted: true")] {
            for theta in [0.0, 0.5, 0.85] {
                let expected = ranks(counted, theta, |_| part);
                let options = format!("theta: {theta}, epsilon: 0.0, iterations: 300, undirected: $u{options}");
                let script = format!("?[node, score] <~ PageRank(e[], {options})");
                graph.expect("rank", &graph.numbers(&graph.run(&script), 0, 1), &nodes, |node| expected[node]);
            }
        }
    });
}

#[test]
fn personal_ranks_begin_at_the_starting_nodes() {
    for_each_graph(60, |graph| {
        let plain = graph.unweighted();
        let starts = [graph.edges[0].0, graph.edges[0].1];
        let different = if starts[0] == starts[1] { 1.0 } else { 2.0 };
        let expected = ranks(&plain, 0.7, |node| if starts.contains(&node) { 1.0 / different } else { 0.0 });
        let options = "theta: 0.7, epsilon: 0.0, iterations: 300, undirected: $u";
        let starts = "s[x] := x = get(get($p, 0), 0)  s[x] := x = get(get($p, 0), 1)  s[x] := x = 'unknown'";
        let rows = plain.run(&format!("{starts} ?[node, score] <~ PersonalizedPageRank(p[], s[], {options})"));
        // The first edge of both is the same, since edges are sorted.
        plain.expect("rank", &plain.numbers(&rows, 0, 1), &plain.nodes(), |node| expected[node]);
    });
}

#[test]
fn eigenvectors_stay_in_proportion() {
    for_each_graph(60, |graph| {
        let graph = Graph { ids: graph.ids.clone(), edges: graph.edges.clone(), undirected: true };
        let nodes = graph.nodes();
        let joined = graph.distances();
        if nodes.iter().any(|node| joined[nodes[0]][*node] == NEVER) {
            return;
        }
        let rows = graph.run(
            "?[node, c] <~ EigenvectorCentrality(e[], undirected: true, iterations: 100000, epsilon: 0.000000000001)",
        );
        let found = graph.numbers(&rows, 0, 1);
        let value = |node: usize| found[node].unwrap();
        assert!((nodes.iter().map(|node| value(*node).powi(2)).sum::<f64>() - 1.0).abs() < 1e-9);
        let gathered = |node: usize| {
            graph.all_edges().iter().filter(|edge| edge.1 == node).map(|edge| edge.2 * value(edge.0)).sum::<f64>()
        };
        let times = gathered(nodes[0]) / value(nodes[0]);
        nodes
            .iter()
            .for_each(|node| assert!((gathered(*node) - times * value(*node)).abs() < 1e-4, "{found:?} of {graph:?}"));
    });
}

type Pairs = BTreeSet<(usize, usize)>;

/// Whether an edge leads from one node to another, and whether two different nodes are joined at all.
fn joined(graph: &Graph) -> (Pairs, Pairs) {
    let directed: Pairs = graph.edges.iter().map(|(a, b, _)| (*a, *b)).filter(|(a, b)| a != b).collect();
    let both = directed.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
    (directed, both)
}

#[test]
fn clustering_counts_triangles() {
    for_each_graph(100, |graph| {
        let (_, both) = joined(graph);
        let nodes = graph.nodes();
        let degree = |node: usize| {
            graph.edges.iter().map(|(a, b, _)| usize::from(*a == node) + usize::from(*b == node)).sum::<usize>() as f64
        };
        // Pairs of its edges that lead to two nodes which are joined; parallel edges count each.
        let triangles = |node: usize| {
            let leaving = graph.edges.iter().filter(|(a, ..)| *a == node).map(|(_, b, _)| *b);
            let ends: Vec<usize> =
                leaving.chain(graph.edges.iter().filter(|(_, b, _)| *b == node).map(|(a, ..)| *a)).collect();
            let pairs = (0..ends.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
            pairs.filter(|(a, b)| ends[*a] != ends[*b] && both.contains(&(ends[*a], ends[*b]))).count() as f64
        };
        let rows = graph.run("?[node, c, t, d] <~ ClusteringCoefficients(e[])");
        graph.expect("triangles", &graph.numbers(&rows, 0, 2), &nodes, triangles);
        graph.expect("degree", &graph.numbers(&rows, 0, 3), &nodes, degree);
        graph.expect("coefficient", &graph.numbers(&rows, 0, 1), &nodes, |node| match degree(node) {
            few if few < 2.0 => 0.0,
            degree => 2.0 * triangles(node) / (degree * (degree - 1.0)),
        });
    });
}

#[test]
fn local_clustering_counts_edges_among_neighbours() {
    for_each_graph(100, |graph| {
        let (directed, both) = joined(graph);
        let edges = if graph.undirected { &both } else { &directed };
        let rows = graph.run("?[node, c] <~ LCC(p[], undirected: $u)");
        graph.expect("coefficient", &graph.numbers(&rows, 0, 1), &graph.nodes(), |node| {
            let around: Vec<usize> = (0..graph.len()).filter(|other| both.contains(&(node, *other))).collect();
            let there = edges.iter().filter(|(a, b)| around.contains(a) && around.contains(b)).count() as f64;
            if around.len() < 2 { 0.0 } else { there / (around.len() * (around.len() - 1)) as f64 }
        });
    });
}

#[test]
fn similar_nodes_have_many_neighbours_in_common() {
    for_each_graph(60, |graph| {
        let mut sets: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        graph.all_edges().iter().for_each(|(a, b, _)| {
            sets.entry(*a).or_default().insert(*b);
        });
        for (metric, top_k, cutoff) in
            [("jaccard", 100, 0.0), ("overlap", 100, 0.0), ("jaccard", 1, 0.0), ("overlap", 2, 0.6)]
        {
            let mut expected = vec![];
            for (a, ours) in &sets {
                let mut similar = vec![];
                for (b, theirs) in sets.iter().filter(|(b, _)| *b != a) {
                    let common = ours.intersection(theirs).count() as f64;
                    let all =
                        if metric == "jaccard" { ours.union(theirs).count() } else { ours.len().min(theirs.len()) };
                    if common > 0.0 && common / all as f64 >= cutoff {
                        similar.push((*a, *b, common / all as f64));
                    }
                }
                similar.sort_by(|(_, b, one), (_, c, other)| other.total_cmp(one).then(b.cmp(c)));
                similar.truncate(top_k);
                similar.sort_by_key(|(_, b, _)| *b);
                expected.extend(similar);
            }
            let options = format!("undirected: $u, metric: '{metric}', top_k: {top_k}, cutoff: {cutoff}");
            let rows = graph.run(&format!("?[a, b, s] <~ NodeSimilarity(e[], {options})"));
            let found: Vec<(usize, usize, f64)> = rows
                .iter()
                .map(|row| (graph.node(&row[0]), graph.node(&row[1]), row[2].get_float().unwrap()))
                .collect();
            assert_eq!(found, expected, "{options}: {graph:?}");
        }
    });
}
