//! Small fixed pieces of work whose instructions `make bench-check` counts, before a change and after it.
//!
//! `instructions NAME REPEATS` prepares one of [`WORKLOADS`] and repeats it so often; what the preparation takes is what no
//! repeats take. Without a name each runs once. `tools/bench-check.py` compiles this file with the crate as of two commits: it
//! uses nothing but the crate, and of that only what programs for CozoDB 0.7 use.

use std::collections::BTreeMap;

use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability};

/// How many nodes the graph has.
const NODES: i64 = 4000;

/// How many edges begin at each node.
const DEGREE: i64 = 10;

/// Rows of one import.
const BATCH: i64 = 300;

/// One repeat of a piece of work, given how many went before.
type Work = fn(&DbInstance, i64);

/// The names of the pieces of work, with their repeats.
const WORKLOADS: [(&str, i64, Work); 8] = [
    ("point_read", 2000, |db, n| {
        let rows = run(db, "?[age] := *user{id: $id, age}", &[("id", n * 7919 % NODES)]);
        assert_eq!(rows.rows.len(), 1);
    }),
    ("point_write", 2000, |db, n| {
        let write = "?[id, name, age] <- [[$id, 'new', 30]] :put user {id => name, age}";
        run(db, write, &[("id", n * 7919 % (2 * NODES))]);
    }),
    ("import", 60, |db, n| import(db, (0..BATCH).map(|row| [NODES + n, row * 7919 % NODES]))),
    ("expansion", 60, |db, n| {
        let script = "one[to] := *edge{fr: $id, to}
                      two[to] := one[fr], *edge{fr, to}
                      ?[count_unique(to)] := two[fr], *edge{fr, to}";
        let reached = run(db, script, &[("id", n * 7919 % NODES)]).rows[0][0].get_int();
        assert!(reached > Some(DEGREE), "{reached:?}");
    }),
    ("mutual", 1000, |db, n| {
        let rows = run(db, "?[to] := *edge{fr: $id, to}, *edge{fr: to, to: $id}", &[("id", n * 7919 % NODES)]);
        assert!(rows.rows.len() <= DEGREE as usize, "{rows:?}");
    }),
    ("aggregation", 200, |db, _| {
        let rows = run(db, "?[age, count(id), max(id)] := *user{id, age}", &[]);
        assert_eq!(rows.rows.len(), 80);
    }),
    ("recursion", 5, |db, _| {
        let script = "path[x, y] := next[x, y]  path[x, y] := path[x, z], next[z, y]
                      next[x, y] := x in int_range(200), y = x + 1
                      ?[count(x)] := path[x, y]";
        assert_eq!(run(db, script, &[]).rows[0][0].get_int(), Some(200 * 201 / 2));
    }),
    ("parse", 200, |db, n| {
        // Another text each time, or it would not be parsed again.
        let script = format!(
            "adult[id, name] := *user{{id, name, age}}, age >= 18, name != 'nobody {n}'
             friend[a, b] := adult[a, _], *edge{{fr: a, to: b}}, a != b
             friend[a, b] := friend[b, a], b > {n}
             ?[id, name, count(other)] := id = -1, friend[id, other], adult[id, name] :sort -name :limit 10"
        );
        assert_eq!(run(db, &script, &[]).rows.len(), 0);
    }),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let workload = |name: &str| WORKLOADS.iter().find(|(known, ..)| *known == name);
    match arguments.as_slice() {
        [] => WORKLOADS.iter().for_each(|(_, _, work)| repeat(*work, 1)),
        [list] if list == "list" => WORKLOADS.iter().for_each(|(name, repeats, _)| println!("{name} {repeats}")),
        [name, repeats] => match (workload(name), repeats.parse()) {
            (Some((_, _, work)), Ok(repeats)) => repeat(*work, repeats),
            _ => panic!("not a workload and a number of repeats: {name} {repeats}"),
        },
        _ => panic!("expected a workload and a number of repeats, or 'list'"),
    }
}

/// Runs a piece of work on a database of its own.
fn repeat(work: Work, repeats: i64) {
    let db = DbInstance::default();
    run(&db, "{:create user {id: Int => name: String, age: Int}} {:create edge {fr: Int, to: Int}}", &[]);
    let users = "?[id, name, age] := id in int_range($nodes), name = 'user ' ++ to_string(id), age = id % 80
                 :put user {id => name, age}";
    run(&db, users, &[("nodes", NODES)]);
    for first in (0..NODES).step_by(1000) {
        let edges =
            (first..first + 1000).flat_map(|node| (0..DEGREE).map(move |n| [node, (node * 31 + n * n * 577) % NODES]));
        import(&db, edges);
    }
    (0..repeats).for_each(|n| work(&db, n));
}

fn import(db: &DbInstance, edges: impl Iterator<Item = [i64; 2]>) {
    let rows = edges.map(|edge| edge.map(DataValue::from).to_vec()).collect();
    let rows = NamedRows::new(vec!["fr".to_string(), "to".to_string()], rows);
    db.import_relations(BTreeMap::from([("edge".to_string(), rows)])).unwrap_or_else(|error| panic!("{error:?}"));
}

fn run(db: &DbInstance, script: &str, parameters: &[(&str, i64)]) -> NamedRows {
    let parameters = parameters.iter().map(|(name, value)| (name.to_string(), DataValue::from(*value))).collect();
    let rows = db.run_script(script, parameters, ScriptMutability::Mutable);
    rows.unwrap_or_else(|error| panic!("{error:?}\n{script}"))
}
