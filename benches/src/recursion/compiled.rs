//! The recursive programs compiled to Rust by `ascent`: how quick they are when a compiler knows the rules in advance, the rows
//! are in vectors already, and nothing is stored. Each function answers what the script does.
#![allow(missing_docs, clippy::unwrap_used)] // of the code that the macros write

use ascent::{Dual, ascent};

use super::points_to::Program;

ascent! {
    struct Closure;
    relation edge(u32, u32);
    relation path(u32, u32);
    path(x, y) <-- edge(x, y);
    path(x, y) <-- path(x, z), edge(z, y);
}

ascent! {
    struct SameGeneration;
    relation parent(u32, u32);
    relation same(u32, u32);
    same(x, y) <-- parent(x, p), parent(y, p);
    same(x, y) <-- parent(x, p), same(p, q), parent(y, q);
}

ascent! {
    struct Distances;
    relation edge(u32, u32, u32);
    lattice far(u32, Dual<u32>);
    far(0, Dual(0)) <-- edge(0, _, _);
    far(n, Dual(before + step)) <-- far(m, ?Dual(before)), edge(m, n, step);
}

ascent! {
    struct PointsTo;
    relation alloc(u32, u32);
    relation assign(u32, u32);
    relation load(u32, u32, u32);
    relation store(u32, u32, u32);
    relation points_to(u32, u32);
    relation field_points_to(u32, u32, u32);
    points_to(v, o) <-- alloc(v, o);
    points_to(v, o) <-- assign(v, w), points_to(w, o);
    points_to(v, o) <-- load(v, base, field), points_to(base, b), field_points_to(b, field, o);
    field_points_to(b, field, o) <-- store(base, field, w), points_to(base, b), points_to(w, o);
}

/// How many pairs the closure has.
pub fn closure(edge: Vec<(u32, u32)>) -> i64 {
    let mut program = Closure { edge, ..Closure::default() };
    program.run();
    program.path.len() as i64
}

/// How many pairs are of the same generation in a tree with so many levels below its root.
pub fn same_generation(levels: u32) -> i64 {
    let parent = (2..2u32 << levels).map(|child| (child, child / 2)).collect();
    let mut program = SameGeneration { parent, ..SameGeneration::default() };
    program.run();
    program.same.len() as i64
}

/// How many nodes are reached from node 0, and how far the farthest is.
pub fn distances(edge: Vec<(u32, u32, u32)>) -> (i64, i64) {
    let mut program = Distances { edge, ..Distances::default() };
    program.run();
    let farthest = program.far.iter().map(|(_, Dual(distance))| *distance).max();
    (program.far.len() as i64, farthest.map_or(0, i64::from))
}

/// How many pairs of variable and object there are.
pub fn points_to(facts: Program) -> i64 {
    let Program { alloc, assign, load, store } = facts;
    let mut program = PointsTo { alloc, assign, load, store, ..PointsTo::default() };
    program.run();
    program.points_to.len() as i64
}

#[cfg(test)]
mod tests {
    use super::super::{chain_edges, farthest_in_grid, grid_edges, same_generation_pairs};
    use super::*;

    #[test]
    fn the_answers_are_right() {
        assert_eq!(closure(chain_edges(2, 20)), 2 * 20 * 19 / 2);
        assert_eq!(same_generation(5), same_generation_pairs(5));
        assert_eq!(distances(grid_edges(9)), (81, farthest_in_grid(9)));
        let program = Program::generate(60);
        assert_eq!(points_to(program.clone()), program.pairs() as i64);
    }
}
