//! `MaxFlow`: the flow along each edge in a maximum flow.

use super::dinic::{INPUTS, Network, OPTIONS};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::{Batch, Column};

/// The flow along each edge in a maximum flow.
pub static MAX_FLOW: BuiltInRule = BuiltInRule {
    name: "MaxFlow",
    aliases: &[],
    doc: "Finds the greatest flow that the capacities of edges allow from all sources together to all sinks together, and \
          gives the edges along which something flows. Parallel edges are one edge with the sum of their capacities. The \
          total flow is the sum of the flows out of the sources. Nodes that the graph does not have are left out.",
    cost: "Time O(V² E), in practice near to linear; O(E sqrt(V)) for equal capacities. Space O(V + E).",
    source: "E. A. Dinic, Algorithm for solution of a problem of maximum flow in networks with power estimation, Soviet Math. Dokl. 11 (1970)",
    examples: &[(
        "e[a, b, c] <- [['s', 'a', 3], ['s', 'b', 2], ['a', 't', 2], ['b', 't', 3], ['a', 'b', 5]]  s[n] <- [['s']]  g[n] <- [['t']]
         f[from, to, flow] <~ MaxFlow(e[], s[], g[])  ?[sum(flow)] := f['s', to, flow]",
        "[[5.0]]",
    )],
    inputs: INPUTS,
    options: OPTIONS,
    output: Output::Columns(&["from", "to", "flow"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let mut network = Network::read(call, settings)?;
    network.fill(&call.poison)?;
    let (mut from, mut to, mut flows) = (vec![], vec![], vec![]);
    for (edge, (start, end, _)) in network.edges.iter().enumerate() {
        let flow = network.flow(edge);
        if flow != 0.0 {
            let (start, end) = if flow > 0.0 { (*start, *end) } else { (*end, *start) };
            from.push(start);
            to.push(end);
            flows.push(flow.abs());
        }
    }
    let values = network.nodes.values();
    Ok(Batch::new(vec![values.take(&from), values.take(&to), Column::floats(flows)], from.len()))
}
