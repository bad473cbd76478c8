//! Plans as `::explain` shows them, by what they are to show. `cargo insta review` shows what changed.

mod common;

use std::fmt::Write;

use cozo::{DataValue, DbInstance};

/// A graph, its nodes, and what happens to them.
const SETUP: &[&str] = &[
    "?[fr, to, w] <- [[1, 2, 5], [2, 3, 1], [3, 1, 2]] :create edge {fr: Int, to: Int => w: Int}",
    "?[id, name] := id in int_range(2000), name = to_string(id) :create node {id: Int => name: String}",
    "?[x] <- [[1]] :create seen {x: Int}",
];

/// The plan of a query: each rule with its operators in the order in which they run.
fn plan(query: &str) -> String {
    let db = DbInstance::default();
    SETUP.iter().for_each(|script| drop(common::rows(&db, script)));
    let mut rows = common::rows(&db, &format!("::explain {{ {query} }}"));
    // The last operator of a rule comes first in the answer.
    rows.sort_by_key(|row| (row[0].clone(), row[1].clone(), row[2].clone(), row[3].clone()));
    let mut text = format!("{query}\n");
    let mut rule = None;
    for row in rows {
        let heading = format!("stratum {}: {}", row[0], row[2].get_str().unwrap_or_default());
        if rule.as_ref() != Some(&(row[1].clone(), heading.clone())) {
            let _ = writeln!(text, "\n{heading}");
            rule = Some((row[1].clone(), heading));
        }
        let _ = writeln!(text, "  {}", operator(&row));
    }
    text
}

/// One operator: what it does, to what, on which columns, and what comes of it.
fn operator(row: &[DataValue]) -> String {
    let list = |value: &DataValue| {
        let items = value.get_slice().unwrap_or_default().iter().filter_map(DataValue::get_str);
        items.collect::<Vec<_>>().join(", ")
    };
    let reference = row[5].get_str().unwrap_or_default();
    let (keys, outputs) = (list(&row[6]), list(&row[7]));
    let keys = if keys.is_empty() { keys } else { format!("on {keys}") };
    let line = format!("{:<22} {reference:<14} {keys:<13} {outputs}", row[4].get_str().unwrap_or_default());
    line.trim_end().to_string()
}

macro_rules! plans {
    ($($test:ident: $query:expr;)*) => {$(
        #[test]
        fn $test() {
            insta::assert_snapshot!(plan($query));
        }
    )*};
}

plans! {
    scan: "?[a, b] := *edge{fr: a, to: b}";
    key_lookup: "?[name] := *node{id: 2, name}";
    prefix_join: "?[a, c] := *edge[a, b, _], *edge[b, c, _]";
    hash_join: "?[a, b] := *edge{fr: a, to: x}, *edge{fr: b, to: x}";
    filters_come_early: "?[a, n] := *edge{fr: a, to: b, w}, *node{id: b, name: n}, w > 1, starts_with(n, 'x')";
    joins_begin_where_few_rows_are: "?[n] := *node{id: b, name: n}, *edge{fr: 1, to: b}";
    joins_as_written: "?[n] := *node{id: b, name: n}, *edge{fr: 1, to: b} :disable_join_reorder true";
    cycles: "?[a, b, c] := *edge{fr: a, to: b}, *edge{fr: b, to: c}, *edge{fr: c, to: a}";
    membership: "?[a, b] := *edge{fr: a, to: b}, *node{id: b}";
    negation: "?[a] := *node{id: a}, not *edge{fr: a}";
    negation_by_value: "?[a] := *node{id: a}, not *edge{to: a}";
    negated_group: "?[a] := *node{id: a}, not (*edge{fr: a, to: b, w}, w > b)";
    disjunction: "?[a] := *node{id: a, name: 'x'} or *edge{fr: a, w: 1} or a in [7, 8]";
    unification: "?[a, b] := *node{id: a}, b = a * 2 + 1";
    recursion: "path[a, b] := *edge{fr: a, to: b}
path[a, c] := path[a, b], *edge{fr: b, to: c}
?[a, b] := path[a, b]";
    magic_sets: "path[a, b] := *edge{fr: a, to: b}
path[a, c] := path[a, b], *edge{fr: b, to: c}
?[b] := path[1, b]";
    magic_sets_disabled: "path[a, b] := *edge{fr: a, to: b}
path[a, c] := path[a, b], *edge{fr: b, to: c}
?[b] := path[1, b]
:disable_magic_rewrite true";
    aggregation: "?[a, count(b), sum(w)] := *edge{fr: a, to: b, w}";
    meet: "dist[b, min(d)] := *edge{fr: 1, to: b, w: d}
dist[c, min(d)] := dist[b, e], *edge{fr: b, to: c, w}, d = e + w
?[b, d] := dist[b, d]";
    strata: "degree[a, count(b)] := *edge{fr: a, to: b}
busy[a] := degree[a, n], n > 1
?[a] := *node{id: a}, not busy[a]";
    constant_rule: "start[x] <- [[1], [2]]
?[b] := start[a], *edge{fr: a, to: b}";
    limit: "?[a, c] := *edge{fr: a, to: b}, *edge{fr: b, to: c} :limit 5";
    mutation: "?[x] := *edge{fr: 1, to: x}, not *seen[x] :put seen {x}";
}

/// A binding of a column that a rule computes reaches no relation: it would be compared with every row.
#[test]
fn bindings_of_computed_columns_restrict_nothing() {
    let db = DbInstance::default();
    common::rows(&db, ":create a {i: Int => e: String}");
    let restricts = |rule: &str| {
        let script = format!("::explain {{ {rule}  ?[count(x)] := *a{{i: x, e}}, m[e, y] }}");
        common::rows(&db, &script).iter().flatten().any(|value| value.to_string().contains("magic m|bf"))
    };
    assert!(!restricts("m[k, i] := *a{i, e}, k = lowercase(e)"));
    assert!(!restricts("m[k, i] := *a{i, e}, k in [e, 'x']"));
    assert!(!restricts("m[k, i] := *a{i, e: k}  m[k, i] := *a{i, e}, k = lowercase(e)"));
    assert!(restricts("m[k, i] := *a{i, e: k}  m[k, i] := m[k, j], *a{i: j}, i = j"));
}
