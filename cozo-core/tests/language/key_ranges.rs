//! Filters on key columns that become ranges of keys: they find what they would find without.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use crate::common::{number, rows};
use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability};

/// Numbers whose order and equality are delicate.
fn numbers() -> Vec<DataValue> {
    let big = 1i64 << 53;
    let ints = [0, 1, 2, 3, -1, big - 1, big, big + 1, big + 2, i64::MAX, i64::MAX - 1, i64::MIN, i64::MIN + 1];
    let floats =
        [0.0, -0.0, 1.0, 1.5, 2.0, big as f64, 9223372036854775808.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    ints.into_iter().map(DataValue::from).chain(floats.into_iter().map(DataValue::from)).collect()
}

fn texts() -> Vec<DataValue> {
    let texts = ["", "p", "pa", "p\0", "pz", "q", "o", "p\u{10ffff}", "\u{10ffff}", "\u{d7ff}", "\u{e000}", "é"];
    texts.into_iter().map(DataValue::from).collect()
}

/// Relations with these values as first key, as second key and as key of an index, with and without value columns.
fn database(values: &[DataValue]) -> DbInstance {
    let db = DbInstance::default();
    for (script, columns) in [
        (":create bare {a}", vec!["a"]),
        (":create valued {a => v}", vec!["a", "v"]),
        (":create second {p, a => v}", vec!["p", "a", "v"]),
        (":create indexed {v => p, a}", vec!["v", "p", "a"]),
    ] {
        rows(&db, script);
        let name = script.split_whitespace().nth(1).unwrap();
        let row = |(p, v): (i64, usize)| -> Vec<DataValue> {
            let value = |column: &&str| match *column {
                "a" => values[v].clone(),
                "p" => p.into(),
                _ => (p * 1000 + v as i64).into(),
            };
            columns.iter().map(value).collect()
        };
        let all: Vec<Vec<DataValue>> = (0..3).flat_map(|p| (0..values.len()).map(move |v| (p, v))).map(row).collect();
        let data = NamedRows::new(columns.iter().map(|column| column.to_string()).collect(), all);
        db.import_relations(BTreeMap::from([(name.to_string(), data)])).unwrap();
    }
    rows(&db, "::index create indexed:i {p, a}");
    rows(&db, "::index create indexed:a {a}");
    db
}

/// Atoms that bind `a` to a key column.
const ATOMS: [&str; 6] = [
    "*bare[a]",
    "*valued{a, v}",
    "*second{p: 1, a, v}",
    "*indexed{p: 1, a, v}",
    "*indexed:a{a, v}",
    "*valued{a: b}, *second{p: 2, a}, b == a",
];

/// Compares the rows found with those found by a filter that cannot become a range. `@` stands for the column.
fn check(values: &[DataValue], operators: &[&str]) {
    let db = database(values);
    let run = |script: &str, constant: &DataValue| {
        let parameters = BTreeMap::from([("c".to_string(), constant.clone())]);
        db.run_script(script, parameters, ScriptMutability::Immutable)
            .unwrap_or_else(|e| panic!("{e:?}\n{script}"))
            .rows
    };
    let mut found = 0;
    for atom in ATOMS {
        for operator in operators {
            for constant in values {
                let test = |variable: &str| operator.replace('@', variable);
                let narrowed = run(&format!("?[a] := {atom}, {}", test("a")), constant);
                // A filter of another variable is none of a key column.
                let whole = run(&format!("?[a] := {atom}, x = a, {}", test("x")), constant);
                assert_eq!(narrowed, whole, "{atom}, {operator}, {constant}");
                found += narrowed.len();
            }
        }
    }
    assert!(found > 500, "only {found} rows");
}

#[test]
fn comparisons_of_numbers_lose_no_row() {
    check(&numbers(), &["@ >= $c", "@ > $c", "@ <= $c", "@ < $c", "@ == $c", "$c >= @", "$c < @", "$c == @"]);
}

#[test]
fn comparisons_of_strings_lose_no_row() {
    let both = "@ >= $c, @ < 'q', starts_with(@, 'p')";
    check(&texts(), &["@ >= $c", "@ > $c", "@ <= $c", "@ < $c", "@ == $c", "$c <= @", "starts_with(@, $c)", both]);
}

#[test]
fn equality_with_values_of_any_type_loses_no_row() {
    let list = |items: &[DataValue]| DataValue::List(items.to_vec());
    let others = [DataValue::Null, true.into(), false.into(), DataValue::Bytes(vec![]), DataValue::Bytes(vec![1])];
    let lists = [list(&[]), list(&[1.into()]), list(&[1.0.into()]), list(&["p".into(), DataValue::Null])];
    let values: Vec<DataValue> = numbers().into_iter().chain(texts()).chain(others).chain(lists).collect();
    check(&values, &["@ == $c", "$c == @", "@ = $c"]);
}

#[test]
fn a_range_is_read_where_a_key_column_is_compared_with_a_constant() {
    let db = database(&numbers());
    let reads = |query: &str| {
        let explained = rows(&db, &format!("::explain {{ {query} }}"));
        explained.iter().any(|row| row[4] == DataValue::from("load_stored_range"))
    };
    for query in [
        "?[a] := *bare[a], a >= 2",
        "?[v] := *valued{a, v}, 2 < a, a < 5",
        "?[a] := *second{p: 1, a}, a == 2",
        "?[a] := *indexed{p: 1, a}, a == 2",
        "?[a] := *indexed:a{a}, starts_with(a, 'p')",
    ] {
        assert!(reads(query), "{query}");
    }
    for query in [
        "?[v] := *valued{v}, v > 2",
        "?[a] := *second{a}, a > 2",
        "?[a] := *bare[a], b = 2, a > b",
        "?[a] := *bare[a], a != 2",
        "?[a] := *bare[a], starts_with('p', a)",
        "?[a] := *bare[a], a > 2 || a < 1",
    ] {
        assert!(!reads(query), "{query}");
    }
}

#[test]
fn a_large_range_is_read_in_parts_and_an_empty_one_not_at_all() {
    let db = DbInstance::default();
    rows(&db, "?[a, v] := a in int_range(100000), v = a % 10 :create r {a: Int => v: Int}");
    assert_eq!(number(&db, "?[count(a)] := *r{a, v}, a >= 100, a < 90100, v == 3"), 9000);
    assert_eq!(number(&db, "?[count(a)] := *r{a}, a > 10, a < 5"), 0);
    assert_eq!(number(&db, "?[count(a)] := *r{a}, a > 99999"), 0);
    assert_eq!(number(&db, "?[count(a)] := *r{a}, a >= 99999.0"), 1);
    assert_eq!(rows(&db, "?[a] := *r{a}, a > 50000 :limit 2").len(), 2);
}
