//! How far the database had come, in a file of its own: `height` has the number of the last write that RocksDB had taken.
//!
//! RocksDB checks all that it reads. But of a manifest that was cut off, or replaced by an older one, it reads what is there, and opens with the
//! rows of that time: no file says that there was more. So the number is noted at the opening and the end, where files are written, and now
//! and then; an opening that comes less far tells. A number that cannot be read, or was lost with the power, says nothing.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use ::rocksdb::DB;

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
}

/// How many bytes a note has: the number, whether it was the last one, and a checksum of both.
const NOTE_BYTES: usize = 8 + 1 + 4;

/// Notes how far a database has come.
pub(super) struct Height {
    folder: PathBuf,
    /// How many bytes may be written between two notes.
    interval: u64,
    /// How many bytes were written since the last one.
    bytes: AtomicU64,
}

/// What was noted in a folder.
pub(super) fn read(folder: &Path) -> Option<Noted> {
    let bytes: [u8; NOTE_BYTES] = std::fs::read(folder.join(FILE)).ok()?.try_into().ok()?;
    let (noted, checksum) = bytes.split_at(NOTE_BYTES - 4);
    let number = u64::from_le_bytes(noted[..8].try_into().expect("it has eight bytes"));
    (crc32fast::hash(noted).to_le_bytes() == checksum).then_some(Noted { number, is_closed: noted[8] == 1 })
}

impl Height {
    /// Of the database in a folder, which writes files of so many bytes.
    pub(super) fn new(folder: &Path, file_bytes: u64) -> Self {
        Height { folder: folder.to_path_buf(), interval: file_bytes / 8, bytes: AtomicU64::new(0) }
    }

    /// Notes the number if many bytes were written, with these, since the last time.
    pub(super) fn has_written(&self, bytes: usize, db: &DB) {
        let before = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if before + bytes as u64 >= self.interval {
            self.note(db, false);
        }
    }

    /// Notes the number. What cannot be noted is missing at the worst where a manifest is damaged.
    pub(super) fn note(&self, db: &DB, is_closed: bool) {
        self.bytes.store(0, Ordering::Relaxed);
        let noted = [&db.latest_sequence_number().to_le_bytes()[..], &[u8::from(is_closed)]].concat();
        let bytes = [&noted[..], &crc32fast::hash(&noted).to_le_bytes()].concat();
        let (new, file) = (self.folder.join(NEW_FILE), self.folder.join(FILE));
        let _ = std::fs::write(&new, bytes).and_then(|()| std::fs::rename(&new, &file));
    }
}
