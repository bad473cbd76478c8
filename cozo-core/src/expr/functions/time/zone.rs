//! Time zones: what clocks and calendars show at a moment, and the moment at which they show something.
//!
//! Where the clocks are put forward, some local times are skipped; where they are put back, some occur twice. As in PostgreSQL,
//! Java and Python,
//!
//! * a skipped time is moved on by what was skipped: 02:30 is 03:30;
//! * of a repeated time the first is meant;
//! * a day begins with its first moment, if it has no midnight.

use chrono::{DateTime, FixedOffset, LocalResult, NaiveDateTime, Offset, TimeZone, Utc};
use chrono_tz::{GapInfo, Tz};

use crate::value::TimeText;

/// A zone of the IANA database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Zone {
    /// `None` is UTC, whose calendar needs no look-up.
    tz: Option<Tz>,
}

impl Zone {
    pub(in super::super) const UTC: Zone = Zone { tz: None };

    /// The zone of a name such as `Europe/Paris`.
    pub(in super::super) fn named(name: &str) -> Option<Zone> {
        let tz: Tz = name.parse().ok()?;
        Some(Zone { tz: (tz != Tz::UTC).then_some(tz) })
    }

    /// The zone in the terms of chrono.
    pub(super) fn tz(self) -> Tz {
        self.tz.unwrap_or(Tz::UTC)
    }

    /// The offset from UTC at a moment.
    pub(super) fn offset(self, micros: i64) -> Option<FixedOffset> {
        let utc = DateTime::<Utc>::from_timestamp_micros(micros)?.naive_utc();
        Some(self.tz.map_or(Utc.fix(), |tz| tz.offset_from_utc_datetime(&utc).fix()))
    }

    /// What calendar and clock show at a moment. `None` if it is out of the calendar, here and below.
    pub(super) fn local(self, micros: i64) -> Option<NaiveDateTime> {
        let utc = DateTime::<Utc>::from_timestamp_micros(micros)?.naive_utc();
        match self.tz {
            None => Some(utc),
            Some(tz) => utc.checked_add_offset(tz.offset_from_utc_datetime(&utc).fix()),
        }
    }

    /// The moment at which calendar and clock show a local time. Of a repeated one it is the moment with the offset `like`, if
    /// there is one.
    pub(super) fn moment(self, local: NaiveDateTime, like: Option<FixedOffset>) -> Option<i64> {
        let Some(tz) = self.tz else { return Some(local.and_utc().timestamp_micros()) };
        let offset = match tz.offset_from_local_datetime(&local) {
            LocalResult::Single(offset) => offset.fix(),
            LocalResult::Ambiguous(first, second) => like.filter(|like| *like == second.fix()).unwrap_or(first.fix()),
            LocalResult::None => GapInfo::new(&local, &tz)?.begin?.1.fix(),
        };
        micros_at(local, offset)
    }

    /// The first moment of a day, given its midnight.
    pub(super) fn first_moment(self, midnight: NaiveDateTime) -> Option<i64> {
        match self.tz.map(|tz| (tz, tz.offset_from_local_datetime(&midnight))) {
            Some((tz, LocalResult::None)) => Some(GapInfo::new(&midnight, &tz)?.end?.timestamp_micros()),
            _ => self.moment(midnight, None),
        }
    }

    /// The moment of a date or time, which is in this zone unless it has an offset of its own.
    pub(in super::super) fn micros_of_text(self, text: &TimeText) -> Option<i64> {
        match text.offset {
            Some(_) => Some(text.micros()),
            None if text.has_time_of_day => self.moment(text.local, None),
            None => self.first_moment(text.local),
        }
    }
}

fn micros_at(local: NaiveDateTime, offset: FixedOffset) -> Option<i64> {
    Some(local.checked_sub_offset(offset)?.and_utc().timestamp_micros())
}
