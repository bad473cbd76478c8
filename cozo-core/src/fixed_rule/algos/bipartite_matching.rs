//! `BipartiteMatching`: the largest set of edges without common nodes (Hopcroft and Karp 1973).

use std::collections::VecDeque;

use super::inputs::EDGES;
use crate::fixed_rule::graph::{Direction, Graph, NO_NODE};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, InputSpec, Output, Pace, Poison, Settings};
use crate::value::Batch;

/// The largest set of edges without common nodes.
pub static BIPARTITE_MATCHING: BuiltInRule = BuiltInRule {
    name: "BipartiteMatching",
    aliases: &[],
    doc: "Chooses as many edges as possible such that no two share their first node, and no two share their second node. \
          The two columns are two sides: a value in both columns is a node on each side. Weights do not matter.",
    cost: "Time O(E sqrt(V)), space O(V + E).",
    source: "J. E. Hopcroft and R. M. Karp, An n^(5/2) algorithm for maximum matchings in bipartite graphs, SIAM J. Comput. 2 (1973)",
    examples: &[(
        "e[who, task] <- [['ann', 'cook'], ['ann', 'wash'], ['bob', 'cook']]  ?[left, right] <~ BipartiteMatching(e[])",
        "[['ann', 'wash'], ['bob', 'cook']]",
    )],
    inputs: &[InputSpec { doc: "left, right", ..EDGES }],
    options: &[],
    output: Output::Columns(&["left", "right"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, graph) = call.input(0)?.edges(None, &call.poison)?.into_graph(Direction::Out);
    let right_of = matching(&graph, &call.poison)?;
    let left: Vec<u32> = (0..nodes.len() as u32).filter(|node| right_of[*node as usize] != NO_NODE).collect();
    let right: Vec<u32> = left.iter().map(|node| right_of[*node as usize]).collect();
    Ok(Batch::new(vec![nodes.values().take(&left), nodes.values().take(&right)], left.len()))
}

/// The partner of each node on the left.
fn matching(graph: &Graph, poison: &Poison) -> miette::Result<Vec<u32>> {
    let nodes = graph.node_count();
    let mut matching = Matching {
        graph,
        pace: poison.pace(),
        right_of: vec![NO_NODE; nodes],
        left_of: vec![NO_NODE; nodes],
        levels: vec![NO_NODE; nodes],
        next: vec![0; nodes],
    };
    while matching.find_levels()? {
        for node in 0..nodes as u32 {
            matching.next[node as usize] = graph.edges_of(node).start;
        }
        for left in 0..nodes as u32 {
            if matching.right_of[left as usize] == NO_NODE {
                matching.augment(left)?;
            }
        }
    }
    Ok(matching.right_of)
}

struct Matching<'a> {
    graph: &'a Graph,
    pace: Pace<'a>,
    right_of: Vec<u32>,
    left_of: Vec<u32>,
    /// For each node on the left, the number of pairs on the shortest alternating path to it from a node without a partner.
    levels: Vec<u32>,
    /// The next edge to try of each node on the left.
    next: Vec<usize>,
}

impl Matching<'_> {
    /// Computes levels from all nodes without a partner. Returns whether a free node on the right can be reached.
    fn find_levels(&mut self) -> miette::Result<bool> {
        self.levels.fill(NO_NODE);
        let mut queue: VecDeque<u32> = VecDeque::new();
        for left in 0..self.right_of.len() {
            if self.right_of[left] == NO_NODE && self.graph.out_degree(left as u32) > 0 {
                self.levels[left] = 0;
                queue.push_back(left as u32);
            }
        }
        let mut free = false;
        while let Some(left) = queue.pop_front() {
            self.pace.step()?;
            for right in self.graph.out_neighbors(left) {
                let partner = self.left_of[*right as usize];
                if partner == NO_NODE {
                    free = true;
                } else if self.levels[partner as usize] == NO_NODE {
                    self.levels[partner as usize] = self.levels[left as usize] + 1;
                    queue.push_back(partner);
                }
            }
        }
        Ok(free)
    }

    /// Searches an augmenting path from a node without a partner, and changes partners along it.
    fn augment(&mut self, start: u32) -> miette::Result<()> {
        // The nodes on the left along the path. The path leaves each by the edge before its next one.
        let mut way = vec![start];
        while let Some(left) = way.last().copied() {
            self.pace.step()?;
            let next = &mut self.next[left as usize];
            if *next == self.graph.edges_of(left).end {
                way.pop();
                continue;
            }
            let right = self.graph.target(*next);
            *next += 1;
            let partner = self.left_of[right as usize];
            if partner == NO_NODE {
                for left in &way {
                    let right = self.graph.target(self.next[*left as usize] - 1);
                    self.right_of[*left as usize] = right;
                    self.left_of[right as usize] = *left;
                }
                return Ok(());
            }
            if self.levels[partner as usize] == self.levels[left as usize].wrapping_add(1) {
                way.push(partner);
            }
        }
        Ok(())
    }
}
