//! The registry is in order, every kernel does what its function does, and no arguments make a function panic.

use std::borrow::Cow;
use std::collections::HashSet;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::value::{JsonData, Validity, Vector, hash_value, parse_uuid};

#[test]
fn entries_are_sorted_unique_and_documented() {
    let mut names = HashSet::new();
    for family in FAMILIES {
        assert!(family.functions.is_sorted_by_key(|function| function.name), "{} must be sorted", family.title);
    }
    for function in all() {
        assert!(names.insert(function.name), "two functions are called {function:?}");
        assert!(function.doc.ends_with('.'), "{function:?} needs a doc of whole sentences");
        assert!(!function.examples.is_empty(), "{function:?} needs an example");
    }
}

#[test]
fn only_time_and_chance_are_volatile() {
    let volatile: Vec<&str> = all().filter(|f| !f.deterministic).map(|f| f.name).collect();
    assert!(volatile.iter().all(|name| *name == "now" || name.starts_with("rand_")), "{volatile:?}");
    assert_eq!(volatile.len(), 8);
}

/// Values of one kind, with the difficult ones among them.
fn value(kind: usize, random: &mut StdRng) -> DataValue {
    fn pick<T: Clone>(random: &mut StdRng, values: &[T]) -> T {
        values[random.random_range(0..values.len())].clone()
    }
    let floats = [0.0, -0.0, 1.0, -2.5, 0.5, 3.0, 1e300, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 9.3e18];
    match kind {
        0 => DataValue::Null,
        1 => random.random::<bool>().into(),
        2 => random.random_range(-3i64..6).into(),
        3 => pick(random, &[i64::MIN, i64::MIN + 1, -1, 0, 1, 2, i64::MAX, 1 << 53]).into(),
        4 => pick(random, &floats).into(),
        5 => pick(
            random,
            &["", "a", "ab", "b", "é漢", " x ", "F64", "nfc", "12", "1.5", "a+", "[", "2024-05-01 10:30", "AAAAAA=="],
        )
        .into(),
        6 => {
            let len = random.random_range(0..3);
            DataValue::List((0..len).map(|_| value(random.random_range(0..6), random)).collect())
        }
        7 => DataValue::Json(JsonData(pick(
            random,
            &[
                serde_json::json!({"a": {"b": [1]}}),
                serde_json::json!([1, [2]]),
                serde_json::json!("a"),
                serde_json::json!(0),
            ],
        ))),
        8 => {
            let elements: Vec<f64> = (0..random.random_range(1..20)).map(|_| pick(random, &floats)).collect();
            vectors::of_width(elements, random.random()).expect("there is room")
        }
        9 => DataValue::Vec(Vector::F32((0..19).map(|_| random.random::<f32>()).collect())),
        10 => vectors::of_width((0..19).map(|_| random.random()).collect(), true).expect("there is room"),
        11 => DataValue::Bytes(vec![random.random(); random.random_range(0..3)]),
        12 => DataValue::Validity(Validity::from((pick(random, &[i64::MIN, -1, 5, i64::MAX]), random.random()))),
        _ => DataValue::Uuid(parse_uuid("f3b4958c-52a1-11e7-802a-010203040506").expect("a UUID")),
    }
}

const KINDS: usize = 14;

/// A scalar, or a column of a kind, of that kind with nulls, or of a mixture; sometimes in the untyped representation.
fn operand(kind: usize, len: usize, random: &mut StdRng) -> Operand<'static> {
    let column: Vec<DataValue> = match random.random_range(0..8) {
        0..=1 => return Operand::Scalar(Cow::Owned(value(kind, random))),
        2..=5 => (0..len).map(|_| value(kind, random)).collect(),
        6 => (0..len).map(|_| value(if random.random_bool(0.3) { 0 } else { kind }, random)).collect(),
        _ => (0..len).map(|_| value(random.random_range(0..KINDS), random)).collect(),
    };
    let untyped = random.random_bool(0.2);
    Operand::Column(Cow::Owned(if untyped { Column::Any(column) } else { column.into_iter().collect() }))
}

