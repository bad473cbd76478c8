//! [`Log`]: a shared log over any medium. It frames entries, resolves lost answers, and knows the bounds.
//!
//! ```text
//! removed     kept                 empty
//! 1 .. first-1 | first .. last | last+1 ..
//!              ^ the marker      ^ the next append
//! ```
//!
//! The marker decides what was removed, not the slots: an append that was delayed for long may fill a slot before
//! the marker. So each append and each read looks at the marker afterwards.

use crate::{
    Appended, Bounds, Entry, LogError, SharedLog,
    frame::{self, Author, Kind, Writer},
    large,
    medium::{Created, Failure, Medium, Outcome},
};
use std::{
    io::Read,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

const BLOBS: &str = "blobs/";
/// No log gets there, and one more is still a number.
const LARGEST_NUMBER: u64 = 1 << 60;
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// A shared log in a medium.
#[derive(Debug)]
pub struct Log {
    medium: Box<dyn Medium>,
    writer: Writer,
    /// A marker that was seen. The true one may be later.
    first: AtomicU64,
    /// The number of an entry that was seen. There may be more.
    last: AtomicU64,
}

/// What the slot says about an append without an answer.
enum Slot {
    Ours,
    Others,
    Empty,
}

impl Log {
    /// The log in a medium.
    pub fn open(medium: Box<dyn Medium>, timeout: Duration) -> Result<Log, LogError> {
        let until = deadline(timeout);
        let log = Log { medium, writer: Writer::new(), first: AtomicU64::new(1), last: AtomicU64::new(0) };
        let last = log.retry(until, || log.medium.find_last(until))?;
        log.last.store(last, Ordering::Relaxed);
        log.bounds_until(until)?;
        Ok(log)
    }

    /// Does what may be done twice, until there is an answer.
    fn retry<T>(&self, until: Instant, mut work: impl FnMut() -> Outcome<T>) -> Result<T, LogError> {
        let mut pause = Pause::new(until);
        loop {
            match work() {
                Ok(value) => return Ok(value),
                Err(Failure::Lost(why) | Failure::Unsent(why)) if !pause.wait() => {
                    return Err(self.no_answer(why, pause.waited));
                }
                Err(Failure::Lost(_) | Failure::Unsent(_)) => {}
                Err(failure) => return Err(self.failed(failure)),
            }
        }
    }

    fn no_answer(&self, why: String, repeated: bool) -> LogError {
        match repeated {
            true => LogError::Unreachable { log: self.medium.name(), why },
            false => LogError::Timeout { log: self.medium.name() },
        }
    }

    fn failed(&self, failure: Failure) -> LogError {
        let log = self.medium.name();
        match failure {
            Failure::Lost(why) | Failure::Unsent(why) => LogError::Unreachable { log, why },
            Failure::Refused(why) | Failure::NotDurable(why) => LogError::Failed { log, why },
        }
    }

    fn marker(&self, until: Instant) -> Result<u64, LogError> {
        let first = self.retry(until, || self.medium.first(until))?;
        Ok(self.first.fetch_max(first, Ordering::Relaxed).max(first))
    }

    /// Truncation may overtake the search for the last entry, which then ends before the marker and starts again there.
    fn bounds_until(&self, until: Instant) -> Result<Bounds, LogError> {
        loop {
            let start = self.last.load(Ordering::Relaxed).max(self.first.load(Ordering::Relaxed) - 1);
            let last = self.retry(until, || self.medium.last(start, until))?;
            let first = self.marker(until)?;
            if first <= last + 1 {
                self.last.fetch_max(last, Ordering::Relaxed);
                return Ok(Bounds { first, last });
            }
        }
    }

    /// The answer, if the bounds alone say it. What was seen before is enough: bounds never fall.
    fn decided(&self, number: u64, until: Instant) -> Result<Option<Appended>, LogError> {
        let last = self.last.load(Ordering::Relaxed);
        let last = if last + 1 == number { last } else { self.bounds_until(until)?.last };
        if number > last + 1 {
            return Err(LogError::Gap { number, missing: last + 1 });
        }
        Ok((number <= last).then_some(Appended::Taken))
    }

    /// Fills the slot. It is tried again with the same author, so that a late arrival of the first attempt does no harm.
    fn create(&self, number: u64, author: Author, framed: &[u8], until: Instant) -> Result<Appended, LogError> {
        let mut pause = Pause::new(until);
        let (mut lost, mut unsent) = (None, None);
        loop {
            match self.medium.create(number, framed, until) {
                Ok(Created::New) => return Ok(Appended::Done),
                Ok(Created::Gap) if lost.is_none() => return Err(LogError::Gap { number, missing: number - 1 }),
                Ok(_) => {}
                Err(Failure::Lost(why)) => lost = Some(why),
                Err(Failure::Unsent(why)) => unsent = Some(why),
                Err(Failure::NotDurable(why)) => return Err(LogError::Unknown { number, why }),
                Err(Failure::Refused(why)) if lost.is_some() => return Err(LogError::Unknown { number, why }),
                Err(failure) => return Err(self.failed(failure)),
            }
            match self.slot(number, author, until) {
                Ok(Slot::Ours) => return Ok(Appended::Done),
                Ok(Slot::Others) => return Ok(Appended::Taken),
                // The entry with this number was removed since. It may have been ours.
                Ok(Slot::Empty) if self.medium.first(until).is_ok_and(|first| first > number) => {
                    return lost.map_or(Ok(Appended::Taken), |why| Err(LogError::Unknown { number, why }));
                }
                // S3 answers as if the slot was filled when two fill it at once, even if none does.
                Ok(Slot::Empty) | Err(Failure::Lost(_) | Failure::Unsent(_)) => {}
                Err(Failure::Refused(why) | Failure::NotDurable(why)) => return Err(LogError::Unknown { number, why }),
            }
            if !pause.wait() {
                if let (None, Some(why)) = (&lost, unsent) {
                    return Err(LogError::Unreachable { log: self.medium.name(), why });
                }
                return Err(LogError::Unknown { number, why: lost.unwrap_or_else(|| "the time is over".into()) });
            }
        }
    }

    fn slot(&self, number: u64, author: Author, until: Instant) -> Outcome<Slot> {
        let slots = self.medium.slots(number, 1, until)?;
        Ok(match slots.first().map(|slot| frame::decode(number, slot)) {
            None => Slot::Empty,
            Some(Ok(frame)) if frame.author == author => Slot::Ours,
            // What is damaged was acknowledged to someone, and reading it says so.
            Some(_) => Slot::Others,
        })
    }

    /// Whether the entry that was just appended counts: its slot must not lie before the marker.
    fn confirmed(&self, number: u64, until: Instant) -> Result<Appended, LogError> {
        if !self.medium.knows_removed() {
            let unknown = |why: String| LogError::Unknown { number, why };
            let first = self.marker(until).map_err(|error| unknown(error.to_string()))?;
            if number < first {
                return Err(unknown(format!("entries before {first} were removed meanwhile")));
            }
        }
        self.last.fetch_max(number, Ordering::Relaxed);
        Ok(Appended::Done)
    }

    fn entry(&self, number: u64, slot: &[u8], until: Instant) -> Result<Entry, LogError> {
        let damaged = |what| LogError::Damaged { number, what };
        let frame = frame::decode(number, slot).map_err(damaged)?;
        let bytes = match frame.kind {
            Kind::Whole => frame.content.to_vec(),
            Kind::Pointer => {
                self.retry(until, || large::load(&*self.medium, number, &frame, until))?.map_err(damaged)?
            }
            Kind::Chunk => return Err(damaged("it is a part of an entry".into())),
        };
        Ok(Entry { number, bytes })
    }

    /// A name may not lead out of the folder, nor be changed by the medium.
    fn blob_path(name: &str) -> Result<String, LogError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        if name.split('/').all(|part| !part.is_empty() && !part.starts_with('.') && part.bytes().all(allowed)) {
            Ok(format!("{BLOBS}{name}"))
        } else {
            Err(LogError::BadName { name: name.into() })
        }
    }
}

