//! Ordinary indices: what they are to scripts, when they are read, and that they follow every write.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod maintenance;

use std::collections::BTreeMap;

use common::{code, failure, number, rows};
use cozo::{DataValue, DbInstance, NamedRows};

/// Users 0 to 99 of ten cities, by key; city and age are values.
fn users() -> DbInstance {
    let db = DbInstance::default();
    rows(
        &db,
        "?[id, city, age] := id in int_range(100), city = 'c' ++ to_string(id % 10), age = id % 7
         :create user {id: Int => city: String, age: Int?}",
    );
    db
}

/// What a query reads, and how: each operator that reads a relation, with that relation, in order.
fn reads(db: &DbInstance, query: &str) -> Vec<String> {
    let explained = rows(db, &format!("::explain {{ {query} }}"));
    let line = |row: &Vec<DataValue>| Some(format!("{} {}", row[4].get_str()?, row[5].get_str()?));
    let mut lines: Vec<String> = explained.iter().filter_map(line).collect();
    lines.reverse();
    lines
}

#[test]
fn an_index_is_read_where_it_begins_with_bound_columns() {
    let db = users();
    rows(&db, "::index create user:city {city}");
    rows(&db, "::index create user:both {age, city}");
    for (query, expected) in [
        // Bound by the key: the relation.
        ("?[age] := *user{id: 3, age}", vec!["stored_prefix_join :user"]),
        ("?[age] := *user{id: 3, city: 'c3', age}", vec!["stored_prefix_join :user"]),
        // Covered: the index alone.
        ("?[id] := *user{city: 'c3', id}", vec!["stored_prefix_join :user:city"]),
        ("?[id] := c = 'c3', *user{city: c, id}", vec!["stored_prefix_join :user:city"]),
        ("?[id] := *user{city: 'c3', age: 3, id}", vec!["stored_prefix_join :user:both"]),
        ("?[id, city] := *user{age: 3, city, id}", vec!["stored_prefix_join :user:both"]),
        ("?[n] := n = 1, *user{city: 'c3'}", vec!["stored_prefix_exists :user:city"]),
        // Not covered: the index, then the relation by its key.
        ("?[age] := *user{city: 'c3', age}", vec!["stored_prefix_join :user:city", "stored_prefix_join :user"]),
        // Nothing bound, or a filter: the relation.
        ("?[id] := *user{city, id}", vec!["load_stored :user"]),
        ("?[id] := *user{city, id}, city == 'c3'", vec!["load_stored :user"]),
        // Negated: only where one look-up decides.
        ("?[c] := c = 'c3', not *user{city: c}", vec!["stored_neg_prefix_join :user:city"]),
        ("?[c] := c = 'c3', not *user{city: c, age: 3}", vec!["stored_neg_prefix_join :user:both"]),
    ] {
        assert_eq!(reads(&db, query), expected, "{query}");
    }
}

#[test]
fn the_longest_run_of_bound_columns_wins_and_then_the_first_name() {
    let db = users();
    for index in ["b {city}", "a {city}", "c {city, age}"] {
        rows(&db, &format!("::index create user:{index}"));
    }
    assert_eq!(reads(&db, "?[id] := *user{city: 'c3', id}"), ["stored_prefix_join :user:a"]);
    assert_eq!(reads(&db, "?[id] := *user{city: 'c3', age: 3, id}"), ["stored_prefix_join :user:c"]);
    rows(&db, "::index drop user:a");
    assert_eq!(reads(&db, "?[id] := *user{city: 'c3', id}"), ["stored_prefix_join :user:b"]);
}

#[test]
fn an_index_serves_joins_negation_recursion_and_expressions() {
    let plain = users();
    let indexed = users();
    rows(&indexed, "::index create user:city {city}");
    rows(&indexed, "::index create user:age {age}");
    for query in [
        "c[c] <- [['c1'], ['c2'], ['zz']] ?[c, count(id), sum(age)] := c[c], *user{city: c, id, age}",
        "c[c] <- [['c1'], ['zz']] ?[c] := c[c], not *user{city: c}",
        "c[c, a] <- [['c1', 1], ['c1', 9]] ?[c, a] := c[c, a], not *user{city: c, age: a}",
        "r[id] := id = 1  r[id] := r[x], *user{id: x, age}, y = age + 1, *user{age: y, id}  ?[id] := r[id]",
        "?[a, b] := *user{id: a, city}, a < 3, *user{city, id: b}",
        "?[id, age] := *user{city: concat('c', to_string(1 + 2)), id, age}",
        "?[count(id)] := *user{city: 'c1', id}",
        "?[count(age)] := *user{city: 'c1', age}",
        "?[count(city)] := *user{age: 1.0, city}",
    ] {
        assert_eq!(rows(&plain, query), rows(&indexed, query), "{query}");
    }
}

