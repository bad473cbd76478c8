//! Algorithms of petgraph and rustworkx-core on stored graphs and on copies that petgraph holds: the answers are the same.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::convert::Infallible;
use std::hash::RandomState;

use cozo::petgraph::algo::{self, dominators};
use cozo::petgraph::dot::Dot;
use cozo::petgraph::graph::{EdgeIndex, NodeIndex};
use cozo::petgraph::visit::{Bfs, Dfs, DfsPostOrder, EdgeFiltered, EdgeRef, Reversed, Topo, UndirectedAdaptor, Walker};
use rustworkx_core::dictmap::DictMap;
use rustworkx_core::{coloring, connectivity, dag_algo, planar, shortest_path, traversal};

use crate::case::{Case, Shape, as_sets, for_each_case};

/// Checks that an expression has the same value for both graphs.
macro_rules! same {
    ($case:expr, $stored:expr, $copy:expr, |$graph:ident| $answer:expr) => {{
        let stored = {
            let $graph = $stored;
            $answer
        };
        let copy = {
            let $graph = $copy;
            $answer
        };
        assert_eq!(stored, copy, "{}\n{:?}", stringify!($answer), $case);
        stored
    }};
}

/// A map in the order of its keys.
fn sorted<K: Ord, V>(map: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    map.into_iter().collect()
}

fn set<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    items.into_iter().collect()
}

#[test]
fn costs_of_all_pairs() {
    for_each_case(Shape::Any, 15, |case| {
        let (stored, copy) = (&case.weighted(), &case.directed_copy());
        same!(case, stored, copy, |graph| algo::floyd_warshall(graph, |edge| *edge.weight()).map(sorted).ok());
        same!(case, stored, copy, |graph| algo::johnson(graph, |edge| *edge.weight()).map(sorted).ok());
        same!(case, stored, copy, |graph| shortest_path::distance_matrix(graph, 5, false, f64::INFINITY));
        same!(case, stored, copy, |graph| shortest_path::distance_matrix(graph, 5, true, f64::INFINITY));
        for from in case.nodes() {
            same!(case, stored, copy, |graph| algo::spfa(graph, from, |edge| *edge.weight()).unwrap().distances);
            same!(case, stored, copy, |graph| sorted(algo::k_shortest_path(graph, from, None, 3, |e| *e.weight())));
            same!(case, stored, copy, |graph| {
                let costs: Result<DictMap<NodeIndex, f64>, Infallible> =
                    shortest_path::k_shortest_path(graph, from, None, 2, |edge| Ok(*edge.weight()));
                sorted(costs.unwrap())
            });
            same!(case, stored, copy, |graph| {
                let cost = |edge: &f64| Ok::<f64, Infallible>(2.0 - edge);
                let cycle = shortest_path::negative_cycle_finder(graph, |edge| cost(edge.weight()));
                cycle.unwrap().is_some()
            });
            same!(case, stored, copy, |graph| algo::find_negative_cycle(graph, from).is_some());
        }
    });
}

#[test]
fn negative_weights_are_weights() {
    let case = Case::random(1, Shape::Acyclic, 12);
    case.db.run_default("?[a, b, w] := *edge{a, b, w: v}, w = -v :create negative {a, b => w}").unwrap();
    let (stored, mut copy) = (&case.db.weighted_graph("negative").unwrap(), case.directed_copy());
    copy.edge_weights_mut().for_each(|weight| *weight = -*weight);
    for from in case.nodes() {
        let costs = same!(case, stored, &copy, |graph| algo::bellman_ford(graph, from).unwrap().distances);
        assert!(from.index() > 0 || costs.iter().any(|cost| *cost < 0.0), "{case:?}");
    }
    same!(case, stored, &copy, |graph| {
        dag_algo::longest_path_length(graph, |edge| Ok::<f64, Infallible>(-*edge.weight())).unwrap()
    });
}

