//! Recursion: many rounds of one row, a few rounds of many rows, and improving values.
//!
//! Each group runs at growing sizes and reports rows a second: linear growth shows as the same rate at every size.

use std::hint::black_box;
use std::time::Duration;

use cozo::DbInstance;
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
    }
}

/// Shortest distances from one corner of a grid, by `min` inside the recursion.
fn shortest_distances(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("shortest_distances");
    for side in [100, 200, 400] {
        let db = DbInstance::default();
        grid(&db, side);
        group.throughput(Throughput::Elements((side * side) as u64));
        group.bench_function(BenchmarkId::from_parameter(side * side), |bencher| {
            let script = "far[n, min(d)] := n = 0, d = 0
                          far[n, min(d)] := far[m, before], *edge[m, n, step], d = before + step
                          ?[count(n), max(d)] := far[n, d]";
            bencher.iter(|| black_box(count(&db, script)));
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
    targets = steps, closure_of_chains, closure_of_a_grid, shortest_distances
}
criterion_main!(benches);
