//! What the benchmarks share: graphs made from a fixed seed, and running scripts on a database in memory.
//!
//! ```
//! use cozo_benches::{SocialNetwork, load};
//! let network = SocialNetwork::generate(100, 300);
//! let db = load(&network);
//! assert_eq!(cozo_benches::count(&db, "?[count(uid)] := *user{uid}"), 100);
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability};
use criterion::Criterion;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// All graphs are made from this seed.
const SEED: u64 = 42;

/// How many rows an import brings at a time.
pub const IMPORT_BATCH_ROWS: usize = 300;

/// What the relations of a social network look like.
const SCHEMA: &str = "{:create user {uid: Int => cmpl_pct: Int, gender: String?, age: Int?}}
    {:create friends {fr: Int, to: Int}}
    {:create friends.rev {to: Int, fr: Int}}";

/// Users and their friendships, shaped as in the Pokec data set: few users have many friends, most have few.
pub struct SocialNetwork {
    /// Rows of `user`: uid, cmpl_pct, gender, age.
    pub users: Vec<Vec<DataValue>>,
    /// Rows of `friends`: fr, to.
    pub friends: Vec<Vec<DataValue>>,
}

impl SocialNetwork {
    /// So many users, numbered from 1, and about so many friendships.
    pub fn generate(users: i64, friendships: usize) -> Self {
        let mut random = StdRng::seed_from_u64(SEED);
        let users_rows = (1..=users).map(|uid| user(uid, &mut random)).collect();
        let friends = (0..friendships)
            .map(|_| vec![DataValue::from(popular(users, &mut random)), DataValue::from(popular(users, &mut random))])
            .collect();
        SocialNetwork { users: users_rows, friends }
    }
}

/// A row of `user`. A third has not given an age, as in the original.
fn user(uid: i64, random: &mut StdRng) -> Vec<DataValue> {
    let gender = if random.random_bool(0.5) { "man" } else { "woman" };
    let age = if random.random_bool(0.33) { DataValue::Null } else { random.random_range(12..80i64).into() };
    vec![uid.into(), random.random_range(0..100i64).into(), gender.into(), age]
}

/// A user by a power law: user numbers are scattered, so that the popular ones are not neighbours in key order.
fn popular(users: i64, random: &mut StdRng) -> i64 {
    let rank = (random.random::<f64>().powi(3) * users as f64) as i64;
    (rank * 7919) % users + 1
}

/// A database in memory with the relations of a network, empty.
pub fn empty() -> DbInstance {
    let db = DbInstance::default();
    run(&db, SCHEMA, &[]);
    db
}

/// A database in memory with a network, imported in batches.
pub fn load(network: &SocialNetwork) -> DbInstance {
    let db = empty();
    import(&db, network);
    db
}

/// Imports a network in batches, every friendship in both directions; the number of rows written.
pub fn import(db: &DbInstance, network: &SocialNetwork) -> usize {
    for batch in network.users.chunks(IMPORT_BATCH_ROWS) {
        let rows = named(&["uid", "cmpl_pct", "gender", "age"], batch);
        db.import_relations([("user".to_string(), rows)].into()).expect("users fit their relation");
    }
    for batch in network.friends.chunks(IMPORT_BATCH_ROWS) {
        let relations = ["friends", "friends.rev"].map(|name| (name.to_string(), named(&["fr", "to"], batch)));
        db.import_relations(relations.into()).expect("friendships fit their relations");
    }
    network.users.len() + 2 * network.friends.len()
}

/// Rows under headers.
pub fn named(headers: &[&str], rows: &[Vec<DataValue>]) -> NamedRows {
    NamedRows::new(headers.iter().map(|header| header.to_string()).collect(), rows.to_vec())
}

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
