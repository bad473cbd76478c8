//! The check that RocksDB's manifest is as the database left it.
//!
//! The manifest, `MANIFEST-000123`, lists the files of the database, and grows. `CURRENT` has its name. RocksDB checks the records
//! of the manifest, but takes an unreadable one at the end for an interrupted write. Of a manifest that is truncated, damaged at
//! the end or replaced by an older one, it reads the rest, and removes all later files of rows. So a checksum of the manifest is
//! noted, and compared before RocksDB opens it. If the noted bytes are not all there, the opening is refused as damaged, and nothing is
//! changed. What came after the last note is not checked, nor is a folder without one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::storage::error::StorageError;

/// The extent of a manifest at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The number in its name. A later manifest has a greater number.
    pub number: u64,
    /// The length of the manifest.
    pub bytes: u64,
    /// The checksum of these bytes.
    pub checksum: u32,
}

/// A manifest, and the part of it that was read.
struct Manifest {
    number: u64,
    file: File,
    bytes: u64,
    hasher: crc32fast::Hasher,
}

/// Follows the manifest of an open database.
pub(super) struct Follower {
    folder: PathBuf,
    manifest: Option<Manifest>,
}

impl Follower {
    pub(super) fn new(folder: &Path) -> Self {
        Follower { folder: folder.to_path_buf(), manifest: None }
    }

    /// The present extent of the manifest. Syncs it to the disk, so that no loss of power undoes it.
    pub(super) fn extent(&mut self) -> io::Result<Extent> {
        let (number, path) = current(&self.folder)?;
        let manifest = match self.manifest.take() {
            Some(manifest) if manifest.number == number => manifest,
            _ => Manifest { number, file: File::open(path)?, bytes: 0, hasher: crc32fast::Hasher::new() },
        };
        let manifest = self.manifest.insert(manifest);
        let mut more = vec![];
        // The bytes read before an error are counted too.
        let read = manifest.file.read_to_end(&mut more);
        manifest.bytes += more.len() as u64;
        manifest.hasher.update(&more);
        read?;
        manifest.file.sync_data()?;
        Ok(Extent { number, bytes: manifest.bytes, checksum: manifest.hasher.clone().finalize() })
    }
}

/// The number of the manifest of the database in a folder, and its path.
fn current(folder: &Path) -> io::Result<(u64, PathBuf)> {
    let name = fs::read_to_string(folder.join("CURRENT"))?;
    let name = name.trim_end();
    let number = name.strip_prefix("MANIFEST-").and_then(|number| number.parse().ok());
    let number = number.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "CURRENT names no manifest"))?;
    Ok((number, folder.join(name)))
}

/// Refuses a folder whose manifest lacks a part of the noted extent.
pub(super) fn check(folder: &Path, noted: Extent) -> Result<(), StorageError> {
    // RocksDB itself reports a `CURRENT` that names no manifest, and a manifest that is missing or cannot be read.
    let Ok((number, path)) = current(folder) else { return Ok(()) };
    let Ok(bytes) = fs::read(&path) else { return Ok(()) };
    let has_all = || {
        let before = usize::try_from(noted.bytes).ok().and_then(|noted| bytes.get(..noted));
        before.is_some_and(|before| crc32fast::hash(before) == noted.checksum)
    };
    if number > noted.number || (number == noted.number && has_all()) {
        return Ok(());
    }
    Err(StorageError::Damaged(format!(
        "RocksDB's list of files, '{}', was damaged, cut off, or replaced by an older one; nothing was changed. If there is no backup, copy \
         the folder and remove the file 'height': the next opening takes what the list still has, and removes all other files",
        path.display()
    )))
}
