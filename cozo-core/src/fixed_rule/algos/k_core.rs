//! `KCore`: the core number of each node.

use super::inputs::EDGES;
use crate::fixed_rule::graph::{Direction, Graph};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Poison, Settings};
use crate::value::{Batch, Column};

/// The core number of each node.
pub static K_CORE: BuiltInRule = BuiltInRule {
    name: "KCore",
    aliases: &[],
    doc: "Gives for each node the greatest k such that the node is in a part of the graph in which all nodes have at least \
          k neighbours. Edges count whatever their direction; loops and parallel edges do not count.",
    cost: "Time and space O(V + E).",
    source: "V. Batagelj and M. Zaversnik, An O(m) algorithm for cores decomposition of networks, 2003",
    examples: &[(
        "e[a, b] <- [[1, 2], [2, 3], [3, 1], [3, 4]]  ?[node, core] <~ KCore(e[])",
        "[[1, 2], [2, 2], [3, 2], [4, 1]]",
    )],
    inputs: &[EDGES],
    options: &[],
    output: Output::Columns(&["node", "core"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, graph) = call.input(0)?.edges(None, &call.poison)?.into_graph(Direction::Both);
    let cores = cores(&graph.simple(), &call.poison)?;
    let count = nodes.len();
    Ok(Batch::new(vec![nodes.into_values(), Column::ints(cores)], count))
}

/// Repeatedly removes the node with the fewest remaining neighbours.
fn cores(graph: &Graph, poison: &Poison) -> miette::Result<Vec<i64>> {
    let nodes = graph.node_count();
    let mut degrees: Vec<usize> = (0..nodes as u32).map(|node| graph.out_degree(node)).collect();
    let most = degrees.iter().max().copied().unwrap_or_default();
    // The nodes in the order of their degrees, the position of each, and the first position of each degree.
    let mut begins = vec![0; most + 2];
    degrees.iter().for_each(|degree| begins[degree + 1] += 1);
    (0..=most).for_each(|degree| begins[degree + 1] += begins[degree]);
    let (mut order, mut places, mut next) = (vec![0_u32; nodes], vec![0; nodes], begins.clone());
    for node in 0..nodes {
        let place = &mut next[degrees[node]];
        (order[*place], places[node]) = (node as u32, *place);
        *place += 1;
    }
    let mut pace = poison.pace();
    for i in 0..nodes {
        pace.step()?;
        let node = order[i];
        let core = degrees[node as usize];
        for neighbor in graph.out_neighbors(node).iter().map(|neighbor| *neighbor as usize) {
            let degree = degrees[neighbor];
            if degree > core {
                // The neighbour is swapped with the first node of its degree, and then belongs to the next lower degree.
                let (place, first) = (places[neighbor], begins[degree]);
                order.swap(place, first);
                (places[order[place] as usize], places[neighbor]) = (place, first);
                begins[degree] += 1;
                degrees[neighbor] -= 1;
            }
        }
    }
    Ok(degrees.into_iter().map(|degree| degree as i64).collect())
}
