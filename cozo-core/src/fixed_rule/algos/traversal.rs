//! The common part of searches with a condition: inputs, options, the test of nodes, and the resulting rows.

use std::borrow::Cow;

use super::expressions::{RowValues, node_not_found, wrong_value};
use super::inputs::{EDGES, known_nodes, row_of_each};
use crate::expr::Expr;
use crate::fixed_rule::expression::bind;
use crate::fixed_rule::graph::{Direction, Graph, NO_NODE, Nodes};
use crate::fixed_rule::{Call, DefaultValue, FixedRuleError, InputSpec, OptionKind, OptionSpec, Settings, Shape};
use crate::value::{Batch, Column, DataValue};

/// The inputs of a search.
pub const INPUTS: &[InputSpec] = &[
    EDGES,
    InputSpec::required(
        "nodes",
        Shape::Columns(1),
        "nodes in the first column; the condition uses the names of all columns",
    ),
    InputSpec::optional("starting", Shape::Columns(1), "the nodes to start from; if left out all of `nodes`"),
];

/// The options of a search.
pub const OPTIONS: &[OptionSpec] = &[
    OptionSpec::required(
        "condition",
        OptionKind::Expression,
        "the condition on a node: true or false for a row of `nodes`",
    ),
    OptionSpec::new(
        "limit",
        OptionKind::PositiveInt,
        DefaultValue::Int(1),
        "the maximum number of answers for each starting node",
    ),
];

/// The inputs of a search, and its answers.
pub struct Traversal<'a> {
    call: &'a Call<'a>,
    nodes: Nodes,
    /// The edges of each node in ascending order.
    pub graph: Graph,
    /// The nodes to start from.
    pub starts: Vec<u32>,
    /// The most answers for each start.
    pub limit: usize,
    /// The node before each node on its path.
    pub parents: Vec<u32>,
    rows: Cow<'a, Batch>,
    /// The row of each node. None if `rows` has the nodes of the graph in their order.
    row_of: Option<Vec<u32>>,
    condition: Expr,
    starts_found: Vec<u32>,
    answers: Vec<u32>,
    paths: Vec<DataValue>,
}

impl<'a> Traversal<'a> {
    /// Reads inputs and options.
    pub fn new(call: &'a Call<'a>, settings: &Settings) -> Result<Self, FixedRuleError> {
        let input = call.input(1)?;
        let bindings: Vec<_> = input.bound_columns(0).collect();
        let condition = call.options.expr("condition").ok_or_else(|| call.options.missing("condition"))?;
        let condition = bind(condition, &bindings)?;
        let mut edges = call.input(0)?.edges(None, &call.poison)?;
        let from = if call.inputs.len() > 2 { 2 } else { 1 };
        let columns = call.input(from)?.columns(&[0], &call.poison)?;
        if !edges.nodes.add_without_edges(&columns[0], &call.poison)? {
            return Err(input.too_many_nodes());
        }
        let (nodes, mut graph) = edges.into_graph(Direction::Out);
        graph.sort_neighbors();
        let starts = known_nodes(call, from, &nodes)?;
        let (rows, row_of) = if uses_more_than_the_node(&condition) {
            let rows = input.ordered(&call.poison)?;
            let row_of = row_of_each(call, rows, &nodes)?;
            (Cow::Borrowed(rows), Some(row_of))
        } else {
            (Cow::Owned(Batch::new(vec![nodes.values().clone()], nodes.len())), None)
        };
        let parents = vec![NO_NODE; nodes.len()];
        let limit = settings.count("limit");
        let (starts_found, answers, paths) = (vec![], vec![], vec![]);
        Ok(Traversal {
            call,
            nodes,
            graph,
            starts,
            limit,
            parents,
            rows,
            row_of,
            condition,
            starts_found,
            answers,
            paths,
        })
    }

    /// Runs `search` for each start, with this, a test of nodes, and the start.
    pub fn run(
        mut self,
        mut search: impl FnMut(&mut Self, &mut Test<'_>, u32) -> Result<(), FixedRuleError>,
    ) -> Result<Batch, FixedRuleError> {
        let rows = std::mem::take(&mut self.rows);
        let values = RowValues::new(self.condition.clone(), &rows, vec![]);
        let row_of = self.row_of.take();
        let mut test = Test { call: self.call, values, row_of };
        for start in std::mem::take(&mut self.starts) {
            search(&mut self, &mut test, start)?;
        }
        let count = self.answers.len();
        let take = |found: &[u32]| self.nodes.values().take(found);
        let columns = vec![take(&self.starts_found), take(&self.answers), Column::Any(self.paths)];
        Ok(Batch::new(columns, count))
    }

    /// Tests a node, and adds it to the answers if the condition holds. Returns whether it does.
    pub fn test(&mut self, test: &mut Test<'_>, start: u32, node: u32) -> Result<bool, FixedRuleError> {
        if !test.holds(node, &self.nodes)? {
            return Ok(false);
        }
        let mut pace = self.call.poison.pace();
        let mut path = vec![];
        let mut at = node;
        while at != start {
            pace.step()?;
            path.push(at);
            at = self.parents[at as usize];
        }
        path.push(start);
        path.reverse();
        self.starts_found.push(start);
        self.answers.push(node);
        self.paths.push(self.nodes.list(&path, &self.call.poison)?);
        Ok(true)
    }
}

/// Whether an expression over the columns of nodes uses any column but the first.
fn uses_more_than_the_node(condition: &Expr) -> bool {
    let mut more = false;
    condition.walk(&mut |part| more |= matches!(part, Expr::Slot(slot, _) if *slot > 0));
    more
}

/// A test of nodes.
pub struct Test<'a> {
    call: &'a Call<'a>,
    values: RowValues<'a>,
    row_of: Option<Vec<u32>>,
}

impl Test<'_> {
    fn holds(&mut self, node: u32, nodes: &Nodes) -> Result<bool, FixedRuleError> {
        let row = self.row_of.as_ref().map_or(node, |rows| rows[node as usize]);
        if row == NO_NODE {
            return Err(node_not_found(self.call, 1, &nodes.value(node)));
        }
        match self.values.get(row as usize)? {
            DataValue::Bool(holds) => Ok(holds),
            other => Err(wrong_value(self.call, "condition", "true or false", &other)),
        }
    }
}
