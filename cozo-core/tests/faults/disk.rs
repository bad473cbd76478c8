//! A disk that loses its power: what of a trace is on it for certain, and what may be.
//!
//! ```text
//! written, not synced      synced                     after a cut of power
//! ┌──────────────┐  fsync  ┌──────────────┐   cut     ┌────────────────────────────────┐
//! │ pending      │ ──────> │ contents     │ ────────> │ contents, and any part of what │
//! └──────────────┘         └──────────────┘           │ is pending, torn at 512 bytes  │
//!                                                     └────────────────────────────────┘
//! ```
//! Names (files made, renamed and removed) are pending until their folder is synced; after a cut there are those up to some moment. With
//! [`Names::Journal`] a sync of any file takes all names along, as the usual file systems of Linux do.
//!
//! What was written before a sync that failed may be lost even if a later sync succeeds: the system forgets that it is not on the disk.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::trace::{Event, Trace, matches};

/// When names are on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// When their folder is synced.
    Strict,
    /// When anything is synced.
    Journal,
}

/// What becomes of what is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// All of it is lost.
    Lost,
    /// All of it is there.
    There,
    /// What was written before some moment is there.
    Prefix,
    /// Each write is there, or lost, or torn.
    Each,
}

/// The unit that a disk writes as a whole.
const SECTOR: u64 = 512;

/// A change of a file that is not on the disk for certain.
#[derive(Clone, Debug)]
enum Change {
    Write { offset: u64, bytes: Range<usize> },
    Truncate(u64),
}

#[derive(Clone, Debug)]
struct PendingChange {
    change: Change,
    /// The number of its event.
    event: usize,
    /// Whether a sync of it has failed.
    is_doomed: bool,
}

/// A file, whatever its name.
#[derive(Clone, Debug, Default)]
struct File {
    contents: Vec<u8>,
    pending: Vec<PendingChange>,
    /// Whether no write is there without those before it.
    is_in_order: bool,
}

/// A change of names.
#[derive(Clone, Debug)]
enum NameChange {
    Make(String, Entry),
    Rename(String, String),
    Remove(String),
}

/// What a name stands for: the number of a file, or a folder.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Entry {
    File(usize),
    Folder,
}

type NameMap = BTreeMap<String, Entry>;

/// A disk.
#[derive(Clone)]
pub struct Disk {
    names: Names,
    /// A pattern of names of files in which no write is there without those before it.
    in_order: Option<&'static str>,
    files: Vec<File>,
    certain: NameMap,
    /// With the numbers of their events.
    pending: Vec<(usize, NameChange)>,
    current: NameMap,
    open: HashMap<i32, (String, Entry)>,
    events: usize,
}