/// Texts that a parameter of this name understands, and one that it does not.
fn words(parameter: &str) -> &'static [&'static str] {
    match parameter.trim_end_matches('?') {
        "part" | "unit" => &["year", "month", "week", "day", "hour", "millisecond", "epoch", "age"],
        "zone" => &["UTC", "Europe/Paris", "America/Sao_Paulo", "Mars/Base"],
        "pattern" => &["%Y-%m-%d", "%c %Z", "%Q"],
        _ => &[],
    }
}

/// For a parameter that understands few texts, one of them, mostly.
fn word(function: &Function, i: usize, random: &mut StdRng) -> Option<DataValue> {
    let words = function.parameters.get(i).map_or(&[][..], |parameter| words(parameter));
    (!words.is_empty() && random.random_bool(0.8)).then(|| words[random.random_range(0..words.len())].into())
}

#[test]
fn forms_for_two_numbers_agree_with_the_general_ones() {
    let mut random = StdRng::seed_from_u64(11);
    let number = |random: &mut StdRng| match value(random.random_range(2..5), random) {
        DataValue::Num(number) => number,
        other => panic!("kinds 2 to 4 are numbers: {other:?}"),
    };
    let functions: Vec<_> = all().filter_map(|function| Some((function, function.numbers?))).collect();
    assert!(functions.len() > 10, "{functions:?}");
    for (function, numbers) in functions {
        for _ in 0..20_000 {
            let (a, b) = (number(&mut random), number(&mut random));
            let expected = (function.eval)(&[DataValue::Num(a), DataValue::Num(b)]).ok();
            let found = numbers(a.into(), b.into()).map(DataValue::from);
            let agree = match (&found, &expected) {
                (Some(found), Some(expected)) => same(found, expected),
                (found, expected) => found == expected,
            };
            assert!(agree, "{function:?} of {a:?} and {b:?}: {found:?} and {expected:?}");
        }
    }
}

/// Row by row, as the evaluator does without a kernel.
fn by_rows(function: &Function, operands: &[Operand<'_>], len: usize) -> Result<Vec<DataValue>, FunctionError> {
    (0..len)
        .map(|row| (function.eval)(&operands.iter().map(|operand| operand.get(row)).collect::<Result<Vec<_>, _>>()?))
        .collect()
}

fn operand_count(function: &Function, random: &mut StdRng) -> usize {
    let count = random.random_range(0..8);
    if function.arity.accepts(count) { count } else { operand_count(function, random) }
}

/// Equal in every bit that another function could see.
fn same(a: &DataValue, b: &DataValue) -> bool {
    a == b && hash_value(a) == hash_value(b)
}

#[test]
fn kernels_agree_with_the_scalar_forms() {
    let mut random = StdRng::seed_from_u64(7);
    for function in all() {
        let Some(kernel) = function.kernel else { continue };
        let mut accepted = 0;
        for _ in 0..20_000 {
            let len = random.random_range(0..6);
            let count = operand_count(function, &mut random);
            let (kind, alike) = (random.random_range(0..KINDS), random.random::<bool>());
            let kind = |random: &mut StdRng| if alike { kind } else { random.random_range(0..KINDS) };
            let of_word = |word| Operand::Scalar(Cow::Owned(word));
            let operands: Vec<_> = (0..count)
                .map(|i| match word(function, i, &mut random).map(of_word) {
                    Some(word) => word,
                    None => operand(kind(&mut random), len, &mut random),
                })
                .collect();
            if operands.iter().all(|operand| matches!(operand, Operand::Scalar(_))) {
                continue;
            }
            let Some(outcome) = kernel(&operands, len) else { continue };
            accepted += usize::from(len > 0);
            let found = outcome.map(|column| column.iter().collect::<Vec<_>>());
            let expected = by_rows(function, &operands, len);
            let agree = match (&found, &expected) {
                (Ok(found), Ok(expected)) => {
                    found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| same(a, b))
                }
                (found, expected) => found == expected,
            };
            assert!(agree, "{function:?} of {operands:?}: the kernel gives {found:?}, the function {expected:?}");
        }
        assert!(accepted > 10, "the kernel of {function:?} took only {accepted} of the columns");
    }
}

