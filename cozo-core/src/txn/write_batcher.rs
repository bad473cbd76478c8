//! Puts that are set aside, to be committed some at a time.
//!
//! What a commit touches lies in the memory of the processor that committed last, so threads that take turns in committing
//! single rows mostly wait for that memory. So where several threads put rows, each sets its own aside, and commits
//! some of them at a time. A thread by itself does so with rows of keys alone that go to large relations: the way to each
//! leads through memory that is far, and an engine goes together the ways that it knows together.
//!
//! Only what cannot conflict or fail, is not waited for by callbacks, and outlives the process no more than it would otherwise,
//! is set aside. For everybody else it is committed when its transaction ends: who begins to read, or commits anything else,
//! commits first what lies aside.
//!
//! To that end a bit for each part with rows is where all look, and a commit that takes long or changes the catalog closes the
//! place: until it ends, nothing is set aside, so that who begins to read meanwhile has nothing to wait for.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Instant;

use smallvec::SmallVec;

use super::current::{THREAD_PARTS, thread_shard};
use super::pipeline::CommitRequest;
use super::sync::{AtomicU64, CachePadded, Mutex, MutexGuard};
use crate::storage::ChangeSet;

/// How many rows lie aside, and when none do. The model checker is to see all of it with few.
const LIMITS: Limits = match cfg!(feature = "shuttle") {
    false => Limits { enough: 32, most: 128, worth_it: 8, pause: 64 },
    true => Limits { enough: 2, most: 3, worth_it: 0, pause: 0 },
};

struct Limits {
    /// From so many on they are committed, as soon as nobody else leads.
    enough: usize,
    /// From so many on they are committed before the transaction ends.
    most: usize,
    /// Where others ask for fewer, it was not worth setting them aside.
    worth_it: usize,
    /// It is tried again after so many commits.
    pause: u32,
}

/// Beside the bits of the parts: nothing may be set aside.
const CLOSED: u64 = 1 << 63;

/// What lies aside, by thread.
pub(super) struct WriteBatcher {
    state: CachePadded<BatcherState>,
    parts: [CachePadded<Shard>; THREAD_PARTS],
}

/// Where all look. Few change it.
struct BatcherState {
    /// A bit for each part that has rows, and [`CLOSED`].
    given: AtomicU64,
    /// The version of the catalog; changed while closed.
    catalog: AtomicU64,
}

/// Where the threads of one part set rows aside.
#[derive(Default)]
struct Shard {
    /// Which they do, a number of [`BatchPolicy`].
    sets_aside: AtomicU8,
    /// For how many commits it is not asked whether they would gain.
    pause: AtomicU32,
    part: Mutex<Part>,
}

/// Which rows a thread sets aside.
#[derive(Clone, Copy)]
pub(super) enum BatchPolicy {
    /// None.
    Nothing = 0,
    /// Those of relations without values.
    KeysAlone = 1,
    /// All that may be.
    All = 2,
}

/// What the threads of one part have set aside.
#[derive(Default)]
pub(super) struct Part {
    /// When each of the changes was set aside.
    times: Vec<Instant>,
    /// The hashes of the keys.
    pub keys: Vec<u64>,
    /// The changes, of rows alone.
    pub changes: ChangeSet,
}

/// What becomes of rows that are to be set aside.
pub(super) enum SetAside {
    /// They are to be committed as others are.
    Refused,
    /// They are.
    Aside,
    /// They are, and it is time to commit what lies aside, as soon as nobody else leads.
    Enough,
    /// They are, and it must be committed.
    Full,
}

impl WriteBatcher {
    /// Nothing, with a catalog of this version.
    pub fn new(catalog: u64) -> Self {
        let state = CachePadded(BatcherState { given: AtomicU64::new(0), catalog: AtomicU64::new(catalog) });
        WriteBatcher { state, parts: std::array::from_fn(|_| CachePadded::default()) }
    }

