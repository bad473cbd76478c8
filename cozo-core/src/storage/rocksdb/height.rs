//! The height: a file `height` with the number of RocksDB's last write and the extent of its [manifest](super::manifest).
//!
//! RocksDB checks all that it reads. But if files were truncated, or replaced by older ones, it reads the rest and opens with the
//! rows of that time, since no file says that there was more. So both facts are noted at the opening, at the end, when files are
//! written, and at intervals. An opening that finds less than the note reports it. A missing or unreadable note is ignored.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ::rocksdb::DB;

use super::manifest::{Extent, Follower};

const FILE: &str = "height";

/// The temporary name of a note, so that the file is replaced as a whole or not at all.
const NEW_FILE: &str = "height.tmp";

/// A note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    /// The number of the last write.
    pub number: u64,
    /// Whether the database was closed, so that there is no later write.
    pub is_closed: bool,
    /// The extent of the manifest.
    pub manifest: Extent,
}

/// The length of a note: the fields in their order, and a checksum of them.
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

/// The writer of notes for an open database.
pub(super) struct Height {
    folder: PathBuf,
    /// The number of bytes written between two notes.
    interval: u64,
    /// The number of bytes written since the last note.
    bytes: AtomicU64,
    /// The lock also orders the writing of notes.
    manifest: Mutex<Follower>,
}

/// The note in a folder.
pub(super) fn read(folder: &Path) -> Option<Noted> {
    Noted::of_bytes(&std::fs::read(folder.join(FILE)).ok()?.try_into().ok()?)
}

impl Height {
    /// A writer for the database in a folder, which writes files of about `file_bytes` bytes.
    pub(super) fn new(folder: &Path, file_bytes: u64) -> Self {
        let manifest = Mutex::new(Follower::new(folder));
        Height { folder: folder.to_path_buf(), interval: file_bytes / 8, bytes: AtomicU64::new(0), manifest }
    }

    /// Counts written bytes. Writes a note if there are many since the last one.
    pub(super) fn has_written(&self, bytes: usize, db: &DB) {
        let before = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if before + bytes as u64 >= self.interval {
            self.note(db, false);
        }
    }

    /// Writes a note. Errors are ignored: without a note, at worst a damaged file is not noticed.
    pub(super) fn note(&self, db: &DB, is_closed: bool) {
        self.bytes.store(0, Ordering::Relaxed);
        let mut follower = self.manifest.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(manifest) = follower.extent() else { return };
        let noted = Noted { number: db.latest_sequence_number(), is_closed, manifest };
        let (new, file) = (self.folder.join(NEW_FILE), self.folder.join(FILE));
        let _ = std::fs::write(&new, noted.to_bytes()).and_then(|()| std::fs::rename(&new, &file));
    }
}
