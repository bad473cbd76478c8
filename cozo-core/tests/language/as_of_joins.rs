//! Reads of histories as of the time of each row, `*relation{... @ variable}`: against one read as of each time, plans and errors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use cozo::{DataValue, DbInstance};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::common::{failure, number, rows};

/// Prices of articles in shops over time, and sales. Every tenth sale has no time.
fn shops(seed: u64) -> DbInstance {
    let db = DbInstance::default();
    let mut random = StdRng::seed_from_u64(seed);
    let mut prices = BTreeSet::new();
    for _ in 0..300 {
        prices.insert((
            random.random_range(0..6),
            random.random_range(0..5),
            random.random_range(0..40),
            random.random_bool(0.8),
        ));
    }
    let price =
        |(shop, item, at, asserts): &(i64, i64, i64, bool)| format!("[{shop}, {item}, [{at}, {asserts}], {}]", at % 7);
    let prices: Vec<String> = prices.iter().map(price).collect();
    rows(
        &db,
        &format!(
            "?[shop, item, at, cents] <- [{}] :create price {{shop: Int, item: Int, at: Validity => cents: Int}}",
            prices.join(",")
        ),
    );
    let sale = |id: i64, random: &mut StdRng| {
        let time = if id % 10 == 0 { "null".to_string() } else { random.random_range(-2..45).to_string() };
        format!(
            "[{id}, {}, {}, {time}, {}]",
            random.random_range(0..7),
            random.random_range(0..6),
            random.random_range(0..7)
        )
    };
    let sales: Vec<String> = (1..=200).map(|id| sale(id, &mut random)).collect();
    rows(
        &db,
        &format!(
            "?[id, shop, item, t, cents] <- [{}] :create sale {{id: Int => shop: Int, item: Int, t: Int?, cents: Int}}",
            sales.join(",")
        ),
    );
    db
}

/// What a script gives that is asked once for each sale, with its values in place of `$shop`, `$item`, `$t` and `$cents`.
fn one_by_one(db: &DbInstance, script: &str) -> BTreeSet<Vec<DataValue>> {
    let mut found = BTreeSet::new();
    for sale in rows(db, "?[id, shop, item, t, cents] := *sale{id, shop, item, t, cents}, !is_null(t)") {
        let names = ["$id", "$shop", "$item", "$t", "$cents"];
        let filled = names
            .iter()
            .zip(&sale)
            .fold(script.to_string(), |script, (name, value)| script.replace(name, &value.to_string()));
        found.extend(rows(db, &filled));
    }
    found
}

#[test]
fn each_row_is_read_as_of_its_own_time() {
    for seed in 0..4 {
        let db = shops(seed);
        for (joined, each) in [
            (
                "?[id, c] := *sale{id, shop, item, t}, *price{shop, item, cents: c @ t}",
                "?[id, c] := id = $id, *price{shop: $shop, item: $item, cents: c @ $t}",
            ),
            (
                "?[id, c] := *price{shop, item, cents: c @ t}, *sale{id, shop, item, t}",
                "?[id, c] := id = $id, *price{shop: $shop, item: $item, cents: c @ $t}",
            ),
            (
                "?[id, i, c] := *sale{id, shop, t}, *price[shop, i, _, c @ t]",
                "?[id, i, c] := id = $id, *price[$shop, i, _, c @ $t]",
            ),
            (
                "?[id, s, c] := *sale{id, item, t}, *price[s, item, _, c @ t]",
                "?[id, s, c] := id = $id, *price[s, $item, _, c @ $t]",
            ),
            (
                "?[id, s, i] := *sale{id, t, cents}, *price{shop: s, item: i, cents @ t}",
                "?[id, s, i] := id = $id, *price{shop: s, item: i, cents: $cents @ $t}",
            ),
            (
                "?[id, v, c] := *sale{id, shop, t}, *price{shop, item: 2, at: v, cents: c @ (t ~ -9) + 3}",
                "?[id, v, c] := id = $id, *price{shop: $shop, item: 2, at: v, cents: c @ $t + 3}",
            ),
            (
                "?[id, c] := *sale{id, shop, item, t}, *price{shop: shop + 1 - 1, item, cents: c @ t}, c > 2",
                "?[id, c] := id = $id, *price{shop: $shop, item: $item, cents: c @ $t}, c > 2",
            ),
        ] {
            let found: BTreeSet<Vec<DataValue>> = rows(&db, joined).into_iter().collect();
            assert_eq!(found, one_by_one(&db, each), "seed {seed}: {joined}");
            assert!(!found.is_empty(), "{joined}");
        }
    }
}

