//! The position in the commit log that an engine stores with its commits.

use super::error::StorageError;

/// The position up to which a log is applied. The engine stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogMark {
    /// The session, a random number.
    pub session: u128,
    /// The number of the first file that is not applied.
    pub next: u64,
    /// The number of commits of the engine in this session.
    pub commits: u64,
    /// Whether the session continues, so that the file must exist. Marks of earlier versions do not say.
    pub is_open: Option<bool>,
}

impl LogMark {
    /// The mark as text, for engines that store text.
    pub fn to_text(self) -> String {
        let LogMark { session, next, commits, is_open } = self;
        match is_open {
            Some(is_open) => format!("{session:032x} {next} {commits} {}", if is_open { "open" } else { "closed" }),
            None => format!("{session:032x} {next}"),
        }
    }

    /// Parses a mark.
    pub fn of_text(text: &str) -> Result<Self, StorageError> {
        let parse = || {
            let mut words = text.split(' ');
            let session = u128::from_str_radix(words.next()?, 16).ok()?;
            let next = words.next()?.parse().ok()?;
            let commits = words.next().map_or(Some(0), |commits| commits.parse().ok())?;
            let is_open = match words.next() {
                Some("open") => Some(true),
                Some("closed") => Some(false),
                Some(_) => return None,
                None => None,
            };
            Some(LogMark { session, next, commits, is_open })
        };
        parse().ok_or_else(|| StorageError::Damaged("the mark of the commit log".to_string()))
    }
}