#[test]
fn no_arguments_make_a_function_panic() {
    let mut random = StdRng::seed_from_u64(11);
    for function in all() {
        for _ in 0..3000 {
            let count = operand_count(function, &mut random);
            let args: Vec<_> = (0..count)
                .map(|i| match word(function, i, &mut random) {
                    Some(word) => word,
                    None => value(random.random_range(0..KINDS), &mut random),
                })
                .collect();
            if let Err(error) = (function.eval)(&args) {
                let said = error.to_string();
                // Operators are known by their signs.
                let says_what = said.starts_with(function.name) || said.starts_with("cannot ");
                assert!(says_what, "{function:?} must name itself: {error}");
            }
        }
    }
}

fn eval(name: &str, args: &[DataValue]) -> Result<DataValue, FunctionError> {
    let function = find(name).expect("a function");
    assert!(function.arity.accepts(args.len()), "{name} takes another number of arguments");
    (function.eval)(args)
}

#[test]
fn integers_never_wrap() {
    let (min, max) = (DataValue::from(i64::MIN), DataValue::from(i64::MAX));
    let table: [(&str, &[DataValue]); 6] = [
        ("add", &[max.clone(), 1.into()]),
        ("sub", &[min.clone(), 1.into()]),
        ("mul", &[max.clone(), max.clone()]),
        ("mul", &[min.clone(), (-1).into()]),
        ("minus", std::slice::from_ref(&min)),
        ("abs", std::slice::from_ref(&min)),
    ];
    for (name, args) in table {
        assert_eq!(eval(name, args), Err(FunctionError::new(format!("{name}: integer overflow"))), "{args:?}");
    }
    assert_eq!(eval("mod", &[min, (-1).into()]), Ok(0.into()));
}

#[test]
fn gigantic_lists_are_refused() {
    let list = DataValue::List(vec![DataValue::Null; 30_000]);
    for (name, args) in [
        ("int_range", vec![i64::MAX.into()]),
        ("int_range", vec![i64::MAX.into(), i64::MIN.into(), (-1).into()]),
        ("rand_vec", vec![i64::MAX.into()]),
        ("windows", vec![list, 15_000.into()]),
    ] {
        assert!(eval(name, &args).is_err_and(|error| error.to_string().contains("too long")), "{name}");
    }
    let edge = eval("int_range", &[(i64::MAX - 2).into(), i64::MAX.into(), 2.into()]);
    assert_eq!(edge, Ok(vec![i64::MAX - 2].into()));
}

#[test]
fn long_values_are_quoted_in_part() {
    let Err(error) = eval("sqrt", &["é".repeat(1000).into()]) else { panic!("a string has no root") };
    assert!(error.to_string().len() < 200 && error.to_string().contains("... (String)"), "{error}");
    let Err(error) = eval("sqrt", &[DataValue::List(vec![1.into(); 1000])]) else { panic!("a list has no root") };
    assert!(error.to_string().len() < 200 && error.to_string().contains("... (List)"), "{error}");
}

/// Deep nesting is refused before recursion could reach the end of the stack.
#[test]
fn deep_json_is_refused() {
    let path = DataValue::List(vec!["a".into(); 1000]);
    assert!(eval("set_json_path", &[DataValue::Null, path.clone(), 1.into()]).is_err());
    assert!(eval("remove_json_path", &[DataValue::Null, path, 1.into()][..2]).is_err());
}
