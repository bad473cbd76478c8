//! `DepthFirstSearch`: nodes that satisfy a condition, in depth-first order.

use super::traversal::{INPUTS, OPTIONS, Traversal};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::Batch;

/// Nodes that satisfy a condition, in depth-first order.
pub static DEPTH_FIRST_SEARCH: BuiltInRule = BuiltInRule {
    name: "DepthFirstSearch",
    aliases: &["DFS"],
    doc: "Searches from each starting node for nodes that satisfy the condition, continuing from each node before going \
          back, and gives each with the path that led to it. The start itself is tested, and the greatest neighbour of a \
          node comes first. Starting nodes are taken in ascending order, and nodes that were visited from one are not \
          visited again from another. If the condition uses more than the first column of `nodes`, this input needs a row \
          for each node that is reached.",
    cost: "Time O(V + E) for all starting nodes together, and the length of the paths; space O(V + E).",
    source: "R. E. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1 (1972), with a stack of its own",
    examples: &[(
        "e[a, b] <- [[1, 2], [1, 3], [3, 4], [4, 5], [2, 5]]  n[id] <- [[1], [2], [3], [4], [5]]
         s[id] <- [[1]]  ?[start, answer, path] <~ DepthFirstSearch(e[], n[id], s[], condition: id == 5)",
        "[[1, 5, [1, 3, 4, 5]]]",
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
    // The nodes of the path, each with the number of edges that are not tried yet.
    let mut path: Vec<(u32, usize)> = vec![];
    traversal.run(|traversal, test, start| {
        if std::mem::replace(&mut visited[start as usize], true) {
            return Ok(());
        }
        let mut answers = usize::from(traversal.test(test, start, start)?);
        path.clear();
        path.push((start, traversal.graph.out_degree(start)));
        while let Some((node, left)) = path.last_mut()
            && answers < traversal.limit
        {
            pace.step()?;
            if *left == 0 {
                path.pop();
                continue;
            }
            *left -= 1;
            let (node, target) = (*node, traversal.graph.out_neighbors(*node)[*left]);
            if std::mem::replace(&mut visited[target as usize], true) {
                continue;
            }
            traversal.parents[target as usize] = node;
            answers += usize::from(traversal.test(test, start, target)?);
            path.push((target, traversal.graph.out_degree(target)));
        }
        Ok(())
    })
}
