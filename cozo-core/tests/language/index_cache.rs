//! Relations that are looked up again and again are indexed, and indexes kept from one query to the next: they must follow every
//! change.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use cozo::{DataValue, DbInstance, ScriptMutability};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::common::rows;
use crate::engines::SETTINGS;

/// So many keys are there.
const KEYS: i64 = 60;

/// How a key is written: all as integers close together, or not.
type Spelling = fn(i64) -> DataValue;

const SPELLINGS: [(&str, Spelling); 4] = [
    ("close together", |key| key.into()),
    ("far apart and negative", |key| ((key - 7) * 10_000_019).into()),
    ("as text", |key| format!("key {key}").into()),
    ("of all kinds", |key| match key % 4 {
        0 => DataValue::Null,
        1 => (key as f64).into(),
        _ => key.into(),
    }),
];

/// What looks up all keys of `e`, most of them several times, in the ways that are answered differently.
const QUERIES: [&str; 4] = [
    "?[s, x, w] := *start{s}, *e{a: s, b: x, w}",
    "?[s, y] := *start{s}, *e{a: s, b: x}, *e{a: x, b: y}",
    "?[s] := *start{s}, not *e{a: s}",
    "r[s, x] := *start{s}, *e{a: s, b: x}  r[s, y] := r[s, x], *e{a: x, b: y}  ?[s, x] := r[s, x]",
];

/// The relation `e` as it must be: by the numbers of its keys.
type Model = BTreeMap<(i64, i64), i64>;

fn answers(model: &Model, write: Spelling) -> [BTreeSet<Vec<DataValue>>; 4] {
    let mut next: BTreeMap<DataValue, BTreeSet<DataValue>> = BTreeMap::new();
    let starts: BTreeSet<DataValue> = (0..KEYS + 5).map(write).collect();
    let mut whole = BTreeSet::new();
    for ((a, b), w) in model {
        next.entry(write(*a)).or_default().insert(write(*b));
        whole.insert(vec![write(*a), write(*b), (*w).into()]);
    }
    let none = BTreeSet::new();
    let after = |key: &DataValue| next.get(key).unwrap_or(&none);
    let [mut two_steps, mut lone, mut reached] = [(); 3].map(|()| BTreeSet::new());
    for start in &starts {
        two_steps.extend(after(start).iter().flat_map(after).map(|end| vec![start.clone(), end.clone()]));
        if after(start).is_empty() {
            lone.insert(vec![start.clone()]);
        }
        let mut open = vec![start];
        while let Some(key) = open.pop() {
            for to in after(key) {
                if reached.insert(vec![start.clone(), to.clone()]) {
                    open.push(to);
                }
            }
        }
    }
    [whole, two_steps, lone, reached]
}

fn check(db: &DbInstance, model: &Model, write: Spelling, context: &str) {
    for (query, expected) in QUERIES.iter().zip(answers(model, write)) {
        let expected: Vec<_> = expected.into_iter().collect();
        // Often enough for an index to be made and kept.
        for time in 1..=6 {
            assert_eq!(rows(db, query), expected, "{context}, time {time}: {query}");
        }
    }
}

fn run(db: &DbInstance, script: &str, given: impl IntoIterator<Item = Vec<DataValue>>) {
    let given = DataValue::List(given.into_iter().map(DataValue::List).collect());
    let parameters = BTreeMap::from([("rows".to_string(), given)]);
    db.run_script(script, parameters, ScriptMutability::Mutable).unwrap_or_else(|error| panic!("{error:?}\n{script}"));
}

#[test]
fn kept_indexes_follow_the_changes_of_their_relations() {
    for setting in SETTINGS {
        for (spelling, write) in SPELLINGS {
            let folder = tempfile::tempdir().unwrap();
            let db = setting.open(folder.path()).unwrap();
            // Keys of all kinds: several of them are one key, as null is.
            let number = |key: i64| (0..=key).find(|other| write(*other) == write(key)).unwrap();
            let starts = (0..KEYS + 5).map(|key| vec![write(key)]);
            run(&db, "?[s] <- $rows  :create start {s}", starts);
            run(&db, "?[a, b, w] <- $rows  :create e {a, b => w: Int}", []);
            let (mut random, mut model) = (StdRng::seed_from_u64(11), Model::new());
            for step in 0..6 {
                let mut key = || number(random.random_range(0..KEYS));
                let changed: Vec<(i64, i64)> = (0..50).map(|_| (key(), key())).collect();
                let row = |(a, b): &(i64, i64)| vec![write(*a), write(*b), step.into()];
                if step % 3 == 2 {
                    run(&db, "?[a, b, w] <- $rows  :rm e {a, b}", changed.iter().map(row));
                    changed.iter().for_each(|edge| _ = model.remove(edge));
                } else {
                    run(&db, "?[a, b, w] <- $rows  :put e {a, b => w}", changed.iter().map(row));
                    model.extend(changed.iter().map(|edge| (*edge, step)));
                }
                check(&db, &model, write, &format!("keys {spelling} on {setting}, after step {step}"));
            }
            rows(&db, "?[a, b, w] := *e{a, b, w}, w == 4  :replace e {a, b => w: Int}");
            model.retain(|_, w| *w == 4);
            check(&db, &model, write, &format!("keys {spelling} on {setting}, after it was replaced"));
        }
    }
}

