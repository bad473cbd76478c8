//! What a [`Log`](crate::Log) needs of the place where it lies: files or keys by number, a marker, and blobs by name.

use std::{
    fmt::Debug,
    io::Read,
    thread,
    time::{Duration, Instant},
};

/// Why an operation of a medium failed.
#[derive(Debug)]
pub enum Failure {
    /// No answer came, or a fault that may pass: the operation may have been done or not.
    Lost(String),
    /// The request did not get there: it was not done.
    Unsent(String),
    /// The medium refuses, and nothing was done.
    Refused(String),
    /// It was done, but may not outlast a crash.
    NotDurable(String),
}

/// The result of an operation of a medium.
pub type Outcome<T> = Result<T, Failure>;

/// What a creation found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// There was nothing under that number, and now there is.
    New,
    /// There was something, which was left alone.
    Exists,
    /// The number before it does not exist. Only media that see both at once say this.
    Gap,
}

/// The place where a log lies. Slots are numbered files or keys that are created once and never change.
pub trait Medium: Send + Sync + Debug {
    /// What it is, for messages.
    fn name(&self) -> String;

    /// The largest slot. Larger entries go to blobs.
    fn largest_slot(&self) -> usize;

    /// Whether a creation fails when the number was removed before. If not, the log looks at the marker afterwards.
    fn knows_removed(&self) -> bool {
        false
    }

    /// Fills a slot, whole and durable, if it is empty.
    fn create(&self, number: u64, frame: &[u8], until: Instant) -> Outcome<Created>;

    /// The contents of slots from a number on, up to the first empty one or about `most_bytes`.
    fn slots(&self, from: u64, most_bytes: usize, until: Instant) -> Outcome<Vec<Vec<u8>>>;

    /// Whether a slot is filled.
    fn exists(&self, number: u64, until: Instant) -> Outcome<bool>;

    /// The largest number of a filled slot, 0 if there is none. It may list all slots.
    fn find_last(&self, until: Instant) -> Outcome<u64>;

    /// The largest filled slot at or after `known`, all between being filled.
    fn last(&self, known: u64, until: Instant) -> Outcome<u64> {
        probe(known, |number| self.exists(number, until))
    }

    /// Returns when a slot is filled, or at that time.
    fn wait(&self, number: u64, until: Instant) -> Outcome<()> {
        poll(Duration::from_millis(20), until, || self.exists(number, until))
    }

    /// The marker: the first number that is kept. It is 1 at first, and never falls.
    fn first(&self, until: Instant) -> Outcome<u64>;

    /// Raises the marker, durably, then empties the slots before it.
    fn remove_before(&self, first: u64, until: Instant) -> Outcome<()>;

    /// Stores a blob: whole or not at all.
    fn put_blob(&self, path: &str, content: &mut dyn Read, until: Instant) -> Outcome<()>;

    /// The content of a blob.
    fn get_blob(&self, path: &str, until: Instant) -> Outcome<Option<Box<dyn Read + Send>>>;

    /// The paths of the blobs below a folder, `folder/...`.
    fn list_blobs(&self, folder: &str, until: Instant) -> Outcome<Vec<String>>;

    /// Removes a blob, if it is there.
    fn remove_blob(&self, path: &str, until: Instant) -> Outcome<()>;
}

/// The last number from `known` on for which `exists` holds, with a number of questions that grows with the logarithm only.
pub fn probe(known: u64, mut exists: impl FnMut(u64) -> Outcome<bool>) -> Outcome<u64> {
    let (mut there, mut step) = (known, 1);
    while exists(there + step)? {
        there += step;
        step *= 2;
    }
    let mut missing = there + step;
    while there + 1 < missing {
        let middle = there + (missing - there) / 2;
        if exists(middle)? { there = middle } else { missing = middle }
    }
    Ok(there)
}

/// Asks at growing intervals until the answer is yes or the time is over.
pub fn poll(longest: Duration, until: Instant, mut ready: impl FnMut() -> Outcome<bool>) -> Outcome<()> {
    let mut pause = Duration::from_micros(500);
    while !ready()? {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(longest);
    }
    Ok(())
}
