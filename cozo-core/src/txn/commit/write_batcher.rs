//! The write batcher: puts of several transactions that are committed together.
//!
//! Every commit writes the same memory, which lies in the cache of the processor that committed last. Threads that commit
//! single rows in turn mostly wait for that memory. So each of them batches its rows in its own [`Shard`], and commits some
//! at a time. A single thread batches only rows without values that go to large relations. Each such row needs a descent
//! through memory that is in no cache, and an engine runs the descents of one commit side by side.
//!
//! A put is batched only if it cannot conflict, cannot fail, has no callback, and is as durable as any other commit. A batched
//! put counts as committed: a thread that begins to read, or that leads a commit, first commits all batched rows.
//!
//! ```text
//!  shard:   empty ──push──> has rows (its bit in `given` is set) ──own / all──> locked ──engine has the rows──> empty
//!  batcher: open  ──close──> closed (push refuses) ──drop of Closed──> open
//!
//!  rows in a shard     push returns   the caller
//!  fewer than `enough` Batched        goes on
//!  fewer than `most`   Enough         commits its shard if the leader's lock is free
//!  `most` or more      Full           waits for the leader's lock and commits its shard
//! ```
//!
//! Invariants:
//! - `given` has the bit of every shard with rows, so one load tells a reader whether there is anything to commit.
//! - Rows of one key reach the engine in the order of their transactions. [`WriteBatcher::own`] gives up if another shard has
//!   one of its keys, and [`Locked::in_order`] sorts the rows of several shards by time.
//! - A commit that takes long or changes the catalog closes the batcher. Until it ends no shard has rows, so a transaction
//!   that begins to read need not wait for it.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Instant;

use smallvec::SmallVec;

use crate::storage::ChangeSet;
use crate::txn::commit::request::CommitRequest;
use crate::txn::sync::{AtomicU64, CachePadded, Mutex, MutexGuard};
use crate::txn::versions::current::{THREAD_PARTS, thread_shard};

/// How many rows a shard has before they are committed, and when batching stops. The model checker uses small limits, so that
/// a few transactions reach every state.
const LIMITS: Limits = match cfg!(feature = "shuttle") {
    false => Limits { enough: 32, most: 128, worth_it: 8, pause: 64 },
    true => Limits { enough: 2, most: 3, worth_it: 0, pause: 0 },
};

struct Limits {
    /// A shard with this many rows is committed if the leader's lock is free.
    enough: usize,
    /// A shard with this many rows is committed before the transaction ends.
    most: usize,
    /// A shard that others commit with fewer rows than this stops batching.
    worth_it: usize,
    /// The number of commits after which batching is considered again.
    pause: u32,
}

/// A bit beside those of the shards: the batcher is closed.
const CLOSED: u64 = 1 << 63;

/// The batched rows, by thread shard.
pub struct WriteBatcher {
    state: CachePadded<BatcherState>,
    parts: [CachePadded<Shard>; THREAD_PARTS],
}

/// The state that every thread reads, and that few change.
struct BatcherState {
    /// A bit for each shard that has rows, and [`CLOSED`].
    given: AtomicU64,
    /// The version of the catalog. It changes only while the batcher is closed.
    catalog: AtomicU64,
}

/// The batch of one thread shard, and its policy.
#[derive(Default)]
struct Shard {
    /// Which rows the threads batch: a number of [`BatchPolicy`].
    policy: AtomicU8,
    /// The number of commits until it is considered again whether batching would gain.
    pause: AtomicU32,
    part: Mutex<Part>,
}

/// Which rows a thread batches.
#[derive(Clone, Copy)]
pub enum BatchPolicy {
    /// None.
    Nothing = 0,
    /// Rows of relations without values.
    KeysAlone = 1,
    /// All rows that may be batched.
    All = 2,
}

/// The rows of one shard.
#[derive(Default)]
pub struct Part {
    /// The time at which each of the changes was batched.
    times: Vec<Instant>,
    /// The hashes of the keys.
    pub keys: Vec<u64>,
    /// The changes. They are changes of rows alone.
    pub changes: ChangeSet,
}

/// The result of [`WriteBatcher::push`].
pub enum Pushed {
    /// The rows are not batched: commit them in the ordinary way.
    Refused,
    /// The rows are batched.
    Batched,
    /// The rows are batched; commit the shard if the leader's lock is free.
    Enough,
    /// The rows are batched; commit the shard now.
    Full,
}

impl WriteBatcher {
    /// An empty batcher for a catalog of this version.
    pub fn new(catalog: u64) -> Self {
        let state = CachePadded(BatcherState { given: AtomicU64::new(0), catalog: AtomicU64::new(catalog) });
        WriteBatcher { state, parts: std::array::from_fn(|_| CachePadded::default()) }
    }

