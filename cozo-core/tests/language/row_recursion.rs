//! Recursion whose rounds have few rows, or few and many by turns, derives what a loop does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use cozo::{DataValue, DbInstance};

fn rows(db: &DbInstance, script: &str) -> Vec<Vec<DataValue>> {
    db.run_default(script).unwrap_or_else(|error| panic!("{error:?}\n{script}")).rows
}

/// What can be reached from some numbers by functions from a number to one or none, in ascending order.
fn reached(from: &[i64], steps: &[&dyn Fn(i64) -> Option<i64>]) -> Vec<Vec<DataValue>> {
    let (mut known, mut waiting) = (BTreeSet::new(), from.to_vec());
    while let Some(number) = waiting.pop() {
        if known.insert(number) {
            waiting.extend(steps.iter().filter_map(|step| step(number)));
        }
    }
    known.into_iter().map(|number| vec![number.into()]).collect()
}

#[test]
fn one_row_follows_from_another() {
    let db = DbInstance::default();
    let factorials = rows(
        &db,
        "f[n, x] := n = 0, x = 1.0
         f[n, x] := f[m, y], m < 150, n = m + 1, x = y * n
         ?[n, x] := f[n, x]",
    );
    let mut product = 1.0;
    let expected: Vec<Vec<DataValue>> = (0..=150)
        .map(|n| {
            product *= f64::from(n.max(1));
            vec![i64::from(n).into(), product.into()]
        })
        .collect();
    assert_eq!(factorials, expected);
}

#[test]
fn circles_end() {
    let db = DbInstance::default();
    for (start, script) in [(1, "x = 1"), (7, "x = 7"), (-3, "x = -3")] {
        let script = format!("r[x] := {script}  r[y] := r[x], y = (x * 7) % 2009  ?[x] := r[x]");
        assert_eq!(rows(&db, &script), reached(&[start], &[&|x| Some(x * 7 % 2009)]), "{script}");
    }
    // Numbers too far apart for a bitmap.
    let script = "r[x] := x = 1000000000  r[y] := r[x], y = (x * 7) % 20011000000000  ?[x] := r[x]";
    let all = reached(&[1_000_000_000], &[&|x| Some(x * 7 % 20_011_000_000_000)]);
    assert!(all.len() > 1000, "{}", all.len());
    assert_eq!(rows(&db, script), all);
}

#[test]
fn rounds_grow_and_shrink() {
    let db = DbInstance::default();
    for most in [3, 60, 5000] {
        let script = format!(
            "r[x] := x = 1
             r[y] := r[x], 0 < x, x < {most}, y = 2 * x
             r[y] := r[x], 0 < x, x < {most}, y = 2 * x + 1
             r[y] := r[x], x > {most}, y = -(x % 5)
             ?[x] := r[x]"
        );
        let (small, large) = (|x: i64| 0 < x && x < most, |x: i64| x > most);
        let expected = reached(
            &[1],
            &[&|x| small(x).then_some(2 * x), &|x| small(x).then_some(2 * x + 1), &|x| large(x).then_some(-(x % 5))],
        );
        assert_eq!(rows(&db, &script), expected, "{script}");
    }
    let script = "r[x] := x in int_range(1000)  r[y] := r[x], x > 900, y = (x * 3) % 1500  ?[x] := r[x]";
    let from: Vec<i64> = (0..1000).collect();
    assert_eq!(rows(&db, script), reached(&from, &[&|x| (x > 900).then_some(x * 3 % 1500)]));
}

#[test]
fn predicates_take_turns() {
    let script = "even[n] := n = 0
                  even[n] := odd[m], m < 500, n = m + 1
                  odd[n] := even[m], m < 500, n = m + 1
                  ?[n, which] := even[n], which = 'even'
                  ?[n, which] := odd[n], which = 'odd'";
    let name = |n: i64| if n % 2 == 0 { "even" } else { "odd" };
    let expected: Vec<Vec<DataValue>> = (0..=500).map(|n| vec![n.into(), name(n).into()]).collect();
    assert_eq!(rows(&DbInstance::default(), script), expected);
}

#[test]
fn stored_rows_are_followed_by_their_keys() {
    let db = DbInstance::default();
    rows(&db, "?[node, next] := node in int_range(2000), next = (node * 17) % 1999 :create next {node => next}");
    let script = "r[x, hops] := x = 5, hops = 0
                  r[y, hops] := r[x, before], before < 300, *next{node: x, next: y}, y != 0, hops = before + 1
                  ?[hops, x] := r[x, hops]";
    let mut at = 5;
    let expected: Vec<Vec<DataValue>> = (0..=300)
        .map(|hops: i64| {
            let row = vec![hops.into(), at.into()];
            at = at * 17 % 1999;
            row
        })
        .collect();
    assert_eq!(rows(&db, script), expected);
    assert_eq!(
        rows(&db, "r[x] := x = 1999  r[y] := r[x], *next{node: x, next: y}  ?[x] := r[x]"),
        [[DataValue::from(0)], [DataValue::from(1999)]]
    );
}

#[test]
fn values_change_their_types() {
    let script = "r[n, v] := n = 0, v = 1
                  r[n, v] := r[m, w], m < 40, n = m + 1,
                             v = cond(m < 10, w + 1, m == 10, 'text', m < 20, concat(w, '!'), m < 30, [w], true, null)
                  ?[n, v] := r[n, v]";
    let found = rows(&DbInstance::default(), script);
    let value = |n: usize| found[n][1].to_string();
    assert_eq!(found.len(), 41);
    assert_eq!([value(10), value(11), value(13)], ["11", "\"text\"", "\"text!!\""]);
    assert_eq!([value(21), value(22), value(31), value(40)].map(|text| text.len()), [17, 19, 4, 4]);
}

#[test]
fn conditions_choose_between_numbers() {
    let script = "r[x] := x in [1, 27]
                  r[y] := r[x], y = if(x % 3 == 0, x + 1, if(x > $most, -1, 2 * x)), y > 0
                  r[y] := r[x], x = cond(x == 16, 16, x > 50, 0, x < 30, x + 1, true, 56), y = 3000 * x
                  ?[x] := r[x]";
    let most = 100_000;
    let doubled = |x: i64| Some(if x % 3 == 0 { x + 1 } else { 2 * x }).filter(|_| x % 3 == 0 || x <= most);
    let expected = reached(&[1, 27], &[&doubled, &|x| (x == 16).then_some(48_000)]);
    assert!(expected.len() > 30, "{}", expected.len());
    let parameters = [("most".to_string(), DataValue::from(most))].into();
    let found = DbInstance::default().run_script(script, parameters, cozo::ScriptMutability::Immutable).unwrap();
    assert_eq!(found.rows, expected);
}

#[test]
fn an_error_in_a_step_is_the_error_of_the_query() {
    let script = "r[x] := x = 10  r[y] := r[x], y = if(x > 0, x - 1, 'end' + 1)  ?[x] := r[x]";
    let error = DbInstance::default().run_default(script).unwrap_err();
    assert_eq!(error.code().map(|code| code.to_string()).as_deref(), Some("eval::throw"), "{error:?}");
    let script = "r[x] := x = 10  r[y] := r[x], x + 1, y = x - 1  ?[x] := r[x]";
    assert!(DbInstance::default().run_default(script).is_err());
}
