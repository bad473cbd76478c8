//! Conversions between types.

use super::arguments::{Outcome, fail, owned_list, unexpected};
use super::{Family, Function, kernels};
use crate::budget::{Stop, make_room, step};
use crate::value::{DataValue, JsonData, Num, UuidWrapper, allocated, json_text, json_value_of, parse_uuid};

pub(super) const FAMILY: Family = Family { title: "Conversions", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "to_bool",
        &["x"],
        "False for null, false, zero, a retraction, the nil Uuid and empty values, also within Json; true for everything \
         else.",
        &[("to_bool(0)", "false"), ("to_bool([0])", "true"), ("to_bool('false')", "true")],
        |args| Ok(is_truthy(&args[0]).into()),
    )
    .with_kernel(|operands, len| kernels::by_reference::test_values(operands, len, is_truthy)),
    Function::new(
        "to_float",
        &["x"],
        "A number, Boolean, null (0.0) or decimal text as a Float. Texts may also be INF, NEG_INF, NAN, PI and E.",
        &[("to_float('2.5')", "2.5"), ("to_float(null)", "0.0"), ("to_float('abc')", "")],
        to_float,
    )
    .with_kernel(kernels::convert::to_float),
    Function::new(
        "to_int",
        &["x"],
        "A number without its fraction, a Boolean as 1 or 0, null as 0, a decimal text, or the timestamp of a \
         Validity, as an Int. Floats beyond 64 bits give the nearest Int, NaN gives 0.",
        &[("to_int(-3.9)", "-3"), ("to_int('42')", "42"), ("to_int('4.2')", "")],
        to_int,
    )
    .with_kernel(kernels::convert::to_int),
    Function::new(
        "to_list",
        &["x"],
        "The elements of a Json array or of a vector, or the numbers of Bytes, as a List; a List as it is.",
        &[
            ("to_list(json([1, [2], null]))", "[1, json([2]), null]"),
            ("to_list(vec([1, 2]))", "[1.0, 2.0]"),
            ("to_list(decode_base64('AAE='))", "[0, 1]"),
            ("to_list({'a': 1})", ""),
        ],
        to_list,
    )
    .making_much(),
    Function::new(
        "to_string",
        &["x"],
        "Strings as they are, a Json string as its text, and anything else as its compact JSON text.",
        &[("to_string(1.0)", "'1.0'"), ("to_string([1, 'a'])", "'[1,\"a\"]'"), ("to_string(null)", "'null'")],
        |args| Ok(text_of(&args[0])?.into()),
    )
    .with_kernel(kernels::convert::to_string),
    Function::new(
        "to_unity",
        &["x"],
        "As `to_bool`, with 1 for true and 0 for false.",
        &[("to_unity('x')", "1"), ("to_unity(null)", "0")],
        |args| Ok(i64::from(is_truthy(&args[0])).into()),
    ),
    Function::new(
        "to_uuid",
        &["x"],
        "A Uuid from its text; a Uuid as it is.",
        &[
            ("to_uuid('f3b4958c52a111e7802a010203040506')", "to_uuid('f3b4958c-52a1-11e7-802a-010203040506')"),
            ("to_uuid('not')", ""),
        ],
        |args| match &args[0] {
            DataValue::Uuid(_) => Ok(args[0].clone()),
            DataValue::Str(text) => parse_uuid(text).map(DataValue::Uuid).or_else(|error| fail("to_uuid", error)),
            _ => Err(unexpected("to_uuid", args, 0, "a String or Uuid")),
        },
    ),
    Function::new(
        "uuid_timestamp",
        &["uuid"],
        "The seconds since the Unix epoch at which a Uuid of version 1 was made; null for other versions.",
        &[
            ("floor(uuid_timestamp(to_uuid('f3b4958c-52a1-11e7-802a-010203040506')))", "1497624119.0"),
            ("uuid_timestamp(rand_uuid_v4())", "null"),
            ("uuid_timestamp('a')", ""),
        ],
        uuid_timestamp,
    ),
];

/// What `to_bool` makes of a value.
pub(super) fn is_truthy(value: &DataValue) -> bool {
    match value {
        DataValue::Null => false,
        DataValue::Bool(value) => *value,
        DataValue::Num(value) => value.get_float() != 0.0,
        DataValue::Str(text) => !text.is_empty(),
        DataValue::Bytes(bytes) => !bytes.is_empty(),
        DataValue::Uuid(uuid) => !uuid.0.is_nil(),
        DataValue::List(items) => !items.is_empty(),
        DataValue::Set(items) => !items.is_empty(),
        DataValue::Json(JsonData(value)) => is_truthy_json(value),
        DataValue::Validity(validity) => validity.asserts(),
        DataValue::Regex(_) | DataValue::Vec(_) | DataValue::Bot => true,
    }
}

