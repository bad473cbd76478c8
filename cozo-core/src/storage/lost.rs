//! Files that could not be read as a whole when a database was opened. They are renamed, so that nothing overwrites or removes
//! them.
//!
//! `db-commits-7` becomes `db-commits-7.lost`, or `db-commits-7.lost-2` if that is there already.

use std::io;
use std::path::{Path, PathBuf};

const LOST: &str = ".lost";

/// Renames a file to a free name, and returns that name.
pub fn keep(path: &Path) -> io::Result<PathBuf> {
    keep_as(path, path)
}

/// Renames a file to the free name that another file would get, and returns that name.
pub fn keep_as(path: &Path, of: &Path) -> io::Result<PathBuf> {
    let name = free_name(of);
    std::fs::rename(path, &name)?;
    Ok(name)
}

/// Writes the former contents of a file to a free name, and returns that name.
pub fn keep_bytes(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let name = free_name(path);
    std::fs::write(&name, bytes)?;
    Ok(name)
}

fn free_name(path: &Path) -> PathBuf {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(LOST);
        if number > 1 {
            name.push(format!("-{number}"));
        }
        PathBuf::from(name)
    };
    (1..).map(name).find(|name| !name.exists()).expect("some number is free")
}

/// The renamed files in a folder whose names begin with a prefix, sorted.
pub fn find(folder: &Path, prefix: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![];
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let end = name.strip_prefix(prefix).and_then(|rest| rest.rsplit_once(LOST)).map(|(_, end)| end);
        if end.is_some_and(|end| {
            end.is_empty() || end.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok())
        }) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The name of a file, for messages.
pub fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_get_names_that_are_free_and_are_found_by_them() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("db-commits-7");
        for name in ["db-commits-7.lost", "db-commits-7.lost-2"] {
            std::fs::write(&path, name)?;
            assert_eq!(name_of(&keep(&path)?), name);
        }
        assert_eq!(name_of(&keep_bytes(&folder.path().join("db-wal"), b"wal")?), "db-wal.lost");
        std::fs::write(folder.path().join("db-commits-8"), "")?;
        std::fs::write(folder.path().join("other-wal.lost"), "")?;
        let found: Vec<String> = find(folder.path(), "db-")?.iter().map(|path| name_of(path)).collect();
        assert_eq!(found, ["db-commits-7.lost", "db-commits-7.lost-2", "db-wal.lost"]);
        assert_eq!(std::fs::read(folder.path().join(&found[1]))?, b"db-commits-7.lost-2");
        Ok(())
    }
}
