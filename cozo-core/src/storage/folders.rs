//! Folders: the folder of a file, and the durability of file names.

use std::io;
use std::path::Path;

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the name of a new file durable. Syncing the file itself does not sync its name.
#[cfg(unix)]
pub fn sync_name(path: &Path) -> io::Result<()> {
    std::fs::File::open(folder_of(path))?.sync_all()
}

/// On other systems a folder cannot be opened, and the system syncs names itself.
#[cfg(not(unix))]
pub fn sync_name(_path: &Path) -> io::Result<()> {
    Ok(())
}
