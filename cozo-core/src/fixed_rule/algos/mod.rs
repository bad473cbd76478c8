//! Graph algorithms: a file for each. They work on numbered nodes ([`Edges`](super::graph::Edges)), with `u32`s for values.

mod connected_components;
mod degree_centrality;

pub use connected_components::CONNECTED_COMPONENTS;
pub use degree_centrality::DEGREE_CENTRALITY;

use super::graph::Edges;
use super::{Call, FixedRuleError, InputSpec, Shape};

/// The edges as the first input.
const EDGES: InputSpec = InputSpec::required("edges", Shape::Edges, "from, to");

/// Nodes that count even if they have no edges, as the second input.
const NODES: InputSpec = InputSpec::optional("nodes", Shape::Columns(1), "nodes that count even if they have no edges");

/// The edges of the first input, with the nodes of the second numbered after those that have edges.
fn edges_and_nodes(call: &Call<'_>) -> Result<Edges, FixedRuleError> {
    let mut edges = call.input(0)?.edges(None, &call.poison)?;
    if let Some(input) = call.inputs.get(1) {
        let columns = input.columns(&[0], &call.poison)?;
        let numbered = edges.nodes.number_all(&columns[0], &call.poison)?;
        numbered.ok_or(FixedRuleError::TooManyNodes { limit: u32::MAX.into(), span: input.span })?;
    }
    Ok(edges)
}
