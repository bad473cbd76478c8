//! The budget of a script: its memory, its time, and the nesting of its values.
//!
//! One [`Budget`] covers all work for a script: parsing, compiling, expressions, tables, fixed rules, results. Work that may
//! take much memory or time checks it in one of two ways:
//!
//! * Code with access to the budget calls [`Budget::check`] at each batch or round. It calls [`Budget::charge`] for memory that
//!   the script holds until its end.
//! * Code far below, such as a function of the language, has no budget in its signature. A thread that works for a script
//!   [enters](Budget::enter) its budget. The code then calls [`make_room`] before it makes a large value, and [`step`] in long
//!   loops. Outside of a script both do nothing.
//!
//! ```text
//!  thread of a script         budget (shared by its threads)
//!  enter ------------------>  limit, used, interrupt with deadline
//!    make_room(3 MB) ------>  used += 3 MB     over the limit, or past the deadline: Stop
//!    Temporary dropped ---->  used -= 3 MB     the batch has been processed
//!  charge(1 MB) ----------->  used += 1 MB     held until the script ends
//! ```
//!
//! A thread does not update the shared counter for each value. [`Counters`] in a thread-local record what the thread has made,
//! and charge the budget in pieces of [`PIECE`] bytes in advance. They also count steps until the next check of the interrupt.
//!
//! **A value is never made before there is room for it.**

mod interrupt;
mod usage;

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use interrupt::Interrupt;
pub use usage::Usage;

/// The reason why a script must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum Stop {
    /// The script was killed, ran into its timeout, or the database was closed.
    #[error("the query was stopped: {0}")]
    #[diagnostic(code(eval::killed), help("{1}"))]
    Killed(&'static str, &'static str),
    /// A value would be nested deeper than [`MAX_DEPTH`].
    #[error("a value may be nested {MAX_DEPTH} levels deep")]
    #[diagnostic(
        code(eval::too_deep),
        help("lists, sets and JSON count as levels: keep what is linked in rows of a relation")
    )]
    TooDeep,
    /// The script needs more memory than its limit.
    #[error("the query needs more than the {limit_mb} MB that a query may take")]
    #[diagnostic(
        code(eval::out_of_memory),
        help("narrow the query, or open the database with a larger option 'query_memory_mb'")
    )]
    OutOfMemory {
        /// The limit.
        limit_mb: usize,
    },
}

/// The most levels of lists, sets and JSON in a value, which is the limit of JSON parsers. Values are copied, compared, printed and
/// dropped recursively, so deeper ones could overflow the stack of a thread.
pub const MAX_DEPTH: usize = 127;

/// A thread charges the budget in pieces of this many bytes, so that threads do not contend for its counter.
const PIECE: usize = 1 << 18;

/// A thread checks the interrupt each time it has counted this many steps.
const STEPS_PER_CHECK: usize = 1 << 12;

/// Rows are written into blocks when a script holds its memory limit divided by this. The rest is for what works on the rows.
/// Unit: ratio. Bench: `spill`.
const SPILL_SHARE: usize = 2;

/// Rows are written into blocks when a script holds more, whatever its limit is: to sort and to group them in parts is faster than
/// to tell so many rows apart at once. Unit: bytes. Bench: `spill`.
const MAX_LOOSE_BYTES: usize = 256 << 20;

/// Blocks stay in memory as long as they take the memory limit divided by this. Unit: ratio. Bench: `spill`.
const HOLD_SHARE: usize = 4;

/// A step is about the work of writing this many bytes. Values that are made count as steps, too.
pub const BYTES_PER_STEP: usize = 64;

/// Memory that is charged until this is dropped.
#[derive(Debug)]
pub struct Charge {
    budget: Budget,
    bytes: usize,
}

impl Charge {
    /// Charges more.
    pub fn add(&mut self, bytes: usize) -> Result<(), Stop> {
        self.budget.charge(bytes)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.release(self.bytes);
    }
}

/// The limits of a script's memory and time. Clones are the same budget.
#[derive(Clone, Debug)]
pub struct Budget {
    /// The interrupt, with the deadline.
    interrupt: Interrupt,
    memory_limit: usize,
    /// From so many bytes on, rows are written into blocks.
    spill_above: usize,
    /// The blocks that stay in memory. Others go to disk.
    hold_bytes: usize,
    /// What the script uses now.
    usage: Arc<Usage>,
}

