//! Times printed and read by strftime patterns.
//!
//! chrono prints what it can of a bad pattern and then fails, which makes `to_string` panic. So a [`Pattern`] is checked when it is
//! made, and whoever prints still treats a failure as an error.

use std::fmt::Write;

use chrono::format::{Fixed, Item, Parsed, StrftimeItems, parse};
use chrono::{DateTime, FixedOffset, NaiveTime, Utc};

use super::Zone;
use crate::value::TimeText;

/// The longest pattern, in bytes. A few bytes of a pattern may print a whole date, so a text may be some times as long.
const MAX_PATTERN_BYTES: usize = 256;

/// A checked pattern.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Pattern<'a> {
    text: &'a str,
}

impl<'a> Pattern<'a> {
    /// Checks a pattern.
    pub(in super::super) fn new(text: &'a str) -> Result<Self, String> {
        if text.len() > MAX_PATTERN_BYTES {
            return Err(format!("the pattern has {} bytes: at most {MAX_PATTERN_BYTES} are allowed", text.len()));
        }
        if StrftimeItems::new(text).any(|item| item == Item::Error) {
            return Err(format!(
                "'{text}' is no pattern of strftime, such as '%Y-%m-%d %H:%M:%S'; a plain percent sign is '%%'"
            ));
        }
        Ok(Pattern { text })
    }

    /// Appends a time. `None` if it cannot be printed.
    pub(in super::super) fn write(self, micros: i64, zone: Zone, text: &mut String) -> Option<()> {
        let utc = DateTime::<Utc>::from_timestamp_micros(micros)?;
        zone.local(micros)?;
        write!(text, "{}", utc.with_timezone(&zone.tz()).format(self.text)).ok()
    }

    /// Reads a date or time. What the pattern does not say of the time of day must be all of it.
    pub(super) fn read(self, text: &str) -> Result<TimeText, String> {
        if StrftimeItems::new(self.text).any(|item| item == Item::Fixed(Fixed::TimezoneName)) {
            return Err("names such as CET stand for no zone for sure: %Z can only be printed".to_string());
        }
        let mut parsed = Parsed::new();
        let fields = parse(&mut parsed, text, StrftimeItems::new(self.text)).and_then(|()| fields(&parsed));
        fields.map_err(|error| format!("it does not fit the pattern '{}': {error}", self.text))
    }
}

/// The date and time that fields of a pattern make.
fn fields(parsed: &Parsed) -> chrono::ParseResult<TimeText> {
    let offset = parsed.offset().map(|_| parsed.to_fixed_offset()).transpose()?;
    if parsed.timestamp().is_some() {
        // Seconds since the epoch are in UTC, whatever else the pattern says.
        let local = parsed.to_naive_datetime_with_offset(0)?;
        return Ok(TimeText { local, has_time_of_day: true, offset: FixedOffset::east_opt(0) });
    }
    let has_time_of_day =
        [parsed.hour_div_12(), parsed.hour_mod_12(), parsed.minute(), parsed.second()].iter().any(Option::is_some);
    let time = if has_time_of_day { parsed.to_naive_time()? } else { NaiveTime::MIN };
    Ok(TimeText { local: parsed.to_naive_date()?.and_time(time), has_time_of_day, offset })
}

/// Appends a time as an RFC 3339 text to the millisecond. `None` if it is out of the calendar.
pub(in super::super) fn write_rfc3339(micros: i64, zone: Zone, text: &mut String) -> Option<()> {
    zone.local(micros)?;
    let utc = DateTime::<Utc>::from_timestamp_millis(micros / 1_000)?;
    text.push_str(&utc.with_timezone(&zone.tz()).to_rfc3339());
    Some(())
}
