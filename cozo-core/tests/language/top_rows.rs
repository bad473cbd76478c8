//! The first rows of an order (`:order` with `:limit`), against sorting all rows; and that few are read where few are wanted.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::rows;
use crate::engines::{SETTINGS, Setting};
use cozo::{DataValue, DbInstance};
use tempfile::TempDir;

/// 5,000 rows in the order of `id`, with few groups, many equal scores, and names that are often null.
const RELATIONS: &str = "
    {?[id, grp, score, name] := id in int_range(5000), grp = mod(id * 7, 13), score = mod(id * id, 101) / 4,
                                name = if(mod(id, 3) == 0, null, concat('n', to_string(mod(id, 500))))
     :create row {id: Int => grp: Int, score: Float, name: String?}}
    {?[grp, id, score] := *row{id, grp, score} :create by_group {grp: Int, id: Int => score: Float}}
    {?[id, at, v] := id in int_range(700), t in [1, 2, 3, 4], at = validity(t * 10, t != 3), v = id + t
     :create history {id: Int, at: Validity => v: Int}}";

/// A database with the relations, freshly opened where it is persistent.
fn database(setting: &Setting, folder: &TempDir) -> DbInstance {
    let db = setting.open(folder.path()).unwrap();
    db.run_default(RELATIONS).unwrap();
    if !setting.is_persistent() {
        return db;
    }
    drop(db);
    setting.open(folder.path()).unwrap()
}

#[test]
fn they_are_those_of_the_whole_order() {
    let queries = [
        ("?[id, score] := *row{id, score}", &["-id", "id", "-score", "score, -id", "-score, -id"][..]),
        ("?[name, grp] := *row{name, grp}", &["name", "-name", "grp, -name", "-grp"]),
        ("?[id] := *row{id, grp}, grp == 3", &["-id", "id"]),
        ("?[id] := *row{id}, id > 1000, id < 1400", &["-id", "id"]),
        ("?[id, score] := *by_group{grp: 5, id, score}", &["-id", "id", "-score"]),
        (
            "last[max(grp)] := *by_group{grp}  ?[id, score] := last[grp], *by_group{grp, id, score}",
            &["-id", "id", "-score, id", "id, -score"],
        ),
        ("one[g] := g = 3  ?[id, g] := one[g], *by_group{grp: g, id, score}, score > 3", &["-id", "id"]),
        ("few[g, n] := g in [4, 2], n = g + 1  ?[id] := few[g, n], *by_group{grp: n, id}", &["-id", "id"]),
        ("none[g] := g = 5, g > 5  ?[id] := none[g], *by_group{grp: g, id}", &["-id"]),
        ("one[g] := g = 8  ?[id] := one[g], *by_group{grp: g, id}  ?[id] := *by_group{grp: 9, id}", &["-id", "id"]),
        ("one[g] := g = 30  ?[v, at] := one[g], *history{id: g, at, v}", &["-v, at", "v"]),
        ("one[g] := g = 30  ?[at, v] := one[g], *history{id: g, at, v}", &["-at", "at"]),
        ("?[grp, id] := *by_group{grp, id}", &["-grp", "grp, -id", "-id"]),
        (
            "?[id, other] := *row{id, grp}, *by_group{grp, id: other}, other < id, id < 300",
            &["-id", "-id, other", "other"],
        ),
        ("?[half] := *row{id}, half = floor(id / 2)", &["-half"]),
        ("?[id] := *row{id, grp: 1}  ?[id] := *row{id, grp: 2}  ?[id] := id in [-5, 6000, 6001]", &["-id", "id"]),
        ("?[id, v] := *history{id, v @ 35}", &["-id", "v"]),
        ("?[id, at] := *history{id, at, v}", &["-id", "-id, at", "at"]),
        ("r[id] := *row{id}, id < 2000  ?[id] := r[id]", &["-id", "id"]),
        ("r[a] := a = 0  r[b] := r[a], b = a + 1, b < 3000  ?[a] := r[a]", &["-a"]),
        ("?[grp, count(id)] := *row{grp, id}", &["-grp", "count(id)"]),
    ];
    for setting in SETTINGS {
        let folder = TempDir::new().unwrap();
        let db = database(setting, &folder);
        for (query, orders) in queries {
            for order in orders {
                let all = rows(&db, &format!("{query} :order {order}"));
                for (limit, offset) in [(0, 0), (1, 0), (10, 0), (10, 7), (1500, 3), (100_000, 0), (5, 100_000)] {
                    let expected: Vec<Vec<DataValue>> = all.iter().skip(offset).take(limit).cloned().collect();
                    let script = format!("{query} :order {order} :limit {limit} :offset {offset}");
                    assert_eq!(rows(&db, &script), expected, "{setting}: {script}");
                }
            }
        }
    }
}

/// The rows that the first operator of the entry gives.
fn rows_read(db: &DbInstance, query: &str) -> i64 {
    let result = db.run_default(&format!("::explain analyze {{ {query} }}")).unwrap();
    let column = |name: &str| result.headers.iter().position(|header| header == name).unwrap();
    let (operator, count) = (column("op"), column("rows"));
    let scan = result
        .rows
        .iter()
        .find(|row| row[operator].get_str().is_some_and(|op| op.starts_with("stored") || op.starts_with("load")));
    scan.unwrap_or_else(|| panic!("no scan in {:?}", result.rows))[count].get_int().unwrap()
}

#[test]
fn few_rows_are_read_at_either_end() {
    let db = DbInstance::default();
    db.run_default("?[a, b] := b in int_range(30000), a = mod(b, 3) :create pair {a: Int, b: Int}").unwrap();
    for order in ["a", "-a"] {
        let read = rows_read(&db, &format!("?[a, b] := *pair{{a, b}} :order {order} :limit 5"));
        // All rows of one value of the first column tie in it.
        assert!((10_000..15_000).contains(&read), "{read} rows are read for {order}");
    }
    let of_one_row = "one[x] := x = 1 ?[b, x] := one[x], *pair{a: x, b}";
    for query in ["?[b] := *pair{a: 1, b}", "?[b] := *pair{a: 1, b}, b > 2000, mod(b, 2) == 0", of_one_row] {
        for order in ["b", "-b"] {
            let read = rows_read(&db, &format!("{query} :order {order} :limit 5"));
            assert!((5..400).contains(&read), "{read} rows are read for {query} {order}");
        }
    }
    for query in ["?[max(a)] := *pair{a}", "?[min(b)] := *pair{a: 2, b}", "?[max(b)] := *pair{a: 1, b}"] {
        let read = rows_read(&db, query);
        assert!((1..200).contains(&read), "{read} rows are read for {query}");
    }
}

#[test]
fn memory_is_needed_for_the_wanted_rows_alone() {
    let db = DbInstance::new("mem", "", r#"{"query_memory_mb": 8}"#).unwrap();
    db.run_default("?[a, b] := a in int_range(20000), b = mod(a * 7919, 20011) :create r {a: Int => b: Int}").unwrap();
    let all = "?[b, c, d] := *r{a, b}, c in [1, 2, 3, 4, 5, 6, 7, 8], d = a * c";
    assert_eq!(crate::common::failure(&db, all), "eval::out_of_memory");
    assert_eq!(rows(&db, &format!("{all} :order -b, c :limit 3")).len(), 3);
}
