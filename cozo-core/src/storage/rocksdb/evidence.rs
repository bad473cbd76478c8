//! Second names for the files that an opening may remove, until it is known whether they were read as a whole.
//!
//! At each opening RocksDB writes a new manifest, and removes the old one and the logs that it has read, damaged or not. It does
//! so even if it refuses to open in the end.
//!
//! ```text
//!  before the opening   000123.log, linked as 000123.log.opening
//!  all was read         the second name is removed
//!  something is wrong   the second name becomes 000123.log.lost
//! ```

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::storage::lost;

/// The suffix of second names.
pub(super) const OPENING: &str = ".opening";

/// The files with second names.
pub(super) struct Evidence {
    /// The file, and its second name.
    names: Vec<(PathBuf, PathBuf)>,
}

impl Evidence {
    /// Gives second names to the manifests and logs in a folder. A file for which that fails has none: the opening does not depend on
    /// them.
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
            // An existing second name is from an interrupted opening.
            if second.exists() || fs::hard_link(&file, &second).or_else(|_| copy_to_new(&file, &second)).is_ok() {
                names.push((file, second));
            }
        }
        Evidence { names }
    }

    /// Removes the second names, since all files were read.
    pub(super) fn discard(self) {
        for (_, second) in self.names {
            let _ = fs::remove_file(second);
        }
    }

    /// Renames all second names to lost files, and returns their names. After an opening with a warning RocksDB may remove the original
    /// files at any moment.
    pub(super) fn keep(self) -> Vec<String> {
        let kept = self.names.iter().filter_map(|(file, second)| lost::keep_as(second, file).ok());
        kept.map(|name| lost::name_of(&name)).collect()
    }

    /// After a refusal: renames the second names of removed files to lost files, and removes the others.
    pub(super) fn keep_what_is_gone(self) {
        for (file, second) in self.names {
            let _ =
                if is_same(&file, &second) { fs::remove_file(second) } else { lost::keep_as(&second, &file).map(drop) };
        }
    }
}

/// Copies a file, for systems without links. An existing file with the other name is not changed. It may be the file itself, if a
/// link was made although the system reported a failure.
pub(super) fn copy_to_new(file: &Path, other: &Path) -> io::Result<()> {
    let mut copy = match File::create_new(other) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        created => created?,
    };
    let copied = File::open(file).and_then(|mut file| io::copy(&mut file, &mut copy));
    // A partial copy would be mistaken for the whole file.
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
