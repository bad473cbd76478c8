//! Indices of a relation of a million rows: making them, looking up in them, and keeping them in step with writes; and
//! triggers, which keep another relation in step. Joins by comparisons, which order the rows of a relation.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use cozo::DbInstance;
use cozo_benches::{run, short_runs};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const ROWS: i64 = 1_000_000;

/// So many rows have the same `many`.
const GROUP: i64 = 100;

/// Rows of `r`: `one` is different in each and scattered, `many` the same in a hundred that lie apart, `name` a string.
fn load() -> DbInstance {
    let db = DbInstance::default();
    let script = "?[k, one, many, name] := k in int_range($rows), one = k * 7919 % $rows, many = k % $groups,
                                           name = 'name ' ++ to_string(one)
                  :create r {k: Int => one: Int, many: Int, name: String}";
    run(&db, script, &[("rows", ROWS), ("groups", ROWS / GROUP)]);
    db
}

fn creation(criterion: &mut Criterion) {
    let db = load();
    let mut group = criterion.benchmark_group("create");
    group.sample_size(10).throughput(Throughput::Elements(ROWS as u64));
    for column in ["one", "many", "name"] {
        group.bench_function(column, |bencher| {
            bencher.iter_custom(|iterations| {
                let mut elapsed = Duration::ZERO;
                for _ in 0..iterations {
                    let start = Instant::now();
                    run(&db, &format!("::index create r:i {{{column}}}"), &[]);
                    elapsed += start.elapsed();
                    run(&db, "::index drop r:i", &[]);
                }
                elapsed
            });
        });
    }
}

fn look_ups(criterion: &mut Criterion) {
    let db = load();
    run(&db, "::index create r:one {one}", &[]);
    run(&db, "::index create r:many {many}", &[]);
    let mut group = criterion.benchmark_group("look_up");
    let random = RefCell::new(StdRng::seed_from_u64(7));
    for (name, script, bound) in [
        ("1_row_by_key", "?[one] := *r{k: $x, one}", ROWS),
        ("1_row", "?[k] := *r{one: $x, k}", ROWS),
        ("1_row_and_relation", "?[k, name] := *r{one: $x, k, name}", ROWS),
        ("100_rows", "?[k] := *r{many: $x, k}", ROWS / GROUP),
        ("100_rows_and_relation", "?[k, name] := *r{many: $x, k, name}", ROWS / GROUP),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(run(&db, script, &[("x", random.borrow_mut().random_range(0..bound))])));
        });
    }
}

/// Puts one row.
const PUT: &str = "?[k, one, many, name] <- [[$k, $one, $many, 'x']] :put r {k => one, many, name}";

/// A trigger that keeps the number of puts of each group.
const TRIGGER: &str = "{:create puts {many: Int => n: Int}} {::set_triggers r on put {
    before[many, n] := _new[_, _, many, _], *puts{many, n}
    before[many, n] := _new[_, _, many, _], not *puts{many}, n = 0
    ?[many, n] := before[many, m], n = m + 1 :put puts {many => n}
}}";

fn writes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("write");
    let (one, many) = ("::index create r:one {one}", "::index create r:many {many}");
    for (name, made) in
        [("plain", vec![]), ("1_index", vec![one]), ("2_indices", vec![one, many]), ("1_trigger", vec![TRIGGER])]
    {
        let db = load();
        made.iter().for_each(|script| drop(run(&db, script, &[])));
        let random = RefCell::new(StdRng::seed_from_u64(7));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let draw = |bound: i64| random.borrow_mut().random_range(0..bound);
                let row = [("k", draw(ROWS)), ("one", draw(ROWS)), ("many", draw(ROWS / GROUP))];
                black_box(run(&db, PUT, &row))
            });
        });
    }
}

/// So many intervals, and as many points; an interval has about ten points.
const POINTS: i64 = 60_000;

fn comparisons(criterion: &mut Criterion) {
    let db = DbInstance::default();
    for script in [
        "?[i, g, s, t] := i in int_range($rows), g = i % 1000, s = i * 7919 % $rows, t = s + 10
         :create interval {i: Int => g: Int, s: Int, t: Int}",
        "?[j, g, u] := j in int_range($rows), g = j * 31 % 1000, u = j * 104729 % $rows
         :create point {j: Int => g: Int, u: Int}",
    ] {
        run(&db, script, &[("rows", POINTS)]);
    }
    let mut group = criterion.benchmark_group("compare");
    group.sample_size(10).throughput(Throughput::Elements(POINTS as u64));
    for (name, script, answer) in [
        ("points_in_intervals", "?[count(u)] := *interval{s, t}, *point{u}, s <= u, u < t", 599_955),
        ("in_groups", "?[count(u)] := *interval{g, s, t}, *point{g, u}, s <= u, u < t", 2_400),
        ("last_before", "l[i, max(u)] := *interval{i, s}, *point{u}, u < s  ?[count(u)] := l[_, u]", 59_999),
        (
            "last_before_in_groups",
            "l[i, max(u)] := *interval{i, g, s}, *point{g, u}, u < s  ?[count(u)] := l[_, u]",
            59_480,
        ),
    ] {
        assert_eq!(run(&db, script, &[]).rows[0][0].get_int(), Some(answer), "{script}");
        group.bench_function(name, |bencher| bencher.iter(|| black_box(run(&db, script, &[]))));
    }
}

criterion_group! {
    name = benches;
    config = short_runs();
    targets = creation, look_ups, writes, comparisons
}
criterion_main!(benches);