#[test]
fn a_relation_that_is_too_large_to_copy_is_followed_too() {
    let db = DbInstance::default();
    // Twenty rows of each second key, 2.4 million together.
    rows(
        &db,
        "?[a, b, w] := n in int_range(120000), a = n * 2, k in int_range(20), b = (a * 7 + k * 1000003) % 900007,
             w = cond(a % 3 == 0, null, a % 3 == 1, 'one', true, b + k)
         :create e {a: Int, b: Int => w: Any?}",
    );
    rows(&db, "?[s] := n in int_range(20000), s = n * 13  :create start {s: Int}");
    let model = |gone: i64, moved: i64| -> (i64, i64, i64) {
        let mut found = (0, 0, 0);
        for a in (0..20_000).map(|n| n * 13).filter(|a| a % 2 == 0 && *a < 240_000 && *a != gone) {
            for k in 0..20 {
                let b = (a * 7 + k * 1_000_003) % 900_007;
                let w = match (a == moved, a % 3) {
                    (true, _) => Some(-1),
                    (false, 2) => Some(b + k),
                    _ => None,
                };
                found = (found.0 + 1, found.1 + b, found.2 + w.unwrap_or(0));
            }
        }
        found
    };
    let check = |db: &DbInstance, gone: i64, moved: i64| {
        for time in 1..=3 {
            let found =
                rows(db, "?[count(b), sum(b), sum(w)] := *start{s}, *e{a: s, b, w: v}, w = if(is_int(v), v, 0)");
            let number = |column: usize| found[0][column].get_float().unwrap() as i64;
            let (count, sum_b, sum_w) = model(gone, moved);
            assert_eq!((number(0), number(1), number(2)), (count, sum_b, sum_w), "time {time}");
        }
        // Keys without any.
        let lone = rows(db, "?[count(s)] := *start{s}, not *e{a: s}")[0][0].get_int();
        assert_eq!(
            lone,
            Some((0..20_000).map(|n| n * 13).filter(|a| a % 2 == 1 || *a >= 240_000 || *a == gone).count() as i64)
        );
    };
    check(&db, -1, -1);
    rows(&db, "?[a, b] := a = 78, *e{a, b}  :rm e {a, b}");
    check(&db, 78, -1);
    rows(&db, "?[a, b, w] := a = 156, *e{a, b}, w = -1  :put e {a, b => w}");
    check(&db, 78, 156);
    let txn = db.multi_transaction(true);
    txn.run_script("?[a, b] := a = 234, *e{a, b}  :rm e {a, b}", BTreeMap::new()).unwrap();
    let counted = txn.run_script("?[count(b)] := *start{s}, *e{a: s, b}", BTreeMap::new()).unwrap();
    assert_eq!(counted.rows[0][0].get_int(), Some(model(78, 156).0 - 20));
    txn.abort().unwrap();
    check(&db, 78, 156);
}

#[test]
fn a_transaction_sees_its_own_changes_and_others_do_not() {
    let db = DbInstance::default();
    rows(&db, "?[a, b] := a in int_range(400), b = a + 1  :create e {a: Int, b: Int}");
    let query = "?[count(y)] := s in int_range(400), *e{a: s, b: x}, *e{a: x, b: y}";
    let counted = |db: &DbInstance| rows(db, query)[0][0].get_int();
    let before: Vec<_> = (0..4).map(|_| counted(&db)).collect();
    assert_eq!(before, [Some(399); 4]);
    let txn = db.multi_transaction(true);
    let inside = |script: &str| txn.run_script(script, BTreeMap::new()).unwrap().rows[0][0].get_int();
    for removed in 1..4 {
        inside(&format!("?[a, b] := a = {removed}, b = a + 1  :rm e {{a, b}}"));
        for _ in 0..3 {
            // Of the paths of two edges, those with the edges up to the one from `removed` are gone: one of them is not in the middle.
            assert_eq!(inside(query), Some(399 - removed - 1), "{removed} edges are gone");
            assert_eq!(counted(&db), Some(399));
        }
    }
    txn.abort().unwrap();
    assert_eq!(counted(&db), Some(399));
}

#[test]
fn a_relation_is_read_as_of_the_time_that_is_asked_for() {
    let db = DbInstance::default();
    rows(&db, ":create e {a: Int, v: Validity => b: Int}");
    for time in 1..=3 {
        let script =
            format!("?[a, v, b] := a in int_range(300), v = [{time}, true], b = a + {time}  :put e {{a, v => b}}");
        rows(&db, &script);
    }
    for _ in 0..3 {
        for time in [1, 3, 2] {
            // The second look-up is with as many rows as the relation has at the time.
            let script = format!(
                "?[count(y), sum(z)] := *e{{a: s, b: x @ {time}}}, *e{{a: x, b: y @ {time}}}, z = y - s
                 r[x, d] := x = 0, d = 0  r[y, c] := r[x, d], *e{{a: x, b: y @ {time}}}, c = d + 1"
            );
            let counted = rows(&db, script.lines().next().unwrap());
            assert_eq!(counted[0][0].get_int(), Some(300 - time), "as of {time}");
            assert_eq!(counted[0][1].get_float(), Some((2 * time * (300 - time)) as f64), "as of {time}");
            let reached = rows(&db, &format!("{} ?[max(x)] := r[x, _]", script.lines().nth(1).unwrap()));
            assert_eq!(reached[0][0].get_int(), Some((299 / time) * time + time), "as of {time}");
        }
    }
}
