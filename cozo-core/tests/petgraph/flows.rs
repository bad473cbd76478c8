//! Our flows, cuts and matchings beside those of petgraph and rustworkx-core.

use std::convert::Infallible;

use cozo::petgraph::algo::{dinics, ford_fulkerson, maximum_matching};
use rustworkx_core::connectivity::stoer_wagner_min_cut;
use rustworkx_core::max_weight_matching::max_weight_matching;

use crate::case::{Case, Shape, for_each_case};

/// The parameters of a flow: from the first node to another one.
fn ends(case: &Case, to: usize) -> String {
    let spelled =
        |value: &cozo::DataValue| value.get_str().map_or_else(|| value.to_string(), |text| format!("'{text}'"));
    format!("s[x] <- [[{}]] t[x] <- [[{}]]", spelled(&case.values[0]), spelled(&case.values[to]))
}

#[test]
fn the_greatest_flow_is_the_same() {
    let total = std::cell::Cell::new(0.0);
    for_each_case(Shape::Any, 15, |case| {
        let graph = case.weighted();
        for to in case.nodes().skip(1) {
            let rules = format!("{} f[a, b, flow] <~ MaxFlow(*edge[], s[], t[])", ends(case, to.index()));
            let out = case.sum(&format!("{rules} ?[a, b, flow] := s[a], f[a, b, flow]"));
            let ours = out - case.sum(&format!("{rules} ?[a, b, flow] := s[b], f[a, b, flow]"));
            let from = case.nodes().next().unwrap();
            assert_eq!(ours, ford_fulkerson(&graph, from, to).0, "to {to:?}: {case:?}");
            assert_eq!(ours, dinics(&graph, from, to).0, "to {to:?}: {case:?}");
            total.set(total.get() + ours);
        }
    });
    assert!(total.get() > 0.0, "something flows somewhere");
}

#[test]
fn the_least_cut_is_that_between_some_two_nodes() {
    for_each_case(Shape::Any, 10, |case| {
        let cut = |to: usize| {
            let ends = ends(case, to);
            case.sum(&format!("{ends} ?[a, b, c] <~ MinCut(*edge[], s[], t[], undirected: true)"))
        };
        let ours = (1..case.values.len()).map(cut).min_by(f64::total_cmp);
        let graph = case.weighted().undirected();
        let theirs = stoer_wagner_min_cut(&graph, |edge| Ok::<i64, Infallible>(*edge.weight() as i64)).unwrap();
        assert_eq!(ours, theirs.map(|(cut, _)| cut as f64), "{case:?}");
    });
}

#[test]
fn matchings_are_as_large() {
    for_each_case(Shape::Bipartite, 30, |case| {
        let graph = case.plain().undirected();
        let ours = case.run("?[left, right] <~ BipartiteMatching(*pair[])").len();
        assert_eq!(ours, maximum_matching(&graph).len(), "{case:?}");
        let theirs = max_weight_matching(&graph, true, |_| Ok::<i128, Infallible>(1), true).unwrap();
        assert_eq!(ours, theirs.len(), "{case:?}");
    });
}
