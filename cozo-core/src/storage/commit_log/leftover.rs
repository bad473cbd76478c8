//! Reading the log when a database is opened: the commits that the engine does not have, and the losses among them.
//!
//! ```text
//!   the engine's mark:  session S, next file 7, 12 commits taken
//!
//!   db-commits-6    numbers below 7 are applied: removed
//!   db-commits-7    commit, note (the engine took 12), commit, sealed     } applied, in this order
//!   db-commits-8    note (file 7 had 4 kB), commit, half a commit         }
//! ```
//! Reading ends at the first gap, since later commits may depend on a missing one. A gap is:
//! - a record that is incomplete, or whose checksum is wrong;
//! - a missing file, although the one before is sealed, or although the session was not closed;
//! - a file that is shorter than it was when the next one was begun;
//! - a note that the engine had more commits than it has now: its own log was damaged or removed.
//!
//! Each gap is a [`Loss`]. The opening reports it and renames the file. The last record of all may be torn without damage: the
//! process or the machine ended while it was written, and the commit was not acknowledged. That looks like damage to the last
//! commit, so it is reported too, and the file is renamed.

use std::collections::BTreeMap;

use super::file::{self, Found};
use super::record::{self, Note, Record};
use super::{Place, failed};
use crate::storage::error::StorageError;
use crate::storage::log_mark::LogMark;
use crate::storage::lost::name_of;

/// The files of the log, by number.
pub struct Leftover {
    place: Place,
    files: BTreeMap<u64, Found>,
    /// Whether this opening created the database.
    is_beside_new: bool,
}

/// The commits to apply, and the losses.
#[derive(Default)]
pub struct Replay {
    /// The commits that the engine does not have, as records.
    pub records: Vec<u8>,
    /// The first number that no file has.
    pub next: u64,
    /// The commits that are missing.
    pub losses: Vec<Loss>,
    /// Whether the engine misses commits that it had.
    pub is_engine_behind: bool,
}

/// Commits that could not be applied.
pub struct Loss {
    /// The file of the log whose commits were not all applied; none if the file is missing.
    pub file: Option<u64>,
    /// The reason, in words.
    pub reason: String,
}

/// The result of reading a file.
enum End {
    /// The file was read to its last record. The flag says whether there must be a file after it.
    Whole(bool),
    /// The last bytes, of this number, are an incomplete record.
    Unfinished(u64),
    /// Something is missing, for this reason.
    Lost(String),
    /// The engine misses this number of commits that it had.
    EngineBehind(u64),
}

impl Leftover {
    /// Reads the files of a log. `is_beside_new` says whether this opening creates the database.
    pub fn find(place: &Place, is_beside_new: bool) -> Result<Self, StorageError> {
        let read = || -> std::io::Result<_> {
            let mut files = BTreeMap::new();
            for number in file::numbers(place)? {
                files.extend(file::find(&place.file(number))?.map(|file| (number, file)));
            }
            Ok(Leftover { place: place.clone(), files, is_beside_new })
        };
        read().map_err(failed("read the commit log"))
    }

    /// Whether there is any file.
    pub fn is_any(place: &Place) -> Result<bool, StorageError> {
        let numbers = file::numbers(place).map_err(failed("read the commit log"))?;
        Ok(!numbers.is_empty())
    }

    /// The commits after the engine's mark.
    pub fn after(mut self, mark: Option<LogMark>) -> Replay {
        let mut replay = Replay::default();
        let last = self.files.keys().next_back().copied();
        if let Some(mark) = mark {
            self.files.retain(|number, _| *number >= mark.next);
            self.read_chain(mark, &mut replay);
        }
        let first_free = mark.map_or(0, |mark| mark.next);
        replay.next = last.map_or(first_free, |last| first_free.max(last.saturating_add(1)));
        // Beside a new database every file belongs to an earlier one.
        let is_older = |file: &Found| self.is_beside_new && file.has_head();
        let unread = self.files.iter().filter(|(_, file)| !file.is_without_records() || is_older(file));
        replay.losses.extend(unread.map(|(number, file)| {
            let reason = match file.has_head() {
                true if mark.is_some_and(|mark| file.records(mark.session, *number).is_some()) => {
                    "its commits come after commits that are missing"
                }
                true => "it belongs to another state of the database: was the database replaced by a copy, or its own log removed?",
                false => "its first bytes are damaged",
            };
            Loss { file: Some(*number), reason: reason.to_string() }
        }));
        replay
    }

