//! Searches with a condition, and random walks.

use std::collections::{BTreeSet, VecDeque};

use cozo::{DataValue, DbInstance};

use crate::common::{failure, rows};
use crate::random::{Graph, for_each_graph};

type Answers = BTreeSet<(usize, usize, Vec<usize>)>;

/// A search by the words of the documentation: neighbours in ascending order to the back of a queue, or in descending order along
/// a path; what was visited is shared by all starts.
fn search(graph: &Graph, depth_first: bool, limit: usize, holds: impl Fn(usize) -> bool) -> Answers {
    let mut neighbours: Vec<Vec<usize>> = vec![vec![]; graph.len()];
    graph.unweighted().edges.iter().for_each(|(a, b, _)| neighbours[*a].push(*b));
    let mut visited = vec![false; graph.len()];
    let mut answers = Answers::new();
    for start in 0..graph.len() {
        let mut found = 0;
        let mut open = VecDeque::from([vec![start]]);
        if !depth_first {
            visited[start] = true;
        }
        while let Some(path) = if depth_first { open.pop_back() } else { open.pop_front() } {
            let node = path[path.len() - 1];
            if depth_first && std::mem::replace(&mut visited[node], true) {
                continue;
            }
            if (depth_first || node != start || path.len() > 1) && holds(node) {
                answers.insert((start, node, path.clone()));
                found += 1;
            }
            if found == limit {
                break;
            }
            for next in neighbours[node].iter().filter(|next| !visited[**next]).copied().collect::<Vec<_>>() {
                open.push_back([&path[..], &[next]].concat());
                visited[next] = !depth_first;
            }
        }
    }
    answers
}

#[test]
fn searches_find_what_holds() {
    for_each_graph(100, |graph| {
        for (rule, depth_first) in [("DFS", true), ("BFS", false)] {
            for limit in [1, 2, 100] {
                let odd = |node: usize| node % 2 == 1;
                let expected = search(graph, depth_first, limit, odd);
                let script = format!(
                    "v[id, odd] := i in int_range(length($n)), id = get(get($n, i), 0), odd = i % 2 == 1
                     ?[start, answer, path] <~ {rule}(p[], v[id, odd], condition: odd, limit: {limit})"
                );
                let found: Answers = graph
                    .run(&script)
                    .iter()
                    .map(|row| (graph.node(&row[0]), graph.node(&row[1]), graph.path(&row[2])))
                    .collect();
                if depth_first || limit == 100 {
                    assert_eq!(found, expected, "{rule} {limit}: {graph:?}");
                }
                // By breadth, what is visited when the limit is reached is no matter of definition.
                assert!(found.iter().all(|(_, answer, path)| odd(*answer) && path.last() == Some(answer)));
            }
        }
    });
}

#[test]
fn conditions_see_the_rows_of_nodes_that_are_reached() {
    let db = DbInstance::default();
    let graph = "e[a, b] <- [[1, 2], [2, 3], [7, 8]]  s[x] <- [[1]]";
    for rule in ["BFS", "DFS"] {
        let run = |nodes: &str, options: &str| {
            format!("{graph} n[id, v] <- {nodes} ?[start, answer, path] <~ {rule}(e[], n[id, v], s[], {options})")
        };
        let answer = |list: [i64; 3]| vec![DataValue::from(1), 3.into(), list.to_vec().into()];
        // The row of 7 would fail, and nobody asks for it.
        let nodes = "[[1, 0], [2, 0], [3, 5], [7, 'x']]";
        assert_eq!(rows(&db, &run(nodes, "condition: v + 1 > 5")), [answer([1, 2, 3])]);
        assert_eq!(failure(&db, &run("[[1, 0], [2, 'x'], [3, 5]]", "condition: v + 1 > 5")), "eval::throw");
        assert_eq!(failure(&db, &run("[[1, 0], [3, 5]]", "condition: v > 4")), "algo::node_with_key_not_found");
        assert_eq!(rows(&db, &run("[[1, 0]]", "condition: id == 3")), [answer([1, 2, 3])], "the node is enough");
        assert_eq!(failure(&db, &run(nodes, "condition: v")), "algo::bad_expression_value");
        assert_eq!(failure(&db, &run(nodes, "condition: w")), "eval::bad_binding");
        assert_eq!(failure(&db, &run(nodes, "condition: v > 0, limit: 0")), "fixed_rule::arg_wrong");
    }
}

