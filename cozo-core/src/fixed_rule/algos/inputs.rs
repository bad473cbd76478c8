//! The common inputs and options of algorithms, and functions to read them.

use crate::fixed_rule::graph::{Direction, Edges, NO_NODE, Nodes, Weights};
use crate::fixed_rule::{Call, DefaultValue, FixedRuleError, InputSpec, OptionKind, OptionSpec, Settings, Shape};
use crate::value::Batch;

/// The edges as the first input.
pub const EDGES: InputSpec = InputSpec::required("edges", Shape::Edges, "from, to");

/// The edges as the first input, with weights.
pub const WEIGHTED_EDGES: InputSpec = InputSpec::required(
    "edges",
    Shape::Edges,
    "from, to, and the weight, a finite number of at least 0; without a third column every weight is 1",
);

/// The edges as the first input, with weights that may be negative.
pub const EDGES_OF_ANY_WEIGHT: InputSpec = InputSpec::required(
    "edges",
    Shape::Edges,
    "from, to, and the weight, a finite number, perhaps negative; without a third column every weight is 1",
);

/// Nodes that count even if they have no edges, as the second input.
pub const NODES: InputSpec =
    InputSpec::optional("nodes", Shape::Columns(1), "nodes that count even if they have no edges");

/// The nodes to start from.
pub const STARTING: InputSpec = InputSpec::required("starting", Shape::Columns(1), "the nodes to start from");

/// The nodes to reach.
pub const GOALS: InputSpec = InputSpec::required("goals", Shape::Columns(1), "the nodes to reach");

/// Whether edges lead in both directions.
pub const UNDIRECTED: OptionSpec =
    OptionSpec::new("undirected", OptionKind::Bool, DefaultValue::Bool(false), "whether every edge leads both ways");

/// The seed of random choices. The same seed gives the same answer.
pub const SEED: OptionSpec = OptionSpec::new(
    "seed",
    OptionKind::Int,
    DefaultValue::Int(0),
    "the seed of random choices: the same seed gives the same answer",
);

/// The edges of the first input, and the nodes of the second as by [`with_nodes`].
pub fn edges_and_nodes(call: &Call<'_>, weights: Option<Weights>) -> Result<Edges, FixedRuleError> {
    with_nodes(call, call.input(0)?.edges(weights, &call.poison)?)
}

/// Edges with the nodes of the second input, if there is one: they are numbered after those with edges.
pub fn with_nodes(call: &Call<'_>, mut edges: Edges) -> Result<Edges, FixedRuleError> {
    if let Some(input) = call.inputs.get(1) {
        let columns = input.columns(&[0], &call.poison)?;
        if !edges.nodes.add_without_edges(&columns[0], &call.poison)? {
            return Err(input.too_many_nodes());
        }
    }
    Ok(edges)
}

/// The edges of the first input with weights of at least 0.
pub fn weighted_edges(call: &Call<'_>) -> Result<Edges, FixedRuleError> {
    call.input(0)?.edges(Some(Weights::NonNegative), &call.poison)
}

/// The direction by the option `undirected`.
pub fn direction(settings: &Settings) -> Direction {
    Direction::undirected(settings.bool("undirected"))
}

/// The nodes of an input that are in the graph, each once, in ascending order.
pub fn known_nodes(call: &Call<'_>, input: usize, nodes: &Nodes) -> Result<Vec<u32>, FixedRuleError> {
    let columns = call.input(input)?.columns(&[0], &call.poison)?;
    let mut found = nodes.find_all(&columns[0], &call.poison)?;
    found.retain(|node| *node != NO_NODE);
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The row of an input for each node: the first with the node in its first column, or [`NO_NODE`].
pub fn row_of_each(call: &Call<'_>, rows: &Batch, nodes: &Nodes) -> Result<Vec<u32>, FixedRuleError> {
    let mut row_of = vec![NO_NODE; nodes.len()];
    let found = nodes.find_all(&rows.columns[0], &call.poison)?;
    for (row, node) in found.iter().enumerate().rev().filter(|(_, node)| **node != NO_NODE) {
        row_of[*node as usize] = row as u32;
    }
    Ok(row_of)
}
