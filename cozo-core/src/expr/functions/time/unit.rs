//! Units of time: to add, to count and to cut by.

use chrono::{Datelike, Months, NaiveDate, NaiveTime, TimeDelta};

use super::Zone;

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// How long a unit is. Days may have 23 or 25 hours, and months differ.
#[derive(Clone, Copy)]
enum Length {
    Micros(i64),
    Days(i64),
    Months(i64),
}

const UNITS: &[(&str, Unit)] = &[
    ("microsecond", Unit::Microsecond),
    ("millisecond", Unit::Millisecond),
    ("second", Unit::Second),
    ("minute", Unit::Minute),
    ("hour", Unit::Hour),
    ("day", Unit::Day),
    ("week", Unit::Week),
    ("month", Unit::Month),
    ("quarter", Unit::Quarter),
    ("year", Unit::Year),
];

impl Unit {
    /// What an argument that names a unit must be.
    pub(super) const EXPECTED: &str = "'year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second', \
                                       'millisecond' or 'microsecond'";

    /// The unit of a name, which may be a plural.
    pub(in super::super) fn named(name: &str) -> Option<Unit> {
        let singular = name.strip_suffix('s').unwrap_or(name);
        UNITS.iter().find(|(name, _)| *name == singular).map(|(_, unit)| *unit)
    }

    fn length(self) -> Length {
        match self {
            Unit::Microsecond => Length::Micros(1),
            Unit::Millisecond => Length::Micros(1_000),
            Unit::Second => Length::Micros(1_000_000),
            Unit::Minute => Length::Micros(60_000_000),
            Unit::Hour => Length::Micros(3_600_000_000),
            Unit::Day => Length::Days(1),
            Unit::Week => Length::Days(7),
            Unit::Month => Length::Months(1),
            Unit::Quarter => Length::Months(3),
            Unit::Year => Length::Months(12),
        }
    }

    /// The moment so many units later. `None` if a moment is out of the calendar, here and below.
    pub(super) fn add(self, micros: i64, count: i64, zone: Zone) -> Option<i64> {
        let local = zone.local(micros)?;
        let date = match self.length() {
            Length::Micros(length) => {
                let later = micros.checked_add(count.checked_mul(length)?)?;
                return zone.local(later).map(|_| later);
            }
            Length::Days(length) => {
                local.date().checked_add_signed(TimeDelta::try_days(count.checked_mul(length)?)?)?
            }
            Length::Months(length) => {
                let months = count.checked_mul(length)?;
                let distance = Months::new(u32::try_from(months.unsigned_abs()).ok()?);
                match months < 0 {
                    true => local.date().checked_sub_months(distance)?,
                    false => local.date().checked_add_months(distance)?,
                }
            }
        };
        zone.moment(date.and_time(local.time()), zone.offset(micros))
    }

    /// How many whole units pass from a moment to another.
    pub(super) fn difference(self, from: i64, to: i64, zone: Zone) -> Option<i64> {
        if to < from {
            return self.difference(to, from, zone)?.checked_neg();
        }
        let (start, end) = (zone.local(from)?, zone.local(to)?);
        let mut count = match self.length() {
            Length::Micros(length) => return Some(to.checked_sub(from)? / length),
            Length::Days(length) => (end.date() - start.date()).num_days() / length,
            Length::Months(length) => {
                let months = |date: NaiveDate| i64::from(date.year()) * 12 + i64::from(date.month0());
                (months(end.date()) - months(start.date())) / length
            }
        };
        // The dates allow for this many; the last unit may not be complete.
        while count > 0 && self.add(from, count, zone).is_none_or(|later| later > to) {
            count -= 1;
        }
        Some(count.max(0))
    }

    /// The begin of the unit that a moment is in.
    pub(in super::super) fn truncate(self, micros: i64, zone: Zone) -> Option<i64> {
        if let Length::Micros(length) = self.length() {
            // The hour of a repeated local time is that of its own offset.
            let offset = i64::from(zone.offset(micros)?.local_minus_utc()) * 1_000_000;
            let local = micros.checked_add(offset)?;
            return Some(local - local.rem_euclid(length) - offset);
        }
        let date = zone.local(micros)?.date();
        let begin = match self {
            Unit::Week => date.checked_sub_signed(TimeDelta::days(i64::from(date.weekday().num_days_from_monday())))?,
            Unit::Month => date.with_day(1)?,
            Unit::Quarter => date.with_day(1)?.with_month0(date.month0() / 3 * 3)?,
            Unit::Year => NaiveDate::from_yo_opt(date.year(), 1)?,
            _ => date,
        };
        zone.first_moment(begin.and_time(NaiveTime::MIN))
    }
}
