//! Arithmetic on numbers and vectors. Integers that leave 64 bits are an error; floats follow IEEE 754.

use super::arguments::{Outcome, fail, float, int, number, overflow, unexpected};
use super::rounding::{round_float, round_int};
use super::vectors::{self, Elementwise};
use super::{Family, Function, kernels};
use crate::expr::FunctionError;
use crate::value::{DataValue, Num, Scalar};

pub(super) const FAMILY: Family = Family { title: "Arithmetic", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "abs",
        &["x"],
        "The absolute value of a number, or of each element of a vector.",
        &[("abs(-5)", "5"), ("abs(-2.5)", "2.5"), ("abs('5')", "")],
        |args| whole_or_float("abs", args, i64::checked_abs, f64::abs),
    )
    .with_kernel(kernels::arithmetic::abs),
    Function::new(
        "add",
        &["x..."],
        "The sum of numbers, Int if all are; 0 of none. Vectors are added element by element, a number to \
         each element.",
        &[("1 + 2", "3"), ("add(1, 2, 0.5)", "3.5"), ("1 + null", "")],
        |args| fold("add", args, 0, &ADD),
    )
    .with_numbers(|a, b| ADD.numbers(a, b))
    .with_kernel(kernels::arithmetic::add),
    Function::new(
        "ceil",
        &["x"],
        "The smallest whole number that is not less than the argument. An Int stays an Int, a Float a Float, and a vector a \
         vector.",
        &[("ceil(2.1)", "3.0"), ("ceil(5)", "5")],
        |args| whole_or_float("ceil", args, Some, f64::ceil),
    )
    .with_kernel(kernels::arithmetic::ceil),
    Function::new(
        "div",
        &["x", "y"],
        "The quotient of two numbers, always a Float; dividing by zero gives an infinity or NaN. Vectors are \
         divided element by element.",
        &[("6 / 4", "1.5"), ("4 / 2", "2.0"), ("1 / 0", "to_float('INF')")],
        |args| binary("div", args, &DIV),
    )
    .with_numbers(|a, b| DIV.numbers(a, b))
    .with_kernel(kernels::arithmetic::div),
    Function::new(
        "floor",
        &["x"],
        "The greatest whole number that is not greater than the argument. An Int stays an Int, a Float a Float, and a \
         vector a vector.",
        &[("floor(-2.1)", "-3.0"), ("floor(5)", "5")],
        |args| whole_or_float("floor", args, Some, f64::floor),
    )
    .with_kernel(kernels::arithmetic::floor),
    Function::new(
        "int_div",
        &["x", "y"],
        "The quotient of two integers without its fraction, an Int; `x == int_div(x, y) * y + x % y`. Dividing by zero is an error.",
        &[("int_div(7, 2)", "3"), ("int_div(-7, 2)", "-3"), ("int_div(1, 0)", ""), ("int_div(7.5, 2)", "")],
        int_div,
    )
    .with_numbers(|a, b| Some(Num::Int(a.num()?.get_int()?.checked_div(b.num()?.get_int()?)?).into()))
    .with_kernel(kernels::arithmetic::int_div),
    Function::new(
        "minus",
        &["x"],
        "The negative of a number, or of each element of a vector.",
        &[("minus(4)", "-4"), ("-(2.5)", "-2.5"), ("-'a'", "")],
        |args| whole_or_float("minus", args, i64::checked_neg, |x| -x),
    )
    .with_kernel(kernels::arithmetic::minus),
    Function::new(
        "mod",
        &["x", "y"],
        "The remainder of a division, with the sign of the dividend. An Int modulo the Int 0 is an error, a \
         Float modulo 0 is NaN.",
        &[("-5 % 3", "-2"), ("7.5 % 2", "1.5"), ("5 % 0", "")],
        |args| binary("mod", args, &MOD),
    )
    .with_numbers(|a, b| MOD.numbers(a, b))
    .with_kernel(kernels::arithmetic::modulo),
    Function::new(
        "mul",
        &["x..."],
        "The product of numbers, Int if all are; 1 of none. Vectors are multiplied element by element, each \
         element by a number.",
        &[("6 * 7", "42"), ("2.0 * 0.5", "1.0"), ("9223372036854775807 * 2", "")],
        |args| fold("mul", args, 1, &MUL),
    )
    .with_numbers(|a, b| MUL.numbers(a, b))
    .with_kernel(kernels::arithmetic::mul),
    Function::new(
        "pow",
        &["x", "y"],
        "A number, or each element of a vector, raised to a power; always floating.",
        &[("2 ^ 3", "8.0"), ("4 ^ -1", "0.25"), ("vec([2, 3]) ^ 2", "vec([4, 9])")],
        pow,
    )
    .with_kernel(kernels::arithmetic::pow),
    Function::new(
        "round",
        &["x", "places?"],
        "Rounds to a whole number, or to a number of places after the decimal point; negative places count before the \
         point. Halves round away from zero, and decimals are taken as they are written. An Int stays an Int, a Float a \
         Float, and a vector a vector.",
        &[
            ("round(2.5)", "3.0"),
            ("round(-0.5)", "-1.0"),
            ("round(7)", "7"),
            ("round(1.005, 2)", "1.01"),
            ("round(1250, -2)", "1300"),
            ("round(1.5, 'a')", ""),
        ],
        round,
    )
    .with_kernel(kernels::arithmetic::round),
    Function::new(
        "signum",
        &["x"],
        "The sign of a number as the Int -1, 0 or 1. The sign of -0.0 is -1, that of NaN is NaN.",
        &[("signum(-3.2)", "-1"), ("signum(0)", "0")],
        signum,
    ),
    Function::new(
        "sub",
        &["x", "y"],
        "The difference of two numbers, Int if both are. Vectors are subtracted element by element.",
        &[("5 - 8", "-3"), ("5 - 0.5", "4.5"), ("1 - vec([1, 2])", "vec([0, -1])")],
        |args| binary("sub", args, &SUB),
    )
    .with_numbers(|a, b| SUB.numbers(a, b))
    .with_kernel(kernels::arithmetic::sub),
];

