//! Joins by comparisons: against the same query with its comparisons hidden from the planner, on values of all kinds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use cozo::{DataValue, DbInstance, NamedRows};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::common::{code, number, rows};

/// A body: the atoms before its comparisons, the comparisons, and what comes after.
struct Body {
    atoms: &'static str,
    comparisons: &'static [&'static str],
    after: &'static str,
}

const fn body(atoms: &'static str, comparisons: &'static [&'static str]) -> Body {
    Body { atoms, comparisons, after: "" }
}

/// Bodies that bind `i` and `j`, and `u` to a value of the joined relation.
const BODIES: &[Body] = &[
    body("*l{i, s}, *r{j, u}", &["u < s"]),
    body("*l{i, s}, *r{j, u}", &["u <= s"]),
    body("*l{i, s}, *r{j, u}", &["s < u"]),
    body("*l{i, s}, *r{j, u}", &["s <= u"]),
    body("*l{i, s, t}, *r{j, u}", &["s <= u", "u < t"]),
    body("*l{i, s, t}, *r{j, u}", &["u > s", "t >= u"]),
    body("*l{i, s: u}, *r{j, u: a, v: b}", &["a <= u", "u < b"]),
    body("*l{i, s: u}, *r{j, u: a, v: b}", &["a >= u", "b >= u"]),
    body("*l{i, s: u, t}, *r{j, u: a, v: b}", &["a < u", "b <= t"]),
    body("*l{i, s: u, t}, *r{j, u: a, v: b}", &["a > u", "a <= t", "b > t"]),
    body("*l{i, s: u, t}, *r{j, u: a, v: b}", &["a < t", "b > u", "a <= u"]),
    Body { atoms: "*l{i, s}, *r{j, u, v}", comparisons: &["u < s"], after: ", j % 3 != 1, v != 2" },
    Body { atoms: "*l{i, s}, *r{j, u, v}", comparisons: &["v > s"], after: ", u != s" },
    Body { atoms: "*l{i, s}, *r{j, u: a}, u = [a]", comparisons: &["u < [s]"], after: "" },
    body("*l{i, g, s}, *r{j, g, u}", &["u < s"]),
    body("*l{i, g, s, t}, *r{j, g, u}", &["s <= u", "u < t"]),
    body("*l{i, g, s: u}, *r{j, g, u: a, v: b}", &["a <= u", "u < b"]),
    body("*l{i, g, s}, *keyed{g, j, u}", &["u <= s"]),
    body("*l{i, g, s: u}, *keyed{g, j, u: a, v: b}", &["a <= u", "u <= b"]),
    body("*l{i, g, s}, derived[g, j, u]", &["s <= u"]),
    body("*l{i, s}, *keyed{g: 1, j, u}", &["s <= u"]),
    body("*l{i, s}, derived[_, j, u]", &["s <= u"]),
    body("*l{i, s}, *r{j, u: a}, *keyed{g: j, j: b, u}", &["a < s"]),
];

const HEADS: &[&str] = &["i, j, u", "i", "i, max(u)", "i, min(u)", "i, count(u)", "i, collect(u)", "max(u)", "max(j)"];

const DERIVED: &str = "derived[g, j, u] := *r{g, j, u} ";

/// Numbers whose order and equality are delicate.
fn delicate() -> Vec<DataValue> {
    let big = 1i64 << 53;
    let ints = [0, 1, 2, -1, big, big + 1, big + 2, i64::MAX, i64::MAX - 1, i64::MIN, i64::MIN + 1];
    let floats = [0.0, -0.0, 1.0, 1.5, big as f64, 9223372036854775808.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    ints.into_iter().map(DataValue::from).chain(floats.into_iter().map(DataValue::from)).collect()
}

/// Values of several kinds, each with a name.
fn pools() -> Vec<(&'static str, Vec<DataValue>)> {
    let ints: Vec<DataValue> = (0..12).map(DataValue::from).collect();
    let floats: Vec<DataValue> = (-4..8).map(|n| DataValue::from(f64::from(n) / 2.0)).collect();
    let texts: Vec<DataValue> = ["", "a", "ab", "b", "ba", "é"].map(DataValue::from).to_vec();
    let with = |values: &[DataValue], other: DataValue| values.iter().cloned().chain([other]).collect();
    vec![
        ("floats", floats.clone()),
        ("numbers", ints.iter().chain(&floats).cloned().collect()),
        ("delicate", delicate()),
        ("nulls", vec![DataValue::Null; 2]),
        ("lists", [vec![], vec![1.into()], vec![1.into(), 2.into()]].map(DataValue::List).to_vec()),
        ("one text", with(&ints, "x".into())),
        ("one null", with(&texts, DataValue::Null)),
        ("sets of types", vec![1.into(), "a".into(), true.into(), DataValue::List(vec![])]),
        ("texts", texts),
        ("ints", ints),
    ]
}

/// Relations with random values of a pool.
fn database(values: &[DataValue], seed: u64, [of_l, of_r]: [usize; 2]) -> DbInstance {
    let db = DbInstance::default();
    let mut random = StdRng::seed_from_u64(seed);
    let mut value = || values[random.random_range(0..values.len())].clone();
    let import = |script: &str, name: &str, headers: [&str; 4], rows_of: Vec<Vec<DataValue>>| {
        rows(&db, script);
        let data = NamedRows::new(headers.map(String::from).to_vec(), rows_of);
        db.import_relations(BTreeMap::from([(name.to_string(), data)])).unwrap();
    };
    let group = |number: usize| DataValue::from(number as i64 % 3);
    let of = |len: usize, value: &mut dyn FnMut() -> DataValue| {
        (0..len).map(|number| vec![(number as i64).into(), group(number * 7 / 2), value(), value()]).collect::<Vec<_>>()
    };
    let l = of(of_l, &mut value);
    let r = of(of_r, &mut value);
    let keyed = r.iter().map(|row| vec![row[1].clone(), row[0].clone(), row[2].clone(), row[3].clone()]).collect();
    import(":create l {i: Int => g, s, t}", "l", ["i", "g", "s", "t"], l);
    import(":create r {j: Int => g, u, v}", "r", ["j", "g", "u", "v"], r);
    import(":create keyed {g, j => u, v}", "keyed", ["g", "j", "u", "v"], keyed);
    db
}

/// A query, as it is or with comparisons that the planner does not know.
fn query(head: &str, body: &Body, hides: bool) -> String {
    let comparisons: Vec<String> = body.comparisons.iter().map(|text| comparison(text, hides)).collect();
    let derived = if body.atoms.contains("derived") { DERIVED } else { "" };
    format!("{derived} ?[{head}] := {}, {}{}", body.atoms, comparisons.join(", "), body.after)
}

fn comparison(text: &str, hides: bool) -> String {
    if hides { format!("if({text}, true, rand_bernoulli(0))") } else { text.to_string() }
}

/// The answer of a script, or the code of its error.
fn answer(db: &DbInstance, script: &str) -> Result<Vec<Vec<DataValue>>, String> {
    db.run_default(script).map(|answer| answer.rows).map_err(code)
}

/// The operators of a plan.
fn operators(db: &DbInstance, script: &str) -> Vec<String> {
    rows(db, &format!("::explain {{ {script} }}")).iter().map(|row| format!("{} {}", row[4], row[7])).collect()
}

#[test]
fn joins_by_comparisons_give_what_comparing_all_pairs_gives() {
    let (mut joins, mut refused) = (0, 0);
    for (seed, (name, values)) in pools().iter().enumerate() {
        let db = database(values, seed as u64, [40, 160]);
        for body in BODIES {
            for head in HEADS {
                let (plain, hidden) = (query(head, body, false), query(head, body, true));
                let (given, expected) = (answer(&db, &plain), answer(&db, &hidden));
                assert_eq!(given, expected, "{name}: {plain}");
                refused += usize::from(given.is_err());
                joins += usize::from(operators(&db, &plain).iter().any(|line| line.contains("range_join")));
                assert!(!operators(&db, &hidden).iter().any(|line| line.contains("range_join")), "{hidden}");
            }
        }
    }
    let all = pools().len() * BODIES.len() * HEADS.len();
    // The order that `collect` keeps excludes look-ups by a key, whose sizes are not asked for.
    assert!(joins > all * 9 / 10, "{joins} of {all} are joins by comparisons");
    assert!((all / 10..all * 9 / 10).contains(&refused), "{refused} of {all} are refused");
}

#[test]
fn few_rows_are_joined_in_another_way() {
    for sizes in [[0, 0], [0, 50], [1, 50], [3, 50], [50, 0], [50, 1], [5, 5]] {
        let db = database(&(0..9).map(DataValue::from).collect::<Vec<_>>(), 1, sizes);
        for body in BODIES {
            for head in HEADS {
                let (plain, hidden) = (query(head, body, false), query(head, body, true));
                assert_eq!(answer(&db, &plain), answer(&db, &hidden), "{sizes:?}: {plain}");
            }
        }
    }
}

/// With many rows, the ordered rows replace look-ups in the middle of a batch, and results fill several batches.
#[test]
fn look_ups_are_replaced_when_they_have_paid() {
    let db = database(&(0..500).map(DataValue::from).collect::<Vec<_>>(), 3, [3000, 900]);
    for body in BODIES.iter().filter(|body| body.atoms.contains("keyed{g, ")) {
        for head in ["count(i)", "sum(i)", "max(u)", "i, count(j)"] {
            let (plain, hidden) = (query(head, body, false), query(head, body, true));
            assert!(operators(&db, &plain).iter().any(|line| line.contains("stored_range_join")), "{plain}");
            assert_eq!(rows(&db, &plain), rows(&db, &hidden), "{plain}");
        }
    }
}

#[test]
fn only_the_last_match_is_looked_up_where_it_is_enough() {
    let db = database(&(0..100).map(DataValue::from).collect::<Vec<_>>(), 2, [50, 200]);
    let matches = |script: &str| {
        let taken = rows(&db, &format!("::explain analyze {{ {script} }}"));
        let at = taken.iter().find(|row| row[4].to_string().contains("range_join")).unwrap();
        at[9].get_int().unwrap()
    };
    for (script, says) in [
        ("?[i, max(u)] := *l{i, s}, *r{u}, u < s", "matches: the last"),
        ("?[i, min(u)] := *l{i, s}, *r{u}, u > s", "matches: the first"),
        ("?[i, max(u)] := *l{i, g, s}, *r{g, u}, u < s", "matches: the last"),
        ("?[s, i, max(u)] := *l{i, s}, *r{j, u}, u >= s - 3, u <= s, j != 7", "matches: the last"),
        ("?[i] := *l{i, s}, *r{u}, u < s", "matches: the last"),
        ("l1[s, max(u)] := *l{s}, *r{u}, u <= s  ?[s, u, v] := l1[s, u], *r{u, v}", "matches: the last"),
    ] {
        assert!(operators(&db, script).iter().any(|line| line.contains(says)), "{script}");
        assert!(matches(script) <= 50, "{script}");
    }
    for script in [
        "?[i, max(u), min(u)] := *l{i, s}, *r{u}, u < s",
        "?[i, max(u), count(u)] := *l{i, s}, *r{u}, u < s",
        "?[i, max(j)] := *l{i, s}, *r{j, u}, u < s",
        "?[i, v, max(u)] := *l{i, s}, *r{u, v}, u < s",
        "?[i, max(u)] := *l{i, s}, *r{u, v}, u < s, v > u - s",
        "?[i, max(w)] := *l{i, s}, *r{u}, u < s, w = u + 1",
        "?[i, j] := *l{i, s}, *r{j, u}, u < s",
    ] {
        assert!(!operators(&db, script).iter().any(|line| line.contains("matches: the")), "{script}");
        assert!(matches(script) > 50, "{script}");
    }
}

#[test]
fn recursion_joins_by_comparisons() {
    let db = database(&(0..60).map(DataValue::from).collect::<Vec<_>>(), 4, [60, 60]);
    for (rules, comparisons) in [
        ("n[u] := u = 0  n[u] := n[s], *r{u}, COMPARE  ?[u] := n[u]", ["u > s", "u < s + 7"]),
        ("n[u] := u = 0  n[u] := *r{u}, n[s], COMPARE  ?[u] := n[u]", ["u > s", "u < s + 7"]),
        (
            "n[u, g] := u = 0, g = 0  n[u, h] := n[s, g], *r{g, u, v: h}, COMPARE  ?[u, g] := n[u, g]",
            ["u > s", "h >= 0"],
        ),
        ("n[u] := u = 0  n[u] := n[s], n[t], *r{u}, COMPARE  ?[u] := n[u]", ["u > s", "u < t + 7"]),
    ] {
        let script = |hides| {
            let texts = comparisons.map(|text| comparison(text, hides)).join(", ");
            rules.replace("COMPARE", &texts)
        };
        let given = rows(&db, &script(false));
        assert_eq!(given, rows(&db, &script(true)), "{}", script(false));
        assert!(given.len() > 5, "{}", script(false));
        assert!(operators(&db, &script(false)).iter().any(|line| line.contains("range_join")), "{}", script(false));
    }
}

#[test]
fn an_ordered_relation_that_exceeds_the_memory_is_joined_in_pieces() {
    let db = DbInstance::new("mem", "", r#"{"query_memory_mb": 16}"#).unwrap();
    rows(&db, ":create r {j: Int => u: Int}");
    for part in 0..10 {
        rows(&db, &format!("?[j, u] := x in int_range(40000), j = x + {part} * 40000, u = j :put r {{j => u}}"));
    }
    let script = "?[count(j)] := s in int_range(100), *r{j, u}, u < s";
    assert_eq!(number(&db, script), 4950);
    // Rows that a filter of the relation alone drops are not kept.
    assert_eq!(number(&db, &format!("{script}, u % 10 == 0")), 495 + 45);
}
