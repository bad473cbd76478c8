//! `ClosenessCentrality`: how close each node is to the nodes that it reaches.

use super::inputs::{UNDIRECTED, WEIGHTED_EDGES, direction, weighted_edges};
use super::parallel::map_runs;
use super::search::Search;
use crate::fixed_rule::graph::Graph;
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Pace, Poison, Settings};
use crate::value::{Batch, Column};

/// How close each node is to the nodes that it reaches.
pub static CLOSENESS_CENTRALITY: BuiltInRule = BuiltInRule {
    name: "ClosenessCentrality",
    aliases: &[],
    doc: "Gives each node r² / (s (V - 1)), where r is the number of nodes that it reaches, itself included, and s is the \
          sum of its distances to them; 0.0 for a node that reaches no other. This is the closeness of Wasserman and Faust \
          with r² in place of (r - 1)²: the closeness of networkx for the reversed graph, times r² / (r - 1)².",
    cost: "Time O(V (V + E) log V); without weights O(V (V + E)), 64 nodes at a time; in parallel over nodes. Space O(V) for each \
           thread.",
    source: "S. Wasserman and K. Faust, Social Network Analysis, 1994; M. Then et al., The more the merrier: efficient \
             multi-source graph traversal, PVLDB 8 (2014)",
    examples: &[(
        "e[a, b] <- [['l', 'm'], ['m', 'r']]  ?[node, closeness] <~ ClosenessCentrality(e[], undirected: true)",
        "[['l', 1.5], ['m', 2.25], ['r', 1.5]]",
    )],
    inputs: &[WEIGHTED_EDGES],
    options: &[UNDIRECTED],
    output: Output::Columns(&["node", "closeness"]),
    external_access: false,
    run,
};

/// The number of simultaneous searches: each has a bit.
const AT_ONCE: usize = u64::BITS as usize;

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, graph) = weighted_edges(call)?.into_graph(direction(settings));
    let all: Vec<u32> = (0..nodes.len() as u32).collect();
    let others = nodes.len().saturating_sub(1) as f64;
    let closeness = |(reached, sum): (usize, f64)| match sum {
        0.0 => 0.0,
        _ => (reached * reached) as f64 / (sum * others),
    };
    let distances = if graph.is_weighted() {
        map_runs(
            &all,
            || Search::new(&graph, &call.poison),
            |search, start| -> miette::Result<(usize, f64)> {
                search.run(*start, |_| false)?;
                Ok((search.met().len(), search.met().iter().map(|node| search.cost(*node)).sum()))
            },
        )?
    } else {
        let batches: Vec<&[u32]> = all.chunks(AT_ONCE).collect();
        let begin = || Breadth::new(&graph, &call.poison);
        map_runs(&batches, begin, |breadth, starts| breadth.run(starts))?.into_iter().flatten().collect()
    };
    let closeness = distances.into_iter().map(closeness).collect();
    Ok(Batch::new(vec![nodes.into_values(), Column::floats(closeness)], all.len()))
}

/// Breadth-first searches from many nodes at the same time. Each search has a bit.
struct Breadth<'a> {
    graph: &'a Graph,
    pace: Pace<'a>,
    /// The searches that have reached each node: at any time, in the last round, and in this round.
    seen: Vec<u64>,
    current: Vec<u64>,
    next: Vec<u64>,
    /// The nodes that any search reached in the last round.
    frontier: Vec<u32>,
}

impl<'a> Breadth<'a> {
    fn new(graph: &'a Graph, poison: &'a Poison) -> Self {
        let none = vec![0; graph.node_count()];
        let (seen, current, next) = (none.clone(), none.clone(), none);
        Breadth { graph, pace: poison.pace(), seen, current, next, frontier: vec![] }
    }

    /// The number of nodes that each start reaches, and the sum of their distances.
    fn run(&mut self, starts: &[u32]) -> miette::Result<Vec<(usize, f64)>> {
        self.seen.fill(0);
        for (bit, start) in starts.iter().enumerate() {
            self.seen[*start as usize] = 1 << bit;
            self.current[*start as usize] = 1 << bit;
            self.frontier.push(*start);
        }
        let mut reached = [1_usize; AT_ONCE];
        let mut sums = [0_usize; AT_ONCE];
        for distance in 1.. {
            self.step(|bit| {
                reached[bit] += 1;
                sums[bit] += distance;
            })?;
            if self.frontier.is_empty() {
                break;
            }
        }
        Ok((0..starts.len()).map(|bit| (reached[bit], sums[bit] as f64)).collect())
    }

    /// Advances all searches by one step. `reach` is called with the number of a search for each node that it reaches.
    fn step(&mut self, mut reach: impl FnMut(usize)) -> miette::Result<()> {
        let mut met = vec![];
        for node in self.frontier.drain(..) {
            self.pace.step()?;
            let bits = std::mem::take(&mut self.current[node as usize]);
            for target in self.graph.out_neighbors(node) {
                let next = &mut self.next[*target as usize];
                if *next == 0 {
                    met.push(*target);
                }
                *next |= bits;
            }
        }
        for node in met {
            let seen = &mut self.seen[node as usize];
            let mut bits = std::mem::take(&mut self.next[node as usize]) & !*seen;
            if bits == 0 {
                continue;
            }
            *seen |= bits;
            self.current[node as usize] = bits;
            self.frontier.push(node);
            while bits != 0 {
                reach(bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
        Ok(())
    }
}