#[test]
fn a_value_that_differs_each_time_is_computed_once() {
    let db = DbInstance::default();
    rows(&db, "?[a, k, b, c] := a in int_range(50), k in int_range(4), b = 1, c = a :create r {a, k => b, c}");
    rows(&db, "::index create r:i {b}");
    // Each of the 50 values of `a` has one row with whichever `k` is drawn.
    assert_eq!(number(&db, "?[count(c)] := *r{k: rand_int(0, 3), b: 1, c}"), 50);
}

#[test]
fn an_index_is_renamed_with_its_relation() {
    let db = users();
    rows(&db, "::index create user:city {city}");
    rows(&db, "::rename user -> person");
    assert_eq!(failure(&db, "?[id] := *user:city{city: 'c3', id}"), "query::relation_not_found");
    assert_eq!(number(&db, "?[count(id)] := *person:city{city: 'c3', id}"), 10);
    // A new relation of the old name may have an index of the same name.
    rows(&db, "?[id, city] <- [[1, 'c3']] :create user {id => city}");
    rows(&db, "::index create user:city {city}");
    assert_eq!(number(&db, "?[count(id)] := *user:city{city: 'c3', id}"), 1);
    rows(&db, "?[id, city, age] <- [[1000, 'c3', 1]] :put person {id => city, age}");
    assert_eq!(number(&db, "?[count(id)] := *person:city{city: 'c3', id}"), 11);
    rows(&db, "::index drop person:city");
    assert_eq!(failure(&db, "?[id] := *person:city{city: 'c3', id}"), "query::relation_not_found");
    rows(&db, "::remove person");
}

#[test]
fn an_index_is_as_accessible_as_its_relation_and_never_written() {
    let db = users();
    rows(&db, "::index create user:city {city}");
    rows(&db, "::access_level hidden user");
    assert_eq!(failure(&db, "?[id] := *user:city{city: 'c3', id}"), "tx::insufficient_access_level");
    assert_eq!(code(db.export_relations(["user:city"].iter()).unwrap_err()), "tx::insufficient_access_level");
    rows(&db, "::access_level read_only user");
    assert_eq!(number(&db, "?[count(id)] := *user:city{city: 'c3', id}"), 10);
    assert_eq!(failure(&db, "::index create user:age {age}"), "tx::insufficient_access_level");
    assert_eq!(failure(&db, "::index drop user:city"), "tx::insufficient_access_level");
    rows(&db, "::access_level normal user");
    for script in
        ["?[city, id] <- [['x', 1]] :put user:city {city, id}", "::remove user:city", "::rename user:city -> x"]
    {
        assert_eq!(failure(&db, script), "parser::pest", "{script}");
    }
    for name in ["user:city", "-user:city"] {
        let data = NamedRows::new(vec!["city".into(), "id".into()], vec![vec!["x".into(), 1.into()]]);
        let import = db.import_relations(BTreeMap::from([(name.to_string(), data)]));
        assert_eq!(code(import.unwrap_err()), "tx::import_into_index", "{name}");
    }
}

#[test]
fn a_relation_with_indices_is_not_removed() {
    let db = users();
    rows(&db, "::index create user:city {city}");
    assert_eq!(failure(&db, "::remove user"), "tx::relation_has_indices");
    rows(&db, "::index drop user:city");
    rows(&db, "::remove user");
}

#[test]
fn an_index_is_exported_as_the_relation_that_it_is() {
    let db = users();
    rows(&db, "::index create user:city {city}");
    let exported = db.export_relations(["user:city"].iter()).unwrap();
    assert_eq!(exported["user:city"].headers, ["city", "id"]);
    assert_eq!(exported["user:city"].rows.len(), 100);
    let columns = rows(&db, "::columns user:city");
    let text = |row: &Vec<DataValue>| format!("{} {} {}", row[0], row[1], row[3]);
    assert_eq!(columns.iter().map(text).collect::<Vec<_>>(), ["\"city\" true \"String\"", "\"id\" true \"Int\""]);
}

#[test]
fn mistakes_around_indices_have_their_codes() {
    let db = users();
    rows(&db, "::index create user:city {city}");
    for (script, expected) in [
        ("::index create user:x {}", "parser::empty_index"),
        ("::index create user:x {nope}", "tx::col_in_idx_not_found"),
        ("::index create user:x {city, city}", "parser::dup_name_in_cols"),
        ("::index create user:city {age}", "tx::index_already_exists"),
        ("::index create nope:x {age}", "query::relation_not_found"),
        ("::index drop user:nope", "tx::idx_not_found"),
        ("::index drop nope:x", "query::relation_not_found"),
        ("::columns user:nope", "query::relation_not_found"),
        ("?[a] := *user:nope{a}", "query::relation_not_found"),
        ("?[a] := *user:city{age: a}", "eval::named_field_not_found"),
    ] {
        assert_eq!(failure(&db, script), expected, "{script}");
    }
    // Any kind of drop takes any index.
    rows(&db, "::fts drop user:city");
    assert!(rows(&db, "::indices user").is_empty());
}

