//! How far the database had come, in a file of its own: `height` has the number of the last write that RocksDB had taken, and the extent of
//! the [manifest](super::manifest).
//!
//! RocksDB checks all that it reads. But of files that were cut off, or replaced by older ones, it reads what is there, and opens with the rows
//! of that time: no file says that there was more. So both are noted at the opening and the end, where files are written, and now and then; an
//! opening that comes less far tells. A note that cannot be read, or was lost with the power, says nothing.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ::rocksdb::DB;

use super::manifest::{Extent, Follower};

const FILE: &str = "height";

/// The number is written under this name first, so that it is there as a whole or not at all.
const NEW_FILE: &str = "height.tmp";

/// What was noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    /// The number of the last write.
    pub number: u64,
    /// Whether the database was closed then, so that there was no further one.
    pub is_closed: bool,
    /// What the manifest had.
    pub manifest: Extent,
}

/// How many bytes a note has: the fields in their order, and a checksum of them.
const NOTE_BYTES: usize = 8 + 1 + (8 + 8 + 4) + 4;

impl Noted {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let Extent { number, bytes, checksum } = self.manifest;
        let mut note = [&self.number.to_le_bytes()[..], &[u8::from(self.is_closed)]].concat();
        note.extend([number.to_le_bytes(), bytes.to_le_bytes()].concat());
        note.extend(checksum.to_le_bytes());
        note.extend(crc32fast::hash(&note).to_le_bytes());
        note
    }

    fn of_bytes(note: &[u8; NOTE_BYTES]) -> Option<Self> {
        let (fields, sum) = note.split_at(NOTE_BYTES - 4);
        let long = |from: usize| u64::from_le_bytes(fields[from..from + 8].try_into().expect("it has eight bytes"));
        let checksum = u32::from_le_bytes(fields[25..29].try_into().expect("it has four bytes"));
        let manifest = Extent { number: long(9), bytes: long(17), checksum };
        let noted = Noted { number: long(0), is_closed: fields[8] == 1, manifest };
        (crc32fast::hash(fields).to_le_bytes() == sum).then_some(noted)
    }
}

/// Notes how far a database has come.
pub(super) struct Height {
    folder: PathBuf,
    /// How many bytes may be written between two notes.
    interval: u64,
    /// How many bytes were written since the last one.
    bytes: AtomicU64,
    /// One note is written after the other.
    manifest: Mutex<Follower>,
}

/// What was noted in a folder.
pub(super) fn read(folder: &Path) -> Option<Noted> {
    Noted::of_bytes(&std::fs::read(folder.join(FILE)).ok()?.try_into().ok()?)
}

impl Height {
    /// Of the database in a folder, which writes files of so many bytes.
    pub(super) fn new(folder: &Path, file_bytes: u64) -> Self {
        let manifest = Mutex::new(Follower::new(folder));
        Height { folder: folder.to_path_buf(), interval: file_bytes / 8, bytes: AtomicU64::new(0), manifest }
    }

    /// Notes the number if many bytes were written, with these, since the last time.
    pub(super) fn has_written(&self, bytes: usize, db: &DB) {
        let before = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if before + bytes as u64 >= self.interval {
            self.note(db, false);
        }
    }

    /// Notes how far the database has come. What cannot be noted is missing at the worst where a file is damaged.
    pub(super) fn note(&self, db: &DB, is_closed: bool) {
        self.bytes.store(0, Ordering::Relaxed);
        let mut follower = self.manifest.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(manifest) = follower.extent() else { return };
        let noted = Noted { number: db.latest_sequence_number(), is_closed, manifest };
        let (new, file) = (self.folder.join(NEW_FILE), self.folder.join(FILE));
        let _ = std::fs::write(&new, noted.to_bytes()).and_then(|()| std::fs::rename(&new, &file));
    }
}