    /// The length of a file when the next one was begun, by the note in that one.
    fn len_noted_after(&self, session: u128, number: u64) -> Option<u64> {
        let (records, head) = self.files.get(&(number + 1))?.records(session, number + 1)?;
        match record::first(records, &head)?.0 {
            Record::Note(Note::Before { previous_len, .. }) => Some(previous_len),
            _ => None,
        }
    }

    /// Reads file after file, from the first that the engine has not applied.
    fn read_chain(&mut self, mark: LogMark, replay: &mut Replay) {
        let (mut previous_len, mut is_expected) = (None, mark.is_open == Some(true));
        for number in mark.next.. {
            let Some(found) = self.files.remove(&number) else {
                let has_later = self.files.values().any(|file| !file.is_without_records());
                if has_later || is_expected {
                    let name = name_of(&self.place.file(number));
                    replay.losses.push(Loss { file: None, reason: format!("'{name}' is missing") });
                }
                return;
            };
            let Some((records, head)) = found.records(mark.session, number) else {
                // The file was just begun, and the engine's mark did not name it yet.
                let is_cut_short = found.is_without_records() && !is_expected;
                if !is_cut_short {
                    replay.lose(number, "its first bytes are damaged, or those of another database");
                }
                return;
            };
            let len = found.len();
            let (commits, end) = read(records, &head, mark.commits, previous_len);
            replay.records.extend(commits);
            (previous_len, is_expected) = match end {
                End::Whole(has_next) => (Some(len), has_next),
                // Only the note that ends the file is incomplete: all its commits are there.
                End::Unfinished(bytes) if self.len_noted_after(mark.session, number) == Some(len - bytes) => {
                    (Some(len - bytes), true)
                }
                End::Unfinished(_) if self.files.values().all(Found::is_without_records) => {
                    return replay.lose(number, TORN);
                }
                End::Unfinished(bytes) => {
                    let what = format!("its last {bytes} bytes are no whole commit, and there is a file after it");
                    return replay.lose(number, what);
                }
                End::Lost(reason) => return replay.lose(number, reason),
                End::EngineBehind(missing) => {
                    replay.is_engine_behind = true;
                    return replay.lose(number, format!(
                        "the {missing} commits before the rest of it are missing: the log of the engine itself was damaged or removed"
                    ));
                }
            };
        }
    }
}

/// Why the last file of a log ends within a commit.
const TORN: &str = "its last bytes are no whole commit: one was being written when the process or the machine ended, or the file is damaged";

impl Replay {
    /// Notes that a file could not be applied as a whole.
    fn lose(&mut self, file: u64, reason: impl Into<String>) {
        self.losses.push(Loss { file: Some(file), reason: reason.into() });
    }
}

/// The commits of a file, and the result of reading it. `previous_len` is the length read of the file before, if there was one.
fn read(mut bytes: &[u8], head: &crc32fast::Hasher, engine_commits: u64, previous_len: Option<u64>) -> (Vec<u8>, End) {
    let (whole, mut commits, mut is_sealed) = (bytes.len(), vec![], false);
    while !bytes.is_empty() {
        let Some((record, after)) = record::first(bytes, head) else {
            let at = file::HEAD + whole - bytes.len();
            let end = match record::count_beyond(bytes, head) {
                0 => End::Unfinished(bytes.len() as u64),
                beyond => {
                    End::Lost(format!("it is damaged at byte {at}, and {beyond} commits or more are behind that"))
                }
            };
            return (commits, end);
        };
        match record {
            Record::Commit(record) => commits.extend_from_slice(record),
            Record::Note(Note::Sealed) => is_sealed = true,
            Record::Note(Note::Before { commits: taken, .. }) if taken > engine_commits => {
                return (commits, End::EngineBehind(taken - engine_commits));
            }
            Record::Note(Note::Before { previous_len: expected, .. }) => {
                if let Some(found) = previous_len.filter(|found| *found < expected) {
                    let reason =
                        format!("the file before it has {found} bytes, and had {expected} when it was complete");
                    return (commits, End::Lost(reason));
                }
            }
        }
        bytes = after;
    }
    (commits, End::Whole(is_sealed))
}
