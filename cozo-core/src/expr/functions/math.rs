//! Functions of real numbers: always Float, never an error on a number.

use super::arguments::{Outcome, float, unexpected};
use super::arithmetic::canonical;
use super::{Family, Function, kernels, vectors};
use crate::value::DataValue;

pub(super) const FAMILY: Family = Family { title: "Mathematics", functions: FUNCTIONS };

/// The entry of a function from a float to a float, which also takes each element of a vector.
macro_rules! real {
    ($name:literal, $function:expr, $doc:literal, $examples:expr) => {
        Function::new($name, &["x"], $doc, $examples, |args| real($name, args, $function))
            .with_kernel(|operands, len| kernels::arithmetic::map_reals(operands, len, $function))
    };
}

static FUNCTIONS: &[Function] = &[
    real!(
        "acos",
        f64::acos,
        "The arc cosine in radians; NaN outside -1 to 1.",
        &[("acos(-1)", "to_float('PI')"), ("is_nan(acos(2))", "true")]
    ),
    real!(
        "acosh",
        f64::acosh,
        "The inverse hyperbolic cosine; NaN below 1.",
        &[("acosh(1)", "0.0"), ("is_nan(acosh(0))", "true")]
    ),
    real!(
        "asin",
        f64::asin,
        "The arc sine in radians; NaN outside -1 to 1.",
        &[("asin(1)", "to_float('PI') / 2"), ("is_nan(asin(2))", "true")]
    ),
    real!("asinh", f64::asinh, "The inverse hyperbolic sine.", &[("asinh(0)", "0.0")]),
    real!("atan", f64::atan, "The arc tangent in radians.", &[("atan(0)", "0.0")]),
    Function::new(
        "atan2",
        &["y", "x"],
        "The angle in radians of the point (x, y), given as `atan2(y, x)`.",
        &[("atan2(1, 0)", "to_float('PI') / 2"), ("atan2('a', 1)", "")],
        |args| Ok(canonical(float("atan2", args, 0)?.atan2(float("atan2", args, 1)?)).into()),
    ),
    real!("atanh", f64::atanh, "The inverse hyperbolic tangent; NaN outside -1 to 1.", &[("atanh(0)", "0.0")]),
    real!("cos", f64::cos, "The cosine of an angle in radians.", &[("cos(to_float('PI'))", "-1.0")]),
    real!("cosh", f64::cosh, "The hyperbolic cosine.", &[("cosh(0)", "1.0")]),
    real!("deg_to_rad", f64::to_radians, "Degrees as radians.", &[("deg_to_rad(180)", "to_float('PI')")]),
    real!("exp", f64::exp, "The exponential function.", &[("exp(0)", "1.0"), ("exp('a')", "")]),
    real!("exp2", f64::exp2, "Two to the power of the argument.", &[("exp2(5)", "32.0")]),
    Function::new(
        "haversine",
        &["lat1", "lon1", "lat2", "lon2"],
        "The angle in radians between two points of a sphere, `haversine(lat1, lon1, lat2, lon2)` in radians; multiply \
         by the radius for the distance.",
        &[("haversine(0, 0, 0, 0)", "0.0")],
        |args| haversine("haversine", args, |angle| angle),
    ),
    Function::new(
        "haversine_deg_input",
        &["lat1", "lon1", "lat2", "lon2"],
        "As `haversine`, with latitudes and longitudes in degrees; the result is still in radians.",
        &[("round(1000 * haversine_deg_input(0, 0, 0, 90))", "1571.0")],
        |args| haversine("haversine_deg_input", args, f64::to_radians),
    ),
    real!(
        "ln",
        f64::ln,
        "The natural logarithm; NaN for a negative number.",
        &[("ln(1)", "0.0"), ("ln(0)", "to_float('NEG_INF')")]
    ),
    real!("log10", f64::log10, "The logarithm to base 10.", &[("log10(1000)", "3.0")]),
    real!("log2", f64::log2, "The logarithm to base 2.", &[("log2(8)", "3.0")]),
    real!("rad_to_deg", f64::to_degrees, "Radians as degrees.", &[("rad_to_deg(to_float('PI'))", "180.0")]),
    real!("sin", f64::sin, "The sine of an angle in radians.", &[("sin(to_float('PI') / 2)", "1.0")]),
    real!("sinh", f64::sinh, "The hyperbolic sine.", &[("sinh(0)", "0.0")]),
    real!(
        "sqrt",
        f64::sqrt,
        "The square root; NaN for a negative number.",
        &[("sqrt(16)", "4.0"), ("sqrt(vec([4, 9]))", "vec([2, 3])"), ("sqrt('9')", "")]
    ),
    real!("tan", f64::tan, "The tangent of an angle in radians.", &[("tan(0)", "0.0")]),
    real!("tanh", f64::tanh, "The hyperbolic tangent.", &[("tanh(0)", "0.0")]),
];

fn real(name: &str, args: &[DataValue], function: fn(f64) -> f64) -> Outcome {
    match &args[0] {
        DataValue::Num(value) => Ok(canonical(function(value.get_float())).into()),
        DataValue::Vec(vector) => vectors::map(vector, function),
        _ => Err(unexpected(name, args, 0, "a number or a vector")),
    }
}

fn haversine(name: &str, args: &[DataValue], to_radians: fn(f64) -> f64) -> Outcome {
    let angle = |i| float(name, args, i).map(to_radians);
    let (lat1, lon1, lat2, lon2) = (angle(0)?, angle(1)?, angle(2)?, angle(3)?);
    let half_chord = |from: f64, to: f64| ((to - from) / 2.0).sin().powi(2);
    let square = half_chord(lat1, lat2) + lat1.cos() * lat2.cos() * half_chord(lon1, lon2);
    // Rounding may lift the square of nearly opposite points above 1, where asin is NaN; a NaN must stay one.
    let square = if square > 1.0 { 1.0 } else { square };
    Ok(canonical(2.0 * square.sqrt().asin()).into())
}