impl Budget {
    /// A budget that stops on the interrupt, beyond a memory limit, and after a timeout if it is positive.
    pub fn new(interrupt: Interrupt, timeout_seconds: f64, memory_limit: usize) -> Self {
        let timeout = (timeout_seconds > 0.0).then(|| Duration::try_from_secs_f64(timeout_seconds).ok()).flatten();
        let interrupt = match timeout {
            Some(timeout) => interrupt.within(timeout),
            None => interrupt,
        };
        let usage = Arc::new(Usage::default());
        interrupt.watch(&usage);
        Budget::of(interrupt, memory_limit, usage)
    }

    fn of(interrupt: Interrupt, memory_limit: usize, usage: Arc<Usage>) -> Self {
        let spill_above = (memory_limit / SPILL_SHARE).min(MAX_LOOSE_BYTES);
        Budget { interrupt, memory_limit, spill_above, hold_bytes: memory_limit / HOLD_SHARE, usage }
    }

    /// The same budget, of which rows are written into blocks from so many bytes on, which go to disk. By default, see
    /// [`Budget::spill_above`].
    pub fn spilling_above(self, bytes: usize) -> Self {
        let hold_bytes = if bytes < self.spill_above { 0 } else { self.hold_bytes };
        Budget { spill_above: bytes.min(self.spill_above), hold_bytes, ..self }
    }

    /// The bytes from which on rows are written into blocks: half of the memory limit, and at most [`MAX_LOOSE_BYTES`].
    pub fn spill_above(&self) -> usize {
        self.spill_above
    }

    /// The bytes of blocks that stay in memory.
    pub fn hold_bytes(&self) -> usize {
        self.hold_bytes
    }

    /// The same budget without an interrupt and a timeout.
    pub fn without_interrupt(&self) -> Budget {
        Budget { interrupt: Interrupt::default(), ..self.clone() }
    }

    /// Whether rows should be written into blocks.
    #[inline]
    pub fn should_spill(&self) -> bool {
        self.usage.working() > self.spill_above
    }

    /// Whether the script has used up most of its memory, so that rows should go to disk even if that takes longer.
    #[inline]
    pub fn is_short(&self) -> bool {
        self.usage.working() > self.hold_bytes * (HOLD_SHARE / SPILL_SHARE)
    }

    /// What the script uses now.
    pub fn usage(&self) -> &Arc<Usage> {
        &self.usage
    }

    /// A charge that ends when it is dropped.
    pub fn charge_for_now(&self) -> Charge {
        Charge { budget: self.clone(), bytes: 0 }
    }

    /// Charges memory that the script holds until its end. Fails if that exceeds the limit.
    pub fn charge(&self, bytes: usize) -> Result<(), Stop> {
        // Half of the address space exceeds any limit, and the sum of two such numbers does not overflow.
        let bytes = bytes.min(usize::MAX / 2);
        let used = self.usage.add_memory(bytes);
        within(used, self.memory_limit).inspect_err(|_| self.release(bytes))
    }

    /// Releases memory that was charged.
    pub fn release(&self, bytes: usize) {
        self.usage.remove_memory(bytes);
    }

    /// The memory that is left to the script.
    pub fn spare_bytes(&self) -> usize {
        self.memory_limit.saturating_sub(self.usage.memory())
    }

    /// Fails if the script must stop.
    pub fn check(&self) -> Result<(), Stop> {
        self.interrupt.check()
    }

    /// Sleeps for a time, or until the script must stop.
    pub fn sleep(&self, seconds: f64) -> Result<(), Stop> {
        let end = Instant::now() + Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 4);
        while Instant::now() < end {
            self.check()?;
            std::thread::sleep((end - Instant::now()).min(Duration::from_millis(10)));
        }
        self.check()
    }

    /// A budget with a memory limit of its own, and the interrupt of the calling thread's budget.
    pub fn within_current(memory_limit: usize) -> Budget {
        let interrupt = Budget::current().map_or_else(Interrupt::default, |budget| budget.interrupt);
        Budget::of(interrupt, memory_limit, Arc::default())
    }

    /// The budget that the calling thread works for. Code that divides work among threads passes it on to them.
    pub fn current() -> Option<Budget> {
        WORK.try_with(|work| work.budget.borrow().clone()).ok().flatten()
    }

    /// Makes the calling thread work for this budget until the guard is dropped.
    pub fn enter(&self) -> Entered {
        let before = WORK.try_with(|work| work.replace(Some(self.clone()), Counters::BEGIN)).ok();
        Entered { before, thread: PhantomData }
    }
}

