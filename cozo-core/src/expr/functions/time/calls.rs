//! The bodies of the functions of time.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};

use super::super::arguments::{Outcome, boolean, fail, int, number, quote, string, unexpected};
use super::arguments::{micros_of_seconds, out_of_range, time, zone};
use super::{Part, Pattern, Unit, write_rfc3339};
use crate::budget::make_room;
use crate::expr::FunctionError;
use crate::value::{DataValue, TimeText, Validity, parse_time_micros};

/// The seconds since the epoch, now.
pub(in super::super) fn now() -> f64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_secs_f64(),
        Err(before) => -before.duration().as_secs_f64(),
    }
}

/// Microseconds in seconds: the unit of times as numbers.
pub(in super::super) fn seconds_of(micros: i64) -> f64 {
    micros as f64 / 1e6
}

fn seconds(micros: i64) -> DataValue {
    seconds_of(micros).into()
}

fn unit(function: &str, args: &[DataValue], i: usize) -> Result<Unit, FunctionError> {
    Unit::named(string(function, args, i)?).ok_or_else(|| unexpected(function, args, i, Unit::EXPECTED))
}

fn pattern<'a>(function: &str, args: &'a [DataValue], i: usize) -> Result<Option<Pattern<'a>>, FunctionError> {
    if args.len() <= i {
        return Ok(None);
    }
    Pattern::new(string(function, args, i)?).map(Some).or_else(|error| fail(function, error))
}

pub(super) fn date_add(args: &[DataValue]) -> Outcome {
    let zone = zone("date_add", args, 3)?;
    let from = time("date_add", args, 0, zone)?;
    let count = int("date_add", args, 1)?;
    let later = unit("date_add", args, 2)?.add(from, count, zone);
    later.map_or_else(|| fail("date_add", "the time is beyond the calendar"), |micros| Ok(seconds(micros)))
}

pub(super) fn date_diff(args: &[DataValue]) -> Outcome {
    let unit = unit("date_diff", args, 0)?;
    let zone = zone("date_diff", args, 3)?;
    let (from, to) = (time("date_diff", args, 1, zone)?, time("date_diff", args, 2, zone)?);
    let bad = |i| out_of_range("date_diff", args, i);
    let difference = unit.difference(from, to, zone);
    difference.map(DataValue::from).ok_or_else(|| bad(if zone.local(from).is_none() { 1 } else { 2 }))
}

pub(super) fn date_part(args: &[DataValue]) -> Outcome {
    let part = Part::named(string("date_part", args, 0)?);
    let part = part.ok_or_else(|| unexpected("date_part", args, 0, Part::EXPECTED))?;
    let zone = zone("date_part", args, 2)?;
    let micros = time("date_part", args, 1, zone)?;
    let whole = part.of(micros, zone).ok_or_else(|| out_of_range("date_part", args, 1))?;
    Ok(if part == Part::Epoch { seconds(micros) } else { whole.into() })
}

pub(super) fn date_trunc(args: &[DataValue]) -> Outcome {
    let unit = unit("date_trunc", args, 0)?;
    let zone = zone("date_trunc", args, 2)?;
    let micros = time("date_trunc", args, 1, zone)?;
    unit.truncate(micros, zone).map(seconds).ok_or_else(|| out_of_range("date_trunc", args, 1))
}

pub(super) fn format_timestamp(args: &[DataValue]) -> Outcome {
    let zone = zone("format_timestamp", args, 1)?;
    let pattern = pattern("format_timestamp", args, 2)?;
    let micros = time("format_timestamp", args, 0, zone)?;
    let mut text = String::new();
    let written = match pattern {
        Some(pattern) => pattern.write(micros, zone, &mut text),
        None => write_rfc3339(micros, zone, &mut text),
    };
    written.ok_or_else(|| out_of_range("format_timestamp", args, 0))?;
    make_room(text.len())?;
    Ok(text.into())
}

pub(super) fn from_micros(args: &[DataValue]) -> Outcome {
    int("from_micros", args, 0).map(seconds)
}

pub(super) fn make_timestamp(args: &[DataValue]) -> Outcome {
    const NAME: &str = "make_timestamp";
    let numbers = match args.last() {
        Some(DataValue::Str(_)) => args.len() - 1,
        _ => args.len(),
    };
    if !(3..=6).contains(&numbers) {
        return fail(NAME, "give the year, month and day, perhaps the hour, minute and second, and perhaps a zone");
    }
    let zone = zone(NAME, args, numbers)?;
    let mut fields = [0; 5];
    for (i, field) in fields.iter_mut().enumerate().take(numbers) {
        *field = int(NAME, args, i)?;
    }
    let second = if numbers > 5 { number(NAME, args, 5)?.get_float() } else { 0.0 };
    let Some(local) = local_time(fields, second) else {
        return fail(NAME, "there is no such date or time of day");
    };
    let moment = zone.micros_of_text(&TimeText { local, has_time_of_day: numbers > 3, offset: None });
    moment.map_or_else(|| fail(NAME, "the time is beyond the calendar"), |micros| Ok(seconds(micros)))
}

/// The date and time of a year, month, day, hour and minute, and of a second with its fraction.
fn local_time([year, month, day, hour, minute]: [i64; 5], second: f64) -> Option<NaiveDateTime> {
    let date = NaiveDate::from_ymd_opt(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?)?;
    let is_time_of_day = matches!((hour, minute), (0..24, 0..60)) && (0.0..60.0).contains(&second);
    let micros = micros_of_seconds(second).filter(|_| is_time_of_day)?;
    let since_midnight = TimeDelta::microseconds((hour * 60 + minute) * 60_000_000 + micros);
    date.and_time(NaiveTime::MIN).checked_add_signed(since_midnight)
}

pub(super) fn parse_timestamp(args: &[DataValue]) -> Outcome {
    const NAME: &str = "parse_timestamp";
    let text = string(NAME, args, 0)?;
    let zone = zone(NAME, args, 1)?;
    let micros = match pattern(NAME, args, 2)? {
        None => time(NAME, args, 0, zone)?,
        Some(pattern) => {
            let read = pattern
                .read(text)
                .or_else(|error| fail(NAME, format!("{} cannot be read: {error}", quote(&args[0]))))?;
            zone.micros_of_text(&read).ok_or_else(|| out_of_range(NAME, args, 0))?
        }
    };
    Ok(seconds(micros))
}

pub(super) fn to_micros(args: &[DataValue]) -> Outcome {
    let zone = zone("to_micros", args, 1)?;
    time("to_micros", args, 0, zone).map(DataValue::from)
}

pub(super) fn validity(args: &[DataValue]) -> Outcome {
    let asserts = if args.len() > 1 { Some(boolean("validity", args, 1)?) } else { None };
    let validity = match (&args[0], asserts) {
        (DataValue::Str(text), None) => Validity::parse(text).or_else(|error| fail("validity", error))?,
        (DataValue::Str(text), Some(asserts)) => {
            let micros = parse_time_micros(text).or_else(|error| fail("validity", error))?;
            Validity::from((micros, asserts))
        }
        (_, asserts) => Validity::from((int("validity", args, 0)?, asserts.unwrap_or(true))),
    };
    Ok(DataValue::Validity(validity))
}
