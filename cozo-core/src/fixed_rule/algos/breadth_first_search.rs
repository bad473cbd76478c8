//! `BreadthFirstSearch`: nodes that satisfy a condition, the closest first.

use super::traversal::{INPUTS, OPTIONS, Traversal};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::Batch;

/// Nodes that satisfy a condition, the closest first.
pub static BREADTH_FIRST_SEARCH: BuiltInRule = BuiltInRule {
    name: "BreadthFirstSearch",
    aliases: &["BFS"],
    doc: "Searches from each starting node for nodes that satisfy the condition, the nearest first, and gives each with a \
          path to it. The start itself is not tested. Starting nodes are taken in ascending order, and nodes that were \
          visited from one are not visited again from another. If the condition uses more than the first column of `nodes`, \
          this input needs a row for each node that is reached.",
    cost: "Time O(V + E) for all starting nodes together, and the length of the paths; space O(V + E).",
    source: "E. F. Moore, The shortest path through a maze, 1959",
    examples: &[(
        "e[a, b] <- [[1, 2], [1, 3], [2, 4], [3, 5]]  n[id, colour] <- [[1, 'red'], [2, 'red'], [3, 'red'], [4, 'red'], [5, 'blue']]
         s[id] <- [[1]]  ?[start, answer, path] <~ BreadthFirstSearch(e[], n[id, colour], s[], condition: colour == 'blue')",
        "[[1, 5, [1, 3, 5]]]",
    )],
    inputs: INPUTS,
    options: OPTIONS,
    output: Output::Columns(&["start", "answer", "path"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let traversal = Traversal::new(call, settings)?;
    let mut visited = vec![false; traversal.graph.node_count()];
    let mut pace = call.poison.pace();
    let mut queue: Vec<u32> = vec![];
    traversal.run(|traversal, test, start| {
        visited[start as usize] = true;
        queue.clear();
        queue.push(start);
        let (mut next, mut answers) = (0, 0);
        while let Some(node) = queue.get(next).copied() {
            next += 1;
            for edge in traversal.graph.edges_of(node) {
                pace.step()?;
                let target = traversal.graph.target(edge);
                if std::mem::replace(&mut visited[target as usize], true) {
                    continue;
                }
                traversal.parents[target as usize] = node;
                queue.push(target);
                answers += usize::from(traversal.test(test, start, target)?);
                if answers == traversal.limit {
                    return Ok(());
                }
            }
        }
        Ok(())
    })
}
