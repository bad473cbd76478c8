//! `ShortestPathBFS`: a path with the fewest edges, for each pair of nodes.

use super::inputs::{EDGES, GOALS, STARTING};
use super::parallel::map_runs;
use super::search::{Search, UNREACHED, Wanted};
use crate::fixed_rule::graph::{Direction, NO_NODE};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::{Batch, Column, DataValue};

/// A path with the fewest edges, for each pair of nodes.
pub static SHORTEST_PATH_BFS: BuiltInRule = BuiltInRule {
    name: "ShortestPathBFS",
    aliases: &[],
    doc: "Finds a path with the fewest edges from each starting node to each goal: the list of its nodes, with both ends. \
          There is a row for every pair; its path is null if no path leads to the goal.",
    cost: "Time O(S (V + E)) for S starting nodes, in parallel over them; space O(V) for each thread.",
    source: "E. F. Moore, The shortest path through a maze, 1959",
    examples: &[(
        "e[a, b] <- [[1, 2], [2, 3], [3, 4], [1, 3]]  s[n] <- [[1]]  g[n] <- [[4], [9]]
         ?[start, goal, path] <~ ShortestPathBFS(e[], s[], g[])",
        "[[1, 4, [1, 3, 4]], [1, 9, null]]",
    )],
    inputs: &[EDGES, STARTING, GOALS],
    options: &[],
    output: Output::Columns(&["start", "goal", "path"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, graph) = call.input(0)?.edges(None, &call.poison)?.into_graph(Direction::Out);
    let (starts, goals) = (call.input(1)?.columns(&[0], &call.poison)?, call.input(2)?.columns(&[0], &call.poison)?);
    let start_nodes = nodes.find_all(&starts[0], &call.poison)?;
    let goal_nodes = nodes.find_all(&goals[0], &call.poison)?;
    let mut known: Vec<u32> = goal_nodes.iter().copied().filter(|goal| *goal != NO_NODE).collect();
    known.sort_unstable();
    known.dedup();

    let begin = || (Search::new(&graph, &call.poison), Wanted::new(nodes.len(), &known));
    let pairs = start_nodes.len().saturating_mul(goal_nodes.len());
    call.poison.make_room(pairs.saturating_mul(size_of::<(DataValue, u32, u32)>()))?;
    let paths = map_runs(&start_nodes, begin, |(search, wanted), start| -> miette::Result<Vec<DataValue>> {
        if *start == NO_NODE || known.is_empty() {
            return Ok(vec![DataValue::Null; goal_nodes.len()]);
        }
        wanted.restart();
        search.run(*start, |node| wanted.settle(node))?;
        let path = |goal: &u32| match *goal {
            NO_NODE => Ok(DataValue::Null),
            goal if search.cost(goal) == UNREACHED => Ok(DataValue::Null),
            goal => nodes.list(&search.path(goal)?, &call.poison),
        };
        goal_nodes.iter().map(path).collect()
    })?;

    // A row for each pair of start and goal, ordered by start.
    let (start_count, goal_count) = (start_nodes.len() as u32, goal_nodes.len() as u32);
    let each_start: Vec<u32> =
        (0..start_count).flat_map(|start| std::iter::repeat_n(start, goal_count as usize)).collect();
    let each_goal: Vec<u32> = (0..start_count).flat_map(|_| 0..goal_count).collect();
    let paths = Column::Any(paths.into_iter().flatten().collect());
    Ok(Batch::new(vec![starts[0].take(&each_start), goals[0].take(&each_goal), paths], each_start.len()))
}
