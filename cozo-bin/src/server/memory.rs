//! How much memory requests may take: each of them, and all together.
//!
//! What counts are the texts of bodies and the values that are made of them. Short requests, which are most, are not counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory of requests. Clones are the same.
#[derive(Clone)]
pub struct RequestMemory {
    /// How many bytes one request may take.
    pub each: usize,
    /// How many all together may take.
    all: usize,
    used: Arc<AtomicUsize>,
}

/// So many of the largest requests may be there at a time.
const REQUESTS: usize = 4;

impl RequestMemory {
    /// So many bytes for each request; all together do not take more than `most`, unless one alone may.
    pub fn new(each: usize, most: usize) -> Self {
        RequestMemory { each, all: each.saturating_mul(REQUESTS).min(most).max(each), used: Arc::default() }
    }

    /// Nothing yet for a request.
    pub fn held(&self) -> Held {
        Held { memory: self.clone(), bytes: 0 }
    }
}

/// What a request takes, until it is dropped.
pub struct Held {
    memory: RequestMemory,
    bytes: usize,
}

impl Held {
    /// How many bytes the request may take.
    pub fn each(&self) -> usize {
        self.memory.each
    }

    /// How many bytes more the request may take.
    pub fn left(&self) -> usize {
        self.memory.each.saturating_sub(self.bytes)
    }

    /// Takes so many bytes more; whether there are so many.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let more = |used: usize| used.checked_add(bytes).filter(|used| *used <= self.memory.all);
        let grown = self.memory.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
        self.bytes += if grown { bytes } else { 0 };
        grown
    }

    /// Gives so many bytes back.
    pub fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.memory.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_share_what_there_is() {
        let memory = RequestMemory::new(10, 25);
        let mut held = [memory.held(), memory.held(), memory.held()];
        assert!(held[0].grow(10) && held[1].grow(10) && !held[2].grow(6) && held[2].grow(5));
        assert_eq!((held[0].left(), held[2].left()), (0, 5));
        held[2].shrink(3);
        assert_eq!(held[2].left(), 8);
        drop(held);
        assert!(memory.held().grow(25), "all of it is back");
        assert!(RequestMemory::new(10, 5).held().grow(10));
    }
}
