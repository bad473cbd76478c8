//! Folders: the one that a file is in, and its names on the disk.

use std::io;
use std::path::Path;

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Has the name of a file that was just made outlive the power. Syncing the file itself says nothing about its name.
#[cfg(unix)]
pub fn sync_name(path: &Path) -> io::Result<()> {
    std::fs::File::open(folder_of(path))?.sync_all()
}

/// Elsewhere a folder cannot be opened, and the system keeps names by itself.
#[cfg(not(unix))]
pub fn sync_name(_path: &Path) -> io::Result<()> {
    Ok(())
}
