//! `Window`, and lists within Json, over many rows and with bad options.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use cozo::{DataValue, DbInstance, ScriptMutability, format_error_as_json};

use crate::common::{code, failure, number, rows};

/// The error of a script as its message and its help.
fn words(script: &str) -> String {
    let error = DbInstance::default().run_default(script).unwrap_err();
    let json = format_error_as_json(error, Some(script));
    format!("{}: {}", json["message"].as_str().unwrap_or_default(), json["help"].as_str().unwrap_or_default())
}

#[test]
fn many_rows_in_many_partitions_are_numbered_as_by_hand() {
    let db = DbInstance::default();
    let text = "s = to_string(i * 7919 % 1000)";
    let given = rows(
        &db,
        &format!(
            "r[i, g, v, s] := i in int_range(20000), g = i * 31 % 700, v = i * 17 % 97, {text}
             ?[i, g, v, s, n, rank, total, before] <~ Window(r[i, g, v, s], partition_by: [g % 100, g], sort_by: [v, s],
                 descending: [false, true], compute: ['row_number', 'rank', ['running_sum', v], ['lag', i, 2, -1]])"
        ),
    );
    assert_eq!(given.len(), 20000);
    let mut groups: BTreeMap<i64, Vec<(i64, String, i64)>> = BTreeMap::new();
    for i in 0..20000i64 {
        groups.entry(i * 31 % 700).or_default().push((i * 17 % 97, (i * 7919 % 1000).to_string(), i));
    }
    let mut expected: Vec<Vec<DataValue>> = vec![];
    for (group, mut members) in groups {
        members.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2)));
        let (mut total, mut rank) = (0, 0);
        for at in 0..members.len() {
            let (v, s, i) = members[at].clone();
            total += v;
            if at == 0 || (members[at - 1].0, &members[at - 1].1) != (v, &s) {
                rank = at as i64 + 1;
            }
            let before = if at < 2 { -1 } else { members[at - 2].2 };
            let numbers = [at as i64 + 1, rank, total, before].map(DataValue::from);
            expected.push([i.into(), group.into(), v.into(), s.into()].into_iter().chain(numbers).collect());
        }
    }
    expected.sort();
    assert!(given == expected);
}

#[test]
fn the_named_columns_of_stored_relations_are_those_of_the_result() {
    let db = DbInstance::default();
    rows(&db, "?[id, shop, euros] <- [[1, 'n', 4], [2, 'n', 6], [3, 's', 3]] :create sale {id => shop, euros}");
    for (call, expected) in [
        ("?[euros, n] <~ Window(*sale{euros}, sort_by: -euros, compute: 'row_number')", "[[3, 3], [4, 2], [6, 1]]"),
        ("?[a, b] <~ Window(*sale[a, b], partition_by: b, sort_by: -a, take: 1)", "[[2, 'n'], [3, 's']]"),
        ("?[] <~ Window(*sale{shop: x}, compute: ['rank'])", "[['n', 1], ['s', 1]]"),
        ("?[id, n] <~ Window(*sale{id}, sort_by: $by, compute: [$name])", "[[1, 1], [2, 1], [3, 1]]"),
    ] {
        let parameters = BTreeMap::from([("by".to_string(), 7.into()), ("name".to_string(), "rank".into())]);
        let found = db.run_script(call, parameters, ScriptMutability::Immutable).unwrap().rows;
        let expected = &rows(&db, &format!("?[rows] := rows = {expected}"))[0][0];
        assert_eq!(DataValue::List(found.into_iter().map(DataValue::List).collect()), *expected, "{call}");
    }
    assert!(rows(&db, "?[id] <~ Window(*sale{id}, sort_by: id) :limit 0").is_empty());
    assert!(rows(&db, "r[a] := a in []  ?[a, n] <~ Window(r[a], compute: ['rank'])").is_empty());
}

#[test]
fn columns_that_are_named_come_in_the_order_in_which_they_are_written() {
    let db = DbInstance::default();
    rows(&db, "?[a, b, c] <- [[1, 'x', 10], [2, 'y', 20]] :create r {a => b, c}");
    let found = rows(&db, "?[b, n, c, rank] <~ Window(*r{b, a: n, c}, sort_by: -c, compute: ['rank'])");
    let expected: Vec<Vec<DataValue>> =
        vec![vec!["x".into(), 1.into(), 10.into(), 2.into()], vec!["y".into(), 2.into(), 20.into(), 1.into()]];
    assert_eq!(found, expected);
}