fn change(names: &mut NameMap, change: &NameChange) {
    match change {
        NameChange::Make(path, entry) => drop(names.insert(path.clone(), *entry)),
        NameChange::Remove(path) => drop(names.remove(path)),
        NameChange::Rename(from, to) => {
            let below = format!("{from}/");
            let moved: Vec<String> =
                names.keys().filter(|path| *path == from || path.starts_with(&below)).cloned().collect();
            for path in moved {
                let entry = names.remove(&path).expect("it is there");
                names.insert(format!("{to}{}", &path[from.len()..]), entry);
            }
        }
    }
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl NameChange {
    fn is_in(&self, folder: &str) -> bool {
        match self {
            NameChange::Make(path, _) | NameChange::Remove(path) => folder_of(path) == folder,
            NameChange::Rename(from, to) => folder_of(from) == folder || folder_of(to) == folder,
        }
    }
}

impl Disk {
    /// A disk with what a folder holds.
    pub fn with(folder: &Path, names: Names) -> Disk {
        let mut disk = Disk {
            names,
            in_order: None,
            files: vec![],
            certain: NameMap::new(),
            pending: vec![],
            current: NameMap::new(),
            open: HashMap::new(),
            events: 0,
        };
        for (path, contents) in files_below(folder) {
            disk.certain.insert(path, Entry::File(disk.files.len()));
            disk.files.push(File { contents, ..File::default() });
        }
        disk.current = disk.certain.clone();
        disk
    }

    /// Of files that are made from now on with such names no write is there without those before it.
    pub fn keep_order_of(&mut self, pattern: &'static str) {
        self.in_order = Some(pattern);
    }

    /// Takes in what happens next.
    pub fn happens(&mut self, event: &Event) {
        self.events += 1;
        match event {
            Event::Open { fd, path, is_new, is_folder } => self.open(*fd, path, *is_new, *is_folder),
            Event::Write { fd, offset, bytes } => {
                self.change(*fd, Change::Write { offset: *offset, bytes: bytes.clone() });
            }
            Event::Truncate { fd, len } => self.change(*fd, Change::Truncate(*len)),
            Event::Close { fd } => drop(self.open.remove(fd)),
            Event::Rename { from, to } => self.rename(NameChange::Rename(from.clone(), to.clone())),
            Event::Link { from, to } => {
                let entry = self.current[from];
                self.rename(NameChange::Make(to.clone(), entry));
            }
            Event::Remove { path } => self.rename(NameChange::Remove(path.clone())),
            Event::MakeFolder { path } => self.rename(NameChange::Make(path.clone(), Entry::Folder)),
            Event::Sync { .. } | Event::Read { .. } | Event::Said(..) | Event::Failed(_) => {}
        }
    }

    /// Takes in a sync; `trace` has the bytes that were written.
    pub fn syncs(&mut self, fd: i32, succeeded: bool, trace: &Trace) {
        let Some((path, entry)) = self.open.get(&fd).cloned() else { return };
        if let Entry::File(file) = entry {
            match succeeded {
                true => self.files[file].sync(trace),
                false => self.files[file].pending.iter_mut().for_each(|pending| pending.is_doomed = true),
            }
        }
        if succeeded && (entry == Entry::Folder || self.names == Names::Journal) {
            let takes_all = self.names == Names::Journal;
            let Disk { pending, certain, .. } = self;
            pending.retain(|(_, name)| {
                let is_synced = takes_all || name.is_in(&path);
                if is_synced {
                    change(certain, name);
                }
                !is_synced
            });
        }
    }

    fn open(&mut self, fd: i32, path: &str, is_new: bool, is_folder: bool) {
        if is_folder {
            self.open.insert(fd, (path.to_string(), Entry::Folder));
            return;
        }
        if is_new || !self.current.contains_key(path) {
            let entry = Entry::File(self.files.len());
            let is_in_order = self.in_order.is_some_and(|pattern| matches(pattern, path));
            self.files.push(File { is_in_order, ..File::default() });
            self.rename(NameChange::Make(path.to_string(), entry));
        }
        self.open.insert(fd, (path.to_string(), self.current[path]));
    }

    fn rename(&mut self, name: NameChange) {
        change(&mut self.current, &name);
        self.pending.push((self.events, name));
    }

    fn change(&mut self, fd: i32, change: Change) {
        if let Some((_, Entry::File(file))) = self.open.get(&fd) {
            self.files[*file].pending.push(PendingChange { change, event: self.events, is_doomed: false });
        }
    }

    /// Writes what the disk may hold after a cut of power now, below a folder.
    pub fn write(&self, folder: &Path, kept: Pending, trace: &Trace, random: &mut StdRng) {
        // The moment up to which what is pending is there: one for names and files where there is an order.
        let moments: Vec<usize> =
            self.files.iter().flat_map(|file| file.pending.iter().map(|change| change.event)).collect();
        let until = match kept {
            Pending::Lost => 0,
            Pending::There => usize::MAX,
            Pending::Prefix | Pending::Each => moments.choose(random).copied().unwrap_or(0) + random.random_range(0..2),
        };
        let names_until = match kept {
            Pending::Each => random.random_range(0..=self.pending.len()),
            _ => self.pending.iter().take_while(|(event, _)| *event < until).count(),
        };
        let mut names = self.certain.clone();
        self.pending[..names_until].iter().for_each(|(_, name)| change(&mut names, name));
        for (path, entry) in &names {
            let place = folder.join(path);
            match entry {
                Entry::Folder => std::fs::create_dir_all(place).unwrap(),
                Entry::File(file) => {
                    let parent = folder_of(path);
                    if parent.is_empty() || names.get(parent) == Some(&Entry::Folder) || self.has_from_start(parent) {
                        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                        std::fs::write(place, self.files[*file].after(kept, until, trace, random)).unwrap();
                    }
                }
            }
        }
    }

    /// Whether a folder was there before the trace began: its name is in the paths of files alone.
    fn has_from_start(&self, folder: &str) -> bool {
        !self.current.contains_key(folder)
    }

    /// What the files hold that the process sees: every write has happened.
    pub fn seen(&self, trace: &Trace) -> BTreeMap<String, Vec<u8>> {
        let mut random = rand::SeedableRng::seed_from_u64(0);
        let files = self.current.iter().filter_map(|(path, entry)| match entry {
            Entry::File(file) => {
                Some((path.clone(), self.files[*file].after(Pending::There, usize::MAX, trace, &mut random)))
            }
            Entry::Folder => None,
        });
        files.collect()
    }
}

impl File {
    fn sync(&mut self, trace: &Trace) {
        let pending = std::mem::take(&mut self.pending);
        for (number, change) in pending.iter().enumerate() {
            if !change.is_doomed {
                apply(&mut self.contents, &change.change, trace);
            } else if !pending[number + 1..]
                .iter()
                .any(|later| !later.is_doomed && overlap(&change.change, &later.change))
            {
                self.pending.push(change.clone());
            }
        }
    }

    fn after(&self, kept: Pending, until: usize, trace: &Trace, random: &mut StdRng) -> Vec<u8> {
        let mut contents = self.contents.clone();
        let is_each = kept == Pending::Each && !self.is_in_order;
        let until = match (kept, self.pending.choose(random)) {
            (Pending::Each, Some(last)) if self.is_in_order => last.event + random.random_range(0..2),
            _ => until,
        };
        for PendingChange { change, event, .. } in &self.pending {
            let (is_there, is_torn) = match is_each {
                true => (random.random_ratio(2, 3), random.random_ratio(1, 4)),
                // The last write before the moment may be torn.
                false => (*event < until, *event + 1 == until),
            };
            match change {
                Change::Write { offset, bytes } if is_there && is_torn => {
                    tear(&mut contents, *offset, trace.bytes(bytes), self.is_in_order, random);
                }
                change if is_there => apply(&mut contents, change, trace),
                _ => {}
            }
        }
        contents
    }
}

fn overlap(one: &Change, other: &Change) -> bool {
    match (one, other) {
        (Change::Write { offset: a, bytes: x }, Change::Write { offset: b, bytes: y }) => {
            *a < b + y.len() as u64 && *b < a + x.len() as u64
        }
        _ => true,
    }
}

fn apply(contents: &mut Vec<u8>, change: &Change, trace: &Trace) {
    match change {
        Change::Truncate(len) => contents.resize(*len as usize, 0),
        Change::Write { offset, bytes } => put(contents, *offset, trace.bytes(bytes)),
    }
}

fn put(contents: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let (from, to) = (offset as usize, offset as usize + bytes.len());
    if contents.len() < to {
        contents.resize(to, 0);
    }
    contents[from..to].copy_from_slice(bytes);
}

/// Writes some of the sectors: those up to one, or any.
fn tear(contents: &mut Vec<u8>, offset: u64, bytes: &[u8], is_in_order: bool, random: &mut StdRng) {
    let end = offset + bytes.len() as u64;
    let (first, last) = (offset / SECTOR, end.div_ceil(SECTOR));
    let whole_until = (is_in_order || random.random::<bool>()).then(|| random.random_range(first..=last));
    for sector in first..last {
        let is_there = whole_until.map_or_else(|| random.random(), |until| sector < until);
        if is_there {
            let (from, to) = ((sector * SECTOR).max(offset), ((sector + 1) * SECTOR).min(end));
            put(contents, from, &bytes[(from - offset) as usize..(to - offset) as usize]);
        }
    }
}

/// All files below a folder, by their paths from there; without locks, and without what processes share by SQLite's way.
pub fn files_below(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![(folder.to_path_buf(), String::new())];
    while let Some((folder, before)) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries {
            let entry = entry.unwrap();
            let name = format!("{before}{}", entry.file_name().to_string_lossy());
            if entry.file_type().unwrap().is_dir() {
                folders.push((entry.path(), format!("{name}/")));
            } else if !["-lock", "LOCK", "-shm"].iter().any(|end| name.ends_with(end)) {
                files.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}
