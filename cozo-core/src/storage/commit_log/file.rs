//! The files of the log. Each has a head that says which database it belongs to and where in the order of files it is:
//! ```text
//! 8 bytes   "cozolog1"
//! 16 bytes  the session
//! 8 bytes   the number of the file
//! ```
//! in little-endian order, and then records.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;

use super::record;
use super::{LogMark, Place};
use crate::storage::{ChangeSet, StorageError};

const MAGIC: &[u8; 8] = b"cozolog1";
const HEAD: usize = 32;

/// A file that records are appended to.
pub struct LogFile {
    file: File,
    /// The end of the last record.
    len: u64,
    head: Hasher,
    is_synced: bool,
}

impl LogFile {
    /// Begins a file, in place of one of the same number. With `is_synced`, what is appended outlives the power.
    pub fn create(place: &Place, mark: LogMark, is_synced: bool) -> std::io::Result<Self> {
        let path = place.file(mark.next);
        let mut file = File::create(&path)?;
        let head = head(mark);
        file.write_all(&head)?;
        if is_synced {
            file.sync_all()?;
            // So that its name is there, too.
            path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())?;
        }
        Ok(LogFile { file, len: HEAD as u64, head: hasher(&head), is_synced })
    }

    /// Writes the record of some changes over what is in the buffer.
    pub fn encode(&self, changes: &[ChangeSet], record: &mut Vec<u8>) -> Result<(), StorageError> {
        record::write(changes, &self.head, record)
    }

    /// Appends a record. After an error the file is not to be appended to again.
    pub fn append(&mut self, record: &[u8]) -> std::io::Result<()> {
        let mut write = || {
            self.file.write_all(record)?;
            if self.is_synced { self.file.sync_data() } else { Ok(()) }
        };
        match write() {
            Ok(()) => self.len += record.len() as u64,
            Err(error) => {
                // What failed should not come back after a kill.
                let _ = self.file.set_len(self.len);
                return Err(error);
            }
        }
        Ok(())
    }
}

fn head(mark: LogMark) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(MAGIC);
    head[8..24].copy_from_slice(&mark.session.to_le_bytes());
    head[24..].copy_from_slice(&mark.next.to_le_bytes());
    head
}

fn hasher(head: &[u8; HEAD]) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(head);
    hasher
}

/// What a file that was found holds.
pub struct Found {
    head: [u8; HEAD],
    records: Vec<u8>,
}

impl Found {
    /// The whole records, if the file is the one of this mark, and whether there is nothing else after them.
    pub fn records(mut self, mark: LogMark) -> Option<(Vec<u8>, bool)> {
        let expected = head(mark);
        if self.head != expected {
            return None;
        }
        let whole = record::whole_records(&self.records, &hasher(&expected));
        let is_whole = whole == self.records.len();
        self.records.truncate(whole);
        Some((self.records, is_whole))
    }
}

/// Reads a file, if it is there and has a head.
pub fn find(path: &Path) -> std::io::Result<Option<Found>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut bytes = vec![];
    file.read_to_end(&mut bytes)?;
    Ok(bytes.split_first_chunk().map(|(head, records)| Found { head: *head, records: records.to_vec() }))
}

/// The numbers of the files that are there.
pub fn numbers(place: &Place) -> std::io::Result<Vec<u64>> {
    let Some((folder, name)) = place.0.parent().zip(place.0.file_name()) else { return Ok(vec![]) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
        entries => entries?,
    };
    let mut numbers = vec![];
    for entry in entries {
        let entry = entry?.file_name();
        // Names need not be text.
        let rest = entry.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        let number = rest.and_then(|rest| std::str::from_utf8(rest.strip_prefix(b"-")?).ok()?.parse::<u64>().ok());
        numbers.extend(number);
    }
    Ok(numbers)
}

impl Place {
    /// The path of a file.
    pub(super) fn file(&self, number: u64) -> PathBuf {
        let mut name = self.0.as_os_str().to_owned();
        name.push(format!("-{number}"));
        name.into()
    }
}