    /// Whether any shard has rows.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.state.given.load(Ordering::SeqCst) & !CLOSED != 0
    }

    /// Batches the rows of a request, if the policy allows it and its catalog is the current one.
    pub fn push(&self, request: &mut CommitRequest) -> Pushed {
        let number = thread_shard();
        let Shard { policy, part, .. } = &*self.parts[number];
        let least = if request.has_values() { BatchPolicy::All } else { BatchPolicy::KeysAlone };
        if policy.load(Ordering::Relaxed) < least as u8 {
            return Pushed::Refused;
        }
        let mut part = part.lock();
        let open = |given: u64| (given & CLOSED == 0).then_some(given | 1 << number);
        // A leader that closes the batcher waits for this shard if its bit is set.
        let is_open = match part.changes.rows.is_empty() {
            true => self.state.given.fetch_update(Ordering::SeqCst, Ordering::SeqCst, open).is_ok(),
            false => self.state.given.load(Ordering::SeqCst) & CLOSED == 0,
        };
        if !is_open {
            return Pushed::Refused;
        }
        if self.state.catalog.load(Ordering::Acquire) != request.base_catalog {
            if part.changes.rows.is_empty() {
                self.clear(number);
            }
            return Pushed::Refused;
        }
        let now = Instant::now();
        part.times.extend(request.changes.rows.iter().map(|_| now));
        part.keys.extend(&request.keys);
        part.changes.rows.append(&mut request.changes.rows);
        match part.keys.len() {
            rows if rows < LIMITS.enough => Pushed::Batched,
            rows if rows < LIMITS.most => Pushed::Enough,
            _ => Pushed::Full,
        }
    }

    /// Whether it is time to consider batching for a shard. It is after a pause.
    pub fn is_time_to_ask(&self, part: usize) -> bool {
        let pause = &self.parts[part].pause;
        let left = pause.load(Ordering::Relaxed);
        pause.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }

    /// Widens the policy of a shard. It ends when another thread has to commit the shard with few rows in it.
    pub fn widen(&self, part: usize, which: BatchPolicy) {
        self.parts[part].policy.fetch_max(which as u8, Ordering::Relaxed);
    }

    /// Starts the pause of a shard.
    pub fn ask_later(&self, part: usize) {
        self.parts[part].pause.store(LIMITS.pause, Ordering::Relaxed);
    }

    /// Locks the calling thread's shard, if it can be committed before all others.
    pub fn own(&self) -> Option<Locked<'_>> {
        let number = thread_shard();
        let own = self.parts[number].part.lock();
        // Rows that reach another shard from here on are younger than all of these.
        let others = self.state.given.load(Ordering::SeqCst) & !(1 << number);
        let has_same = |other: usize| {
            let other = self.parts[other].part.lock();
            other.keys.iter().any(|key| own.keys.contains(key))
        };
        let is_alone = !(0..THREAD_PARTS).filter(|other| others & (1 << other) != 0).any(has_same);
        is_alone.then(|| Locked { batcher: self, parts: SmallVec::from_iter([(number, own)]) })
    }

    /// Locks all shards that have rows.
    pub fn all(&self) -> Locked<'_> {
        let mut locked = Locked { batcher: self, parts: SmallVec::new() };
        let mut numbers = 0;
        loop {
            // Rows that reached another shard meanwhile may be older than some rows of a shard that was locked late.
            let more = self.state.given.load(Ordering::SeqCst) & !CLOSED & !numbers;
            if more == 0 {
                return locked;
            }
            numbers |= more;
            for number in (0..THREAD_PARTS).filter(|number| more & (1 << number) != 0) {
                let part = self.parts[number].part.lock();
                if part.keys.len() < LIMITS.worth_it {
                    self.parts[number].policy.store(BatchPolicy::Nothing as u8, Ordering::Relaxed);
                    self.ask_later(number);
                }
                locked.parts.push((number, part));
            }
        }
    }

    /// Closes the batcher until the result is dropped. That must happen before another thread leads.
    pub fn close(&self) -> Closed<'_> {
        let before = self.state.given.fetch_or(CLOSED, Ordering::SeqCst);
        debug_assert_eq!(before & CLOSED, 0, "closed by one leader at a time");
        Closed(self)
    }

    /// Sets the version of the catalog, while closed.
    pub fn set_catalog(&self, version: u64) {
        self.state.catalog.store(version, Ordering::Release);
    }

    fn clear(&self, part: usize) {
        self.state.given.fetch_and(!(1 << part), Ordering::SeqCst);
    }
}

/// Shards that are locked while their rows are committed. Dropping this empties them.
pub struct Locked<'d> {
    batcher: &'d WriteBatcher,
    parts: SmallVec<[(usize, MutexGuard<'d, Part>); 2]>,
}

impl Locked<'_> {
    /// The rows of all locked shards, in the order in which they were batched.
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
            self.batcher.clear(*number);
        }
    }
}

impl Part {
    fn append(&mut self, other: &mut Part) {
        self.times.append(&mut other.times);
        self.keys.append(&mut other.keys);
        self.changes.rows.append(&mut other.changes.rows);
    }

    /// Sorts the changes by time.
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

/// Holds the batcher closed.
pub struct Closed<'d>(&'d WriteBatcher);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.state.given.fetch_and(!CLOSED, Ordering::SeqCst);
    }
}
