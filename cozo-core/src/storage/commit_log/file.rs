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

use super::Place;
use super::record::{self, Note};
use crate::storage::folders::{folder_of, sync_name};
use crate::storage::{ChangeSet, StorageError};

const MAGIC: &[u8; 8] = b"cozolog1";

/// The bytes of the head.
pub const HEAD: usize = 32;

/// A file that records are appended to.
pub struct LogFile {
    file: File,
    /// Its number.
    pub number: u64,
    /// The end of the last record.
    len: u64,
    head: Hasher,
    is_synced: bool,
}

/// A record could not be appended.
pub struct AppendError {
    /// Whether it is certain that the file does not have the record.
    pub is_undone: bool,
}

impl LogFile {
    /// Begins a file, in place of one of the same number. With `is_synced`, what is appended outlives the power.
    pub fn create(place: &Place, session: u128, number: u64, is_synced: bool) -> std::io::Result<Self> {
        let path = place.file(number);
        let mut file = File::create(&path)?;
        let head = head(session, number);
        file.write_all(&head)?;
        if is_synced {
            file.sync_all()?;
            sync_name(&path)?;
        }
        Ok(LogFile { file, number, len: HEAD as u64, head: hasher(&head), is_synced })
    }

    /// Its length.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Writes the record of some changes over what is in the buffer.
    pub fn encode(&self, changes: &[ChangeSet], record: &mut Vec<u8>) -> Result<(), StorageError> {
        record::write(changes, &self.head, record)
    }

    /// Appends a record. After an error the file is not to be appended to again.
    pub fn append(&mut self, record: &[u8]) -> Result<(), AppendError> {
        self.write(record, |file| file.sync())
    }

    /// Appends a note. The next record is synced with it, since nothing is lost with a note alone. After an error the file is not
    /// to be appended to again.
    pub fn append_note(&mut self, note: Note) -> Result<(), AppendError> {
        let mut record = vec![];
        record::write_note(note, &self.head, &mut record);
        self.write(&record, |_| Ok(()))
    }

    fn write(&mut self, record: &[u8], sync: impl Fn(&Self) -> std::io::Result<()>) -> Result<(), AppendError> {
        match self.file.write_all(record).and_then(|()| sync(self)) {
            Ok(()) => {
                self.len += record.len() as u64;
                Ok(())
            }
            Err(_) => {
                let undone = self.file.set_len(self.len).and_then(|()| self.sync());
                Err(AppendError { is_undone: undone.is_ok() })
            }
        }
    }

    fn sync(&self) -> std::io::Result<()> {
        if self.is_synced { self.file.sync_data() } else { Ok(()) }
    }
}

fn head(session: u128, number: u64) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(MAGIC);
    head[8..24].copy_from_slice(&session.to_le_bytes());
    head[24..].copy_from_slice(&number.to_le_bytes());
    head
}

fn hasher(head: &[u8; HEAD]) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(head);
    hasher
}

/// What a file that was found holds.
pub struct Found(Vec<u8>);

impl Found {
    /// The bytes of its records, and what begins their checksums, if it is the file of this session and number.
    pub fn records(&self, session: u128, number: u64) -> Option<(&[u8], Hasher)> {
        let expected = head(session, number);
        self.0.strip_prefix(&expected).map(|records| (records, hasher(&expected)))
    }

    /// Whether it was cut short when it was made: there is no commit in it.
    pub fn is_without_records(&self) -> bool {
        self.0.len() <= HEAD
    }

    /// Whether it is of some session.
    pub fn has_head(&self) -> bool {
        self.0.len() >= HEAD && self.0.starts_with(MAGIC)
    }

    /// Its length.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

/// Reads a file, if it is there.
pub fn find(path: &Path) -> std::io::Result<Option<Found>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut bytes = vec![];
    file.read_to_end(&mut bytes)?;
    Ok(Some(Found(bytes)))
}

/// The numbers of the files that are there.
pub fn numbers(place: &Place) -> std::io::Result<Vec<u64>> {
    let number = |rest: &[u8]| std::str::from_utf8(rest).ok()?.parse::<u64>().ok();
    Ok(suffixes(place)?.iter().filter_map(|rest| number(rest)).collect())
}

/// What the names of the files at the place have after its name and a hyphen.
fn suffixes(place: &Place) -> std::io::Result<Vec<Vec<u8>>> {
    let Some(name) = place.0.file_name() else { return Ok(vec![]) };
    let entries = match std::fs::read_dir(folder_of(&place.0)) {
        // What is in the place of a folder is for the engine to say.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(vec![]),
        entries => entries?,
    };
    let mut suffixes = vec![];
    for entry in entries {
        let entry = entry?.file_name();
        // Names need not be text.
        let rest = entry.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        suffixes.extend(rest.and_then(|rest| rest.strip_prefix(b"-")).map(<[u8]>::to_vec));
    }
    Ok(suffixes)
}

impl Place {
    /// The path of a file.
    pub(super) fn file(&self, number: u64) -> PathBuf {
        let mut name = self.0.as_os_str().to_owned();
        name.push(format!("-{number}"));
        name.into()
    }
}