    /// Whether anything lies aside.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.state.given.load(Ordering::SeqCst) & !CLOSED != 0
    }

    /// Sets rows aside, if they are of the current catalog.
    pub fn push(&self, request: &mut CommitRequest) -> SetAside {
        let number = thread_shard();
        let Shard { sets_aside, part, .. } = &*self.parts[number];
        let least = if request.has_values() { BatchPolicy::All } else { BatchPolicy::KeysAlone };
        if sets_aside.load(Ordering::Relaxed) < least as u8 {
            return SetAside::Refused;
        }
        let mut part = part.lock();
        let open = |given: u64| (given & CLOSED == 0).then_some(given | 1 << number);
        // Who closes it waits for this part if its bit is set.
        let is_open = match part.changes.rows.is_empty() {
            true => self.state.given.fetch_update(Ordering::SeqCst, Ordering::SeqCst, open).is_ok(),
            false => self.state.given.load(Ordering::SeqCst) & CLOSED == 0,
        };
        if !is_open {
            return SetAside::Refused;
        }
        if self.state.catalog.load(Ordering::Acquire) != request.base_catalog {
            if part.changes.rows.is_empty() {
                self.clear(number);
            }
            return SetAside::Refused;
        }
        let now = Instant::now();
        part.times.extend(request.changes.rows.iter().map(|_| now));
        part.keys.extend(&request.keys);
        part.changes.rows.append(&mut request.changes.rows);
        match part.keys.len() {
            rows if rows < LIMITS.enough => SetAside::Aside,
            rows if rows < LIMITS.most => SetAside::Enough,
            _ => SetAside::Full,
        }
    }

    /// Whether it is time to ask if the threads of a part would gain by setting rows aside. After a pause it is.
    pub fn is_time_to_ask(&self, part: usize) -> bool {
        let pause = &self.parts[part].pause;
        let left = pause.load(Ordering::Relaxed);
        pause.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }

    /// From now on the threads of a part set these rows aside, too, until others ask for them soon.
    pub fn set_aside(&self, part: usize, which: BatchPolicy) {
        self.parts[part].sets_aside.fetch_max(which as u8, Ordering::Relaxed);
    }

    /// It is asked again after a pause.
    pub fn ask_later(&self, part: usize) {
        self.parts[part].pause.store(LIMITS.pause, Ordering::Relaxed);
    }

    /// The calling thread's part, if it can be committed before all others.
    pub fn own(&self) -> Option<Locked<'_>> {
        let number = thread_shard();
        let own = self.parts[number].part.lock();
        // What comes to another part from now on is younger than all of these.
        let others = self.state.given.load(Ordering::SeqCst) & !(1 << number);
        let has_same = |other: usize| {
            let other = self.parts[other].part.lock();
            other.keys.iter().any(|key| own.keys.contains(key))
        };
        let is_alone = !(0..THREAD_PARTS).filter(|other| others & (1 << other) != 0).any(has_same);
        is_alone.then(|| Locked { deferred: self, parts: SmallVec::from_iter([(number, own)]) })
    }

    /// All parts that have rows.
    pub fn all(&self) -> Locked<'_> {
        let mut locked = Locked { deferred: self, parts: SmallVec::new() };
        let mut numbers = 0;
        loop {
            // Rows that came to another part meanwhile may be older than some of those in a part that was locked late.
            let more = self.state.given.load(Ordering::SeqCst) & !CLOSED & !numbers;
            if more == 0 {
                return locked;
            }
            numbers |= more;
            for number in (0..THREAD_PARTS).filter(|number| more & (1 << number) != 0) {
                let part = self.parts[number].part.lock();
                if part.keys.len() < LIMITS.worth_it {
                    self.parts[number].sets_aside.store(BatchPolicy::Nothing as u8, Ordering::Relaxed);
                    self.ask_later(number);
                }
                locked.parts.push((number, part));
            }
        }
    }

    /// Has nothing be set aside until this is dropped, which must be before another leads.
    pub fn close(&self) -> Closed<'_> {
        let before = self.state.given.fetch_or(CLOSED, Ordering::SeqCst);
        debug_assert_eq!(before & CLOSED, 0, "closed by one leader at a time");
        Closed(self)
    }

    /// Goes on to another catalog, while closed.
    pub fn set_catalog(&self, version: u64) {
        self.state.catalog.store(version, Ordering::Release);
    }

    fn clear(&self, part: usize) {
        self.state.given.fetch_and(!(1 << part), Ordering::SeqCst);
    }
}

/// Parts to which nothing is added meanwhile. Once they are dropped, what they had is committed.
pub(super) struct Locked<'d> {
    deferred: &'d WriteBatcher,
    parts: SmallVec<[(usize, MutexGuard<'d, Part>); 2]>,
}

impl Locked<'_> {
    /// What they have, in the order in which it was set aside.
    pub fn in_order(&mut self) -> Option<&mut Part> {
        let (first, others) = self.parts.split_first_mut()?;
        if !others.is_empty() {
            for (_, other) in others.iter_mut() {
                first.1.append(other);
            }
            first.1.sort();
        }
        Some(&mut first.1)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        for (number, part) in &mut self.parts {
            part.clear();
            self.deferred.clear(*number);
        }
    }
}

impl Part {
    fn append(&mut self, other: &mut Part) {
        self.times.append(&mut other.times);
        self.keys.append(&mut other.keys);
        self.changes.rows.append(&mut other.changes.rows);
    }

    /// What was set aside first comes first.
    fn sort(&mut self) {
        let rows = std::mem::take(&mut self.changes.rows);
        let mut timed: Vec<_> = self.times.drain(..).zip(rows).collect();
        timed.sort_by_key(|(time, _)| *time);
        self.changes.rows.extend(timed.into_iter().map(|(_, rows)| rows));
    }

    fn clear(&mut self) {
        self.times.clear();
        self.keys.clear();
        self.changes.rows.clear();
    }
}

/// Keeps the place closed.
pub(super) struct Closed<'d>(&'d WriteBatcher);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.state.given.fetch_and(!CLOSED, Ordering::SeqCst);
    }
}