/// Fails if `used` exceeds the memory limit of a script.
pub fn within(used: usize, memory_limit: usize) -> Result<(), Stop> {
    match used > memory_limit {
        true => Err(Stop::OutOfMemory { limit_mb: memory_limit >> 20 }),
        false => Ok(()),
    }
}

thread_local! {
    /// The work of the thread.
    static WORK: Work = const { Work { counters: Cell::new(Counters::IDLE), budget: RefCell::new(None) } };
}

/// The work of one thread for a budget, or for none.
struct Work {
    counters: Cell<Counters>,
    budget: RefCell<Option<Budget>>,
}

/// The counters of a thread. Most calls read nothing else.
#[derive(Clone, Copy)]
struct Counters {
    /// The size of the values that this thread has made and not dropped.
    made: usize,
    /// The memory charged to the budget for them, at least `made`.
    charged: usize,
    /// The number of steps until the next check of the interrupt.
    steps_left: usize,
}

impl Counters {
    /// The counters at the beginning of work for a budget.
    const BEGIN: Counters = Counters { made: 0, charged: 0, steps_left: STEPS_PER_CHECK };

    /// The counters without a budget. They never reach a limit.
    const IDLE: Counters = Counters { made: 0, charged: usize::MAX, steps_left: usize::MAX };
}

impl Work {
    /// Switches to other work. Returns the work before.
    fn replace(&self, budget: Option<Budget>, counters: Counters) -> (Option<Budget>, Counters) {
        (self.budget.replace(budget), self.counters.replace(counters))
    }

    #[inline]
    fn make_room(&self, bytes: usize) -> Result<(), Stop> {
        let counters = self.counters.get();
        let (made, steps) = (counters.made.saturating_add(bytes), bytes / BYTES_PER_STEP + 1);
        if made > counters.charged || steps >= counters.steps_left {
            return self.make_much_room(made, steps);
        }
        self.counters.set(Counters { made, steps_left: counters.steps_left - steps, ..counters });
        Ok(())
    }

    #[cold]
    fn make_much_room(&self, made: usize, steps: usize) -> Result<(), Stop> {
        let budget = self.budget.borrow();
        let Some(budget) = &*budget else {
            self.counters.set(Counters::IDLE);
            return Ok(());
        };
        let mut counters = self.counters.get();
        if made > counters.charged {
            // A whole piece is charged in advance, if the limit allows it.
            let bytes = made - counters.charged;
            let charged = match budget.charge(bytes.max(PIECE)) {
                Ok(()) => bytes.max(PIECE),
                Err(_) => budget.charge(bytes).map(|()| bytes)?,
            };
            counters.charged += charged;
        }
        self.counters.set(Counters { made, ..counters });
        self.step(steps)
    }

    #[inline]
    fn step(&self, steps: usize) -> Result<(), Stop> {
        let counters = self.counters.get();
        if steps >= counters.steps_left {
            return self.look(counters);
        }
        self.counters.set(Counters { steps_left: counters.steps_left - steps, ..counters });
        Ok(())
    }

    /// Checks the interrupt.
    #[cold]
    fn look(&self, counters: Counters) -> Result<(), Stop> {
        let budget = self.budget.borrow();
        let Some(budget) = &*budget else {
            self.counters.set(Counters::IDLE);
            return Ok(());
        };
        self.counters.set(Counters { steps_left: STEPS_PER_CHECK, ..counters });
        budget.check()
    }

    /// Resets the size of made values to `made`.
    #[inline]
    fn forget(&self, made: usize) {
        let counters = self.counters.get();
        if counters.made == made {
            return;
        }
        self.counters.set(Counters { made, ..counters });
        if counters.charged > made.saturating_add(PIECE) {
            self.give_back(made.saturating_add(PIECE));
        }
    }

    /// Releases the charge beyond `charged` bytes.
    #[cold]
    fn give_back(&self, charged: usize) {
        let counters = self.counters.get();
        if let Some(budget) = &*self.budget.borrow() {
            budget.release(counters.charged - charged);
            self.counters.set(Counters { charged, ..counters });
        }
    }
}

/// The guard of [`Budget::enter`]. Dropping it returns the thread to the budget before.
pub struct Entered {
    /// The work before. None at the very end of a thread, which has no budget then.
    before: Option<(Option<Budget>, Counters)>,
    /// The guard stays on its thread.
    thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let Some((budget, counters)) = self.before.take() else { return };
        let ended = WORK.try_with(|work| work.replace(budget, counters)).ok();
        if let Some((Some(budget), counters)) = ended {
            budget.release(counters.charged);
        }
    }
}

