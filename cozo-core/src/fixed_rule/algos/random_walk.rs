//! `RandomWalk`: paths that take a random edge at each node.

use std::borrow::Cow;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rustc_hash::FxHashMap;

use super::expressions::{node_not_found, wrong_value};
use super::inputs::{EDGES, STARTING, row_of_each};
use crate::expr::Expr;
use crate::fixed_rule::expression::{bind, evaluate};
use crate::fixed_rule::graph::{Direction, Graph, NO_NODE, Nodes};
use crate::fixed_rule::input::InputSource;
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, Input, InputSpec, OptionKind, OptionSpec, Output, Pace, Settings,
    Shape,
};
use crate::value::{Batch, Column, DataValue};

/// Paths that take a random edge at each node.
pub static RANDOM_WALK: BuiltInRule = BuiltInRule {
    name: "RandomWalk",
    aliases: &[],
    doc: "Walks `iterations` times from each starting node. Each step takes a random edge of the node, with a probability \
          in proportion to its weight. A walk ends after `steps` steps, or at a node that has no edges, or only edges of \
          weight 0. Walks are numbered from 1; a path begins with the start. Every starting node and every node that is \
          reached needs a row in `nodes`.",
    cost: "Time O(V + E), O(log D) for each step from a node of D edges, and the evaluation of the weights of the edges of each visited \
           node, once; space O(V + E).",
    source: "K. Pearson, The problem of the random walk, Nature 72 (1905)",
    examples: &[(
        "e[a, b, w] <- [[1, 2, 1], [1, 3, 0], [2, 4, 1]]  n[id] <- [[1], [2], [3], [4]]  s[id] <- [[1]]
         ?[walk, start, path] <~ RandomWalk(e[a, b, w], n[id], s[], steps: 5, weight: w)",
        "[[1, 1, [1, 2, 4]]]",
    )],
    inputs: &[EDGES, InputSpec::required("nodes", Shape::Columns(1), "nodes in the first column"), STARTING],
    options: &[
        OptionSpec::required("steps", OptionKind::PositiveInt, "the maximum number of steps of a walk"),
        OptionSpec::new(
            "iterations",
            OptionKind::PositiveInt,
            DefaultValue::Int(1),
            "how many walks begin at each start",
        ),
        OptionSpec::new(
            "weight",
            OptionKind::Expression,
            DefaultValue::Null,
            "the weight of an edge, a number of at least 0: over the columns of `nodes`, for the node that the edge leads \
             to, and those of `edges`; without it all edges are equally likely",
        ),
        OptionSpec::new(
            "seed",
            OptionKind::Int,
            DefaultValue::Null,
            "the seed of random choices: the same seed gives the same walks; without it they differ each time",
        ),
    ],
    output: Output::Columns(&["walk", "start", "path"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let (mut walker, starts) = Walker::new(call, settings)?;
    let (mut walks, mut paths) = (vec![], vec![]);
    for start in &starts {
        for _ in 0..settings.count("iterations") {
            let path = walker.walk(*start, settings.count("steps"))?;
            walks.push(*start);
            paths.push(walker.nodes.list(&path, &call.poison)?);
        }
    }
    let numbers = Column::ints((1..=walks.len() as i64).collect());
    Ok(Batch::new(vec![numbers, walker.nodes.values().take(&walks), Column::Any(paths)], walks.len()))
}

struct Walker<'a> {
    call: &'a Call<'a>,
    nodes: Nodes,
    graph: Graph,
    /// The relation of edges. Row `i` is edge `i`.
    edge_rows: &'a Batch,
    node_rows: &'a Batch,
    /// The row of each node.
    row_of: Vec<u32>,
    weight: Option<Expr>,
    /// For each visited node the prefix sums of its edge weights.
    sums: FxHashMap<u32, Vec<f64>>,
    random: StdRng,
    pace: Pace<'a>,
}

impl<'a> Walker<'a> {
    /// Reads inputs and options. Returns also the nodes to start from.
    fn new(call: &'a Call<'a>, settings: &Settings) -> Result<(Self, Vec<u32>), FixedRuleError> {
        let (edge_input, node_input) = (call.input(0)?, call.input(1)?);
        // With rows in ascending order, the number of a row is the number of its edge.
        let (edge_rows, node_rows) = (edge_input.ordered(&call.poison)?, node_input.ordered(&call.poison)?);
        let source = InputSource::Rows(Cow::Borrowed(edge_rows));
        let ordered = Input::new(source, edge_input.arity, edge_input.bindings, edge_input.span);
        let mut edges = ordered.edges(None, &call.poison)?;
        let starts = call.input(2)?.columns(&[0], &call.poison)?;
        if !edges.nodes.add_without_edges(&starts[0], &call.poison)? {
            return Err(edge_input.too_many_nodes());
        }
        let starts = edges.nodes.find_all(&starts[0], &call.poison)?;
        let (nodes, graph) = edges.into_graph(Direction::Out);
        let bindings: Vec<_> = node_input.bound_columns(0).chain(edge_input.bound_columns(node_input.arity)).collect();
        let weight = call.options.expr("weight").map(|weight| bind(weight, &bindings)).transpose()?;
        let seed = settings.value("seed").get_int();
        let random = seed.map_or_else(|| StdRng::from_rng(&mut rand::rng()), |seed| StdRng::seed_from_u64(seed as u64));
        let row_of = row_of_each(call, node_rows, &nodes)?;
        let (sums, pace) = (FxHashMap::default(), call.poison.pace());
        let walker = Walker { call, nodes, graph, edge_rows, node_rows, row_of, weight, sums, random, pace };
        Ok((walker, starts))
    }

    fn walk(&mut self, start: u32, steps: usize) -> Result<Vec<u32>, FixedRuleError> {
        self.node_row(start)?;
        let mut path = vec![start];
        let mut at = start;
        for _ in 0..steps {
            self.pace.step()?;
            let Some(next) = self.step(at)? else { break };
            self.node_row(next)?;
            self.pace.make_room(size_of::<u32>())?;
            path.push(next);
            at = next;
        }
        Ok(path)
    }

    /// The row of a node.
    fn node_row(&self, node: u32) -> Result<u32, FixedRuleError> {
        match self.row_of[node as usize] {
            NO_NODE => Err(node_not_found(self.call, 1, &self.nodes.value(node))),
            row => Ok(row),
        }
    }

    /// A random neighbour.
    fn step(&mut self, node: u32) -> Result<Option<u32>, FixedRuleError> {
        let neighbors = self.graph.out_neighbors(node);
        if neighbors.is_empty() {
            return Ok(None);
        }
        if self.weight.is_none() {
            return Ok(Some(neighbors[self.random.random_range(0..neighbors.len())]));
        }
        if !self.sums.contains_key(&node) {
            let sums = self.sums(node)?;
            self.pace.make_room(sums.len() * size_of::<f64>())?;
            self.sums.insert(node, sums);
        }
        let sums = &self.sums[&node];
        let total = sums[sums.len() - 1];
        if total <= 0.0 {
            return Ok(None);
        }
        let point = self.random.random::<f64>() * total;
        // The first edge whose sum exceeds the point. It never has weight 0.
        let chosen = sums.partition_point(|sum| *sum <= point).min(sums.partition_point(|sum| *sum < total));
        Ok(Some(neighbors[chosen]))
    }

    fn sums(&self, node: u32) -> Result<Vec<f64>, FixedRuleError> {
        let Some(weight) = &self.weight else { return Ok(vec![]) };
        let edges: Vec<u32> = self.graph.edges_of(node).map(|edge| edge as u32).collect();
        let rows = self
            .graph
            .out_neighbors(node)
            .iter()
            .map(|target| self.node_row(*target))
            .collect::<Result<Vec<_>, _>>()?;
        let columns = [self.node_rows.take(&rows).columns, self.edge_rows.take(&edges).columns].concat();
        let weights = evaluate(weight, &Batch::new(columns, edges.len()), &self.call.poison)?;
        let mut sum = 0.0;
        let add = |weight: DataValue| match weight.get_float() {
            Some(number) if number >= 0.0 && number.is_finite() => {
                sum += number;
                Ok(sum)
            }
            _ => Err(wrong_value(self.call, "weight", "a finite number of at least 0", &weight)),
        };
        weights.iter().map(add).collect()
    }
}
