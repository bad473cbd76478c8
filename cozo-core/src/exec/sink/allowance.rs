//! How much memory the rows of one predicate may take before its rules give up.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::budget::Budget;

/// How much memory the rows of a predicate may take before its rules give up, to be run again in another way. Threads share it.
#[derive(Debug)]
pub struct Allowance {
    most_bytes: usize,
    /// Whether it may be exceeded until the query is short of memory.
    is_last_resort: bool,
    /// What was charged.
    bytes: AtomicUsize,
    is_used_up: AtomicBool,
}

impl Allowance {
    /// An allowance of so many bytes. It may be exceeded as long as the query need not spill.
    pub fn new(most_bytes: usize) -> Self {
        Allowance { most_bytes, is_last_resort: false, bytes: AtomicUsize::new(0), is_used_up: AtomicBool::new(false) }
    }

    /// The same for rules whose other way is slower: it may be exceeded until the query is short of memory.
    pub fn last_resort(most_bytes: usize) -> Self {
        Allowance { is_last_resort: true, ..Allowance::new(most_bytes) }
    }

    /// Counts what was charged. Returns whether to go on.
    pub fn take(&self, bytes: usize, budget: &Budget) -> bool {
        let taken = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if taken > self.most_bytes && if self.is_last_resort { budget.is_short() } else { budget.should_spill() } {
            self.is_used_up.store(true, Ordering::Relaxed);
        }
        !self.is_used_up()
    }

    /// Whether the rules have to give up.
    pub fn is_used_up(&self) -> bool {
        self.is_used_up.load(Ordering::Relaxed)
    }

    /// Releases all that was charged.
    pub fn release(&self, budget: &Budget) {
        budget.release(self.bytes.swap(0, Ordering::Relaxed));
    }
}
