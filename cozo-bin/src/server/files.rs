//! The directory in which requests may name files. A path that leads out of it, be it by `..` or by a symbolic link, is
//! refused. Whoever may change the directory itself from outside of the server is trusted.

use std::io;
use std::path::{Path, PathBuf};

use super::error::ServerError;

/// The directory of files, if requests may name any.
pub struct Files(Option<PathBuf>);

impl Files {
    /// Files in a directory, which must be there.
    pub fn within(directory: &Path) -> io::Result<Self> {
        directory.canonicalize().map(|directory| Files(Some(directory)))
    }

    /// No files at all.
    pub fn none() -> Self {
        Files(None)
    }

    /// The place of a file that is there.
    pub fn existing(&self, path: &str) -> Result<PathBuf, ServerError> {
        let directory = self.directory()?;
        let place = directory.join(path).canonicalize().map_err(unknown(path))?;
        inside(directory, place, path)
    }

    /// The place of a file that need not be there, in a directory that is.
    pub fn new_file(&self, path: &str) -> Result<PathBuf, ServerError> {
        let directory = self.directory()?;
        let place = directory.join(path);
        if place.symlink_metadata().is_ok() {
            return self.existing(path);
        }
        let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else {
            return Err(ServerError::OutsideOfFiles(path.to_string()));
        };
        let parent = parent.canonicalize().map_err(unknown(path))?;
        inside(directory, parent.join(name), path)
    }

    fn directory(&self) -> Result<&Path, ServerError> {
        self.0.as_deref().ok_or(ServerError::NoFiles)
    }
}

fn inside(directory: &Path, place: PathBuf, given: &str) -> Result<PathBuf, ServerError> {
    match place.starts_with(directory) {
        true => Ok(place),
        false => Err(ServerError::OutsideOfFiles(given.to_string())),
    }
}

fn unknown(path: &str) -> impl FnOnce(io::Error) -> ServerError {
    let path = path.to_string();
    move |error| ServerError::File { path, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_out_are_refused() {
        let root = std::env::temp_dir().join(format!("cozo-files-{}", std::process::id()));
        let inner = root.join("inner");
        std::fs::create_dir_all(inner.join("deep")).expect("the directories can be made");
        for file in [root.join("outside"), inner.join("inside")] {
            std::fs::write(file, "").expect("the file can be written");
        }
        #[cfg(unix)]
        for (target, link) in [("..", "up"), ("../outside", "out"), ("../nowhere", "dangling"), ("inside", "same")] {
            std::os::unix::fs::symlink(target, inner.join(link)).expect("the link can be made");
        }
        let files = Files::within(&inner).expect("the directory is there");
        let absolute = inner.join("new").display().to_string();
        let good = ["new", "deep/new", "deep/../new", "inside", absolute.as_str()];
        assert!(good.iter().all(|path| files.new_file(path).is_ok()));
        let out = root.join("x").display().to_string();
        let bad = ["../x", "deep/../../x", out.as_str(), "..", ".", "", "nowhere/x", "up/x", "out", "dangling"];
        for path in &bad[if cfg!(unix) { 0..10 } else { 0..7 }] {
            // The directory itself lies in itself, but is no file; whoever opens it finds that out.
            assert!(files.new_file(path).is_err() || ["", "."].contains(path), "{path}");
        }
        assert!(files.existing("inside").is_ok() && files.existing("nowhere").is_err());
        assert!(matches!(files.existing("../outside"), Err(ServerError::OutsideOfFiles(_))));
        #[cfg(unix)]
        assert!(
            files.existing("out").is_err() && files.existing("up/outside").is_err() && files.existing("same").is_ok()
        );
        assert!(matches!(Files::none().new_file("new"), Err(ServerError::NoFiles)));
        std::fs::remove_dir_all(root).expect("the directories can be removed");
    }
}