fn is_truthy_json(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
}

fn to_float(args: &[DataValue]) -> Outcome {
    let parsed = match &args[0] {
        DataValue::Num(value) => Some(value.get_float()),
        DataValue::Bool(value) => Some(f64::from(u8::from(*value))),
        DataValue::Null => Some(0.0),
        DataValue::Str(text) => match &**text {
            "INF" => Some(f64::INFINITY),
            "NEG_INF" => Some(f64::NEG_INFINITY),
            "NAN" => Some(f64::NAN),
            "PI" => Some(std::f64::consts::PI),
            "E" => Some(std::f64::consts::E),
            text => text.parse().ok(),
        },
        _ => None,
    };
    let expected = "a number, Bool, null or the text of a number";
    parsed.map(DataValue::from).ok_or_else(|| unexpected("to_float", args, 0, expected))
}

fn to_int(args: &[DataValue]) -> Outcome {
    let converted = match &args[0] {
        DataValue::Num(Num::Int(value)) => Some(*value),
        DataValue::Num(Num::Float(value)) => Some(*value as i64),
        DataValue::Bool(value) => Some(i64::from(*value)),
        DataValue::Null => Some(0),
        DataValue::Str(text) => text.parse().ok(),
        DataValue::Validity(validity) => Some(validity.micros()),
        _ => None,
    };
    let expected = "a number, Bool, null, Validity or the text of an integer";
    converted.map(DataValue::from).ok_or_else(|| unexpected("to_int", args, 0, expected))
}

fn to_list(args: &[DataValue]) -> Outcome {
    match &args[0] {
        DataValue::Bytes(bytes) => Ok(numbers(bytes.iter().map(|byte| i64::from(*byte).into()))?),
        DataValue::Vec(vector) => {
            make_room(vector.len() * size_of::<f64>())?;
            Ok(numbers(vector.to_f64().into_iter().map(DataValue::from))?)
        }
        DataValue::List(_) | DataValue::Json(JsonData(serde_json::Value::Array(_))) => {
            Ok(DataValue::List(owned_list("to_list", args, 0)?))
        }
        _ => Err(unexpected("to_list", args, 0, "a List, Json array, vector or Bytes")),
    }
}

/// A list of numbers.
fn numbers(numbers: impl ExactSizeIterator<Item = DataValue>) -> Result<DataValue, Stop> {
    make_room(allocated(numbers.len() * size_of::<DataValue>()))?;
    let mut items = Vec::with_capacity(numbers.len());
    for number in numbers {
        step(1)?;
        items.push(number);
    }
    Ok(DataValue::List(items))
}

/// What `to_string` makes of a value, for which room is made.
pub(in crate::expr) fn text_of(value: &DataValue) -> Result<String, Stop> {
    match value {
        DataValue::Str(text) => copied(text),
        DataValue::Json(JsonData(serde_json::Value::String(text))) => copied(text),
        DataValue::Json(json) => json_text(&json.0),
        other => json_text(&json_value_of(other)?),
    }
}

fn copied(text: &str) -> Result<String, Stop> {
    make_room(text.len())?;
    Ok(text.to_string())
}

fn uuid_timestamp(args: &[DataValue]) -> Outcome {
    /// 100-nanosecond ticks from the start of the Gregorian calendar to the Unix epoch (RFC 4122, 4.1.4).
    const TICKS_TO_EPOCH: i64 = 0x01B2_1DD2_1381_4000;
    const TICKS_PER_SECOND: i64 = 10_000_000;
    let DataValue::Uuid(UuidWrapper(uuid)) = &args[0] else {
        return Err(unexpected("uuid_timestamp", args, 0, "a Uuid"));
    };
    if uuid.get_version_num() != 1 {
        return Ok(DataValue::Null);
    }
    let (low, mid, high, _) = uuid.as_fields();
    let ticks = i64::from(high & 0x0FFF) << 48 | i64::from(mid) << 32 | i64::from(low);
    let since_epoch = ticks - TICKS_TO_EPOCH;
    let (seconds, rest) = (since_epoch.div_euclid(TICKS_PER_SECOND), since_epoch.rem_euclid(TICKS_PER_SECOND));
    Ok((seconds as f64 + rest as f64 / TICKS_PER_SECOND as f64).into())
}