#[test]
fn bad_options_of_windows_are_refused() {
    let db = DbInstance::default();
    for (call, code) in [
        ("?[a] <~ Window(r[a, b])", "parser::fixed_rule_head_arity_mismatch"),
        ("?[a, b] <~ Window(r[a])", "parser::fixed_rule_head_arity_mismatch"),
        ("?[a, b, c] <~ Window(r[a, b, c])", "algo::input_relation_bad_arity"),
        ("?[a, b] <~ Window()", "parser::fixed_rule_head_arity_mismatch"),
        ("?[] <~ Window()", "fixed_rule::not_enough_args"),
        ("?[a, b] <~ Window(r[a, b], sort_by: c)", "eval::bad_binding"),
        ("?[a, b] <~ Window(r[a, b], partition_by: [a, c])", "eval::bad_binding"),
        ("?[a, b, c] <~ Window(r[a, b], compute: [['lag', c]])", "eval::bad_binding"),
        ("?[a, b, c] <~ Window(r[a, b], compute: [['lag', a, b]])", "eval::not_constant"),
        ("?[a, b, c] <~ Window(r[a, b], compute: [['lag', a, -1]])", "fixed_rule::arg_wrong"),
        ("?[a, b, c] <~ Window(r[a, b], compute: [a])", "fixed_rule::arg_wrong"),
        ("?[a, b, c] <~ Window(r[a, b], compute: [[]])", "fixed_rule::arg_wrong"),
        ("?[a, b, c] <~ Window(r[a, b], compute: [['rank', a]])", "fixed_rule::arg_wrong"),
        ("?[a, b, c] <~ Window(r[a, b], compute: ['running_sum'])", "fixed_rule::arg_wrong"),
        ("?[a, b, c] <~ Window(r[a, b], compute: [['running_sum', null]])", "algo::bad_expression_value"),
        (
            "?[a, b, c] <~ Window(r[a, b], compute: [['running_sum', 9223372036854775807]])",
            "algo::bad_expression_value",
        ),
        ("?[a, b] <~ Window(r[a, b], sort_by: a, descending: [true, false])", "fixed_rule::arg_wrong"),
        ("?[a, b] <~ Window(r[a, b], sort_by: a, descending: 'a')", "fixed_rule::arg_wrong"),
        ("?[a, b] <~ Window(r[a, b], take: -1)", "fixed_rule::arg_wrong"),
    ] {
        assert_eq!(failure(&db, &format!("r[a, b] <- [[1, 2], [3, 4]]  {call}")), code, "{call}");
    }
    let unknown = words("r[a] <- [[1]]  ?[a, n] <~ Window(r[a], compute: ['rnk'])");
    assert!(
        unknown.contains("'rnk'") && unknown.contains("did you mean 'rank'?") && unknown.contains("'running_sum'"),
        "{unknown}"
    );
}

#[test]
fn a_window_takes_no_more_than_a_query_may() {
    let db = DbInstance::new("mem", "", r#"{"query_memory_mb": 24}"#).unwrap();
    let script = "r[i, t] := i in int_range(20000), t = 'a text of more than a few bytes'
                  ?[i, a, b, c] <~ Window(r[i, t], sort_by: i, compute: [['lag', repeat(t, 100)], ['lead', repeat(t, 100)]])";
    assert_eq!(code(db.run_default(script).unwrap_err()), "eval::out_of_memory");
}

#[test]
fn elements_of_json_arrays_fill_many_batches() {
    let db = DbInstance::default();
    assert_eq!(number(&db, "?[sum(x)] := x in json(int_range(100000))"), 4_999_950_000);
    rows(&db, "?[id, doc] := id in int_range(3000), doc = {'tags': [id % 7, id % 5, 'x']} :create d {id => doc: Json}");
    assert_eq!(number(&db, "?[count(t)] := *d{doc}, t in doc -> 'tags'"), 9000);
    assert_eq!(number(&db, "?[count(id)] := *d{id, doc}, t = 'x', t in doc -> 'tags'"), 3000);
    // A relation that is looked up by what a list has.
    rows(&db, "?[tag, name] <- [[0, 'zero'], [4, 'four'], [6, 'six']] :create tag {tag => name}");
    let looked_up = "?[count(id)] := *d{id, doc}, tags = doc -> 'tags', *tag{tag}, tag in tags";
    let by_hand =
        (0..3000).map(|id| [0, 4, 6].iter().filter(|tag| id % 7 == **tag || id % 5 == **tag).count()).sum::<usize>();
    assert_eq!(number(&db, looked_up), by_hand as i64);
    assert_eq!(failure(&db, "?[x] := x in {'a': 1}"), "eval::invalid_spread_unif");
}

#[test]
fn names_of_other_languages_are_known() {
    for (script, hint) in [
        ("?[n] := n = len('a')", "did you mean 'length'? Its form is length(x)"),
        ("?[n] := n = substr('abc', 1, 2)", "did you mean 'slice_string'? Its form is slice_string(text, start, end)"),
        ("?[n] := n = trm('a')", "did you mean 'trim'?"),
        ("?[n] := n = avg(1)", "did you mean the aggregation 'mean'?"),
        ("?[avg(n)] := n in [1]", "did you mean 'mean'?"),
        ("?[group_concat(n)] := n in [1]", "did you mean 'string_join'?"),
        ("?[uppercase(n)] := n in ['a']", "'uppercase' is a function"),
        ("?[cnt(n)] := n in [1]", "did you mean 'count'?"),
    ] {
        let words = words(script);
        assert!(words.contains(hint), "{script}: {words}");
    }
}
