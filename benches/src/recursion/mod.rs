//! Recursive programs, and what they must answer: pairs of the same generation, and which objects a variable may point to.

#[cfg(feature = "peers")]
pub mod compiled;
pub mod points_to;

use cozo::DbInstance;

use crate::run;

/// The script for [`tree`]; it answers how many pairs there are.
pub const SAME_GENERATION: &str = "same[x, y] := *parent[x, p], *parent[y, p]
    same[x, y] := *parent[x, p], same[p, q], *parent[y, q]
    ?[count(x)] := same[x, y]";

/// A relation `parent {child, parent}` of a binary tree: node n has the children 2n and 2n + 1, the root is 1.
pub fn tree(db: &DbInstance, levels: u32) {
    let script = "?[child, parent] := parent in int_range(1, $end), child in [2 * parent, 2 * parent + 1]
                  :create parent {child: Int, parent: Int}";
    run(db, script, &[("end", 1i64 << levels)]);
}

/// How many pairs are of the same generation: on each level below the root, all with all.
pub fn same_generation_pairs(levels: u32) -> i64 {
    (1..=levels).map(|level| 1i64 << (2 * level)).sum()
}

/// The edges of [`crate::chains`].
pub fn chain_edges(chains: u32, nodes: u32) -> Vec<(u32, u32)> {
    let chain = |chain| (0..nodes - 1).map(move |step| (chain * nodes + step, chain * nodes + step + 1));
    (0..chains).flat_map(chain).collect()
}

/// The edges of [`crate::grid`] with their distances. In CozoScript `%` binds less than `+`: `% 10 + 1` is `% 11`.
pub fn grid_edges(side: u32) -> Vec<(u32, u32, u32)> {
    let places = (0..side).flat_map(|y| (0..side).map(move |x| (x, y)));
    let from = |(x, y): (u32, u32)| {
        let node = y * side + x;
        let right = (x + 1 < side).then(|| (node, node + 1, (x * 7 + y * 3) % 11));
        let below = (y + 1 < side).then(|| (node, node + side, (x * 5 + y * 11) % 11));
        right.into_iter().chain(below)
    };
    places.flat_map(from).collect()
}

/// The distance from the first node of a grid to the one that is farthest. All edges lead to higher numbers.
pub fn farthest_in_grid(side: u32) -> i64 {
    let mut distances = vec![u32::MAX; (side * side) as usize];
    distances[0] = 0;
    let mut edges = grid_edges(side);
    edges.sort_unstable();
    for (from, to, distance) in edges {
        let way = distances[from as usize] + distance;
        distances[to as usize] = distances[to as usize].min(way);
    }
    distances.into_iter().max().map_or(0, i64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{chains, count, grid};

    #[test]
    fn pairs_of_a_generation_are_all_found() {
        let db = DbInstance::default();
        tree(&db, 5);
        assert_eq!(count(&db, "?[count(child)] := *parent{child}"), 62);
        assert_eq!(count(&db, SAME_GENERATION), same_generation_pairs(5));
    }

    #[test]
    fn edges_are_those_of_the_database() {
        let db = DbInstance::default();
        grid(&db, 7);
        let in_database: Vec<_> = run(&db, "?[a, b, d] := *edge[a, b, d]", &[]).rows.into_iter().map(ints).collect();
        let mut here: Vec<_> = grid_edges(7).into_iter().map(|(a, b, d)| vec![a, b, d]).collect();
        here.sort_unstable();
        assert_eq!(in_database, here);
        let db = DbInstance::default();
        chains(&db, 3, 4);
        let in_database: Vec<_> = run(&db, "?[a, b] := *edge[a, b]", &[]).rows.into_iter().map(ints).collect();
        assert_eq!(in_database, chain_edges(3, 4).into_iter().map(|(a, b)| vec![a, b]).collect::<Vec<_>>());
    }

    fn ints(row: Vec<cozo::DataValue>) -> Vec<u32> {
        row.iter().map(|value| value.get_int().expect("an integer") as u32).collect()
    }
}
