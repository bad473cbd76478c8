//! Points in time at which a fact is asserted or retracted.

use std::cmp::Reverse;

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