#[test]
fn estimates_must_be_numbers() {
    let db = DbInstance::default();
    let run = |nodes: &str, heuristic: &str| {
        format!(
            "e[a, b] <- [[1, 2], [2, 3]] n[id, x] <- {nodes} s[x] <- [[1]] g[goal] <- [[3]]
                 ?[start, goal, cost, path] <~ ShortestPathAStar(e[], n[id, x], s[], g[goal], heuristic: {heuristic})"
        )
    };
    let nodes = "[[1, 1], [2, 1], [3, 1]]";
    assert_eq!(rows(&db, &run(nodes, "goal - id")).len(), 1);
    assert_eq!(failure(&db, &run(nodes, "'far'")), "algo::bad_expression_value");
    assert_eq!(failure(&db, &run(nodes, "0.0 / 0.0")), "algo::bad_expression_value");
    assert_eq!(failure(&db, &run("[[1, 1], [3, 1]]", "0")), "algo::node_with_key_not_found");
}

#[test]
fn walks_follow_edges() {
    for_each_graph(60, |graph| {
        let script = "?[walk, start, path] <~ RandomWalk(p[a, b], n[id], n[], steps: 5, iterations: 3, seed: 4)";
        let walks = graph.run(script);
        assert_eq!(walks, graph.run(script));
        assert_eq!(walks.len(), graph.len() * 3);
        for (i, row) in walks.iter().enumerate() {
            assert_eq!(row[0].get_int(), Some(i as i64 + 1));
            let path = graph.path(&row[2]);
            assert_eq!(path[0], graph.node(&row[1]));
            assert!(path.windows(2).all(|step| graph.edges.iter().any(|edge| (edge.0, edge.1) == (step[0], step[1]))));
            let last = path[path.len() - 1];
            assert!(path.len() == 6 || graph.edges.iter().all(|edge| edge.0 != last), "{path:?} of {graph:?}");
        }
    });
}

#[test]
fn walks_take_edges_by_their_weights() {
    let db = DbInstance::default();
    let walks = |options: &str| {
        let script = format!(
            "e[a, b, w] <- [[0, 1, 0], [0, 2, 1], [0, 3, 3]]  n[id, v] <- [[0, 1], [1, 1], [2, 3], [3, 1]]  s[x] <- [[0]]
             r[i, s, path] <~ RandomWalk(e[from, to, w], n[id, v], s[], steps: 1, iterations: 4000, seed: 1{options})
             ?[to, count(i)] := r[i, _, path], to = last(path)"
        );
        rows(&db, &script).iter().map(|row| (row[0].get_int().unwrap(), row[1].get_int().unwrap())).collect::<Vec<_>>()
    };
    let near = |count: i64, expected: i64| (count - expected).abs() < 150;
    let even = walks("");
    assert!(even.len() == 3 && even.iter().all(|(_, count)| near(*count, 1333)), "{even:?}");
    let weighted = walks(", weight: w");
    assert!(weighted.len() == 2 && weighted[0].0 == 2 && near(weighted[0].1, 1000), "{weighted:?}");
    let by_both = walks(", weight: w * v");
    assert!(by_both.len() == 2 && near(by_both[0].1, 2000), "the row of nodes is that of the target: {by_both:?}");
}

#[test]
fn walks_need_their_nodes_and_sensible_weights() {
    let db = DbInstance::default();
    let run = |nodes: &str, start: i64, options: &str| {
        format!(
            "e[a, b, w] <- [[1, 2, 1], [2, 3, -1], [5, 6, 'x']] n[id] <- {nodes} s[x] <- [[{start}]]
                 ?[i, start, path] <~ RandomWalk(e[a, b, w], n[id], s[], {options})"
        )
    };
    assert_eq!(rows(&db, &run("[[1], [2]]", 1, "steps: 1")).len(), 1);
    assert_eq!(failure(&db, &run("[[1], [2]]", 1, "steps: 2")), "algo::node_with_key_not_found");
    assert_eq!(failure(&db, &run("[[2]]", 1, "steps: 1")), "algo::node_with_key_not_found");
    assert_eq!(failure(&db, &run("[[1], [2], [3]]", 1, "steps: 2, weight: w")), "algo::bad_expression_value");
    assert_eq!(failure(&db, &run("[[5], [6]]", 5, "steps: 2, weight: w")), "algo::bad_expression_value");
    assert_eq!(failure(&db, &run("[[1], [2]]", 1, "steps: 0")), "fixed_rule::arg_wrong");
    assert_eq!(rows(&db, &run("[[1], [9]]", 9, "steps: 3"))[0][2], vec![9].into(), "a node without edges goes nowhere");
}
