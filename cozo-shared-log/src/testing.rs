//! Media that fail by a seed, for tests.

use crate::medium::{Created, Failure, Medium, Outcome};
use std::{
    io::Read,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

/// A medium of which one operation in `one_in` is lost before it is done or after, or takes longer.
#[derive(Debug)]
pub struct Faulty {
    medium: Box<dyn Medium>,
    state: AtomicU64,
    one_in: u64,
}

impl Faulty {
    /// Faults for a medium, determined by the seed and the order of the operations.
    pub fn new(medium: Box<dyn Medium>, seed: u64, one_in: u64) -> Faulty {
        Faulty { medium, state: AtomicU64::new(seed), one_in }
    }

    /// SplitMix64: well mixed numbers from a counter.
    fn random(&self) -> u64 {
        let mut word = self.state.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn with<T>(&self, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        let word = self.random();
        if !word.is_multiple_of(self.one_in) {
            return work();
        }
        match word / self.one_in % 4 {
            0 => Err(Failure::Lost("the question was lost, by the test".into())),
            1 => {
                thread::sleep(Duration::from_millis(word >> 32 & 7));
                work()
            }
            _ => {
                work()?;
                Err(Failure::Lost("the answer was lost, by the test".into()))
            }
        }
    }
}

impl Medium for Faulty {
    fn name(&self) -> String {
        format!("faulty {}", self.medium.name())
    }

    fn largest_slot(&self) -> usize {
        self.medium.largest_slot()
    }

    fn knows_removed(&self) -> bool {
        self.medium.knows_removed()
    }

    fn create(&self, number: u64, frame: &[u8], until: Instant) -> Outcome<Created> {
        self.with(|| self.medium.create(number, frame, until))
    }

    fn slots(&self, from: u64, most_bytes: usize, until: Instant) -> Outcome<Vec<Vec<u8>>> {
        self.with(|| self.medium.slots(from, most_bytes, until))
    }

    fn exists(&self, number: u64, until: Instant) -> Outcome<bool> {
        self.with(|| self.medium.exists(number, until))
    }

    fn find_last(&self, until: Instant) -> Outcome<u64> {
        self.with(|| self.medium.find_last(until))
    }

    fn last(&self, known: u64, until: Instant) -> Outcome<u64> {
        self.with(|| self.medium.last(known, until))
    }

    fn wait(&self, number: u64, until: Instant) -> Outcome<()> {
        self.with(|| self.medium.wait(number, until))
    }

    fn first(&self, until: Instant) -> Outcome<u64> {
        self.with(|| self.medium.first(until))
    }

    fn remove_before(&self, first: u64, until: Instant) -> Outcome<()> {
        self.with(|| self.medium.remove_before(first, until))
    }

    fn put_blob(&self, path: &str, content: &mut dyn Read, until: Instant) -> Outcome<()> {
        self.with(|| self.medium.put_blob(path, content, until))
    }

    fn get_blob(&self, path: &str, until: Instant) -> Outcome<Option<Box<dyn Read + Send>>> {
        self.with(|| self.medium.get_blob(path, until))
    }

    fn list_blobs(&self, folder: &str, until: Instant) -> Outcome<Vec<String>> {
        self.with(|| self.medium.list_blobs(folder, until))
    }

    fn remove_blob(&self, path: &str, until: Instant) -> Outcome<()> {
        self.with(|| self.medium.remove_blob(path, until))
    }
}
