//! The parts of a date and a time of day.

use chrono::{Datelike, Timelike};

use super::Zone;

/// A part of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Part {
    Year,
    IsoYear,
    Quarter,
    Month,
    Week,
    Day,
    Weekday,
    DayOfYear,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Epoch,
}

const PARTS: &[(&str, Part)] = &[
    ("year", Part::Year),
    ("iso_year", Part::IsoYear),
    ("quarter", Part::Quarter),
    ("month", Part::Month),
    ("week", Part::Week),
    ("day", Part::Day),
    ("weekday", Part::Weekday),
    ("day_of_year", Part::DayOfYear),
    ("hour", Part::Hour),
    ("minute", Part::Minute),
    ("second", Part::Second),
    ("millisecond", Part::Millisecond),
    ("microsecond", Part::Microsecond),
    ("epoch", Part::Epoch),
];

impl Part {
    /// What an argument that names a part must be.
    pub(super) const EXPECTED: &str = "'year', 'iso_year', 'quarter', 'month', 'week', 'day', 'weekday', 'day_of_year', \
                                       'hour', 'minute', 'second', 'millisecond', 'microsecond' or 'epoch'";

    /// The part of a name.
    pub(in super::super) fn named(name: &str) -> Option<Part> {
        PARTS.iter().find(|(known, _)| *known == name).map(|(_, part)| *part)
    }

    /// The part of a moment, whole seconds for the epoch; `None` if the moment is out of the calendar.
    pub(in super::super) fn of(self, micros: i64, zone: Zone) -> Option<i64> {
        let local = zone.local(micros)?;
        let micros_of_minute = i64::from(local.second()) * 1_000_000 + i64::from(local.nanosecond() / 1_000);
        Some(match self {
            Part::Year => i64::from(local.year()),
            Part::IsoYear => i64::from(local.iso_week().year()),
            Part::Quarter => i64::from(local.quarter()),
            Part::Month => i64::from(local.month()),
            Part::Week => i64::from(local.iso_week().week()),
            Part::Day => i64::from(local.day()),
            Part::Weekday => i64::from(local.weekday().number_from_monday()),
            Part::DayOfYear => i64::from(local.ordinal()),
            Part::Hour => i64::from(local.hour()),
            Part::Minute => i64::from(local.minute()),
            Part::Second => i64::from(local.second()),
            Part::Millisecond => micros_of_minute / 1_000,
            Part::Microsecond => micros_of_minute,
            Part::Epoch => micros.div_euclid(1_000_000),
        })
    }
}