#[test]
fn reachability() {
    for_each_case(Shape::Any, 20, |case| {
        let (stored, copy) = (&case.weighted(), &case.directed_copy());
        for from in case.nodes() {
            same!(case, stored, copy, |graph| set(Dfs::new(graph, from).iter(graph)));
            same!(case, stored, copy, |graph| set(Bfs::new(Reversed(graph), from).iter(Reversed(graph))));
            same!(case, stored, copy, |graph| DfsPostOrder::new(graph, from).iter(graph).count());
            same!(case, stored, copy, |graph| set(traversal::ancestors(graph, from)));
            same!(case, stored, copy, |graph| set(traversal::descendants(graph, from)));
            same!(case, stored, copy, |graph| {
                let dominators = dominators::simple_fast(graph, from);
                case.nodes().map(|node| dominators.immediate_dominator(node)).collect::<Vec<_>>()
            });
            same!(case, stored, copy, |graph| {
                let heavy = EdgeFiltered::from_fn(graph, |edge| *edge.weight() > 2.0);
                set(Dfs::new(&heavy, from).iter(&heavy))
            });
            same!(case, stored, copy, |graph| {
                let without = UndirectedAdaptor(graph);
                set(Bfs::new(without, from).iter(without))
            });
            for to in case.nodes() {
                same!(case, stored, copy, |graph| algo::has_path_connecting(graph, from, to, None));
            }
        }
        same!(case, stored, copy, |graph| algo::is_cyclic_directed(graph));
        same!(case, stored, copy, |graph| connectivity::find_cycle(graph, None).is_empty());
        same!(case, stored, copy, |graph| set(connectivity::isolates(graph)));
    });
}

#[test]
fn scores_and_flows() {
    for_each_case(Shape::Any, 15, |case| {
        let (stored, copy) = (&case.weighted(), &case.directed_copy());
        same!(case, stored, copy, |graph| algo::page_rank(graph, 0.85_f64, 20));
        let to = NodeIndex::new(case.values.len() - 1);
        let from = NodeIndex::new(0);
        if from != to {
            same!(case, stored, copy, |graph| algo::ford_fulkerson(graph, from, to).0);
            same!(case, stored, copy, |graph| algo::dinics(graph, from, to).0);
            // Edges have the same indices, so flows fit capacities.
            let flows = algo::dinics(stored, from, to).1;
            assert!(flows.iter().zip(&case.edges).all(|(flow, (_, _, capacity))| flow <= capacity), "{case:?}");
        }
        let feedback: HashSet<EdgeIndex> = algo::greedy_feedback_arc_set(stored).map(|edge| edge.id()).collect();
        let rest = EdgeFiltered::from_fn(stored, |edge| !feedback.contains(&edge.id()));
        assert!(!algo::is_cyclic_directed(&rest), "{case:?}");
    });
}

#[test]
fn orders_without_cycles() {
    for_each_case(Shape::Acyclic, 20, |case| {
        let (stored, copy) = (&case.weighted(), &case.directed_copy());
        same!(case, stored, copy, |graph| Topo::new(graph).iter(graph).count());
        let order = same!(case, stored, copy, |graph| {
            let key = |node: NodeIndex| Ok::<_, Infallible>(std::cmp::Reverse(node));
            dag_algo::lexicographical_topological_sort(graph, key, false, None).unwrap()
        });
        same!(case, stored, copy, |graph| {
            let weight = |edge: &f64| Ok::<f64, Infallible>(*edge);
            dag_algo::longest_path(graph, |edge| weight(edge.weight())).unwrap().map(|(_, cost)| cost)
        });
        same!(case, stored, copy, |graph| {
            let first = case.nodes().filter(|node| !case.edges.iter().any(|(_, b, _)| *b == node.index()));
            let layers = dag_algo::layers(graph, first.collect()).map(|layer| set(layer.unwrap()));
            layers.collect::<Vec<_>>()
        });
        same!(case, stored, copy, |graph| {
            let (list, places) = algo::tred::dag_to_toposorted_adjacency_list::<_, u32>(graph, &order);
            let (reduced, closed) = algo::tred::dag_transitive_reduction_closure(&list);
            (places, reduced.edge_count(), closed.edge_count())
        });
        for (from, to) in case.nodes().flat_map(|from| case.nodes().map(move |to| (from, to))).take(100) {
            same!(case, stored, copy, |graph| {
                set(algo::all_simple_paths::<Vec<_>, _, RandomState>(graph, from, to, 0, None))
            });
        }
    });
}

