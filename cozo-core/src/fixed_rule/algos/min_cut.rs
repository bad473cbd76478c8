//! `MinCut`: the edges of least capacity that separate sources from sinks.

use super::dinic::{INPUTS, Network, OPTIONS};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::{Batch, Column};

/// The edges of least capacity that separate sources from sinks.
pub static MIN_CUT: BuiltInRule = BuiltInRule {
    name: "MinCut",
    aliases: &[],
    doc: "Gives a set of edges without which nothing can flow from any source to any sink, with the least total capacity. \
          This capacity equals the greatest flow. Of several such sets, it is the one nearest to the sources. Parallel \
          edges are one edge with the sum of their capacities. Nodes that the graph does not have are left out.",
    cost: "Time O(V² E), in practice near to linear; space O(V + E).",
    source: "L. R. Ford and D. R. Fulkerson, Maximal flow through a network, Canad. J. Math. 8 (1956); E. A. Dinic, Soviet Math. Dokl. 11 (1970)",
    examples: &[(
        "e[a, b, c] <- [['s', 'a', 3], ['s', 'b', 2], ['a', 't', 1], ['b', 't', 3]]  s[n] <- [['s']]  g[n] <- [['t']]
         ?[from, to, capacity] <~ MinCut(e[], s[], g[])",
        "[['a', 't', 1.0], ['s', 'b', 2.0]]",
    )],
    inputs: INPUTS,
    options: OPTIONS,
    output: Output::Columns(&["from", "to", "capacity"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let mut network = Network::read(call, settings)?;
    network.fill(&call.poison)?;
    let undirected = settings.bool("undirected");
    let (mut from, mut to, mut capacities) = (vec![], vec![], vec![]);
    for (start, end, capacity) in &network.edges {
        let (left, right) = (network.is_source_side(*start), network.is_source_side(*end));
        let (start, end) = match (left, right) {
            (true, false) => (*start, *end),
            (false, true) if undirected => (*end, *start),
            _ => continue,
        };
        from.push(start);
        to.push(end);
        capacities.push(*capacity);
    }
    let values = network.nodes.values();
    Ok(Batch::new(vec![values.take(&from), values.take(&to), Column::floats(capacities)], from.len()))
}
