//! A log in a folder, for the processes of one machine.
//!
//! ```text
//! folder/entries/00000000000000012/00000000000000012345   a slot; a thousand in a subfolder
//!        first                                            the marker
//!        truncating                                       locked while the marker is raised
//!        blobs/...  chunks/...                            blobs
//!        temporary/PID-RANDOM                             files that are being written
//! ```
//!
//! A file is written under a temporary name and synchronised. A slot is then linked to its name, which fails if that exists.

use crate::{
    LogError,
    medium::{Created, Failure, Medium, Outcome},
};
use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    process,
    time::{Duration, Instant, SystemTime},
};

/// The folder of the slots.
const ENTRIES: &str = "entries";
const GROUP: u64 = 1000;
/// A living process has changed its temporary file since.
const OLD: Duration = Duration::from_secs(3600);

/// A folder with a log.
#[derive(Debug)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// Whether there is a log in a folder.
    pub fn is_at(root: &Path) -> bool {
        root.join(ENTRIES).is_dir()
    }

    /// Creates the folder if needed, and removes what dead processes left.
    pub fn open(root: &Path) -> Result<Directory, LogError> {
        let directory = Directory { root: root.to_path_buf() };
        directory.prepare().map_err(|error| LogError::Failed { log: directory.name(), why: error.to_string() })?;
        Ok(directory)
    }

    fn prepare(&self) -> io::Result<()> {
        for folder in [ENTRIES, "blobs", "chunks", "temporary"] {
            fs::create_dir_all(self.root.join(folder))?;
        }
        File::options().create(true).append(true).open(self.root.join("truncating"))?;
        sync_folder(&self.root)?;
        if let Some(parent) = self.root.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            sync_folder(parent)?;
        }
        for file in fs::read_dir(self.root.join("temporary"))? {
            let file = file?;
            let changed = file.metadata().and_then(|metadata| metadata.modified());
            if changed.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > OLD)) {
                // Another process may remove it just now.
                let _ = fs::remove_file(file.path());
            }
        }
        Ok(())
    }

    fn group(&self, number: u64) -> PathBuf {
        self.root.join(format!("{ENTRIES}/{:017}", number / GROUP))
    }

    fn slot(&self, number: u64) -> PathBuf {
        self.group(number).join(format!("{number:020}"))
    }

    /// Writes a file that is whole and synchronised, under a name that vanishes with the result.
    fn temporary(&self, content: &mut dyn Read) -> io::Result<Temporary> {
        let name = format!("temporary/{}-{:016x}", process::id(), rand::random::<u64>());
        let temporary = Temporary(self.root.join(name));
        let mut file = File::create_new(&temporary.0)?;
        io::copy(content, &mut file)?;
        file.flush()?;
        file.sync_data()?;
        Ok(temporary)
    }

    /// A crash may not keep entries of the new subfolder and lose the last of the one before, so both are synchronised.
    fn add_group(&self, number: u64) -> io::Result<()> {
        match fs::create_dir(self.group(number)) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        sync_folder(&self.root.join(ENTRIES))?;
        match sync_folder(&self.group(number.saturating_sub(GROUP))) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn link(&self, temporary: &Temporary, number: u64) -> io::Result<()> {
        match fs::hard_link(&temporary.0, self.slot(number)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.add_group(number)?;
                fs::hard_link(&temporary.0, self.slot(number))
            }
            other => other,
        }
    }

    /// The numbers in the names of a folder.
    fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
        let files = match fs::read_dir(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            files => files?,
        };
        let mut numbers = Vec::new();
        for file in files {
            numbers.extend(file?.file_name().to_str().and_then(|name| name.parse::<u64>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn raise_marker(&self, first: u64) -> io::Result<()> {
        let guard = File::open(self.root.join("truncating"))?;
        guard.lock()?;
        if self.marker()? < first {
            let temporary = self.temporary(&mut first.to_string().as_bytes())?;
            fs::rename(&temporary.0, self.root.join("first"))?;
            sync_folder(&self.root)?;
        }
        Ok(())
    }

    fn marker(&self) -> io::Result<u64> {
        match fs::read_to_string(self.root.join("first")) {
            Ok(text) => text.trim().parse().map_err(|_| io::Error::other("the file `first` holds no number")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(1),
            Err(error) => Err(error),
        }
    }

    fn remove_slots(&self, first: u64) -> io::Result<()> {
        for group in Directory::numbers(&self.root.join(ENTRIES))? {
            if group > first / GROUP {
                break;
            }
            let folder = self.group(group * GROUP);
            for number in Directory::numbers(&folder)?.into_iter().filter(|&number| number < first) {
                if_there(fs::remove_file(self.slot(number)))?;
            }
            if group < first / GROUP {
                // A late append may lie there again; the next truncation removes it.
                let _ = fs::remove_dir(&folder);
            }
        }
        Ok(())
    }

    fn store(&self, path: &str, content: &mut dyn Read) -> io::Result<()> {
        let path = self.root.join(path);
        let temporary = self.temporary(content)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
            fs::rename(&temporary.0, &path)?;
            // The folders may be new, so each is synchronised in the one above.
            for folder in folder.ancestors().take_while(|folder| folder.starts_with(&self.root)) {
                sync_folder(folder)?;
            }
        }
        Ok(())
    }

    fn walk(&self, folder: &Path, paths: &mut Vec<String>) -> io::Result<()> {
        for file in fs::read_dir(folder)? {
            let path = file?.path();
            if path.is_dir() {
                self.walk(&path, paths)?;
            } else if let Some(path) = path.strip_prefix(&self.root).ok().and_then(Path::to_str) {
                paths.push(path.to_string());
            }
        }
        Ok(())
    }
}

impl Medium for Directory {
    fn name(&self) -> String {
        format!("directory {}", self.root.display())
    }

    fn largest_slot(&self) -> usize {
        1 << 30
    }

    fn create(&self, number: u64, frame: &[u8], _: Instant) -> Outcome<Created> {
        let slot = self.slot(number);
        if slot.exists() {
            return Ok(Created::Exists);
        }
        let temporary = self.temporary(&mut &frame[..]).map_err(refused)?;
        match self.link(&temporary, number) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(Created::Exists),
            Err(error) => return Err(refused(error)),
        }
        sync_folder(&self.group(number)).map_err(|error| Failure::NotDurable(error.to_string()))?;
        Ok(Created::New)
    }

    fn slots(&self, from: u64, most_bytes: usize, _: Instant) -> Outcome<Vec<Vec<u8>>> {
        let (mut slots, mut bytes) = (Vec::new(), 0);
        for number in from.. {
            match fs::read(self.slot(number)) {
                Ok(slot) => {
                    bytes += slot.len();
                    slots.push(slot);
                }
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                Err(error) => return Err(refused(error)),
            }
            if bytes >= most_bytes {
                break;
            }
        }
        Ok(slots)
    }

    fn exists(&self, number: u64, _: Instant) -> Outcome<bool> {
        self.slot(number).try_exists().map_err(refused)
    }

    fn find_last(&self, _: Instant) -> Outcome<u64> {
        let groups = Directory::numbers(&self.root.join(ENTRIES)).map_err(refused)?;
        for group in groups.into_iter().rev() {
            if let Some(&last) = Directory::numbers(&self.group(group * GROUP)).map_err(refused)?.last() {
                return Ok(last);
            }
        }
        Ok(0)
    }

    fn first(&self, _: Instant) -> Outcome<u64> {
        self.marker().map_err(refused)
    }

    fn remove_before(&self, first: u64, _: Instant) -> Outcome<()> {
        self.raise_marker(first).and_then(|()| self.remove_slots(first)).map_err(refused)
    }

    fn put_blob(&self, path: &str, content: &mut dyn Read, _: Instant) -> Outcome<()> {
        self.store(path, content).map_err(refused)
    }

    fn get_blob(&self, path: &str, _: Instant) -> Outcome<Option<Box<dyn Read + Send>>> {
        match File::open(self.root.join(path)) {
            // A folder can be opened, too.
            Ok(file) if file.metadata().is_ok_and(|metadata| metadata.is_file()) => Ok(Some(Box::new(file))),
            Ok(_) => Ok(None),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(refused(error)),
        }
    }

    fn list_blobs(&self, folder: &str, _: Instant) -> Outcome<Vec<String>> {
        let mut paths = Vec::new();
        self.walk(&self.root.join(folder), &mut paths).map_err(refused)?;
        Ok(paths)
    }

    fn remove_blob(&self, path: &str, _: Instant) -> Outcome<()> {
        if_there(fs::remove_file(self.root.join(path))).map_err(refused)
    }
}

/// A file that is removed when this goes out of scope. It may be renamed before.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn refused(error: io::Error) -> Failure {
    Failure::Refused(error.to_string())
}

fn if_there(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Folders can be synchronised on Unix only; elsewhere the system keeps their entries itself.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
