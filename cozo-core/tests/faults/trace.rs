//! What a process did with its files, in order: the trace that `inject.c` writes.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;

use super::model::Said;

/// A kind of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    Open,
    Write,
    Sync,
    Truncate,
    Rename,
    Unlink,
    Read,
}

impl Class {
    /// In the order of the library.
    pub const ALL: [Class; 7] =
        [Class::Open, Class::Write, Class::Sync, Class::Truncate, Class::Rename, Class::Unlink, Class::Read];
}

/// Something that took effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A file or a folder is open from now on, by this number.
    Open {
        fd: i32,
        path: String,
        is_new: bool,
        is_folder: bool,
    },
    /// Bytes of the trace were written.
    Write {
        fd: i32,
        offset: u64,
        bytes: Range<usize>,
    },
    /// A file has another length.
    Truncate {
        fd: i32,
        len: u64,
    },
    /// A file or a folder is on the disk, unless the call failed.
    Sync {
        fd: i32,
        succeeded: bool,
    },
    /// A file was read.
    Read {
        fd: i32,
    },
    /// A number means nothing any more.
    Close {
        fd: i32,
    },
    Rename {
        from: String,
        to: String,
    },
    Link {
        from: String,
        to: String,
    },
    Remove {
        path: String,
    },
    MakeFolder {
        path: String,
    },
    /// A writer of the process said something.
    Said(usize, Said),
    /// A call failed since it was told to.
    Failed(String),
}

/// A trace.
pub struct Trace {
    bytes: Vec<u8>,
    pub events: Vec<Event>,
    /// How many calls there were of each class for each path.
    calls: BTreeMap<(Class, String), u64>,
}

/// The bytes of `struct head`.
const HEAD: usize = 24;

impl Trace {
    /// Reads a trace.
    pub fn read(path: &Path) -> Trace {
        let bytes = std::fs::read(path).unwrap_or_default();
        let (mut events, mut at) = (vec![], 0);
        while at + HEAD <= bytes.len() {
            let len = u64::from_le_bytes(bytes[at + 16..at + HEAD].try_into().unwrap()) as usize;
            let data = at + HEAD..at + HEAD + len;
            if data.end > bytes.len() {
                break;
            }
            parse(&bytes, at, data.clone(), &mut events);
            at = data.end;
        }
        let calls = count(&events);
        Trace { bytes, events, calls }
    }

    /// Some bytes that were written.
    pub fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.bytes[range.clone()]
    }

    /// How many calls of a class there were for files with names of a pattern.
    pub fn calls(&self, class: Class, files: &str) -> u64 {
        self.calls.iter().filter(|((of, path), _)| *of == class && matches(files, path)).map(|(_, calls)| calls).sum()
    }

    /// The calls that failed, in words.
    pub fn failures(&self) -> Vec<&str> {
        let texts = self.events.iter().filter_map(|event| match event {
            Event::Failed(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// What the writers said, with their numbers.
    pub fn said(&self) -> impl DoubleEndedIterator<Item = (usize, &Said)> {
        self.events.iter().filter_map(|event| match event {
            Event::Said(writer, said) => Some((*writer, said)),
            _ => None,
        })
    }
}

/// Whether a path is one of a pattern, in which `*` is any text.
pub fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((begin, rest)) => path.strip_prefix(begin).is_some_and(|path| {
            rest.is_empty() || (0..=path.len()).any(|skip| path.get(skip..).is_some_and(|path| matches(rest, path)))
        }),
    }
}

fn parse(bytes: &[u8], at: usize, data: Range<usize>, events: &mut Vec<Event>) {
    let (kind, ok, flag) = (bytes[at], bytes[at + 1] == 1, bytes[at + 2]);
    let fd = i32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap());
    let offset = u64::from_le_bytes(bytes[at + 8..at + 16].try_into().unwrap());
    let text = || String::from_utf8_lossy(&bytes[data.clone()]).into_owned();
    let two = || text().split_once('\0').map(|(from, to)| (from.to_string(), to.to_string())).unwrap_or_default();
    events.push(match kind {
        b'O' => Event::Open { fd, path: text(), is_new: flag & 1 != 0, is_folder: flag & 2 != 0 },
        b'W' => Event::Write { fd, offset, bytes: data },
        b'T' => Event::Truncate { fd, len: offset },
        b'S' => Event::Sync { fd, succeeded: ok },
        b'r' => Event::Read { fd },
        b'C' => Event::Close { fd },
        b'R' => renamed(two()),
        b'L' => linked(two()),
        b'U' => Event::Remove { path: text() },
        b'M' => Event::MakeFolder { path: text() },
        b'F' => Event::Failed(text()),
        b'K' => {
            let said = text();
            return events.extend(said.lines().map(Said::of_writer).map(|(writer, said)| Event::Said(writer, said)));
        }
        other => panic!("the trace has an unknown entry {other}"),
    });
}

fn renamed((from, to): (String, String)) -> Event {
    Event::Rename { from, to }
}

fn linked((from, to): (String, String)) -> Event {
    Event::Link { from, to }
}

/// How many calls there are of each class for each path.
fn count(events: &[Event]) -> BTreeMap<(Class, String), u64> {
    let mut open = HashMap::new();
    let mut calls = BTreeMap::new();
    for event in events {
        let call = match event {
            Event::Open { fd, path, .. } => {
                open.insert(*fd, path.clone());
                Some((Class::Open, path))
            }
            Event::Write { fd, .. } => open.get(fd).map(|path| (Class::Write, path)),
            Event::Truncate { fd, .. } => open.get(fd).map(|path| (Class::Truncate, path)),
            Event::Sync { fd, .. } => open.get(fd).map(|path| (Class::Sync, path)),
            Event::Read { fd } => open.get(fd).map(|path| (Class::Read, path)),
            Event::Rename { to, .. } | Event::Link { to, .. } => Some((Class::Rename, to)),
            Event::Remove { path } => Some((Class::Unlink, path)),
            Event::MakeFolder { path } => Some((Class::Open, path)),
            Event::Close { fd } => {
                open.remove(fd);
                None
            }
            Event::Said(..) | Event::Failed(_) => None,
        };
        if let Some((class, path)) = call {
            *calls.entry((class, path.clone())).or_default() += 1;
        }
    }
    calls
}