#[test]
fn structure_without_directions() {
    for_each_case(Shape::Any, 20, |case| {
        let (stored, copy) = (&case.weighted().undirected(), &case.undirected_copy());
        same!(case, stored, copy, |graph| algo::connected_components(graph));
        same!(case, stored, copy, |graph| as_sets(connectivity::connected_components(graph)));
        same!(case, stored, copy, |graph| algo::is_cyclic_undirected(graph));
        same!(case, stored, copy, |graph| set(algo::articulation_points::articulation_points(graph)));
        same!(case, stored, copy, |graph| set(connectivity::articulation_points(graph, None)));
        same!(case, stored, copy, |graph| algo::maximum_matching(graph).len());
        same!(case, stored, copy, |graph| coloring::two_color(graph).is_some());
        for from in case.nodes() {
            same!(case, stored, copy, |graph| algo::is_bipartite_undirected(graph, from));
        }
        let colors = coloring::greedy_node_color(stored);
        assert!(
            case.edges.iter().all(|(a, b, _)| { a == b || colors[&NodeIndex::new(*a)] != colors[&NodeIndex::new(*b)] })
        );
    });
    for_each_case(Shape::Acyclic, 20, |case| {
        let (stored, copy) = (&case.weighted().undirected(), &case.undirected_copy());
        same!(case, stored, copy, |graph| set(algo::bridges::bridges(graph).map(|edge| edge.id())));
        // These two are made for graphs without parallel edges: one does not end on them, the other panics.
        same!(case, stored, copy, |graph| connectivity::cycle_basis(graph, None).len());
        same!(case, stored, copy, |graph| planar::is_planar(graph));
        same!(case, stored, copy, |graph| as_sets(algo::maximal_cliques::maximal_cliques(graph)));
        let (colors, count) = algo::coloring::dsatur_coloring(stored);
        assert!(case.edges.iter().all(|(a, b, _)| colors[&NodeIndex::new(*a)] != colors[&NodeIndex::new(*b)]));
        assert!((2..=case.values.len()).contains(&count));
    });
}

#[test]
fn a_copy_is_isomorphic() {
    for_each_case(Shape::Acyclic, 8, |case| {
        let (stored, mut copy) = (&case.weighted(), case.directed_copy());
        assert!(algo::is_isomorphic(stored, &copy), "{case:?}");
        let alike = |stored: &_, copy: &_, more: &f64| {
            algo::is_isomorphic_matching(stored, copy, |a, b| a == b, |a: &f64, b: &f64| *a + more == *b)
        };
        assert!(alike(stored, &&copy, &0.0) && !alike(stored, &&copy, &1.0), "{case:?}");
        assert!(algo::is_isomorphic(&stored.undirected(), &case.undirected_copy()), "{case:?}");
        copy.remove_edge(EdgeIndex::new(0));
        assert!(!algo::is_isomorphic(stored, &copy), "{case:?}");
        let mut part = case.directed_copy();
        part.remove_node(NodeIndex::new(0));
        assert!(algo::is_isomorphic_subgraph(&part, stored), "{case:?}");
        assert!(!algo::is_isomorphic_subgraph(stored, &part), "{case:?}");
    });
}

#[test]
fn a_graph_is_drawn_with_its_values() {
    let db = cozo::DbInstance::default();
    db.run_default("?[a, b, w] <- [['Ann', 'Bob', 2.5]] :create knows {a, b => w}").unwrap();
    let drawn = format!("{:?}", Dot::new(&db.weighted_graph("knows").unwrap()));
    for part in ["digraph", "Ann", "Bob", "0 -> 1", "2.5"] {
        assert!(drawn.contains(part), "{drawn}");
    }
    assert!(format!("{:?}", Dot::new(&db.graph("knows").unwrap().undirected())).contains("0 -- 1"));
}
