//! Results and imports as columns.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use cozo::value::{Batch, Column};
use cozo::{DbInstance, Interrupt, NamedColumns, ScriptMutability};

fn run(db: &DbInstance, script: &str) -> NamedColumns {
    db.run_script_columns(script, BTreeMap::new(), ScriptMutability::Mutable, &Interrupt::default()).unwrap()
}

#[test]
fn columns_and_rows_are_the_same() {
    let (by_rows, by_columns) = (DbInstance::default(), DbInstance::default());
    for script in [
        "?[k, v] <- [[1, 'a'], [2, null]] :create r {k => v}",
        "?[k, v] := *r[k, v]",
        "?[k, v] := *r[k, v], k > 2",
        "?[k, v] <- [[3, 'c']] :put r {k => v} :returning",
        "::columns r",
        "{?[k] := *r[k, _]} {?[v] := *r[_, v]}",
        "%return {?[k] := *r[k, _]}, {?[v] := *r[_, v]}",
    ] {
        let rows = by_rows.run_default(script).unwrap().flatten();
        let mut columns = Some(Box::new(run(&by_columns, script)));
        for expected in rows {
            let found = columns.take().unwrap();
            assert_eq!(found.headers, expected.headers, "{script}");
            assert_eq!(found.rows.rows().collect::<Vec<_>>(), expected.rows, "{script}");
            columns = found.next;
        }
        assert!(columns.is_none(), "{script}");
    }
}

#[test]
fn relations_are_imported_together_or_not_at_all() {
    let db = DbInstance::default();
    db.run_default("?[k] <- [[1]] :create r {k: Int}").unwrap();
    db.run_default(":create s {k: Int}").unwrap();
    let keys = |keys: Vec<i64>| {
        let len = keys.len();
        NamedColumns::new(vec!["k".to_string()], Batch::new(vec![Column::ints(keys)], len))
    };
    let relations = |last: &str| {
        let [r, s, last] = ["-r", "s", last].map(str::to_string);
        [(r, keys(vec![1])), (s, keys(vec![2, 3])), (last, keys(vec![4]))]
    };
    db.import_relations_columns(relations("nope")).unwrap_err();
    assert_eq!(run(&db, "?[k] := *r[k] or *s[k]").rows.len, 1);
    db.import_relations_columns(relations("r")).unwrap();
    assert_eq!(run(&db, "?[k] := *r[k]").rows.columns[0].as_dense_ints(), Some([4].as_slice()));
    assert_eq!(run(&db, "?[k] := *s[k]").rows.len, 2);
}

#[test]
fn imported_columns_are_found_by_name() {
    let db = DbInstance::default();
    db.run_default(":create r {k: Int => v: String}").unwrap();
    let columns = vec![Column::floats(vec![0.5; 2]), Column::repeat(&"x".into(), 2), Column::ints(vec![2, 1])];
    let headers = ["other", "v", "k"].map(str::to_string).to_vec();
    db.import_columns("r", NamedColumns::new(headers, Batch::new(columns, 2))).unwrap();
    assert_eq!(run(&db, "?[k] := *r[k, 'x']").rows.columns[0].as_dense_ints(), Some([1, 2].as_slice()));
    let keys = NamedColumns::new(vec!["k".to_string()], Batch::new(vec![Column::ints(vec![1])], 1));
    assert!(db.import_columns("r", keys.clone()).is_err(), "a column is missing");
    let uneven = NamedColumns { rows: Batch { len: 2, ..keys.rows.clone() }, ..keys.clone() };
    assert!(db.import_columns("-r", uneven).is_err(), "a column is short");
    db.import_columns("-r", keys).unwrap();
    assert_eq!(run(&db, "?[k] := *r[k, _]").rows.columns[0].as_dense_ints(), Some([2].as_slice()));
}

#[test]
fn columns_without_values_have_the_types_that_the_script_says() {
    let db = DbInstance::default();
    db.run_default(
        "{:create t {k: Int => name: String?, score: Float, data: Json, v: <F32; 3>, any}}
         {:create e {fr: String, to: String}}",
    )
    .unwrap();
    for (script, expected) in [
        ("?[k, name, score] := *t{k, name, score}", "Int? String? Float?"),
        ("?[k, name] := *t{k, name}, k = 5", "Int? String?"),
        ("?[k, data, v, any] := *t{k, data, v, any}", "Int? Json? <F32;3>? -"),
        ("r[a, b] := *t{k: a, name: b}  ?[b, x] := r[a, b], x = a", "String? Int?"),
        ("?[name, count(k), sum(score), max(k), unique(k)] := *t{name, k, score}", "String? Int Float Int? -"),
        ("?[x, y, z] := x in [1, 2], x > 5, y = 'a', z = x + 1", "Int? String? -"),
        ("?[x] := x in [1, 2.5], x > 5", "-"),
        ("?[x] := *t{k: x}  ?[x] := *t{name: x}", "-"),
        ("p[x, y] := *e{fr: x, to: y}  p[x, y] := p[x, z], *e{fr: z, to: y}  ?[x, y] := p[x, y]", "String? String?"),
        (
            "p[x, min(n)] := *e{fr: x}, n = 0  p[x, min(n)] := p[y, m], *e{fr: y, to: x}, n = m + 1  ?[x, n] := p[x, n]",
            "String? -",
        ),
        ("e[] <~ ConnectedComponents(*e[fr, to])  ?[a, b] := e[a, b]", "- -"),
        ("r[a] <- []  ?[a] := r[a]", "-"),
        ("?[k, name] := *t{k, name} :order k :limit 3", "Int? String?"),
    ] {
        let result = run(&db, script);
        assert!(result.rows.is_empty(), "{script}");
        let of_column = |column: &Column| match column {
            Column::Int(_) => "Int",
            Column::Float(_) => "Float",
            _ => "-",
        };
        let types = result.types.iter().zip(&result.rows.columns);
        let types: Vec<&str> = types.map(|(known, column)| known.as_deref().unwrap_or(of_column(column))).collect();
        assert_eq!(types.join(" "), expected, "{script}");
    }
    db.run_default(
        "?[k, name, score, data, v, any] <- [[1, null, 0.5, 1, [1, 2, 3], 1]] :put t {k => name, score, data, v, any}",
    )
    .unwrap();
    let types = run(&db, "?[k, name] := *t{k, name}").types;
    assert_eq!(types, [None, Some("String?".to_string())]);
    assert!(run(&db, "?[k, score] := *t{k, score}").types.is_empty());
}
