//! What the benchmarks share: graphs that are always the same, and running scripts.
//!
//! ```
//! let db = cozo::DbInstance::default();
//! cozo_benches::chains(&db, 2, 10);
//! assert_eq!(cozo_benches::count(&db, "?[count(a)] := *edge{a}"), 18);
//! ```

pub mod figures;
pub mod memory;
pub mod patterns;
pub mod pokec;
pub mod records;
pub mod recursion;
pub mod settings;
pub mod social;
#[cfg(feature = "columns")]
pub mod spill;
pub mod values;

use std::collections::BTreeMap;
use std::time::Duration;

use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability};
use criterion::Criterion;

#[cfg(all(feature = "mimalloc", feature = "columns"))]
#[global_allocator]
static ALLOCATOR: cozo::Mimalloc = cozo::Mimalloc;
#[cfg(all(feature = "mimalloc", not(feature = "columns")))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What an operation of the database gives; CozoDB 0.7, with which these sources compile, too, keeps its own to itself.
pub type Result<T, E = cozo::Error> = std::result::Result<T, E>;

/// Runs a script with integer parameters; panics if it fails.
pub fn run(db: &DbInstance, script: &str, parameters: &[(&str, i64)]) -> NamedRows {
    let parameters: BTreeMap<String, DataValue> =
        parameters.iter().map(|(name, value)| (name.to_string(), DataValue::from(*value))).collect();
    db.run_script(script, parameters, ScriptMutability::Mutable).unwrap_or_else(|error| panic!("{error:?}\n{script}"))
}

/// The one integer that a script answers.
pub fn count(db: &DbInstance, script: &str) -> i64 {
    run(db, script, &[]).rows[0][0].get_int().expect("the script answers an integer")
}

/// A relation `edge {a, b}` of disjoint chains, each of so many nodes.
pub fn chains(db: &DbInstance, chains: i64, nodes: i64) {
    let script =
        "?[a, b] := chain in int_range($chains), step in int_range($nodes - 1), a = chain * $nodes + step, b = a + 1
                  :create edge {a: Int, b: Int}";
    run(db, script, &[("chains", chains), ("nodes", nodes)]);
}

/// A relation `edge {a, b, d}` of a square grid, each node joined to those right of it and below, with a distance.
pub fn grid(db: &DbInstance, side: i64) {
    let script = "node[x, y] := x in int_range($side), y in int_range($side)
                  ?[a, b, d] := node[x, y], x + 1 < $side, a = y * $side + x, b = a + 1, d = (x * 7 + y * 3) % 10 + 1
                  ?[a, b, d] := node[x, y], y + 1 < $side, a = y * $side + x, b = a + $side, d = (x * 5 + y * 11) % 10 + 1
                  :create edge {a: Int, b: Int => d: Int}";
    run(db, script, &[("side", side)]);
}

/// How benches of scripts that take microseconds are measured.
pub fn short_runs() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}
