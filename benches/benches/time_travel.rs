//! Reads as of a time against plain reads, of a relation of 100,000 keys with 10 versions each, and of one long history.
//!
//! A point read as of a time is one seek, so that it costs about as much as a plain point read, however long the
//! history is; a scan as of a time looks at each key about as long as a plain scan looks at a few rows.

use std::hint::black_box;
use std::time::Duration;

use cozo::DbInstance;
use cozo_benches::{count, run};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const KEYS: i64 = 100_000;
const VERSIONS: i64 = 10;

/// The versions of the one key with a long history.
const LONG: i64 = 100_000;

/// `history {k, at => v}`: versions at 0, 10, 20, ...; the third of every tenth key is a retraction. `long` is the same
/// with one key.
fn load() -> DbInstance {
    let db = DbInstance::default();
    let script = "{?[k, at, v] := k in int_range($keys), n in int_range($versions),
                     at = validity(n * 10, k % 10 != 0 || n != 2), v = k * $versions + n
                   :create history {k: Int, at: Validity => v: Int}}
                  {?[k, at, v] := k = 0, n in int_range($long), at = validity(n * 10), v = n
                   :create long {k: Int, at: Validity => v: Int}}";
    run(&db, script, &[("keys", KEYS), ("versions", VERSIONS), ("long", LONG)]);
    db
}

/// One row at a time.
fn points(criterion: &mut Criterion) {
    let db = load();
    let mut group = criterion.benchmark_group("time_travel_points");
    let mut key = 0;
    let mut bench = |name: &str, script: &str, expected: &dyn Fn(i64) -> i64| {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                key = (key + 7919) % KEYS;
                let rows = run(&db, script, &[("k", key)]);
                assert_eq!(rows.rows[0][0].get_int(), Some(expected(key)));
            });
        });
    };
    let version = |version: i64| move |key: i64| key * VERSIONS + version;
    bench("plain", "?[v] := *history{k: $k, at: validity(50), v}", &version(5));
    bench("as_of", "?[v] := *history{k: $k, v @ 55}", &version(5));
    bench("as_of_now", "?[v] := *history{k: $k, v @ 'NOW'}", &version(VERSIONS - 1));
    bench("long_as_of", "?[v] := k = $k - $k, *long{k, v @ 500000}", &|_| 50_000);
}

/// A hundred thousand rows at a time.
fn joins(criterion: &mut Criterion) {
    let db = load();
    let mut group = criterion.benchmark_group("time_travel_joins");
    group.throughput(Throughput::Elements(KEYS as u64)).sample_size(10);
    for (name, script) in [
        ("plain", "k[k] := k in int_range(100000) ?[sum(v)] := k[k], at = validity(50), *history{k, at, v}"),
        ("as_of", "k[k] := k in int_range(100000) ?[sum(v)] := k[k], *history{k, v @ 55}"),
    ] {
        group.bench_function(name, |bencher| bencher.iter(|| black_box(count(&db, script))));
    }
}

/// The whole relation; the plain scan gives ten times the rows of the others.
fn scans(criterion: &mut Criterion) {
    let db = load();
    let mut group = criterion.benchmark_group("time_travel_scans");
    group.throughput(Throughput::Elements((KEYS * VERSIONS) as u64)).sample_size(10);
    for (name, script) in [
        ("plain", "?[sum(v)] := *history{k, v}"),
        ("as_of", "?[sum(v)] := *history{k, v @ 55}"),
        ("as_of_now", "?[sum(v)] := *history{k, v @ 'NOW'}"),
        ("long_as_of", "?[sum(v)] := *long{k, v @ 500000}"),
    ] {
        group.bench_function(name, |bencher| bencher.iter(|| black_box(count(&db, script))));
    }
}

fn configuration() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2))
}

criterion_group! {
    name = benches;
    config = configuration();
    targets = points, joins, scans
}
criterion_main!(benches);
