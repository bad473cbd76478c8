//! What rules derive is a set, however its rows are kept: few or many, integers close together or far apart, or with other values.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use cozo::{DataValue, DbInstance};

fn ints(values: impl IntoIterator<Item = i64>) -> Vec<DataValue> {
    values.into_iter().map(DataValue::from).collect()
}

/// Bodies of rules for one predicate, and what each of them derives.
fn sources() -> Vec<(&'static str, Vec<DataValue>)> {
    vec![
        ("x in [5, 1, 5]", ints([1, 5])),
        ("i in int_range(3000), x = i * 3 % 1000", ints(0..1000)),
        ("i in int_range(9000), x = 20000 - i", ints(11_001..=20_000)),
        ("i in int_range(300), x = i * 100000000 - 7", ints((0..300).map(|i| i * 100_000_000 - 7))),
        ("x in ['a', null, 1.5, 5]", vec!["a".into(), DataValue::Null, 1.5.into(), 5.into()]),
    ]
}

/// One of the orders of so many numbers.
fn permutation(number: usize, len: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..len).collect();
    let (mut rest, mut order) = (number, vec![]);
    while !left.is_empty() {
        order.push(left.remove(rest % left.len()));
        rest /= left.len() + 1;
    }
    order
}

#[test]
fn rows_are_there_once_whichever_rules_derive_them_first() {
    let (db, sources) = (DbInstance::default(), sources());
    for order in 0..120 {
        let chosen = permutation(order, sources.len());
        let chosen = &chosen[..2 + order % 4];
        let rules: String = chosen.iter().map(|source| format!("r[x] := {}\n", sources[*source].0)).collect();
        let expected: BTreeSet<&DataValue> = chosen.iter().flat_map(|source| &sources[*source].1).collect();
        let expected: Vec<Vec<DataValue>> = expected.into_iter().map(|value| vec![value.clone()]).collect();
        let entry = rules.replace("r[x]", "?[x]");
        for script in
            [format!("{rules} ?[x] := r[x]"), entry, format!("{rules} s[x] := r[x]  s[x] := s[x], r[x]  ?[x] := s[x]")]
        {
            assert_eq!(db.run_default(&script).unwrap().rows, expected, "{script}");
        }
    }
}
