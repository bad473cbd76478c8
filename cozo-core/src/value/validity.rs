//! Points in time at which a fact is asserted or retracted.

use std::cmp::Reverse;

use super::{ParseError, parse_time_micros};

/// A timestamp that sorts newest first; microseconds since the Unix epoch by convention.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct ValidityTs(pub Reverse<i64>);

/// A timestamp and whether the fact holds from then on. Sorts newest first, an assertion before a retraction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Validity {
    /// The timestamp.
    pub timestamp: ValidityTs,
    /// Whether the fact holds from then on (`true` sorts first).
    pub is_assert: Reverse<bool>,
}

impl Validity {
    /// The validity of a date or time: an assertion, or with a leading `~` a retraction. See
    /// [`TimeText`](super::TimeText) for the forms.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let (time, asserts) = text.strip_prefix('~').map_or((text, true), |time| (time, false));
        Ok(Validity::from((parse_time_micros(time)?, asserts)))
    }

    /// The timestamp as a plain number.
    pub fn micros(&self) -> i64 {
        self.timestamp.0.0
    }

    /// Whether the fact is asserted.
    pub fn asserts(&self) -> bool {
        self.is_assert.0
    }
}

impl From<(i64, bool)> for Validity {
    fn from((timestamp, is_assert): (i64, bool)) -> Self {
        Validity { timestamp: ValidityTs(Reverse(timestamp)), is_assert: Reverse(is_assert) }
    }
}