impl SharedLog for Log {
    fn name(&self) -> String {
        self.medium.name()
    }

    fn append(&self, number: u64, entry: &[u8], timeout: Duration) -> Result<Appended, LogError> {
        let until = deadline(timeout);
        if let Some(appended) = self.decided(number, until)? {
            return Ok(appended);
        }
        let author = self.writer.author();
        let framed = self.retry(until, || large::store(&*self.medium, number, author, entry, until))?;
        match self.create(number, author, &framed, until)? {
            Appended::Done => self.confirmed(number, until),
            Appended::Taken => {
                large::discard(&*self.medium, number, author, entry, until);
                Ok(Appended::Taken)
            }
        }
    }

    fn read(&self, from: u64, most_bytes: usize, timeout: Duration) -> Result<Vec<Entry>, LogError> {
        let until = deadline(timeout);
        let from = from.min(LARGEST_NUMBER);
        // What is appended after this is no reason to miss anything.
        let known_last = self.last.load(Ordering::Relaxed);
        let slots = self.retry(until, || self.medium.slots(from, most_bytes, until))?;
        let first = self.marker(until)?;
        if from < first {
            return Err(LogError::Truncated { first });
        }
        if slots.is_empty() && from <= known_last {
            // Entries are appended one after another, so something else has removed this one.
            return Err(LogError::Damaged { number: from, what: "it is missing, and a later one is there".into() });
        }
        let mut entries: Vec<Entry> = Vec::with_capacity(slots.len());
        let mut bytes = 0;
        for (number, slot) in (from..).zip(&slots) {
            if bytes >= most_bytes && !entries.is_empty() {
                break;
            }
            match self.entry(number, slot, until) {
                Ok(entry) => {
                    bytes += entry.bytes.len();
                    entries.push(entry);
                }
                // What precedes it is good, and the next read starts here.
                Err(_) if !entries.is_empty() => break,
                Err(error) => {
                    // The chunks of an entry go when it is removed.
                    let first = self.marker(until)?;
                    return Err(if number < first { LogError::Truncated { first } } else { error });
                }
            }
        }
        Ok(entries)
    }