/// An operation on two numbers or vectors.
struct Operation {
    ints: fn(i64, i64) -> Result<Num, FunctionError>,
    floats: fn(f64, f64) -> f64,
    elements: Option<Elementwise>,
}

impl Operation {
    /// The outcome for two numbers, if there is one.
    #[inline]
    fn numbers(&self, a: Scalar, b: Scalar) -> Option<Scalar> {
        Some(Scalar::from(match (a.num()?, b.num()?) {
            (Num::Int(a), Num::Int(b)) => (self.ints)(a, b).ok()?,
            (a, b) => Num::Float(canonical((self.floats)(a.get_float(), b.get_float()))),
        }))
    }
}

const ADD: Operation =
    Operation { ints: |a, b| checked("add", a.checked_add(b)), floats: |a, b| a + b, elements: Some(Elementwise::Add) };

const SUB: Operation =
    Operation { ints: |a, b| checked("sub", a.checked_sub(b)), floats: |a, b| a - b, elements: Some(Elementwise::Sub) };

const MUL: Operation =
    Operation { ints: |a, b| checked("mul", a.checked_mul(b)), floats: |a, b| a * b, elements: Some(Elementwise::Mul) };

const DIV: Operation = Operation {
    ints: |a, b| Ok(Num::Float(canonical(a as f64 / b as f64))),
    floats: |a, b| a / b,
    elements: Some(Elementwise::Div),
};

const MOD: Operation = Operation {
    ints: |a, b| match b {
        0 => fail("mod", "the divisor is the Int 0"),
        // The smallest integer modulo -1 is 0, though its quotient would overflow.
        b => Ok(Num::Int(a.wrapping_rem(b))),
    },
    floats: |a, b| a % b,
    elements: None,
};

/// The float, with one NaN in place of all: machines, and loops and single operations, give different NaNs, and the sign of a NaN
/// decides where it sorts.
#[inline]
pub(super) fn canonical(value: f64) -> f64 {
    // Computed on integers: the compiler takes all NaNs for the same, and drops a choice between two of them.
    const INFINITY: u64 = f64::INFINITY.to_bits();
    const SIGN: u64 = 1 << 63;
    let bits = value.to_bits();
    f64::from_bits(if bits & !SIGN > INFINITY { f64::NAN.to_bits() } else { bits })
}

/// The integer, unless it left 64 bits.
fn checked(function: &str, value: Option<i64>) -> Result<Num, FunctionError> {
    value.map(Num::Int).ok_or_else(|| overflow(function))
}

