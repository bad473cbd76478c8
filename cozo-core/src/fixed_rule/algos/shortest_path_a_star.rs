//! `ShortestPathAStar`: the cheapest path for each pair of nodes, guided by a heuristic.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::expressions::{RowValues, node_not_found, wrong_value};
use super::inputs::{STARTING, WEIGHTED_EDGES, row_of_each, weighted_edges};
use super::search::UNREACHED;
use crate::fixed_rule::expression::bind;
use crate::fixed_rule::graph::{Direction, Graph, NO_NODE, Nodes};
use crate::fixed_rule::{
    BuiltInRule, Call, FixedRuleError, InputSpec, OptionKind, OptionSpec, Output, Pace, Settings, Shape,
};
use crate::value::{Batch, DataValue};

/// The cheapest path for each pair of nodes, guided by a heuristic.
pub static SHORTEST_PATH_A_STAR: BuiltInRule = BuiltInRule {
    name: "ShortestPathAStar",
    aliases: &[],
    doc: "Finds a path of the least cost from each starting node to each goal, searching first where the cost so far plus \
          the estimate of the rest is least. The path is the cheapest if the estimate is never too high. A goal that cannot \
          be reached has an infinite cost and an empty path. Each node that is reached needs a row in `nodes`.",
    cost: "Time O(P (V + E) log V) for P pairs, far less with a good estimate that never falls by more than the weight of an edge; \
           space O(V + E).",
    source: "P. E. Hart, N. J. Nilsson and B. Raphael, A formal basis for the heuristic determination of minimum cost paths, IEEE \
             Trans. SSC 4 (1968)",
    examples: &[(
        "e[a, b, w] <- [['a', 'b', 1], ['b', 'd', 3], ['a', 'c', 2], ['c', 'd', 1]]  n[id, x] <- [['a', 0], ['b', 1], ['c', 2], ['d', 3]]
         s[id] <- [['a']]  g[id] <- [['d']]  ?[start, goal, cost, path] <~ ShortestPathAStar(e[], n[id, x], s[], g[], heuristic: 3 - x)",
        "[['a', 'd', 3.0, ['a', 'c', 'd']]]",
    )],
    inputs: &[
        WEIGHTED_EDGES,
        InputSpec::required("nodes", Shape::Columns(1), "nodes in the first column; the estimate uses the names of all columns"),
        STARTING,
        InputSpec::required("goals", Shape::Columns(1), "the nodes to reach, first column; the estimate uses the names of all columns"),
    ],
    options: &[OptionSpec::required(
        "heuristic",
        OptionKind::Expression,
        "an estimate of the cost from a node to a goal, a number: over the columns of `nodes` and `goals`",
    )],
    output: Output::Columns(&["start", "goal", "cost", "path"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let (mut edges, node_input, goal_input) = (weighted_edges(call)?, call.input(1)?, call.input(3)?);
    let bindings: Vec<_> = node_input.bound_columns(0).chain(goal_input.bound_columns(node_input.arity)).collect();
    let heuristic = call.options.expr("heuristic").ok_or_else(|| call.options.missing("heuristic"))?;
    let heuristic = bind(heuristic, &bindings)?;
    let (rows, goals) = (node_input.ordered(&call.poison)?, goal_input.ordered(&call.poison)?);
    if !edges.nodes.add_without_edges(&rows.columns[0], &call.poison)? {
        return Err(node_input.too_many_nodes());
    }
    let (nodes, graph) = edges.into_graph(Direction::Out);
    let row_of = row_of_each(call, rows, &nodes)?;
    let starts = call.input(2)?.columns(&[0], &call.poison)?;
    let mut batch = Batch::empty(4);
    for row in 0..goals.len {
        let goal = goals.row(row);
        let mut search = AStar {
            call,
            nodes: &nodes,
            graph: &graph,
            row_of: &row_of,
            estimates: RowValues::new(heuristic.clone(), rows, goal.clone()),
            pace: call.poison.pace(),
            states: vec![Visited::default(); graph.node_count()],
            met: vec![],
        };
        let goal_node = nodes.find_value(&goal[0]);
        for start in starts[0].iter() {
            let found = match (nodes.find_value(&start), goal_node) {
                (Some(start), Some(goal)) => search.run(start, goal)?,
                _ => UNREACHED,
            };
            let path = match goal_node {
                Some(goal) if found < UNREACHED => nodes.list(&search.path(goal)?, &call.poison)?,
                _ => DataValue::List(vec![]),
            };
            batch.push_row(&[start, goal[0].clone(), found.into(), path]);
        }
    }
    Ok(batch)
}

#[derive(Clone, Copy)]
struct Visited {
    cost: f64,
    estimate: f64,
    parent: u32,
}

impl Default for Visited {
    fn default() -> Self {
        Visited { cost: UNREACHED, estimate: 0.0, parent: NO_NODE }
    }
}

/// A search for one goal.
struct AStar<'a> {
    call: &'a Call<'a>,
    nodes: &'a Nodes,
    graph: &'a Graph,
    row_of: &'a [u32],
    estimates: RowValues<'a>,
    pace: Pace<'a>,
    states: Vec<Visited>,
    /// The nodes with a cost.
    met: Vec<u32>,
}

/// The bits of a number, changed to sort as the numbers do.
fn sortable(number: f64) -> u64 {
    let bits = number.to_bits();
    if number.is_sign_negative() { !bits } else { bits | 1 << 63 }
}

impl AStar<'_> {
    /// The cost from a start to the goal.
    fn run(&mut self, start: u32, goal: u32) -> Result<f64, FixedRuleError> {
        for node in self.met.drain(..) {
            self.states[node as usize] = Visited::default();
        }
        // The estimated total, the cost of the path to the node when it was added, and the node.
        let mut heap: BinaryHeap<Reverse<(u64, u64, u32)>> = BinaryHeap::new();
        let estimate = self.meet(start, 0.0, NO_NODE)?;
        heap.push(Reverse((sortable(estimate), 0, start)));
        while let Some(Reverse((_, cost, node))) = heap.pop() {
            self.pace.step()?;
            let cost = f64::from_bits(cost);
            if node == goal {
                return Ok(cost);
            }
            if cost > self.states[node as usize].cost {
                continue;
            }
            for edge in self.graph.edges_of(node) {
                let (target, cost) = (self.graph.target(edge), cost + self.graph.weight(edge));
                if cost < self.states[target as usize].cost {
                    let estimate = self.meet(target, cost, node)?;
                    heap.push(Reverse((sortable(cost + estimate), cost.to_bits(), target)));
                }
            }
        }
        Ok(UNREACHED)
    }

    /// Sets the cost of a node. Returns its estimate.
    fn meet(&mut self, node: u32, cost: f64, parent: u32) -> Result<f64, FixedRuleError> {
        let known = self.states[node as usize];
        let estimate = if known.cost == UNREACHED {
            self.met.push(node);
            self.estimate(node)?
        } else {
            known.estimate
        };
        self.states[node as usize] = Visited { cost, estimate, parent };
        Ok(estimate)
    }

    fn estimate(&mut self, node: u32) -> Result<f64, FixedRuleError> {
        let row = self.row_of[node as usize];
        if row == NO_NODE {
            return Err(node_not_found(self.call, 1, &self.nodes.value(node)));
        }
        let value = self.estimates.get(row as usize)?;
        let number = value.get_float().filter(|number| !number.is_nan());
        number.ok_or_else(|| wrong_value(self.call, "heuristic", "a number", &value))
    }

    fn path(&mut self, goal: u32) -> Result<Vec<u32>, FixedRuleError> {
        let (mut path, mut at) = (vec![], goal);
        while at != NO_NODE {
            self.pace.step()?;
            path.push(at);
            at = self.states[at as usize].parent;
        }
        path.reverse();
        Ok(path)
    }
}