    fn bounds(&self, timeout: Duration) -> Result<Bounds, LogError> {
        self.bounds_until(deadline(timeout))
    }

    fn wait(&self, last: u64, timeout: Duration) -> Result<u64, LogError> {
        let until = deadline(timeout);
        // Questions that belong to the wait have time of their own, or a wait of 0 could not ask.
        let grace = Duration::from_secs(5);
        loop {
            // The slot may be filled and removed between two looks at it, so the bounds are read now and then.
            let slice = until.min(Instant::now() + Duration::from_secs(1));
            match self.medium.wait(last.min(LARGEST_NUMBER) + 1, slice) {
                Ok(()) => {}
                Err(Failure::Lost(_) | Failure::Unsent(_)) => thread::sleep(Duration::from_millis(5)),
                Err(failure) => return Err(self.failed(failure)),
            }
            let bounds = self.bounds_until(until.max(Instant::now()) + grace)?;
            if bounds.last > last || Instant::now() >= until {
                return Ok(bounds.last);
            }
        }
    }

    fn truncate(&self, first: u64, timeout: Duration) -> Result<(), LogError> {
        let until = deadline(timeout);
        let bounds = self.bounds_until(until)?;
        let first = first.min(bounds.last + 1);
        if first > bounds.first {
            self.retry(until, || self.medium.remove_before(first, until))?;
            self.retry(until, || large::remove_before(&*self.medium, first, until))?;
        }
        Ok(())
    }

    fn put_blob(&self, name: &str, content: &mut dyn Read, timeout: Duration) -> Result<(), LogError> {
        let path = Log::blob_path(name)?;
        self.medium.put_blob(&path, content, deadline(timeout)).map_err(|failure| self.failed(failure))
    }

    fn get_blob(&self, name: &str, timeout: Duration) -> Result<Option<Box<dyn Read + Send>>, LogError> {
        let (path, until) = (Log::blob_path(name)?, deadline(timeout));
        self.retry(until, || self.medium.get_blob(&path, until))
    }

    fn list_blobs(&self, prefix: &str, timeout: Duration) -> Result<Vec<String>, LogError> {
        let until = deadline(timeout);
        let paths = self.retry(until, || self.medium.list_blobs(BLOBS, until))?;
        let names = paths.iter().filter_map(|path| path.strip_prefix(BLOBS));
        let mut names: Vec<_> = names.filter(|name| name.starts_with(prefix)).map(String::from).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn remove_blob(&self, name: &str, timeout: Duration) -> Result<(), LogError> {
        let (path, until) = (Log::blob_path(name)?, deadline(timeout));
        self.retry(until, || self.medium.remove_blob(&path, until))
    }
}

/// When a timeout ends. The longest ones would overflow.
fn deadline(timeout: Duration) -> Instant {
    Instant::now() + timeout.min(Duration::from_secs(1 << 30))
}

/// Pauses between attempts, which grow.
struct Pause {
    until: Instant,
    next: Duration,
    waited: bool,
}

impl Pause {
    fn new(until: Instant) -> Pause {
        Pause { until, next: Duration::from_millis(1), waited: false }
    }

    /// Whether there is time for another attempt.
    fn wait(&mut self) -> bool {
        if Instant::now() + self.next >= self.until {
            return false;
        }
        thread::sleep(self.next);
        self.next = (self.next * 2).min(LONGEST_PAUSE);
        self.waited = true;
        true
    }
}
