//! Recursion: many rounds of one row, a few rounds of many rows, improving values, and rules that need each other.
//!
//! Each group runs at growing sizes and reports rows a second: linear growth shows as the same rate at every size. With the
//! cargo feature `peers` the same rules, compiled to Rust by `ascent`, run beside the scripts: they are the limit.

use std::time::Duration;

use cozo::DbInstance;
#[cfg(feature = "peers")]
use cozo_benches::recursion::compiled;
use cozo_benches::recursion::points_to::{POINTS_TO, Program};
use cozo_benches::recursion::{SAME_GENERATION, farthest_in_grid, same_generation_pairs, tree};
use cozo_benches::{chains, count, grid, run};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// One new row a round.
fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("steps");
    let db = DbInstance::default();
    for steps in [2_500, 5_000, 10_000] {
        group.throughput(Throughput::Elements(steps as u64));
        group.bench_function(BenchmarkId::from_parameter(steps), |bencher| {
            let script = "n[x] := x = 0  n[x] := n[y], y < $steps, x = y + 1  ?[max(x)] := n[x]";
            bencher.iter(|| {
                let rows = run(&db, script, &[("steps", steps)]);
                assert_eq!(rows.rows[0][0].get_int(), Some(steps));
            });
        });
    }
}

/// The closure of chains of 500 nodes derives 124,750 rows a chain, in 499 rounds.
fn closure_of_chains(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("closure_of_chains");
    for number in [2, 4, 8] {
        let db = DbInstance::default();
        chains(&db, number, 500);
        let rows = number * 500 * 499 / 2;
        group.throughput(Throughput::Elements(rows as u64));
        for (name, step) in [("left", "path[x, z], *edge[z, y]"), ("right", "*edge[x, z], path[z, y]")] {
            let script = format!("path[x, y] := *edge[x, y]  path[x, y] := {step}  ?[count(x)] := path[x, y]");
            group.bench_function(BenchmarkId::new(name, rows), |bencher| {
                bencher.iter(|| assert_eq!(count(&db, &script), rows));
            });
        }
        #[cfg(feature = "peers")]
        group.bench_function(BenchmarkId::new("ascent", rows), |bencher| {
            let edges = cozo_benches::recursion::chain_edges(number as u32, 500);
            bencher.iter(|| assert_eq!(compiled::closure(edges.clone()), rows));
        });
    }
}

/// The closure of a grid finds most rows in many ways: duplicates outnumber new rows.
fn closure_of_a_grid(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("closure_of_a_grid");
    for side in [31, 37, 44] {
        let db = DbInstance::default();
        grid(&db, side);
        // From each node to all right of it and below, without itself.
        let rows = (side * (side + 1) / 2).pow(2) - side * side;
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_function(BenchmarkId::from_parameter(rows), |bencher| {
            let script =
                "path[x, y] := *edge[x, y, _]  path[x, y] := path[x, z], *edge[z, y, _]  ?[count(x)] := path[x, y]";
            bencher.iter(|| assert_eq!(count(&db, script), rows));
        });
        #[cfg(feature = "peers")]
        group.bench_function(BenchmarkId::new("ascent", rows), |bencher| {
            let edges: Vec<_> =
                cozo_benches::recursion::grid_edges(side as u32).into_iter().map(|(a, b, _)| (a, b)).collect();
            bencher.iter(|| assert_eq!(compiled::closure(edges.clone()), rows));
        });
    }
}

/// Shortest distances from one corner of a grid, by `min` inside the recursion.
fn shortest_distances(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("shortest_distances");
    for side in [100, 200, 400] {
        let db = DbInstance::default();
        let expected = (side * side, farthest_in_grid(side as u32));
        grid(&db, side);
        group.throughput(Throughput::Elements((side * side) as u64));
        group.bench_function(BenchmarkId::from_parameter(side * side), |bencher| {
            let script = "far[n, min(d)] := n = 0, d = 0
                          far[n, min(d)] := far[m, before], *edge[m, n, step], d = before + step
                          ?[count(n), max(d)] := far[n, d]";
            bencher.iter(|| {
                let rows = run(&db, script, &[]).rows;
                assert_eq!((rows[0][0].get_int(), rows[0][1].get_int()), (Some(expected.0), Some(expected.1)));
            });
        });
        #[cfg(feature = "peers")]
        group.bench_function(BenchmarkId::new("ascent", side * side), |bencher| {
            let edges = cozo_benches::recursion::grid_edges(side as u32);
            bencher.iter(|| assert_eq!(compiled::distances(edges.clone()), expected));
        });
    }
}

/// All pairs of the same generation in a binary tree: the new rows of a round are many, and each is found in several ways.
fn same_generation(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("same_generation");
    for levels in [7, 8, 9] {
        let db = DbInstance::default();
        tree(&db, levels);
        let pairs = same_generation_pairs(levels);
        group.throughput(Throughput::Elements(pairs as u64));
        group.bench_function(BenchmarkId::from_parameter(pairs), |bencher| {
            bencher.iter(|| assert_eq!(count(&db, SAME_GENERATION), pairs));
        });
        #[cfg(feature = "peers")]
        group.bench_function(BenchmarkId::new("ascent", pairs), |bencher| {
            bencher.iter(|| assert_eq!(compiled::same_generation(levels), pairs));
        });
    }
}

/// A points-to analysis: two rules that need each other, with joins of three relations.
fn points_to(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("points_to");
    for functions in [100, 200, 400] {
        let db = DbInstance::default();
        let program = Program::generate(functions);
        program.load_into(&db);
        let pairs = program.pairs() as i64;
        group.throughput(Throughput::Elements(pairs as u64));
        group.bench_function(BenchmarkId::from_parameter(pairs), |bencher| {
            bencher.iter(|| assert_eq!(count(&db, POINTS_TO), pairs));
        });
        #[cfg(feature = "peers")]
        group.bench_function(BenchmarkId::new("ascent", pairs), |bencher| {
            bencher.iter(|| assert_eq!(compiled::points_to(program.clone()), pairs));
        });
    }
}

fn configuration() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
}

criterion_group! {
    name = benches;
    config = configuration();
    targets = steps, closure_of_chains, closure_of_a_grid, shortest_distances, same_generation, points_to
}
criterion_main!(benches);
