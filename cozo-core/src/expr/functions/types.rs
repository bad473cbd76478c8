//! Tests of a value's type, which never fail.

use super::{Family, Function, kernels};
use crate::value::{DataValue, Num};

pub(super) const FAMILY: Family = Family { title: "Type tests", functions: FUNCTIONS };

/// The entry of a test.
macro_rules! test {
    ($name:literal, $doc:literal, $examples:expr, $test:expr) => {
        Function::new($name, &["x"], $doc, $examples, |args| Ok(DataValue::Bool($test(&args[0]))))
            .with_kernel(|operands, len| kernels::by_reference::test_values(operands, len, $test))
    };
}

static FUNCTIONS: &[Function] = &[
    test!(
        "is_bool",
        "Whether it is true or false.",
        &[("is_bool(false)", "true"), ("is_bool(0)", "false")],
        |x: &_| { matches!(x, DataValue::Bool(_)) }
    ),
    test!(
        "is_bytes",
        "Whether it is Bytes.",
        &[("is_bytes(decode_base64('AA=='))", "true"), ("is_bytes('AA==')", "false")],
        |x: &_| matches!(x, DataValue::Bytes(_))
    ),
    test!(
        "is_finite",
        "Whether it is a number other than NaN and the infinities.",
        &[("is_finite(1)", "true"), ("is_finite(1 / 0)", "false"), ("is_finite('a')", "false")],
        |x: &_| number_is(x, f64::is_finite)
    ),
    test!("is_float", "Whether it is a Float.", &[("is_float(1.0)", "true"), ("is_float(1)", "false")], |x: &_| {
        matches!(x, DataValue::Num(Num::Float(_)))
    }),
    test!(
        "is_infinite",
        "Whether it is one of the two infinite numbers.",
        &[("is_infinite(1 / 0)", "true"), ("is_infinite(3)", "false")],
        |x: &_| number_is(x, f64::is_infinite)
    ),
    test!("is_int", "Whether it is an Int.", &[("is_int(1)", "true"), ("is_int(1.0)", "false")], |x: &_| {
        matches!(x, DataValue::Num(Num::Int(_)))
    }),
    test!(
        "is_json",
        "Whether it is Json; values taken out of a Json are Json only if they are objects or arrays.",
        &[("is_json({})", "true"), ("is_json([])", "false")],
        |x: &_| matches!(x, DataValue::Json(_))
    ),
    test!("is_list", "Whether it is a List.", &[("is_list([])", "true"), ("is_list(json([]))", "false")], |x: &_| {
        matches!(x, DataValue::List(_))
    }),
    test!(
        "is_nan",
        "Whether it is the Float NaN.",
        &[("is_nan(0 / 0)", "true"), ("is_nan('nan')", "false")],
        |x: &_| { number_is(x, f64::is_nan) }
    ),
    test!("is_null", "Whether it is null.", &[("is_null(null)", "true"), ("is_null(0)", "false")], DataValue::is_null),
    test!("is_num", "Whether it is an Int or a Float.", &[("is_num(1)", "true"), ("is_num('1')", "false")], |x: &_| {
        matches!(x, DataValue::Num(_))
    }),
    test!("is_string", "Whether it is a String.", &[("is_string('')", "true"), ("is_string(1)", "false")], |x: &_| {
        matches!(x, DataValue::Str(_))
    }),
    test!(
        "is_uuid",
        "Whether it is a Uuid.",
        &[("is_uuid(rand_uuid_v4())", "true"), ("is_uuid('a')", "false")],
        |x: &_| { matches!(x, DataValue::Uuid(_)) }
    ),
    test!("is_vec", "Whether it is a vector.", &[("is_vec(vec([1]))", "true"), ("is_vec([1])", "false")], |x: &_| {
        matches!(x, DataValue::Vec(_))
    }),
];

fn number_is(value: &DataValue, test: fn(f64) -> bool) -> bool {
    value.get_float().is_some_and(test)
}