/// A guard for values that the thread makes and drops during its lifetime. Dropping it stops counting them.
pub struct Temporary {
    made: usize,
    thread: PhantomData<*const ()>,
}

/// Begins a section of work whose values do not outlive it.
#[inline]
pub fn temporary() -> Temporary {
    let made = WORK.try_with(|work| work.counters.get().made).unwrap_or(0);
    Temporary { made, thread: PhantomData }
}

impl Temporary {
    /// Sets the size of the values that are left of all made since the beginning.
    pub fn holds(&self, bytes: usize) -> Result<(), Stop> {
        self.forget();
        make_room(bytes)
    }

    #[inline]
    fn forget(&self) {
        let _ = WORK.try_with(|work| work.forget(self.made));
    }

    /// Ends the section of work. A value of `bytes` bytes is left of it.
    pub fn leave(self, bytes: usize) -> Result<(), Stop> {
        drop(self);
        make_room(bytes)
    }
}

impl Drop for Temporary {
    #[inline]
    fn drop(&mut self) {
        self.forget();
    }
}

/// Makes room for a value of `bytes` bytes. Fails if the thread's script exceeds its limit, or must stop.
#[inline]
pub fn make_room(bytes: usize) -> Result<(), Stop> {
    WORK.try_with(|work| work.make_room(bytes)).unwrap_or(Ok(()))
}

/// Counts steps of a loop, each about as much work as comparing two values. Fails if the thread's script must stop.
#[inline]
pub fn step(steps: usize) -> Result<(), Stop> {
    WORK.try_with(|work| work.step(steps)).unwrap_or(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEGABYTE: usize = 1 << 20;

    fn budget(megabytes: usize) -> Budget {
        Budget::new(Interrupt::default(), 0.0, megabytes * MEGABYTE)
    }

    #[test]
    fn what_a_thread_makes_counts_until_it_is_dropped() {
        let budget = budget(10);
        let entered = budget.enter();
        for _ in 0..100 {
            let _temporary = temporary();
            assert_eq!(make_room(8 * MEGABYTE), Ok(()));
            let inner = temporary();
            assert_eq!(make_room(MEGABYTE), Ok(()));
            drop(inner);
            assert_eq!(make_room(3 * MEGABYTE), Err(Stop::OutOfMemory { limit_mb: 10 }));
        }
        drop(entered);
        assert_eq!(budget.spare_bytes(), 10 * MEGABYTE);
        assert_eq!(make_room(100 * MEGABYTE), Ok(()), "outside of a script there is no limit");
    }

    #[test]
    fn what_is_left_of_a_stretch_counts_on() {
        let budget = budget(10);
        let _entered = budget.enter();
        for _ in 0..3 {
            let stretch = temporary();
            assert_eq!(make_room(4 * MEGABYTE), Ok(()));
            assert_eq!(stretch.leave(2 * MEGABYTE), Ok(()));
        }
        assert!(make_room(5 * MEGABYTE).is_err() && make_room(usize::MAX).is_err());
        assert_eq!(make_room(4 * MEGABYTE), Ok(()), "what failed counts nothing");
    }

    #[test]
    fn small_values_add_up_over_threads() {
        let budget = budget(4);
        let both_are_done = std::sync::Barrier::new(2);
        let refused = std::thread::scope(|scope| {
            let work = || {
                let _entered = budget.enter();
                let refused = (0..1 << 12).any(|_| make_room(1 << 10).is_err());
                both_are_done.wait();
                refused
            };
            let threads = [scope.spawn(work), scope.spawn(work)];
            threads.map(|thread| thread.join().expect("it does not panic"))
        });
        assert!(refused.contains(&true), "together they make 8 MB");
    }

    #[test]
    fn loops_see_the_interrupt() {
        let interrupt = Interrupt::default();
        let budget = Budget::new(interrupt.clone(), 0.0, MEGABYTE);
        let _entered = budget.enter();
        assert_eq!(step(STEPS_PER_CHECK), Ok(()));
        interrupt.kill();
        assert!((0..STEPS_PER_CHECK).any(|_| step(1).is_err()));
        assert!(step(STEPS_PER_CHECK).is_err() && make_room(STEPS_PER_CHECK * BYTES_PER_STEP).is_err());
    }
}