#[test]
fn times_are_those_that_constants_may_be() {
    let db = DbInstance::default();
    rows(
        &db,
        "?[k, at, v] <- [[1, '2024-01-01', 'old'], [1, '2024-03-01', 'new'], [1, '~2024-05-01', null]] :create r {k, at: Validity => v}",
    );
    let script = "t[t] <- [['2024-02-01'], ['2024-03-01 00:00'], ['2024-06-01'], ['2023-01-01'], ['END'], [null]]
        ?[t, v] := t[t], *r{k: 1, v @ t}";
    let expected: Vec<Vec<DataValue>> =
        [["2024-02-01", "old"], ["2024-03-01 00:00", "new"]].map(|row| row.map(DataValue::from).to_vec()).to_vec();
    assert_eq!(rows(&db, script), expected);
    assert_eq!(failure(&db, "t[t] <- [['soon']] ?[v] := t[t], *r{k: 1, v @ t}"), "parser::bad_validity_spec");
    assert_eq!(failure(&db, "t[t] <- [[1700000000.5]] ?[v] := t[t], *r{k: 1, v @ t}"), "parser::bad_validity_spec");
}

#[test]
fn the_time_is_an_input_and_the_key_is_looked_up() {
    let db = shops(1);
    let plan = rows(&db, "::explain { ?[id, c] := *price{shop, item, cents: c @ t}, *sale{id, shop, item, t} }");
    let text = format!("{plan:?}");
    assert!(text.contains("stored_as_of_join") && text.contains("shop = ") && text.contains("item = "), "{text}");
    for (script, expected) in [
        ("?[v] := *price{cents: v @ t}", "eval::unbound_variable"),
        ("?[id] := *sale{id, shop, item, t}, not *price{shop, item @ t}", "eval::negated_as_of"),
        ("?[id] := *sale{id, t}, *sale{id @ t}", "eval::invalid_time_travel"),
        ("?[c] := *sale{t}, *price{cents: c @ now() - t}", "parser::bad_validity_spec"),
        ("?[c] := *sale{t}, *price[s, c @ t]", "eval::rule_arity_mismatch"),
        ("?[c] := *sale{t}, *price{sents: c @ t}", "eval::named_field_not_found"),
    ] {
        assert_eq!(failure(&db, script), expected, "{script}");
    }
}

#[test]
fn histories_are_read_as_of_times_in_recursion_aggregation_and_negated_rules() {
    let db = shops(2);
    let sum = "?[sum(c)] := *sale{id, shop, item, t}, *price{shop, item, cents: c @ t}";
    let all = "p[id, c] := *sale{id, shop, item, t}, *price{shop, item, cents: c @ t}  ?[sum(c)] := p[id, c]";
    assert_eq!(rows(&db, sum), rows(&db, all));
    let known = "known[id] := *sale{id, shop, item, t}, *price{shop, item @ t}";
    let both = number(&db, &format!("{known}  ?[count(id)] := *sale{{id}}, known[id]"));
    let others = number(&db, &format!("{known}  ?[count(id)] := *sale{{id}}, not known[id]"));
    assert!(both > 0 && others > 0);
    assert_eq!(both + others, 200);
    // From moment to moment: each price is the time of the next look.
    let walk =
        "w[t] := t = 39  w[t] := w[s], *price{shop: 1, item: 1, cents: c @ s}, t = s - c - 1  ?[count(t)] := w[t]";
    let mut expected = BTreeSet::from([39]);
    let mut at = 39;
    while let [row] = &rows(&db, &format!("?[c] := *price{{shop: 1, item: 1, cents: c @ {at}}}"))[..] {
        at -= row[0].get_int().unwrap() + 1;
        expected.insert(at);
    }
    assert_eq!(number(&db, walk), expected.len() as i64);
}

#[test]
fn seconds_are_no_time_to_read() {
    let db = DbInstance::default();
    db.run_default("?[k, at, v] <- [[1, '2024-01-01', 5]] :create h {k: Int, at: Validity => v: Int}").unwrap();
    db.run_default("?[k, at] <- [[1, parse_timestamp('2024-06-01')]] :create ev {k: Int => at: Float}").unwrap();
    for read in [
        "t = parse_timestamp('2024-06-01'), *h{k, v @ t}",
        "*ev{k, at}, *h{k, v @ at}",
        "t in [1717200000.0], *h{k, v @ t}",
    ] {
        assert_eq!(failure(&db, &format!("?[v] := {read}")), "parser::bad_validity_spec", "{read}");
    }
    assert_eq!(rows(&db, "?[v] := *ev{k, at}, t = to_micros(at), *h{k, v @ t}").len(), 1);
}
