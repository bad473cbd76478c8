//! Bytes that mean nothing, and how errors say so.

use std::fmt::Write as _;

use crate::storage::StorageError;

/// Why some bytes mean nothing; where they stand is known further up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Malformed(pub String);

impl Malformed {
    pub fn new(why: impl Into<String>) -> Self {
        Malformed(why.into())
    }

    /// The error for a row of a relation.
    pub fn at(self, relation: &str, key: &[u8]) -> StorageError {
        StorageError::Damaged(format!("relation '{relation}', key {}: {self}", hex(key)))
    }
}

/// How many bytes of a key are shown.
const SHOWN_BYTES: usize = 64;

/// Bytes as hexadecimal digits, long ones cut.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes.iter().take(SHOWN_BYTES) {
        write!(text, "{byte:02x}").expect("text takes text");
    }
    if bytes.len() > SHOWN_BYTES {
        write!(text, "... ({} bytes)", bytes.len()).expect("text takes text");
    }
    text
}