/// Applies an operation to arguments `i` and `i + 1`, or to a running result and argument `i + 1`.
fn apply(function: &str, args: &[DataValue], left: &DataValue, i: usize, operation: &Operation) -> Outcome {
    match (left, &args[i + 1], operation.elements) {
        (DataValue::Num(Num::Int(a)), DataValue::Num(Num::Int(b)), _) => (operation.ints)(*a, *b).map(DataValue::from),
        (DataValue::Num(a), DataValue::Num(b), _) => {
            Ok(canonical((operation.floats)(a.get_float(), b.get_float())).into())
        }
        (a @ (DataValue::Vec(_) | DataValue::Num(_)), b @ (DataValue::Vec(_) | DataValue::Num(_)), Some(elements)) => {
            elements.apply(function, a, b)
        }
        (a, _, elements) => {
            let takes = |value: &DataValue| match value {
                DataValue::Num(_) => true,
                DataValue::Vec(_) => elements.is_some(),
                _ => false,
            };
            let expected = if elements.is_some() { "a number or a vector" } else { "a number" };
            Err(unexpected(function, args, if takes(a) { i + 1 } else { i }, expected))
        }
    }
}

fn binary(function: &str, args: &[DataValue], operation: &Operation) -> Outcome {
    apply(function, args, &args[0], 0, operation)
}

/// Combines all arguments from left to right; `neutral` is the result of none.
fn fold(function: &str, args: &[DataValue], neutral: i64, operation: &Operation) -> Outcome {
    match args {
        [] => Ok(neutral.into()),
        [value @ (DataValue::Num(_) | DataValue::Vec(_))] => Ok(value.copy()?),
        [_] => Err(unexpected(function, args, 0, "a number or a vector")),
        _ => {
            let mut result = binary(function, args, operation)?;
            for i in 1..args.len() - 1 {
                result = apply(function, args, &result, i, operation)?;
            }
            Ok(result)
        }
    }
}

/// A function that has a form for Ints (`None` on overflow) and one for Floats and the elements of vectors.
fn whole_or_float(function: &str, args: &[DataValue], ints: fn(i64) -> Option<i64>, floats: fn(f64) -> f64) -> Outcome {
    match &args[0] {
        DataValue::Num(Num::Int(value)) => checked(function, ints(*value)).map(DataValue::from),
        DataValue::Num(Num::Float(value)) => Ok(canonical(floats(*value)).into()),
        DataValue::Vec(vector) => vectors::map(vector, floats),
        _ => Err(unexpected(function, args, 0, "a number or a vector")),
    }
}

fn int_div(args: &[DataValue]) -> Outcome {
    let (dividend, divisor) = (int("int_div", args, 0)?, int("int_div", args, 1)?);
    match divisor {
        0 => fail("int_div", "the divisor is 0"),
        _ => checked("int_div", dividend.checked_div(divisor)).map(DataValue::from),
    }
}

fn round(args: &[DataValue]) -> Outcome {
    if args.len() == 1 {
        return whole_or_float("round", args, Some, f64::round);
    }
    let places = int("round", args, 1)?;
    match &args[0] {
        DataValue::Num(Num::Int(value)) => checked("round", round_int(*value, places)).map(DataValue::from),
        DataValue::Num(Num::Float(value)) => Ok(canonical(round_float(*value, places)).into()),
        DataValue::Vec(vector) => vectors::map(vector, |x| round_float(x, places)),
        _ => Err(unexpected("round", args, 0, "a number or a vector")),
    }
}

fn pow(args: &[DataValue]) -> Outcome {
    let exponent = float("pow", args, 1)?;
    match &args[0] {
        DataValue::Num(base) => Ok(canonical(base.get_float().powf(exponent)).into()),
        DataValue::Vec(base) => vectors::map(base, |x| x.powf(exponent)),
        _ => Err(unexpected("pow", args, 0, "a number or a vector")),
    }
}

fn signum(args: &[DataValue]) -> Outcome {
    match number("signum", args, 0)? {
        Num::Int(value) => Ok(value.signum().into()),
        Num::Float(value) if value.is_nan() => Ok(value.into()),
        // The float 0.0 has the signum 1.0, and -0.0 has -1.0.
        Num::Float(value) if value.to_bits() == 0 => Ok(0.into()),
        Num::Float(value) => Ok((value.signum() as i64).into()),
    }
}
