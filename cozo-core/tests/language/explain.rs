//! Plans as `::explain` shows them, by what they are to show. `cargo insta review` shows what changed.

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
    SETUP.iter().for_each(|script| drop(crate::common::rows(&db, script)));
    let mut rows = crate::common::rows(&db, &format!("::explain {{ {query} }}"));
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
    crate::common::rows(&db, ":create a {i: Int => e: String}");
    let restricts = |rule: &str| {
        let script = format!("::explain {{ {rule}  ?[count(x)] := *a{{i: x, e}}, m[e, y] }}");
        crate::common::rows(&db, &script).iter().flatten().any(|value| value.to_string().contains("magic m|bf"))
    };
    assert!(!restricts("m[k, i] := *a{i, e}, k = lowercase(e)"));
    assert!(!restricts("m[k, i] := *a{i, e}, k in [e, 'x']"));
    assert!(!restricts("m[k, i] := *a{i, e: k}  m[k, i] := *a{i, e}, k = lowercase(e)"));
    assert!(restricts("m[k, i] := *a{i, e: k}  m[k, i] := m[k, j], *a{i: j}, i = j"));
}

/// A way to run, with a query that takes it.
struct Way {
    /// An operator, or what `::explain` says at the end of a rule.
    name: &'static str,
    query: &'static str,
}

const WAYS: &[Way] = &[
    Way { name: "load_stored", query: "?[a] := *edge{fr: a}" },
    Way { name: "load_stored_with_validity", query: "?[a] := *past{k: a @ 5}" },
    Way { name: "stored_as_of_join", query: "?[a, t] := *node{id: t}, *past{k: a @ t}" },
    Way { name: "load_stored_range", query: "?[a] := *edge{fr: a}, a > 1" },
    Way { name: "stored_prefix_join", query: "?[a, c] := *edge[a, b, _], *edge[b, c, _]" },
    Way { name: "stored_mat_join", query: "?[a, b] := *edge{fr: a, to: x}, *edge{fr: b, to: x}" },
    Way { name: "stored_equal_join", query: "?[a, b] := *edge{fr: a}, *node{id: b}, a % 2 == b % 2" },
    Way { name: "stored_range_join", query: "?[a, b] := *edge{fr: a}, *node{id: b}, a < b, b < a * 2" },
    Way { name: "matches: the last", query: "?[a, max(b)] := *edge{fr: a}, *node{id: b}, b <= a" },
    Way { name: "matches: the first", query: "?[a, min(b)] := *edge{fr: a}, *node{id: b}, b > a" },
    Way { name: "stored_neg_prefix_join", query: "?[a] := *node{id: a}, not *edge{fr: a}" },
    Way { name: "stored_neg_mat_join", query: "?[a] := *node{id: a}, not *edge{to: a}" },
    Way { name: "stored_prefix_exists", query: "?[a] := *node{id: a}, *edge{fr: a}" },
    Way { name: "stored_mat_exists", query: "?[a] := *node{id: a}, *edge{to: a} :disable_join_reorder true" },
    Way { name: "load_mem", query: "r[a] := *edge{to: a}  ?[b] := r[a], b = a + 1" },
    Way { name: "mem_mat_join", query: "r[a, b] := *edge{to: a, w: b}  ?[a, b] := *edge{fr: a, to}, r[a, b]" },
    Way { name: "mem_equal_join", query: "r[b] := *edge{to: b}  ?[a, b] := *node{id: a}, r[b], a % 2 == b % 2" },
    Way { name: "mem_range_join", query: "r[b] := *edge{to: b}  ?[a, b] := *node{id: a}, r[b], a < b" },
    Way { name: "mem_neg_mat_join", query: "r[a] := *edge{to: a}  ?[a] := *node{id: a}, not r[a]" },
    Way {
        name: "mem_mat_exists",
        query: "r[a] := *edge{to: a}  ?[a] := *node{id: a}, r[a] :disable_join_reorder true",
    },
    Way { name: "filter", query: "?[a] := *node{id: a}, a % 7 == 3" },
    Way { name: "unify", query: "?[b] := *edge{fr: a}, b = a + 1" },
    Way { name: "multi-unify", query: "?[a, b] := *edge{fr: a}, b in [a, 9]" },
    Way { name: "distinct", query: "?[a, d] := *edge{fr: a, to: b}, *edge{to: b, w: c}, *edge{w: c, to: d}" },
    Way { name: "intersect", query: "?[a, b, c] := *link[a, b], *link[b, c], *link[a, c]" },
    Way { name: "algo", query: "?[a, n] <~ ConnectedComponents(*link[])" },
    Way { name: "aggr_out", query: "?[a, count(b)] := *edge{fr: a, to: b}" },
    Way {
        name: "meet_aggr_out",
        query: "d[a, min(x)] := *edge{fr: 1, to: a, w: x}
                d[b, min(x)] := d[a, y], *edge{fr: a, to: b, w}, x = y + w
                ?[a, x] := d[a, x]",
    },
    Way { name: "run: one row", query: "?[name] := *node{id: 2, name}" },
    Way { name: "run: count by key", query: "?[count(b)] := *edge{fr: 1, to: b}" },
    Way { name: "run: row by row", query: "n[x] := x = 1  n[y] := n[x], y = x + 1, y < 50  ?[count(x)] := n[x]" },
    Way { name: "scan: from the start, to the first row", query: "?[min(a)] := *edge{fr: a}" },
    Way { name: "scan: from the end, to the first row", query: "?[max(a)] := *edge{fr: a}" },
    Way { name: "rows: distinct", query: "?[a, b] := *edge{fr: a, to: b}" },
    Way { name: "rows: sorted", query: "r[a] := *edge{to: a}  ?[collect(a)] := r[a]" },
];

