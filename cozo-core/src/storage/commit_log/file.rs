//! The files of the log. Each begins with a head, in little-endian order, which names the session and the file's number. Records
//! follow.
//! ```text
//! 8 bytes   "cozolog1"
//! 16 bytes  the session
//! 8 bytes   the number of the file
//! ```

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;

use super::Place;
use super::record::{self, Note};
use crate::storage::changes::ChangeSet;
use crate::storage::error::StorageError;
use crate::storage::folders::{folder_of, sync_name};

const MAGIC: &[u8; 8] = b"cozolog1";

/// The bytes of the head.
pub const HEAD: usize = 32;

/// A file that records are appended to.
pub struct LogFile {
    file: File,
    /// The number of the file.
    pub number: u64,
    /// The end of the last record.
    len: u64,
    head: Hasher,
    is_synced: bool,
}

/// The failure to append a record.
pub struct AppendError {
    /// Whether it is certain that the file does not have the record.
    pub is_undone: bool,
}

impl LogFile {
    /// Begins a file. It replaces one with the same number. With `is_synced`, appended records survive a loss of power.
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

    /// The length of the file.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Writes the record of some changes into a buffer, whose contents it replaces.
    pub fn encode(&self, changes: &[ChangeSet], record: &mut Vec<u8>) -> Result<(), StorageError> {
        record::write(changes, &self.head, record)
    }

    /// Appends a record. After an error the file must not be appended to again.
    pub fn append(&mut self, record: &[u8]) -> Result<(), AppendError> {
        self.write(record, |file| file.sync())
    }

    /// Appends a note. It is synced with the next record, since losing a note alone loses no commit. After an error the file must
    /// not be appended to again.
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

/// The contents of a file that was found.
pub struct Found(Vec<u8>);

impl Found {
    /// The bytes of its records, and the hasher that their checksums start from, if the file has this session and number.
    pub fn records(&self, session: u128, number: u64) -> Option<(&[u8], Hasher)> {
        let expected = head(session, number);
        self.0.strip_prefix(&expected).map(|records| (records, hasher(&expected)))
    }

    /// Whether it has at most a head, and so no commits.
    pub fn is_without_records(&self) -> bool {
        self.0.len() <= HEAD
    }

    /// Whether it has a head, of any session.
    pub fn has_head(&self) -> bool {
        self.0.len() >= HEAD && self.0.starts_with(MAGIC)
    }

    /// The length of the file.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

/// Reads a file, if it exists.
pub fn find(path: &Path) -> std::io::Result<Option<Found>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut bytes = vec![];
    file.read_to_end(&mut bytes)?;
    Ok(Some(Found(bytes)))
}

/// The numbers of the existing files.
pub fn numbers(place: &Place) -> std::io::Result<Vec<u64>> {
    let number = |rest: &[u8]| std::str::from_utf8(rest).ok()?.parse::<u64>().ok();
    Ok(suffixes(place)?.iter().filter_map(|rest| number(rest)).collect())
}

/// The rests of the file names at the place, after its name and a hyphen.
fn suffixes(place: &Place) -> std::io::Result<Vec<Vec<u8>>> {
    let Some(name) = place.0.file_name() else { return Ok(vec![]) };
    let entries = match std::fs::read_dir(folder_of(&place.0)) {
        // If the folder is missing or is not a folder, the engine reports it.
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
