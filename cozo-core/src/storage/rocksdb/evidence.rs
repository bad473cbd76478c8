//! The files that an opening may remove, under a second name until it is known whether they were read as a whole.
//!
//! RocksDB writes a new manifest at each opening, and removes the old one and the logs that it has read, damaged or not, also where it refuses
//! to open in the end. `000123.log` is `000123.log.opening` as well meanwhile; if anything was wrong it becomes `000123.log.lost`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::storage::lost;

/// What is added to the names.
pub(super) const OPENING: &str = ".opening";

/// The second names.
pub(super) struct Evidence {
    /// The file, and its second name.
    names: Vec<(PathBuf, PathBuf)>,
}

impl Evidence {
    /// Gives second names to the manifests and logs in a folder. Where that fails, there is one less: the opening does not depend on it.
    pub(super) fn gather(folder: &Path) -> Self {
        let mut names = vec![];
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let file = entry.path();
            let is_one = |name: &str| name.ends_with(".log") || (name.starts_with("MANIFEST-") && !name.contains('.'));
            if !is_one(&lost::name_of(&file)) {
                continue;
            }
            let mut second = file.clone().into_os_string();
            second.push(OPENING);
            let second = PathBuf::from(second);
            // One that is there already is of an opening that was killed.
            if second.exists() || fs::hard_link(&file, &second).or_else(|_| copy_to_new(&file, &second)).is_ok() {
                names.push((file, second));
            }
        }
        Evidence { names }
    }

    /// All was read as it should be.
    pub(super) fn discard(self) {
        for (_, second) in self.names {
            let _ = fs::remove_file(second);
        }
    }

    /// Keeps them all, and tells their names: what was opened with a warning goes on without them, and RocksDB may remove them any moment.
    pub(super) fn keep(self) -> Vec<String> {
        let kept = self.names.iter().filter_map(|(file, second)| lost::keep_as(second, file).ok());
        kept.map(|name| lost::name_of(&name)).collect()
    }

    /// Keeps those that are not there any more after a refusal.
    pub(super) fn keep_what_is_gone(self) {
        for (file, second) in self.names {
            let _ =
                if is_same(&file, &second) { fs::remove_file(second) } else { lost::keep_as(&second, &file).map(drop) };
        }
    }
}

/// Copies a file, for systems without links. What is there under the other name stays: it may be the file itself, if a link was made
/// although that was said to have failed.
pub(super) fn copy_to_new(file: &Path, other: &Path) -> io::Result<()> {
    let mut copy = match File::create_new(other) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        created => created?,
    };
    let copied = File::open(file).and_then(|mut file| io::copy(&mut file, &mut copy));
    // A part of a file would be taken for all of it.
    copied.map(drop).inspect_err(|_| drop(fs::remove_file(other)))
}

#[cfg(unix)]
fn is_same(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    identity(a).is_some() && identity(a) == identity(b)
}

#[cfg(not(unix))]
fn is_same(a: &Path, b: &Path) -> bool {
    fs::read(a).is_ok_and(|bytes| fs::read(b).is_ok_and(|other| bytes == other))
}
