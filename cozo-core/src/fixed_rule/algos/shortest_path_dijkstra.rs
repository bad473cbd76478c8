//! `ShortestPathDijkstra`: the cheapest paths, for each pair of nodes.

use super::inputs::{STARTING, UNDIRECTED, WEIGHTED_EDGES, direction, known_nodes, weighted_edges};
use super::parallel::map_runs;
use super::search::{Found, Search, UNREACHED, Wanted, path_columns};
use crate::fixed_rule::graph::{Graph, Nodes};
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, InputSpec, OptionKind, OptionSpec, Output, Poison, Settings, Shape,
};
use crate::value::Batch;

/// The cheapest paths, for each pair of nodes.
pub static SHORTEST_PATH_DIJKSTRA: BuiltInRule = BuiltInRule {
    name: "ShortestPathDijkstra",
    aliases: &[],
    doc: "Finds a path of the least cost, the sum of its weights, from each starting node to each goal, or to all nodes if no \
          goals are given. Nodes that the graph does not have are left out. A goal that cannot be reached has an infinite cost \
          and an empty path.",
    cost: "Time O(S (V + E) log V) for S starting nodes, in parallel over them, and the length of the paths; space O(V) for each \
           thread. `SSSP` gives costs without paths.",
    source: "E. W. Dijkstra, A note on two problems in connexion with graphs, Numerische Mathematik 1 (1959)",
    examples: &[
        (
            "e[a, b, w] <- [['a', 'b', 4], ['a', 'c', 1], ['c', 'b', 2]]  s[n] <- [['a']]  g[n] <- [['b']]
             ?[start, goal, cost, path] <~ ShortestPathDijkstra(e[], s[], g[])",
            "[['a', 'b', 3.0, ['a', 'c', 'b']]]",
        ),
        (
            "e[a, b] <- [[1, 2], [1, 3], [2, 4], [3, 4]]  s[n] <- [[1]]  g[n] <- [[4]]
             ?[start, goal, cost, path] <~ ShortestPathDijkstra(e[], s[], g[], keep_ties: true)",
            "[[1, 4, 2.0, [1, 2, 4]], [1, 4, 2.0, [1, 3, 4]]]",
        ),
    ],
    inputs: &[
        WEIGHTED_EDGES,
        STARTING,
        InputSpec::optional("goals", Shape::Columns(1), "the nodes to reach; if left out all nodes"),
    ],
    options: &[
        UNDIRECTED,
        OptionSpec::new(
            "keep_ties",
            OptionKind::Bool,
            DefaultValue::Bool(false),
            "whether all paths of the least cost are given, of which there may be very many, instead of one",
        ),
    ],
    output: Output::Columns(&["start", "goal", "cost", "path"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let (nodes, graph) = weighted_edges(call)?.into_graph(direction(settings));
    let starts = known_nodes(call, 1, &nodes)?;
    let goals = match call.inputs.len() {
        2 => (0..nodes.len() as u32).collect(),
        _ => known_nodes(call, 2, &nodes)?,
    };
    if goals.is_empty() {
        return Ok(Batch::empty(4));
    }
    let keep_ties = settings.bool("keep_ties");
    // All paths of least cost are found backwards from the goal.
    let back = keep_ties.then(|| graph.reversed().simple());
    let begin = || (Search::new(&graph, &call.poison), Wanted::new(nodes.len(), &goals));
    let found = map_runs(&starts, begin, |(search, wanted), start| -> miette::Result<Vec<Found>> {
        wanted.restart();
        search.run(*start, |node| wanted.settle(node))?;
        let mut found = vec![];
        for goal in &goals {
            match &back {
                Some(back) if search.cost(*goal) != UNREACHED => {
                    found.extend(ties(back, search, *start, *goal, &nodes, &call.poison)?);
                }
                _ => {
                    let path = nodes.list(&search.path(*goal)?, &call.poison)?;
                    call.poison.make_room(size_of::<Found>())?;
                    found.push(Found { start: *start, goal: *goal, cost: search.cost(*goal), path });
                }
            }
        }
        Ok(found)
    })?;
    let found: Vec<Found> = found.into_iter().flatten().collect();
    let count = found.len();
    Ok(Batch::new(path_columns(nodes.values(), found), count))
}

/// All paths of least cost without loops. `search` has the costs from the start.
fn ties(
    back: &Graph,
    search: &Search<'_>,
    start: u32,
    goal: u32,
    nodes: &Nodes,
    poison: &Poison,
) -> miette::Result<Vec<Found>> {
    let mut pace = poison.pace();
    let cost = search.cost(goal);
    let mut found = vec![];
    // The path from the goal backwards, each node with its next edge. Only edges of weight 0 can form a loop.
    let mut path = vec![(goal, back.edges_of(goal).start)];
    let mut on_path = rustc_hash::FxHashSet::from_iter([goal]);
    while let Some((node, next)) = path.last_mut() {
        pace.step()?;
        let (end, edge) = (back.edges_of(*node).end, *next);
        if *node == start || edge == end {
            if *node == start {
                let path: Vec<u32> = path.iter().rev().map(|(node, _)| *node).collect();
                poison.make_room(size_of::<Found>())?;
                found.push(Found { start, goal, cost, path: nodes.list(&path, poison)? });
            }
            if let Some((node, _)) = path.pop() {
                on_path.remove(&node);
            }
            continue;
        }
        *next += 1;
        let before = back.target(edge);
        // Costs were computed by the same addition, so the comparison is exact.
        if search.cost(before) + back.weight(edge) == search.cost(*node) && on_path.insert(before) {
            path.push((before, back.edges_of(before).start));
        }
    }
    Ok(found)
}
