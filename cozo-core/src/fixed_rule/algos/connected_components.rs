//! `ConnectedComponents`: which nodes hang together, whatever the direction of edges.
//!
//! Disjoint sets with path halving, the smaller number becoming the root (Tarjan and van Leeuwen 1984).

use super::{EDGES, NODES, edges_and_nodes};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::{Batch, Column};

/// Which nodes hang together.
pub static CONNECTED_COMPONENTS: BuiltInRule = BuiltInRule {
    name: "ConnectedComponents",
    aliases: &[],
    doc: "Gives nodes the same number, from 0 on, if a path of edges in any direction joins them. Takes time proportional to \
          the edges, nearly.",
    inputs: &[EDGES, NODES],
    options: &[],
    output: Output::Columns(&["node", "component"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let edges = edges_and_nodes(call)?;
    let count = edges.nodes.len();
    let mut parents: Vec<u32> = (0..count as u32).collect();
    let mut pace = call.poison.pace();
    for (from, to) in edges.from.iter().zip(&edges.to) {
        pace.step()?;
        let (a, b) = (root(&mut parents, *from), root(&mut parents, *to));
        parents[a.max(b) as usize] = a.min(b);
    }
    // A root has the smallest number of its component, so that it comes before all others.
    let mut components: Vec<i64> = Vec::with_capacity(count);
    let mut found = 0;
    for node in 0..count as u32 {
        let root = root(&mut parents, node);
        let component = if root == node { found } else { components[root as usize] };
        found += i64::from(root == node);
        components.push(component);
    }
    Ok(Batch::new(vec![edges.nodes.values().clone(), Column::ints(components)], count))
}

fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        let above = parents[parents[node as usize] as usize];
        parents[node as usize] = above;
        node = above;
    }
    node
}
