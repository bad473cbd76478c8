//! Flows, cuts and matchings.

use std::collections::BTreeMap;

use crate::common::failure;
use crate::random::{Graph, for_each_graph};

/// Sources and sinks as rules: the first and the last node that have edges.
fn ends(graph: &Graph) -> Option<(usize, usize, String)> {
    let nodes = graph.nodes();
    let (source, sink) = (nodes[0], nodes[nodes.len() - 1]);
    let rules =
        format!("s[x] := x = get(get($n, {source}), 0)  s[x] := x = 'unknown'  t[x] := x = get(get($n, {sink}), 0)");
    (source != sink).then_some((source, sink, rules))
}

/// The capacity of each pair of different nodes.
fn capacities(graph: &Graph) -> BTreeMap<(usize, usize), f64> {
    let mut capacities = BTreeMap::new();
    for (a, b, capacity) in graph.all_edges().into_iter().filter(|(a, b, _)| a != b) {
        *capacities.entry((a, b)).or_default() += capacity;
    }
    capacities
}

#[test]
fn the_greatest_flow_is_the_least_cut() {
    for_each_graph(150, |graph| {
        let Some((source, sink, rules)) = ends(graph) else { return };
        let capacities = capacities(graph);
        let cut = |side: u32| {
            let of = |node: usize| side >> node & 1 == 1;
            let crossing = capacities.iter().filter(|((a, b), _)| of(*a) && !of(*b));
            (of(source) && !of(sink)).then(|| crossing.map(|(_, capacity)| *capacity).sum::<f64>())
        };
        let least = (0..1_u32 << graph.len()).filter_map(cut).fold(f64::INFINITY, f64::min);

        let read = |rule: &str| -> BTreeMap<(usize, usize), f64> {
            let rows = graph.run(&format!("{rules} ?[a, b, c] <~ {rule}(e[], s[], t[], undirected: $u)"));
            rows.iter().map(|row| ((graph.node(&row[0]), graph.node(&row[1])), row[2].get_float().unwrap())).collect()
        };
        let flow = read("MaxFlow");
        let mut left = vec![0.0; graph.len()];
        for ((from, to), amount) in &flow {
            assert!(*amount > 0.0 && *amount <= capacities[&(*from, *to)], "{flow:?} of {graph:?}");
            left[*from] += amount;
            left[*to] -= amount;
        }
        for (node, left) in left.iter().enumerate() {
            let expected = least * f64::from(i8::from(node == source) - i8::from(node == sink));
            assert_eq!(*left, expected, "what flows into a node flows out of it: {flow:?} of {graph:?}");
        }
        let cut = read("MinCut");
        assert_eq!(cut.values().sum::<f64>(), least, "{cut:?} of {graph:?}");
        assert!(cut.iter().all(|(pair, capacity)| capacities[pair] == *capacity), "{cut:?} of {graph:?}");
    });
}

#[test]
fn several_sources_and_sinks_work_together() {
    let db = cozo::DbInstance::default();
    let network = "e[a, b, c] <- [['s1', 'm', 2], ['s2', 'm', 2], ['m', 't1', 1.5], ['m', 't2', 1]]
                   s[x] <- [['s1'], ['s2']]  t[x] <- [['t1'], ['t2']]";
    let sum = format!("{network} f[a, b, v] <~ MaxFlow(e[], s[], t[]) ?[sum(v)] := f['m', _, v]");
    assert_eq!(crate::common::rows(&db, &sum), [[2.5.into()]]);
    assert_eq!(failure(&db, &format!("{network} ?[a, b, v] <~ MaxFlow(e[], s[], s[])")), "algo::source_is_sink");
    assert_eq!(
        failure(&db, "e[a, b, c] <- [[1, 2, -1]] s[x] <- [[1]] ?[a, b, v] <~ MinCut(e[], s[], s[])"),
        "algo::invalid_edge_weight"
    );
}

#[test]
fn matchings_are_the_greatest() {
    for_each_graph(150, |graph| {
        let pairs: Vec<(usize, usize)> = graph.unweighted().edges.iter().map(|(a, b, _)| (*a, *b)).collect();
        // The greatest matching by trying each edge or leaving it out; sides are sets of bits.
        fn greatest(pairs: &[(usize, usize)], left: u32, right: u32) -> usize {
            let Some(((a, b), rest)) = pairs.split_first() else { return 0 };
            let without = greatest(rest, left, right);
            if left >> a & 1 == 1 || right >> b & 1 == 1 {
                return without;
            }
            without.max(1 + greatest(rest, left | 1 << a, right | 1 << b))
        }
        let rows = graph.run("?[left, right] <~ BipartiteMatching(p[])");
        let found: Vec<(usize, usize)> = rows.iter().map(|row| (graph.node(&row[0]), graph.node(&row[1]))).collect();
        assert_eq!(found.len(), greatest(&pairs, 0, 0), "{found:?} of {graph:?}");
        for (i, (a, b)) in found.iter().enumerate() {
            assert!(pairs.contains(&(*a, *b)));
            assert!(found[..i].iter().all(|(c, d)| a != c && b != d), "{found:?} of {graph:?}");
        }
    });
}
