//! Every function makes room for what it makes, says truly how large that is, and stops when the script must.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::budget::{Budget, Interrupt, Stop};
use crate::value::JsonData;

const MEGABYTE: usize = 1 << 20;

/// What a thread may take without being asked, and some more.
const SLACK_BYTES: usize = MEGABYTE / 2;

/// Values of a megabyte or so, of all kinds, and what makes functions give much.
fn large_values() -> Vec<DataValue> {
    let json = |text: &str| DataValue::Json(JsonData(serde_json::from_str(text).expect("it is JSON")));
    let list = |value: DataValue, length: usize| DataValue::List(vec![value; length]);
    let object = |i: usize| format!("\"key{i}\": {{\"a\": [{i}, null]}}");
    let objects = (0..2000).map(object).collect::<Vec<_>>().join(",");
    vec![
        DataValue::List((0..30_000).map(DataValue::from).collect()),
        DataValue::List((0..30_000).rev().map(DataValue::from).collect()),
        list("a text that is longer than a few bytes".into(), 10_000),
        list("é".into(), 30_000),
        list(list(1.into(), 3), 10_000),
        list(true.into(), 30_000),
        list(0.5.into(), 30_000),
        "a".repeat(MEGABYTE).into(),
        "aé漢\u{fdfa} ".repeat(MEGABYTE / 10).into(),
        "\u{0}".repeat(MEGABYTE).into(),
        "a\u{301}\u{302}".repeat(MEGABYTE / 5).into(),
        "AAAA".repeat(MEGABYTE / 4).into(),
        format!("[{}0]", "[],".repeat(MEGABYTE / 8)).into(),
        DataValue::Bytes(vec![0xA5; MEGABYTE]),
        DataValue::Vec(crate::value::Vector::F32(vec![0.5; MEGABYTE / 4].into())),
        DataValue::Vec(crate::value::Vector::F64(vec![0.5; MEGABYTE / 8].into())),
        json(&format!("{{{objects}}}")),
        json(&format!("[{}0]", "[1, \"a\"],".repeat(10_000))),
    ]
}

/// Numbers, patterns, paths and names that functions take beside a large value.
fn small_values() -> Vec<DataValue> {
    let path = |keys: [DataValue; 2]| DataValue::List(keys.into());
    let texts = ["", ".", "(?s).*", "(a)|(.)", "a", "$0$0$0", "F64", "nfkd", "nfd", "nfc", " ", "%a_%"];
    let numbers = [1, 2, 100, 200_000, 1_000_000].map(DataValue::from);
    let others = [true.into(), DataValue::Null, path([0.into(), 0.into()]), path(["a".into(), 500_000.into()])];
    texts.map(DataValue::from).into_iter().chain(numbers).chain(others).collect()
}

/// Calls every function with many arguments, mostly a large one and some small ones.
fn for_each_call(mut visit: impl FnMut(&'static Function, &[DataValue])) {
    let mut random = StdRng::seed_from_u64(5);
    let (large, small) = (large_values(), small_values());
    for function in all() {
        let counts: Vec<usize> = (0..5).filter(|count| function.arity.accepts(*count)).collect();
        for i in 0..45 {
            let count = counts[i % counts.len()];
            let mut pick = |nth: usize| {
                let from = if nth == i / 15 || random.random_bool(0.2) { &large } else { &small };
                from[random.random_range(0..from.len())].clone()
            };
            let args: Vec<DataValue> = (0..count).map(&mut pick).collect();
            visit(function, &args);
        }
    }
}

#[test]
fn every_function_makes_room_for_what_it_makes() {
    const LIMIT: usize = 1 << 30;
    for_each_call(|function, args| {
        let budget = Budget::new(Interrupt::default(), 0.0, LIMIT);
        let _entered = budget.enter();
        let Ok(value) = (function.eval)(args) else { return };
        let (bytes, made) = (value.memory_bytes(), LIMIT - budget.spare_bytes());
        assert!(bytes <= made + SLACK_BYTES, "{function:?} made {bytes} bytes, and room for {made}");
        let given = args.iter().map(DataValue::memory_bytes);
        let as_much = match function.makes {
            Makes::Little => given.max().unwrap_or(0),
            Makes::Joined => given.sum(),
            Makes::Much => usize::MAX / 16,
        };
        assert!(bytes <= 8 * as_much + SLACK_BYTES, "{function:?} made {bytes} bytes of {as_much}");
    });
}

#[test]
fn no_function_makes_more_than_it_may() {
    for_each_call(|function, args| {
        let budget = Budget::new(Interrupt::default(), 0.0, MEGABYTE / 4);
        let _entered = budget.enter();
        if let Ok(value) = (function.eval)(args) {
            assert!(value.memory_bytes() <= SLACK_BYTES, "{function:?} made {} bytes", value.memory_bytes());
        }
    });
}

#[test]
fn a_function_that_makes_much_stops_when_the_script_must() {
    for_each_call(|function, args| {
        let interrupt = Interrupt::default();
        let _entered = Budget::new(interrupt.clone(), 0.0, 1 << 30).enter();
        interrupt.kill();
        if let Ok(value) = (function.eval)(args) {
            assert!(value.memory_bytes() <= SLACK_BYTES, "{function:?} made {} bytes", value.memory_bytes());
        }
    });
}

#[test]
fn what_a_function_nests_may_be_as_deep_as_any_value() {
    let nested = |levels: usize| (0..levels).fold(DataValue::from(1), |inner, _| DataValue::List(vec![inner]));
    let json = |levels: usize| {
        let array = |inner, _| serde_json::Value::Array(vec![inner]);
        DataValue::Json(JsonData((0..levels).fold(serde_json::Value::Null, array)))
    };
    let deepest = crate::budget::MAX_DEPTH;
    let one = |value: &DataValue| DataValue::List(vec![value.clone()]);
    for value in [nested(deepest), json(deepest)] {
        let key: DataValue = "k".into();
        let path = one(&key);
        let calls: [(&str, Vec<DataValue>); 7] = [
            ("list", vec![value.clone()]),
            ("list", vec![1.into(), value.clone()]),
            ("append", vec![one(&1.into()), value.clone()]),
            ("prepend", vec![one(&1.into()), value.clone()]),
            ("json_object", vec![key, value.clone()]),
            ("set_json_path", vec![json(0), DataValue::List(vec![]), DataValue::List(vec![value.clone()])]),
            ("set_json_path", vec![DataValue::Json(JsonData(serde_json::json!({}))), path, value.clone()]),
        ];
        for (name, args) in calls {
            let outcome = (find(name).expect("it exists").eval)(&args);
            assert_eq!(outcome, Err(FunctionError::Stop(Stop::TooDeep)), "{name}");
        }
    }
    for name in ["windows", "chunks", "chunks_exact"] {
        let call = |value| (find(name).expect("it exists").eval)(&[value, 1.into()]);
        assert_eq!(call(nested(deepest)), Err(FunctionError::Stop(Stop::TooDeep)), "{name}");
        assert!(call(nested(deepest - 1)).is_ok());
    }
    for name in ["json", "reverse", "sorted", "first"] {
        assert!((find(name).expect("it exists").eval)(&[nested(deepest)]).is_ok(), "{name}");
    }
    // The bytes become numbers in an array.
    let bytes = (1..deepest).fold(DataValue::Bytes(vec![1]), |inner, _| DataValue::List(vec![inner]));
    let json = |value| (find("json").expect("it exists").eval)(&[value]);
    assert!(json(bytes.clone()).is_ok());
    assert_eq!(json(DataValue::List(vec![bytes])), Err(FunctionError::Stop(Stop::TooDeep)));
}
