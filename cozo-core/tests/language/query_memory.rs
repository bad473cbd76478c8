//! Queries that would take more memory than they may end with an error, and the database goes on.

#![allow(clippy::unwrap_used)]

use cozo::DbInstance;

/// A database in which a query may take 16 MB.
fn db() -> DbInstance {
    let db = DbInstance::new("mem", "", r#"{"query_memory_mb": 16}"#).unwrap();
    db.run_default("n[x] := x in int_range(1000)  ?[a, b] := n[a], n[c], c < 10, b = a * 7 % 11 + c  :create r {a, b}")
        .unwrap();
    db
}

fn refused(db: &DbInstance, script: &str) {
    let error = db.run_default(script).expect_err(script);
    assert_eq!(
        error.code().map(|code| code.to_string()).as_deref(),
        Some("eval::out_of_memory"),
        "{script}: {error:?}"
    );
    assert!(error.to_string().contains("16 MB"), "{error}");
    assert_eq!(
        db.run_default("?[count(a)] := *r[a, b]").unwrap().rows[0][0].get_int().map(|rows| rows > 0),
        Some(true)
    );
}

#[test]
fn what_outgrows_the_limit_is_refused() {
    let db = db();
    for script in [
        "?[a, c] := *r[a, b], *r[c, d]",
        "s[x] := x = 0  s[x] := s[y], x = y + 1  ?[x] := s[x]",
        "w[x, s] := x = 0, s = 'text'  w[x, s] := w[y, t], x = y + 1, s = concat(t, to_string(y))  ?[x] := w[x, s]",
        "?[a, collect(c)] := *r[a, b], *r[c, d]",
        "?[count_unique(p)] := *r[a, b], *r[c, d], p = a * 100000000 + b * 1000000 + c * 1000 + d",
        "?[median(d)] := *r[a, b], *r[c, d]",
        "?[string_join(s)] := *r[a, b], *r[c, d], s = 'a text'",
        "?[g, max(s)] := *r[a, b], *r[c, d], g = a * 1000 + c, s = repeat('text', 20 + d)",
        "?[x] := x = join(int_range(1000), repeat(' ', 100000))",
        "?[x] := x = json_entries(parse_json('{' ++ join(s, ',') ++ '}')), s = chars(repeat('a', 1000000))",
        "?[a, b, e, f, g, count(d)] := *r[a, b], *r[c, d], e = a + c, f = a * c, g = d",
        "?[x, y] := x in int_range(100000), y in int_range(3)",
    ] {
        refused(&db, script);
    }
}

#[test]
fn what_is_small_runs_however_much_it_reads() {
    let db = db();
    let counted = db.run_default("?[count(a)] := *r[a, b], *r[c, d], c < 30").unwrap();
    assert!(counted.rows[0][0].get_int() > Some(1_000_000));
    let grouped =
        db.run_default("?[x, sum(a), min(b), unique(y)] := *r[a, b], *r[c, d], c < 20, x = a % 10, y = b % 3").unwrap();
    assert_eq!(grouped.rows.len(), 10);
}

/// Look-ups that are so many that reading the whole relation would be quicker, if it were not larger than the memory for queries.
#[test]
fn what_is_read_only_to_be_quicker_is_not_what_outgrows_the_limit() {
    const NODES: i64 = 100_000;
    let db = db();
    db.run_default(":create edge {a: Int => b: Int, text: String}").unwrap();
    for start in (0..NODES).step_by(10_000) {
        let script = format!(
            "?[a, b, text] := a in int_range({start}, {}), b = a + 1, text = concat('{}', to_string(a))  :put edge {{a => b, text}}",
            start + 10_000,
            "long text ".repeat(30)
        );
        db.run_default(&script).unwrap();
    }
    let walk = format!(
        "r[x, n] := x = {}, n = 0  r[y, n] := r[x, _], *edge{{a: x, b: y, text}}, n = length(text)  ?[count(x), max(n)] := r[x, n]",
        NODES - 30_000
    );
    let joined = "?[count(x), max(n)] := x in int_range(0, 100000, 2), *edge{a: x, text}, n = length(text)";
    for _ in 0..2 {
        let rows = db.run_default(&walk).unwrap().rows;
        assert_eq!((rows[0][0].get_int(), rows[0][1].get_int()), (Some(30_001), Some(305)));
        let rows = db.run_default(joined).unwrap().rows;
        assert_eq!((rows[0][0].get_int(), rows[0][1].get_int()), (Some(50_000), Some(305)));
    }
    refused(&db, "s[x] := x = 0  s[x] := s[y], x = y + 1  ?[x] := s[x]");
}
