//! A social network: import, point reads and writes, aggregations, neighbourhoods and patterns.
//!
//! The scripts are those of the well-known Pokec benchmark of graph databases; the network is made here, from a fixed
//! seed, with the density of its smallest size.

use std::cell::RefCell;
use std::hint::black_box;

use cozo::DbInstance;
use cozo_benches::{SocialNetwork, empty, import, load, run, short_runs};
use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const USERS: i64 = 10_000;
const FRIENDSHIPS: usize = 120_000;

fn network() -> SocialNetwork {
    SocialNetwork::generate(USERS, FRIENDSHIPS)
}

fn imports(criterion: &mut Criterion) {
    let network = network();
    let mut group = criterion.benchmark_group("import");
    group.sample_size(10).throughput(Throughput::Elements((network.users.len() + 2 * network.friends.len()) as u64));
    group.bench_function("batches_of_300", |bencher| {
        bencher.iter_batched(empty, |db| black_box(import(&db, &network)), BatchSize::PerIteration);
    });
}

/// Runs a script with random integers below the bounds as its parameters.
fn bench(
    group: &mut BenchmarkGroup<'_, WallTime>,
    db: &DbInstance,
    name: &str,
    script: &str,
    parameters: &[(&str, i64)],
) {
    let random = RefCell::new(StdRng::seed_from_u64(7));
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            let drawn: Vec<(&str, i64)> =
                parameters.iter().map(|(name, bound)| (*name, random.borrow_mut().random_range(1..=*bound))).collect();
            black_box(run(db, script, &drawn))
        });
    });
}

fn points(criterion: &mut Criterion) {
    let db = load(&network());
    let mut group = criterion.benchmark_group("point");
    let read = "?[cmpl_pct, gender, age] := *user{uid: $id, cmpl_pct, gender, age}";
    bench(&mut group, &db, "read", read, &[("id", USERS)]);
    let write = "?[uid, cmpl_pct, gender, age] <- [[$id, 0, null, null]] :put user {uid => cmpl_pct, gender, age}";
    bench(&mut group, &db, "write", write, &[("id", USERS * 10)]);
    let update = "?[uid, cmpl_pct, age, gender] := uid = $id, *user{uid, age, gender}, cmpl_pct = $n
                  :put user {uid => cmpl_pct, age, gender}";
    bench(&mut group, &db, "update", update, &[("id", USERS), ("n", 100)]);
    let edge = "{?[fr, to] <- [[$i, $j]] :put friends {fr, to}} {?[fr, to] <- [[$i, $j]] :put friends.rev {fr, to}}";
    bench(&mut group, &db, "edge_write", edge, &[("i", USERS), ("j", USERS)]);
}

fn aggregations(criterion: &mut Criterion) {
    let db = load(&network());
    let mut group = criterion.benchmark_group("aggregation");
    group.throughput(Throughput::Elements(USERS as u64));
    for (name, script) in [
        ("group", "?[age, count(uid)] := *user{uid, age}"),
        ("count", "?[count(uid), count(age)] := *user{uid, age}"),
        ("filter", "?[age, count(age)] := *user{age}, age ~ 0 >= 18"),
        ("min_max", "?[min(uid), max(uid), mean(uid)] := *user{uid, age}"),
    ] {
        bench(&mut group, &db, name, script, &[]);
    }
}

/// The users that so many steps lead to, those under age left out if that is asked for.
fn expansion(steps: usize, adults: bool) -> String {
    let filter = if adults { ", *user{uid: to, age}, age ~ 0 >= 18" } else { "" };
    match steps {
        1 => format!("?[to] := *friends{{fr: $id, to}}{filter}"),
        2 => format!("?[to] := *friends{{fr: $id, to: a}}, *friends{{fr: a, to}}{filter}"),
        _ => {
            let levels: Vec<String> =
                (2..steps).map(|level| format!("l{level}[to] := l{}[fr], *friends{{fr, to}}", level - 1)).collect();
            let last = format!("?[to] := l{}[fr], *friends{{fr, to}}{filter}", steps - 1);
            format!("l1[to] := *friends{{fr: $id, to}}\n{}\n{last}", levels.join("\n"))
        }
    }
}

fn expansions(criterion: &mut Criterion) {
    let db = load(&network());
    let mut group = criterion.benchmark_group("expand");
    for steps in 1..=4 {
        bench(&mut group, &db, &steps.to_string(), &expansion(steps, false), &[("id", USERS)]);
        bench(&mut group, &db, &format!("{steps}_filter"), &expansion(steps, true), &[("id", USERS)]);
    }
    let neighbours = "l1[to] := *friends{fr: $id, to}  ?[to] := l1[to]  ?[to] := l1[fr], *friends{fr, to}";
    bench(&mut group, &db, "neighbours_2", neighbours, &[("id", USERS)]);
    let with_data = "l1[to] := *friends{fr: $id, to}
                     ?[to, age, cmpl_pct, gender] := l1[to], *user{uid: to, age, cmpl_pct, gender}
                     ?[to, age, cmpl_pct, gender] := l1[fr], *friends{fr, to}, *user{uid: to, age, cmpl_pct, gender}";
    bench(&mut group, &db, "neighbours_2_data", with_data, &[("id", USERS)]);
}

fn patterns(criterion: &mut Criterion) {
    let db = load(&network());
    let mut group = criterion.benchmark_group("pattern");
    for (name, script) in [
        ("cycle", "?[n, m] := n = $id, *friends{fr: n, to: m}, *friends.rev{fr: m, to: n}"),
        (
            "long",
            "?[n] := *friends{fr: $id, to: n2}, *friends{fr: n2, to: n3}, *friends{fr: n3, to: n4}, *friends{fr: n4, to: n}
             :limit 1",
        ),
        ("short", "?[to] := *friends{fr: $id, to} :limit 1"),
    ] {
        bench(&mut group, &db, name, script, &[("id", USERS)]);
    }
}

/// Triangles of the whole network, as written and in the order that is worst for a join of two relations at a time.
fn triangles(criterion: &mut Criterion) {
    let db = load(&network());
    let mut group = criterion.benchmark_group("triangles");
    group.sample_size(10);
    for (name, atoms) in [
        ("cyclic", "*friends{fr: a, to: b}, *friends{fr: b, to: c}, *friends{fr: c, to: a}"),
        ("transitive", "*friends{fr: a, to: b}, *friends{fr: b, to: c}, *friends{fr: a, to: c}"),
        ("transitive_reordered", "*friends{fr: a, to: b}, *friends{fr: c, to: b}, *friends{fr: c, to: a}"),
    ] {
        bench(&mut group, &db, name, &format!("?[count(a)] := {atoms}"), &[]);
    }
}

criterion_group! {
    name = benches;
    config = short_runs();
    targets = imports, points, aggregations, expansions, patterns, triangles
}
criterion_main!(benches);