#[test]
fn an_index_made_within_a_script_has_what_the_script_wrote() {
    let db = DbInstance::default();
    let script = "{?[k, v] <- [[1, 'a'], [2, 'b']] :create r {k => v}}
                  {::index create r:i {v}}
                  {?[k, v] <- [[3, 'a'], [2, 'c']] :put r {k => v}}
                  {?[k] <- [[1]] :rm r {k}}
                  {::index create r:j {v}}
                  {::index drop r:j}
                  {::index create r:j {k, v}}
                  {?[v, k] := *r:i[v, k]}";
    let expected = vec![vec!["a".into(), 3.into()], vec!["c".into(), DataValue::from(2)]];
    assert_eq!(rows(&db, script), expected);
    assert_eq!(rows(&db, "?[v, k] := *r:i[v, k]"), expected);
    assert_eq!(rows(&db, "?[v, k] := *r:j[k, v]"), expected);
}

#[test]
fn a_writer_that_does_not_know_an_index_loses() {
    let db = users();
    let late = db.multi_transaction(true);
    late.run_script("?[id, city, age] <- [[500, 'c3', 1]] :put user {id => city, age}", BTreeMap::new()).unwrap();
    rows(&db, "::index create user:city {city}");
    assert_eq!(code(late.commit().unwrap_err()), "transact::schema_conflict");
    let late = db.multi_transaction(true);
    late.run_script("?[id, city, age] <- [[500, 'c3', 1]] :put user {id => city, age}", BTreeMap::new()).unwrap();
    rows(&db, "::index drop user:city");
    assert_eq!(code(late.commit().unwrap_err()), "transact::schema_conflict");
    let late = db.multi_transaction(true);
    late.run_script("?[id, city, age] <- [[500, 'c3', 1]] :put user {id => city, age}", BTreeMap::new()).unwrap();
    rows(&db, "::access_level protected user");
    late.commit().unwrap();
}

/// Retries a script that others are in the way of.
fn insist(db: &DbInstance, script: &str) {
    while let Err(error) = db.run_default(script) {
        let code = code(error);
        assert!(["transact::conflict", "transact::schema_conflict"].contains(&code.as_str()), "{code}: {script}");
    }
}

#[test]
fn an_index_made_while_others_write_lacks_nothing() {
    let db = DbInstance::default();
    rows(&db, "?[k, v] := k in int_range(20000), v = k % 100 :create r {k: Int => v: Int}");
    std::thread::scope(|scope| {
        let writer = || {
            for n in 0..200 {
                insist(&db, &format!("?[k, v] <- [[{}, {}]] :put r {{k => v}}", n * 211 % 30000, n % 7));
                if n % 20 == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
            }
        };
        scope.spawn(writer);
        for _ in 0..5 {
            insist(&db, "::index create r:i {v}");
            assert!(rows(&db, "?[k] := *r[k, v], not *r:i{v, k}").is_empty());
            assert!(rows(&db, "?[k] := *r:i[v, k], not *r{k, v}").is_empty());
            insist(&db, "::index drop r:i");
        }
        insist(&db, "::index create r:i {v}");
    });
    assert!(rows(&db, "?[v, k] := *r:i[v, k]") == rows(&db, "?[v, k] := *r[k, v]"));
}

#[test]
fn a_large_index_is_built_in_order_over_all_types() {
    let db = DbInstance::default();
    rows(
        &db,
        "?[k, i, n, f, s, m] := k in int_range(20000), i = (k * 7919) % 503, f = (k * 31) % 101 / 4,
                n = if(k % 5 == 0, null, i % 17), s = to_string((k * 13) % 997), m = if(k % 3 == 0, i, s)
         :create r {k => i, n, f, s, m}",
    );
    for column in ["i", "n", "f", "s", "m"] {
        rows(&db, &format!("::index create r:by_{column} {{{column}}}"));
        let scan = format!("?[{column}, k] := *r{{k, {column}}}");
        assert!(rows(&db, &format!("?[x, k] := *r:by_{column}[x, k]")) == rows(&db, &scan), "{column}");
        let look_up = format!("?[count(k)] := x in [1, 1.0, null, '1', 2.5, 300], *r{{k, {column}: x}}");
        let filter = format!("?[count(k)] := *r{{k, {column}: y}}, x in [1, 1.0, null, '1', 2.5, 300], is_in(y, [x])");
        assert_eq!(rows(&db, &look_up), rows(&db, &filter), "{column}");
    }
}
