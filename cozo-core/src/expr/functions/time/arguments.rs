//! Times and zones as arguments of functions.

use super::super::arguments::{fail, string, unexpected};
use super::Zone;
use crate::expr::FunctionError;
use crate::value::{DataValue, Num, TimeText};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// Floats below this, and above its negative, are microseconds that an Int can hold.
const MICROS_LIMIT: f64 = 9.2e18;

/// Microseconds of seconds, rounded; `None` beyond an Int.
pub(in super::super) fn micros_of_seconds(seconds: f64) -> Option<i64> {
    // The fraction by itself: the product of all digits would be rounded.
    let whole = seconds.trunc();
    let micros = whole * MICROS_PER_SECOND as f64 + ((seconds - whole) * MICROS_PER_SECOND as f64).round();
    // NaN is in no range.
    (-MICROS_LIMIT..MICROS_LIMIT).contains(&micros).then_some(micros as i64)
}

/// Microseconds since the epoch of a time in any form; `None` if it is none. A text without an offset is in the zone.
pub(in super::super) fn micros_of(value: &DataValue, zone: Zone) -> Option<i64> {
    match value {
        DataValue::Num(Num::Int(seconds)) => seconds.checked_mul(MICROS_PER_SECOND),
        DataValue::Num(Num::Float(seconds)) => micros_of_seconds(*seconds),
        DataValue::Validity(validity) => Some(validity.micros()),
        DataValue::Str(text) => zone.micros_of_text(&TimeText::parse(text).ok()?),
        _ => None,
    }
}

/// An argument as microseconds since the epoch.
pub(super) fn time(function: &str, args: &[DataValue], i: usize, zone: Zone) -> Result<i64, FunctionError> {
    match &args[i] {
        DataValue::Num(_) | DataValue::Validity(_) => {
            micros_of(&args[i], zone).ok_or_else(|| out_of_range(function, args, i))
        }
        DataValue::Str(text) => {
            let text = TimeText::parse(text).or_else(|error| fail(function, error))?;
            zone.micros_of_text(&text).ok_or_else(|| out_of_range(function, args, i))
        }
        _ => Err(unexpected(function, args, i, "a time: seconds, a Validity, or a text such as '2024-05-01 10:30'")),
    }
}

/// The error for a time that no calendar has.
pub(super) fn out_of_range(function: &str, args: &[DataValue], i: usize) -> FunctionError {
    let expected = match &args[i] {
        DataValue::Num(_) => "a time within the calendar, in seconds (from_micros converts microseconds)",
        _ => "a time within the calendar",
    };
    unexpected(function, args, i, expected)
}

/// The zone that an argument names; UTC if there is no such argument.
pub(super) fn zone(function: &str, args: &[DataValue], i: usize) -> Result<Zone, FunctionError> {
    if args.len() <= i {
        return Ok(Zone::UTC);
    }
    let zone = Zone::named(string(function, args, i)?);
    zone.ok_or_else(|| unexpected(function, args, i, "a time zone such as 'Europe/Paris'"))
}