/// Each way to run is named by `::explain`, and taken by `::explain analyze`, which gives the rows that the query gives.
#[test]
fn every_way_to_run_is_named_and_taken() {
    let db = DbInstance::default();
    SETUP.iter().for_each(|script| drop(crate::common::rows(&db, script)));
    for script in [
        "?[a, b] <- [[1, 2], [2, 3], [1, 3], [3, 4], [2, 4]] :create link {a: Int, b: Int}",
        "?[k, v] <- [[1, [1, true]], [1, [9, true]], [2, [3, true]]] :create past {k: Int, v: Validity}",
    ] {
        crate::common::rows(&db, script);
    }
    for Way { name, query } in WAYS {
        let is_at = |row: &Vec<DataValue>| {
            row[4].get_str() == Some(name)
                || row[7].get_slice().is_some_and(|said| said.contains(&DataValue::from(*name)))
        };
        let named = crate::common::rows(&db, &format!("::explain {{ {query} }}"));
        assert!(named.iter().any(is_at), "'{name}' is not named for {query}: {named:?}");

        let given = crate::common::rows(&db, query).len();
        let taken = crate::common::rows(&db, &format!("::explain analyze {{ {query} }}"));
        let at = taken.iter().find(|row| is_at(row)).unwrap_or_else(|| panic!("'{name}' is not taken for {query}"));
        let (rows, batches) = (at[9].get_int(), at[10].get_int());
        match *name {
            "algo" => assert_eq!((rows, batches), (Some(given as i64), Some(1)), "{query}"),
            "run: one row" | "run: count by key" => {
                assert_eq!((rows, batches), (Some(given as i64), Some(0)), "{query}")
            }
            "run: row by row" => assert_eq!((rows, batches), (Some(48), Some(0)), "{query}"),
            _ => assert!(rows > Some(0) && batches > Some(0), "'{name}' does nothing for {query}: {at:?}"),
        }
    }
}

/// Some options make a query for one row run on batches. `::explain` names no special way then, and `::explain analyze` takes none.
#[test]
fn options_that_need_batches_are_seen_by_explain() {
    let db = DbInstance::default();
    SETUP.iter().for_each(|script| drop(crate::common::rows(&db, script)));
    let runs = |explained: &[Vec<DataValue>]| {
        let said = explained.iter().flat_map(|row| row[7].get_slice().unwrap_or_default());
        said.filter_map(DataValue::get_str).any(|text| text.starts_with("run: "))
    };
    for query in ["?[name] := *node{id: 2, name}", "?[count(b)] := *edge{fr: 1, to: b}"] {
        for option in ["", ":order OUTPUT", ":limit 5", ":offset 0", ":timeout 60", ":sleep 0.001", ":assert some"] {
            let needs_batches = !option.is_empty() && !option.starts_with(":order");
            let output = &query[2..query.find(']').expect("a head")];
            let query = format!("{query} {}", option.replace("OUTPUT", output));
            let named = crate::common::rows(&db, &format!("::explain {{ {query} }}"));
            assert_eq!(runs(&named), !needs_batches, "{query}");

            assert_eq!(crate::common::rows(&db, &query).len(), 1, "{query}");
            let taken = crate::common::rows(&db, &format!("::explain analyze {{ {query} }}"));
            assert_eq!(runs(&taken), !needs_batches, "{query}");
            let batches: i64 = taken.iter().filter_map(|row| row[10].get_int()).sum();
            assert_eq!(batches > 0, needs_batches, "{query}");
        }
    }
}
