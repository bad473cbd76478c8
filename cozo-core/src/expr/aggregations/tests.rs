//! Tests over all aggregations: tables of results, and properties that hold for each.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::value::{JsonData, Num};

type Outcome = Result<DataValue, FunctionError>;

/// Compares by identity, but any NaN equals any other.
fn same(a: &DataValue, b: &DataValue) -> bool {
    let is_nan = |value: &DataValue| value.get_float().is_some_and(f64::is_nan);
    (is_nan(a) && is_nan(b)) || a == b
}

/// As [`same`], and floats may differ by rounding.
fn close(a: &DataValue, b: &DataValue) -> bool {
    match (a, b) {
        (DataValue::Num(Num::Float(a)), DataValue::Num(Num::Float(b))) if a.is_finite() && b.is_finite() => {
            (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
        }
        _ => same(a, b),
    }
}

/// An accumulator; `quantile`, which needs an argument, is the median without one.
fn start(name: &str, args: &[DataValue]) -> Result<Box<dyn Accumulator>, FunctionError> {
    let aggregation = find(name).expect("a known aggregation");
    match (name, args) {
        ("quantile", []) => (aggregation.start)(&[0.5.into()]),
        _ => (aggregation.start)(args),
    }
}

/// An accumulator with room for groups, from arguments that it accepts.
fn start_groups(name: &str, args: &[DataValue], groups: usize) -> Box<dyn Accumulator> {
    let mut accumulator = start(name, args).expect("accepted arguments");
    accumulator.resize(groups);
    accumulator
}

fn results(accumulator: Box<dyn Accumulator>) -> Vec<DataValue> {
    accumulator.finish().expect("a result").iter().collect()
}

/// The result over one group whose values stand in one column.
fn run_column(name: &str, args: &[DataValue], values: &Column) -> Outcome {
    let mut accumulator = start(name, args)?;
    accumulator.resize(1);
    accumulator.update(&vec![0; values.len()], values)?;
    Ok(accumulator.finish()?.get(0))
}

fn run(name: &str, args: &[DataValue], values: &[DataValue]) -> Outcome {
    run_column(name, args, &values.iter().cloned().collect())
}

/// The result of the meet form over values, of which there is at least one.
fn run_meet(meet: &Meet, values: &[DataValue]) -> Outcome {
    let mut current = (meet.start)(values[0].clone())?;
    for value in &values[1..] {
        let before = current.clone();
        let changed = (meet.improve)(&mut current, value)?;
        assert_eq!(changed, current != before, "improve tells whether {before} changed by {value}");
    }
    Ok(current)
}

fn list(items: &[DataValue]) -> DataValue {
    DataValue::List(items.to_vec())
}

fn bytes(items: &[u8]) -> DataValue {
    DataValue::Bytes(items.to_vec())
}

fn json(items: &[i64]) -> DataValue {
    DataValue::Json(JsonData(items.into()))
}

fn time(micros: i64, asserts: bool) -> DataValue {
    DataValue::Validity((micros, asserts).into())
}

const NULL: DataValue = DataValue::Null;

#[test]
fn results_by_table() {
    let v = |value: i64| DataValue::from(value);
    let f = |value: f64| DataValue::from(value);
    let s = |value: &str| DataValue::from(value);
    let pair = |data: &str, key: DataValue| list(&[data.into(), key]);
    let table: Vec<(&str, Vec<DataValue>, DataValue)> = vec![
        ("and", vec![true.into(), true.into()], true.into()),
        ("and", vec![true.into(), false.into(), true.into()], false.into()),
        ("and", vec![], true.into()),
        ("or", vec![false.into(), true.into(), false.into()], true.into()),
        ("or", vec![false.into()], false.into()),
        ("or", vec![], false.into()),
        ("bit_and", vec![bytes(&[0x0f]), bytes(&[0xf3]), bytes(&[0x3f])], bytes(&[0x03])),
        ("bit_or", vec![bytes(&[0x0f]), bytes(&[0xf3]), bytes(&[0x3f])], bytes(&[0xff])),
        ("bit_xor", vec![bytes(&[0x0f]), bytes(&[0xf3]), bytes(&[0x3f])], bytes(&[0xc3])),
        ("bit_xor", vec![bytes(&[7]), bytes(&[7])], bytes(&[0])),
        ("bit_and", vec![], bytes(&[])),
        ("bit_or", vec![], bytes(&[])),
        ("bit_xor", vec![], bytes(&[])),
        ("choice", vec![NULL, v(7), v(8), NULL], v(7)),
        ("choice", vec![NULL, NULL], NULL),
        ("choice", vec![], NULL),
        ("choice_rand", vec![v(5)], v(5)),
        ("choice_rand", vec![NULL], NULL),
        ("choice_rand", vec![], NULL),
        ("collect", vec![v(1), NULL, v(1), s("x")], list(&[v(1), NULL, v(1), s("x")])),
        ("collect", vec![], list(&[])),
        ("count", vec![NULL, v(1), NULL], v(3)),
        ("count", vec![NULL, NULL], v(2)),
        ("count", vec![], v(0)),
        ("count_unique", vec![v(1), f(1.0), s("1"), true.into(), v(1), NULL, NULL], v(5)),
        ("count_unique", vec![], v(0)),
        ("group_count", vec![s("u"), NULL, s("u")], list(&[list(&[NULL, v(1)]), list(&[s("u"), v(2)])])),
        ("group_count", vec![], list(&[])),
        ("int_sum", vec![v(i64::MAX), v(1), v(-2)], v(i64::MAX - 1)),
        ("int_sum", vec![], v(0)),
        ("intersection", vec![vec![1, 2, 3].into(), vec![2, 5, 3].into(), vec![3, 2].into()], vec![2, 3].into()),
        ("intersection", vec![vec![2, 1, 2].into()], vec![1, 2].into()),
        ("intersection", vec![NULL, vec![2, 1].into(), NULL], vec![1, 2].into()),
        ("intersection", vec![vec![1].into(), vec![2].into(), vec![1].into()], list(&[])),
        ("intersection", vec![json(&[2, 1]), vec![3, 1].into()], vec![1].into()),
        ("intersection", vec![NULL, NULL], NULL),
        ("intersection", vec![], list(&[])),
        ("latest_by", vec![pair("old", v(1)), pair("new", v(9)), pair("mid", v(5))], s("new")),
        ("latest_by", vec![pair("m", s("2021-01")), pair("n", s("2021-11"))], s("n")),
        ("latest_by", vec![pair("a", v(3)), pair("b", v(3))], s("a")),
        ("latest_by", vec![pair("a", NULL), pair("b", v(3)), pair("c", NULL)], s("b")),
        ("latest_by", vec![pair("a", NULL)], NULL),
        ("latest_by", vec![], NULL),
        ("max", vec![v(4), f(3.0), v(9), f(8.5)], v(9)),
        ("max", vec![NULL, v(4), v(2)], v(4)),
        ("max", vec![v(9), f(9.0)], v(9)),
        ("max", vec![f(9.0), v(9)], f(9.0)),
        ("max", vec![f(9007199254740992.0), v(9007199254740993)], v(9007199254740993)),
        ("max", vec![s("a"), NULL, s("é"), s("b")], s("é")),
        ("max", vec![false.into(), true.into()], true.into()),
        ("max", vec![vec![1, 9].into(), vec![2].into()], vec![2].into()),
        ("max", vec![bytes(&[1]), bytes(&[1, 0])], bytes(&[1, 0])),
        ("max", vec![time(3, true), time(5, false), time(4, true)], time(5, false)),
        ("max", vec![NULL], NULL),
        ("max", vec![], NULL),
        ("mean", vec![v(2), f(4.0)], f(3.0)),
        ("mean", vec![], f(f64::NAN)),
        ("median", vec![v(9), f(1.5), v(2)], f(2.0)),
        ("median", vec![v(4), v(1)], f(2.5)),
        ("median", vec![f(f64::MAX), f(-f64::MAX)], f(0.0)),
        ("median", vec![f(f64::INFINITY), v(1), v(2)], f(2.0)),
        ("median", vec![f(-f64::NAN), v(1), v(2)], f(2.0)),
        ("median", vec![], f(f64::NAN)),
        ("min", vec![v(4), f(-2.5), v(9)], f(-2.5)),
        ("min", vec![v(1), f(1.0)], v(1)),
        ("min", vec![f(1.0), v(1)], f(1.0)),
        ("min", vec![f(0.0), f(-0.0), v(0)], f(0.0)),
        ("min", vec![f(f64::NAN), f(2.0)], f(2.0)),
        ("min", vec![s("b"), NULL, s("a"), s("ab")], s("a")),
        ("min", vec![true.into(), NULL, false.into()], false.into()),
        ("min", vec![vec![2].into(), vec![1, 9].into()], vec![1, 9].into()),
        ("min", vec![time(3, true), time(3, false), time(4, true)], time(3, false)),
        ("min", vec![NULL, NULL], NULL),
        ("min", vec![], NULL),
        ("min_cost", vec![pair("a", v(3)), pair("b", f(1.5)), pair("c", v(2))], pair("b", f(1.5))),
        ("min_cost", vec![pair("a", v(2)), pair("b", f(2.0))], pair("a", v(2))),
        ("mode", vec![v(3), NULL, v(1), NULL, v(3), NULL], v(3)),
        ("mode", vec![s("b"), s("a")], s("a")),
        ("mode", vec![NULL], NULL),
        ("mode", vec![], NULL),
        ("min_cost", vec![], list(&[NULL, f(f64::INFINITY)])),
        ("product", vec![v(2), v(3), f(4.5)], f(27.0)),
        ("product", vec![], f(1.0)),
        ("quantile", vec![v(4), v(1), v(2), v(3)], f(2.5)),
        ("quantile", vec![], f(f64::NAN)),
        ("shortest", vec![vec![1, 2, 3].into(), NULL, vec![7].into(), vec![8].into()], vec![7].into()),
        ("shortest", vec![NULL], NULL),
        ("shortest", vec![], NULL),
        ("smallest_by", vec![pair("old", v(1)), pair("new", v(9))], s("old")),
        ("smallest_by", vec![pair("a", NULL), pair("b", v(2)), pair("c", NULL), pair("d", v(2))], s("b")),
        ("smallest_by", vec![], NULL),
        ("std_dev", vec![v(1), v(3)], f(2f64.sqrt())),
        ("std_dev", vec![], f(f64::NAN)),
        ("string_join", vec![s("b"), NULL, s("a"), v(1), s("")], s("b,a,1,")),
        ("string_join", vec![s(""), s("")], s(",")),
        ("string_join", vec![NULL], s("")),
        ("string_join", vec![], s("")),
        ("sum", vec![v(1), v(2)], f(3.0)),
        ("sum", vec![f(0.5), f(0.25), f(0.5)], f(1.25)),
        ("sum", vec![v(1), f(0.5)], f(1.5)),
        ("sum", vec![], f(0.0)),
        ("union", vec![vec![2, 1, 2].into()], vec![1, 2].into()),
        ("union", vec![vec![1, 2].into(), vec![5, 2].into(), list(&[])], vec![1, 2, 5].into()),
        ("union", vec![json(&[2, 1]), vec![3].into()], vec![1, 2, 3].into()),
        ("union", vec![], list(&[])),
        ("unique", vec![s("q"), s("p"), s("q"), v(1), NULL], list(&[NULL, v(1), s("p"), s("q")])),
        ("unique", vec![v(1), f(1.0)], list(&[v(1), f(1.0)])),
        ("unique", vec![], list(&[])),
        ("variance", vec![v(2), v(4), f(6.0)], f(4.0)),
        ("variance", vec![v(3)], f(f64::NAN)),
        ("variance", vec![], f(f64::NAN)),
    ];
    for (name, values, expected) in &table {
        let found = run(name, &[], values).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(close(&found, expected), "{name} of {} gave {found}, not {expected}", list(values));
        let type_kept = found.type_name() == expected.type_name() && !matches!(found, DataValue::Set(_));
        assert!(type_kept, "{name} gives a {}", expected.type_name());
        if let (Some(meet), false) = (&find(name).expect("known").meet, values.is_empty()) {
            let by_meet = run_meet(meet, values).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(same(&by_meet, &found), "{name} of {} as meet gave {by_meet}, not {found}", list(values));
        }
    }
    for aggregation in AGGREGATIONS {
        assert!(
            table.iter().any(|row| row.0 == aggregation.name && row.1.is_empty()),
            "{aggregation:?} is in the table"
        );
    }
}

#[test]
fn errors_by_table() {
    let pair = |data: i64, key: DataValue| list(&[data.into(), key]);
    let table: Vec<(&str, DataValue, &str)> = vec![
        ("and", 1.into(), "and: expected a Boolean, found 1 (Int)"),
        ("and", NULL, "and: expected a Boolean, found null"),
        ("or", "x".into(), "or: expected a Boolean, found \"x\" (String)"),
        ("bit_and", "abc".into(), "bit_and: expected Bytes, found \"abc\" (String)"),
        ("bit_or", NULL, "bit_or: expected Bytes, found null"),
        ("bit_xor", 1.into(), "bit_xor: expected Bytes, found 1 (Int)"),
        ("intersection", 1.into(), "intersection: expected a List, found 1 (Int)"),
        ("latest_by", vec![1].into(), "latest_by: expected a List of two elements, found [1] (List)"),
        ("latest_by", NULL, "latest_by: expected a List of two elements, found null"),
        ("int_sum", 1.0.into(), "int_sum: expected an Int, found 1.0 (Float)"),
        ("int_sum", NULL, "int_sum: expected an Int, found null"),
        ("max", json(&[1]), "max: expected a value of a type that has an order, found json([1]) (Json)"),
        ("mean", NULL, "mean: expected a number, found null"),
        ("median", NULL, "median: expected a number, found null"),
        ("quantile", "1".into(), "quantile: expected a number, found \"1\" (String)"),
        ("min_cost", vec![1, 2, 3].into(), "min_cost: expected a List of two elements, found [1, 2, 3] (List)"),
        ("min_cost", pair(1, "x".into()), "min_cost: expected a number for the cost, found \"x\" (String)"),
        ("min_cost", pair(1, NULL), "min_cost: expected a number for the cost, found null"),
        ("product", "2".into(), "product: expected a number, found \"2\" (String)"),
        ("shortest", 3.into(), "shortest: expected a List, found 3 (Int)"),
        ("smallest_by", 1.into(), "smallest_by: expected a List of two elements, found 1 (Int)"),
        ("std_dev", NULL, "std_dev: expected a number, found null"),
        ("sum", "2".into(), "sum: expected a number, found \"2\" (String)"),
        ("sum", NULL, "sum: expected a number, found null"),
        ("union", NULL, "union: expected a List, found null"),
        ("union", 1.into(), "union: expected a List, found 1 (Int)"),
        ("variance", false.into(), "variance: expected a number, found false (Bool)"),
    ];
    for (name, value, reason) in table {
        let values = [value];
        assert_eq!(run(name, &[], &values).map_err(|error| error.to_string()), Err(reason.to_string()));
        if let Some(meet) = &find(name).expect("known").meet {
            assert_eq!(run_meet(meet, &values).map_err(|error| error.to_string()), Err(reason.to_string()), "as meet");
        }
    }
    for values in [[1.into(), "a".into()], ["a".into(), 1.5.into()], ["a".into(), true.into()]] {
        for name in ["min", "max"] {
            let [typed, mixed] = [values.iter().cloned().collect(), Column::Any(values.to_vec())];
            let outcomes = [
                run_column(name, &[], &typed),
                run_column(name, &[], &mixed),
                run_meet(find(name).expect("known").meet.as_ref().expect("a meet"), &values),
            ];
            let is_mixed =
                |outcome: &Outcome| outcome.as_ref().is_err_and(|error| error.to_string().contains("of one type"));
            assert!(outcomes.iter().all(is_mixed), "{outcomes:?}");
        }
    }
    let reason = "bit_and: Bytes must have equal lengths, found 1 and 2";
    let outcome = run("bit_and", &[], &[bytes(&[1]), bytes(&[1, 2])]);
    assert_eq!(outcome.map_err(|error| error.to_string()), Err(reason.to_string()));
}

#[test]
fn errors_show_only_the_beginning_of_long_values() {
    let error = run("sum", &[], &["é".repeat(1000).into()]).expect_err("not a number");
    assert!(error.to_string().chars().count() < 150, "{error}");
}

#[test]
fn errors_are_found_in_typed_columns_and_among_other_rows() {
    for name in ["sum", "product", "mean", "variance", "std_dev"] {
        for values in [vec![1.into(), NULL], vec![NULL, 1.5.into()], vec![2.into(), "x".into()]] {
            assert!(run(name, &[], &values).is_err(), "{name} of {}", list(&values));
        }
    }
    for name in ["and", "or"] {
        assert!(run(name, &[], &[true.into(), NULL]).is_err());
        assert!(run(name, &[], &[false.into(), 1.into()]).is_err());
    }
}

#[test]
fn collect_takes_a_limit_and_the_others_ignore_arguments() {
    let values: Vec<DataValue> = (1..=4).map(DataValue::from).collect();
    let collect = |limit: DataValue| run("collect", &[limit], &values);
    assert_eq!(collect(2.into()), Ok(vec![1, 2].into()));
    assert_eq!(collect(9.into()), Ok(vec![1, 2, 3, 4].into()));
    assert_eq!(collect(i64::MAX.into()), Ok(vec![1, 2, 3, 4].into()));
    for refused in [0.into(), (-1).into(), 1.5.into(), "two".into(), NULL] {
        assert!(collect(refused.clone()).is_err(), "a limit of {refused}");
    }
    let takes_none = |name: &str| !["collect", "quantile", "string_join"].contains(&name);
    for aggregation in AGGREGATIONS.iter().filter(|aggregation| takes_none(aggregation.name)) {
        assert!((aggregation.start)(&[NULL, "two".into()]).is_ok(), "{aggregation:?}");
    }
}

#[test]
fn quantiles_lie_between_numbers_and_need_a_share() {
    let values: Vec<DataValue> = [40, 10, 30, 20].map(DataValue::from).into();
    for (share, expected) in [(0.0, 10.0), (0.25, 17.5), (0.5, 25.0), (0.9, 37.0), (1.0, 40.0)] {
        assert!(close(&run("quantile", &[share.into()], &values).expect("numbers"), &expected.into()), "{share}");
    }
    for refused in [1.5.into(), (-0.1).into(), f64::NAN.into(), "half".into(), NULL] {
        assert!(run("quantile", &[refused], &values).is_err());
    }
    assert!((find("quantile").expect("known").start)(&[]).is_err());
    assert!(run("string_join", &[1.into()], &values).is_err());
    assert_eq!(run("string_join", &["".into()], &values), Ok("40103020".into()));
}

#[test]
fn the_order_of_integers_does_not_make_their_sum_too_large() {
    let (max, min) = (DataValue::from(i64::MAX), DataValue::from(i64::MIN));
    assert_eq!(run("int_sum", &[], &[max.clone(), max.clone(), min.clone(), min.clone()]), Ok((-2).into()));
    assert!(run("int_sum", &[], &[max, 1.into()]).is_err());
    assert!(run("int_sum", &[], &[min, (-1).into()]).is_err());
}

#[test]
fn variance_is_sound_far_from_zero() {
    let values: Vec<DataValue> = (0..1000).map(|i| DataValue::from(1e9 + f64::from(i % 2))).collect();
    let variance = run("variance", &[], &values).expect("numbers").get_float().expect("a float");
    assert!((variance - 250.0 / 999.0).abs() < 1e-9, "{variance}");
}

#[test]
fn choice_rand_is_uniform_over_rows_also_when_merged() {
    let mut counts = [0; 4];
    for _ in 0..4000 {
        let mut left = start_groups("choice_rand", &[], 1);
        let mut right = left.fork().expect("mergeable");
        right.resize(1);
        left.update(&[0], &Column::ints(vec![0])).expect("any value");
        right.update(&[0, 0, 0], &Column::ints(vec![1, 2, 3])).expect("any value");
        left.merge(&[0], right).expect("a fork");
        let chosen = left.finish().expect("a value").get(0).get_int().expect("an integer");
        counts[chosen as usize] += 1;
    }
    assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
}

#[test]
fn the_registry_is_sorted_and_found_by_name() {
    assert!(AGGREGATIONS.is_sorted_by_key(|aggregation| aggregation.name));
    assert_eq!(AGGREGATIONS.len(), 30);
    assert!(find("frequency").is_none());
    for aggregation in AGGREGATIONS {
        assert!(find(aggregation.name).is_some_and(|found| std::ptr::eq(found, *aggregation)));
        assert!(aggregation.doc.ends_with('.'));
    }
    let meets = AGGREGATIONS.iter().filter(|aggregation| aggregation.meet.is_some()).map(|a| a.name);
    let expected = "and bit_and bit_or choice intersection max min min_cost or shortest union";
    assert_eq!(meets.collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn results_do_not_depend_on_resizing_late() {
    for aggregation in AGGREGATIONS {
        let accumulator = start(aggregation.name, &[]).expect("no arguments");
        assert_eq!(accumulator.finish().expect("no groups").len(), 0, "{aggregation:?} of no groups");
        let mut accumulator = start(aggregation.name, &[]).expect("no arguments");
        accumulator.update(&[], &Column::default()).expect("no rows");
        accumulator.resize(2);
        accumulator.resize(1);
        assert_eq!(accumulator.finish().expect("no rows").len(), 2, "{aggregation:?} never forgets groups");
    }
}

/// Which values a random column holds.
#[derive(Clone, Copy, Debug)]
enum Domain {
    Ints,
    IntsAndNulls,
    Floats,
    FloatsAndNulls,
    Numbers,
    Strings,
    StringsAndNulls,
    Booleans,
    Nulls,
    Lists,
    ListsAndNulls,
    Pairs,
    PairsWithNullKeys,
    Bytes,
    Anything,
}

use Domain::*;

fn random_value(random: &mut StdRng, domain: Domain) -> DataValue {
    let small = random.random_range(-3..6i64);
    match domain {
        Ints => small.into(),
        Floats => (small as f64 / 2.0).into(),
        Strings => ["", "a", "b", "a string of more than twenty-four bytes"][random.random_range(0..4)].into(),
        Booleans => (small > 0).into(),
        Nulls => NULL,
        Numbers => random_value(random, if small > 1 { Ints } else { Floats }),
        Lists => DataValue::List((0..random.random_range(0..5)).map(|_| random_value(random, Numbers)).collect()),
        Pairs => list(&[random.random_range(0..100i64).into(), random_value(random, Numbers)]),
        PairsWithNullKeys if small > 1 => list(&["null key".into(), NULL]),
        PairsWithNullKeys => random_value(random, Pairs),
        Bytes => bytes(&[random.random(), random.random()]),
        IntsAndNulls | FloatsAndNulls | StringsAndNulls | ListsAndNulls if small > 2 => NULL,
        IntsAndNulls => random_value(random, Ints),
        FloatsAndNulls => random_value(random, Floats),
        StringsAndNulls => random_value(random, Strings),
        ListsAndNulls => random_value(random, Lists),
        Anything => {
            let domains = [Numbers, Strings, Booleans, Nulls, Lists, Bytes];
            let domain = domains[random.random_range(0..domains.len())];
            random_value(random, domain)
        }
    }
}

/// What an aggregation accepts.
fn domains_of(name: &str) -> &'static [Domain] {
    match name {
        "and" | "or" => &[Booleans],
        "bit_and" | "bit_or" | "bit_xor" => &[Bytes],
        "min" | "max" => &[
            Ints,
            IntsAndNulls,
            Floats,
            FloatsAndNulls,
            Numbers,
            Nulls,
            Strings,
            StringsAndNulls,
            Booleans,
            Lists,
            ListsAndNulls,
            Bytes,
        ],
        "sum" | "product" | "mean" | "variance" | "std_dev" | "median" | "quantile" => &[Ints, Floats, Numbers],
        "int_sum" => &[Ints],
        "union" => &[Lists],
        "intersection" | "shortest" => &[Lists, ListsAndNulls, Nulls],
        "min_cost" => &[Pairs],
        "latest_by" | "smallest_by" => &[Pairs, PairsWithNullKeys],
        _ => &[
            Ints,
            IntsAndNulls,
            Floats,
            FloatsAndNulls,
            Numbers,
            Strings,
            StringsAndNulls,
            Booleans,
            Nulls,
            Lists,
            Pairs,
            Bytes,
            Anything,
        ],
    }
}

/// Rows of (group, value); groups come in random order or in runs.
fn random_rows(random: &mut StdRng, domain: Domain) -> (usize, Vec<(u32, DataValue)>) {
    let groups = random.random_range(1..5u32);
    let length = random.random_range(0..30);
    let mut rows: Vec<(u32, DataValue)> =
        (0..length).map(|_| (random.random_range(0..groups), random_value(random, domain))).collect();
    if random.random_range(0..3) == 0 {
        rows.sort_by_key(|row| row.0);
    }
    (groups as usize, rows)
}

fn feed(accumulator: &mut dyn Accumulator, rows: &[(u32, DataValue)], typed: bool) {
    let groups: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let values = rows.iter().map(|row| row.1.clone());
    let column = if typed { values.collect() } else { Column::Any(values.collect()) };
    accumulator.update(&groups, &column).expect("accepted values");
}

fn args_of(name: &str, random: &mut StdRng) -> Vec<DataValue> {
    match name {
        "collect" if random.random() => vec![random.random_range(1..6i64).into()],
        "quantile" => vec![(f64::from(random.random_range(0..5)) / 4.0).into()],
        "string_join" if random.random() => vec!["; ".into()],
        _ => vec![],
    }
}

/// Calls `check` with every aggregation but the random one, and random rows that it accepts.
fn for_random_rows(check: impl Fn(&Aggregation, &[DataValue], &mut StdRng, usize, &[(u32, DataValue)])) {
    let mut random = StdRng::seed_from_u64(20240607);
    for aggregation in AGGREGATIONS.iter().filter(|aggregation| aggregation.name != "choice_rand") {
        for domain in domains_of(aggregation.name) {
            for _ in 0..60 {
                let (groups, rows) = random_rows(&mut random, *domain);
                let args = args_of(aggregation.name, &mut random);
                check(aggregation, &args, &mut random, groups, &rows);
            }
        }
    }
}

/// The results of one run over all rows in one batch of mixed representation.
fn single_run(name: &str, args: &[DataValue], groups: usize, rows: &[(u32, DataValue)]) -> Vec<DataValue> {
    let mut accumulator = start_groups(name, args, groups);
    feed(&mut *accumulator, rows, false);
    results(accumulator)
}

fn assert_close(name: &str, found: &[DataValue], expected: &[DataValue]) {
    assert_eq!(found.len(), expected.len(), "{name}: one result a group");
    for (found, expected) in found.iter().zip(expected) {
        assert!(close(found, expected), "{name} gave {found}, not {expected}");
    }
}

#[test]
fn typed_columns_and_batches_equal_one_run_over_values() {
    for_random_rows(|aggregation, args, random, groups, rows| {
        let expected = single_run(aggregation.name, args, groups, rows);
        let mut accumulator = start_groups(aggregation.name, args, groups);
        let cut = random.random_range(0..=rows.len());
        feed(&mut *accumulator, &rows[..cut], true);
        feed(&mut *accumulator, &rows[cut..], true);
        let found = results(accumulator);
        assert!(found.iter().zip(&expected).all(|(a, b)| same(a, b)), "{aggregation:?}: {found:?}, not {expected:?}");
    });
}

/// Many integers of one group, on both sides of what a float has digits for.
#[test]
fn the_extremes_of_many_integers_are_exact() {
    let mut random = StdRng::seed_from_u64(7);
    let limits = [0, 1, 1 << 31, (1 << 52) - 1, 1 << 52, 1 << 53, i64::MAX, -1, -(1 << 52), i64::MIN];
    for (number, low) in limits.iter().enumerate() {
        for high in &limits[number..] {
            for length in [1, 7, 8, 9, 100] {
                let (low, high) = (*low.min(high), *low.max(high));
                let values: Vec<i64> = (0..length).map(|_| random.random_range(low..=high)).collect();
                for (name, expected) in [("min", values.iter().min()), ("max", values.iter().max())] {
                    let mut accumulator = start_groups(name, &[], 1);
                    accumulator.update(&vec![0; length], &Column::ints(values.clone())).expect("integers");
                    assert_eq!(
                        results(accumulator),
                        [DataValue::from(*expected.expect("there are some"))],
                        "{name} of {values:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn forks_merged_in_order_equal_one_run() {
    for_random_rows(|aggregation, args, random, groups, rows| {
        let expected = single_run(aggregation.name, args, groups, rows);
        let mut whole = start_groups(aggregation.name, args, groups);
        let mut from = 0;
        while from < rows.len() {
            let to = random.random_range(from + 1..=rows.len());
            let mut part = whole.fork().expect("mergeable");
            // The part numbers its groups by first appearance, as a thread does that sees no other rows.
            let mut own_groups: Vec<u32> = vec![];
            for (group, value) in &rows[from..to] {
                let own = own_groups.iter().position(|known| known == group).unwrap_or(own_groups.len());
                if own == own_groups.len() {
                    own_groups.push(*group);
                }
                part.resize(own_groups.len());
                feed(&mut *part, &[(own as u32, value.clone())], true);
            }
            whole.merge(&own_groups, part).expect("a fork");
            from = to;
        }
        assert_close(aggregation.name, &results(whole), &expected);
    });
}

#[test]
fn shuffled_group_numbers_give_shuffled_results() {
    for_random_rows(|aggregation, args, _, groups, rows| {
        let expected = single_run(aggregation.name, args, groups, rows);
        let reversed: Vec<(u32, DataValue)> =
            rows.iter().map(|(group, value)| (groups as u32 - 1 - group, value.clone())).collect();
        let mut found = single_run(aggregation.name, args, groups, &reversed);
        found.reverse();
        assert_close(aggregation.name, &found, &expected);
    });
}

#[test]
fn the_meet_form_equals_the_ordinary_one() {
    for_random_rows(|aggregation, args, _, _, rows| {
        let Some(meet) = &aggregation.meet else { return };
        let values: Vec<DataValue> = rows.iter().map(|row| row.1.clone()).collect();
        if values.is_empty() {
            return;
        }
        let expected = run(aggregation.name, args, &values).expect("accepted values");
        let mut found = run_meet(meet, &values).expect("accepted values");
        assert!(same(&found, &expected), "{aggregation:?} gave {found}, not {expected}");
        for value in &values {
            assert_eq!((meet.improve)(&mut found, value), Ok(false), "{aggregation:?} is at its fixpoint");
        }
    });
}

#[test]
fn plain_integers_improve_as_values_do() {
    for aggregation in AGGREGATIONS {
        let Some(meet) = &aggregation.meet else { continue };
        let Some(improves) = meet.int_improves else { continue };
        for (current, new) in [(1, 2), (2, 1), (1, 1), (i64::MIN, i64::MAX), (i64::MAX, i64::MIN)] {
            let mut value = DataValue::from(current);
            let improved = (meet.improve)(&mut value, &new.into()).expect("numbers");
            assert_eq!(improves(current, new), improved, "{aggregation:?} of {current} and {new}");
            assert_eq!(value, if improved { new } else { current }.into());
        }
    }
}

#[test]
fn one_value_in_many_groups_and_many_values_in_one_are_all_told_apart() {
    let count: u32 = 200_000;
    let groups: Vec<u32> = (0..count).collect();
    let mut accumulator = start_groups("count_unique", &[], count as usize);
    for _ in 0..2 {
        accumulator.update(&groups, &Column::ints(vec![7; count as usize])).expect("any value");
        accumulator.update(&vec![3; count as usize], &Column::ints((0..count.into()).collect())).expect("any value");
    }
    let counts = accumulator.finish().expect("counts");
    let expected = |group: usize| if group == 3 { i64::from(count) } else { 1 };
    assert!((0..count as usize).all(|group| counts.get(group) == expected(group).into()));
}
