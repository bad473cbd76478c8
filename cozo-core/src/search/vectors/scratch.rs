//! The memory of a search, kept from one to the next.

/// The memory of a search. A thread that searches often keeps one; it serves any index.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) visited: Visited,
    /// The slots whose links were read on the way to the next allowed slots.
    pub(super) crossed: Visited,
    /// Candidates as keys, sorted.
    pub(super) list: Vec<u64>,
    /// Slots whose distances are wanted next, and their nodes if slots are not nodes.
    pub(super) fresh: Vec<u32>,
    pub(super) nodes: Vec<u32>,
    pub(super) distances: Vec<f32>,
    /// Keys of slots whose links are to be followed, in a heap.
    pub(super) queue: std::collections::BinaryHeap<std::cmp::Reverse<u64>>,
}

/// The slots that a walk has seen: those whose mark is the number of the walk.
#[derive(Debug, Default)]
pub(super) struct Visited {
    marks: Vec<u8>,
    walk: u8,
}

impl Visited {
    /// Begins a walk among so many slots.
    pub fn begin(&mut self, slots: usize) {
        if self.marks.len() < slots {
            self.marks.resize(slots, 0);
        }
        self.walk = self.walk.wrapping_add(1);
        if self.walk == 0 {
            self.marks.fill(0);
            self.walk = 1;
        }
    }

    /// Marks a slot. Returns whether this walk sees it for the first time.
    #[inline(always)]
    pub fn insert(&mut self, slot: u32) -> bool {
        std::mem::replace(&mut self.marks[slot as usize], self.walk) != self.walk
    }
}
