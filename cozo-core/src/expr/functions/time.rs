//! Instants: seconds since the Unix epoch as numbers, RFC 3339 texts, and validities.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::arguments::{Outcome, boolean, fail, int, string, unexpected};
use super::{Family, Function};
use crate::value::{DataValue, Num, Validity, parse_rfc3339_micros};

pub(super) const FAMILY: Family = Family { title: "Time", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "format_timestamp",
        &["time", "zone?"],
        "Seconds since the Unix epoch, or a Validity, as an RFC 3339 text to the millisecond; in UTC or in a time zone \
         of the IANA database.",
        &[
            ("format_timestamp(1.5)", "'1970-01-01T00:00:01.500+00:00'"),
            ("format_timestamp(0, 'Asia/Tokyo')", "'1970-01-01T09:00:00+09:00'"),
            ("format_timestamp(0, 'Mars/Base')", ""),
        ],
        format_timestamp,
    ),
    Function::new("now", &[], "The seconds since the Unix epoch, now.", &[("now() > 1600000000", "true")], |_| {
        Ok(now().into())
    })
    .volatile(),
    Function::new(
        "parse_timestamp",
        &["text"],
        "The seconds since the Unix epoch of an RFC 3339 text, which must have a time and an offset.",
        &[("parse_timestamp('1970-01-01T00:00:01.5Z')", "1.5"), ("parse_timestamp('2023-11-14')", "")],
        |args| match parse_rfc3339_micros(string("parse_timestamp", args, 0)?) {
            Ok(micros) => Ok((micros as f64 / 1e6).into()),
            Err(error) => fail("parse_timestamp", error),
        },
    ),
    Function::new(
        "validity",
        &["micros", "asserts?"],
        "A Validity of a time in microseconds since the Unix epoch: an assertion, or with `false` a retraction.",
        &[("to_int(validity(77))", "77"), ("to_bool(validity(1, false))", "false"), ("validity('x')", "")],
        |args| {
            let asserts = if args.len() > 1 { boolean("validity", args, 1)? } else { true };
            Ok(DataValue::Validity(Validity::from((int("validity", args, 0)?, asserts))))
        },
    ),
];

fn now() -> f64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_secs_f64(),
        Err(before) => -before.duration().as_secs_f64(),
    }
}

fn format_timestamp(args: &[DataValue]) -> Outcome {
    let millis = match &args[0] {
        DataValue::Num(Num::Int(seconds)) => seconds.checked_mul(1000),
        // A float that is no number of milliseconds saturates, which is out of range; NaN would be 0.
        DataValue::Num(Num::Float(seconds)) => (!seconds.is_nan()).then_some((seconds * 1000.0) as i64),
        DataValue::Validity(validity) => Some(validity.micros() / 1000),
        _ => return Err(unexpected("format_timestamp", args, 0, "a number of seconds or a Validity")),
    };
    let Some(instant) = millis.and_then(DateTime::<Utc>::from_timestamp_millis) else {
        return Err(unexpected("format_timestamp", args, 0, "a time within the calendar"));
    };
    if args.len() == 1 {
        return Ok(instant.to_rfc3339().into());
    }
    match string("format_timestamp", args, 1)?.parse::<Tz>() {
        Ok(zone) => Ok(instant.with_timezone(&zone).to_rfc3339().into()),
        Err(_) => Err(unexpected("format_timestamp", args, 1, "a time zone such as 'Europe/Paris'")),
    }
}
