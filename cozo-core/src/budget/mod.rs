//! The budget of a script: how much memory it may take, until when it may run, and how deep its values may be nested.
//!
//! One [`Budget`] covers all that a script makes the process do: parsing, compiling, expressions, tables, fixed rules,
//! results. Whatever may take long or much asks it, in one of two ways:
//!
//! * Code that has the budget at hand calls [`Budget::check`] at each batch or round, and [`Budget::charge`] for what
//!   the script keeps until its end.
//! * Code far below, such as a function of the language, has no budget in its signature. A thread that works for a script
//!   [enters](Budget::enter) its budget; the code then calls [`make_room`] before it makes a large value, and [`step`] in
//!   long loops. Outside of a script both do nothing.
//!
//! ```text
//!  thread of a script         budget (shared by its threads)
//!  enter ------------------>  limit, used, interrupt with deadline
//!    make_room(3 MB) ------>  used += 3 MB     too much, or too late: Stop
//!    Temporary dropped ---->  used -= 3 MB     the batch has passed through
//!  charge(1 MB) ----------->  used += 1 MB     kept until the script ends
//! ```
//!
//! **A value is never made before there is room for it.**

mod interrupt;

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub use interrupt::Interrupt;

/// Why a script must stop.
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
    /// What the script makes takes more memory than it may.
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

/// How many levels of lists, sets and JSON a value may have: as many as JSON parsers take. Values are copied, compared, printed and
/// dropped by functions that call themselves for each level, so that deeper ones could overflow the stack of a thread.
pub const MAX_DEPTH: usize = 127;

/// A thread tells the budget of values that it makes in pieces of so many bytes, so that threads do not pass the counter to
/// and fro.
const PIECE: usize = 1 << 18;

/// A thread looks at the interrupt each time it has taken so many steps.
const STEPS_PER_CHECK: usize = 1 << 12;

/// A step is the work of about so many bytes that are written: values that are made count as steps, too.
pub const BYTES_PER_STEP: usize = 64;

/// How much a script may take, and until when. Clones are the same budget.
#[derive(Clone, Debug)]
pub struct Budget {
    /// With the deadline.
    interrupt: Interrupt,
    memory_limit: usize,
    /// The bytes of all that the script has made and not dropped.
    memory_used: Arc<AtomicUsize>,
}

impl Budget {
    /// Stops on the interrupt, after so many seconds if that many are positive, or beyond so many bytes.
    pub fn new(interrupt: Interrupt, timeout_seconds: f64, memory_limit: usize) -> Self {
        let timeout = (timeout_seconds > 0.0).then(|| Duration::try_from_secs_f64(timeout_seconds).ok()).flatten();
        let interrupt = match timeout {
            Some(timeout) => interrupt.within(timeout),
            None => interrupt,
        };
        Budget { interrupt, memory_limit, memory_used: Arc::default() }
    }

    /// Notes that the script keeps so many bytes more, until its end. Fails if it may not.
    pub fn charge(&self, bytes: usize) -> Result<(), Stop> {
        // Half of all addresses are more than any limit, and two such numbers do not overflow.
        let bytes = bytes.min(usize::MAX / 2);
        let used = self.memory_used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        within(used, self.memory_limit).inspect_err(|_| self.release(bytes))
    }

    /// Notes that so many bytes that were charged are free again.
    pub fn release(&self, bytes: usize) {
        self.memory_used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// How many bytes more the script may take.
    pub fn spare_bytes(&self) -> usize {
        self.memory_limit.saturating_sub(self.memory_used.load(Ordering::Relaxed))
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

    /// A budget of so many bytes that stops with the one that the calling thread works for.
    pub fn within_current(memory_limit: usize) -> Budget {
        let interrupt = Budget::current().map_or_else(Interrupt::default, |budget| budget.interrupt);
        Budget { interrupt, memory_limit, memory_used: Arc::default() }
    }

    /// The budget that the calling thread works for, for those who share the work among threads.
    pub fn current() -> Option<Budget> {
        WORK.try_with(|work| work.budget.borrow().clone()).ok().flatten()
    }

    /// Has the calling thread work for this budget until the guard is dropped.
    pub fn enter(&self) -> Entered {
        let before = WORK.try_with(|work| work.replace(Some(self.clone()), Counters::BEGIN)).ok();
        Entered { before, thread: PhantomData }
    }
}

/// Fails if so many bytes are more than a script may take.
pub fn within(used: usize, memory_limit: usize) -> Result<(), Stop> {
    match used > memory_limit {
        true => Err(Stop::OutOfMemory { limit_mb: memory_limit >> 20 }),
        false => Ok(()),
    }
}

thread_local! {
    /// What the thread works for.
    static WORK: Work = const { Work { counters: Cell::new(Counters::IDLE), budget: RefCell::new(None) } };
}

/// The work of one thread for a budget, or for none.
struct Work {
    counters: Cell<Counters>,
    budget: RefCell<Option<Budget>>,
}

/// What most calls look at, and nothing else.
#[derive(Clone, Copy)]
struct Counters {
    /// The bytes of the values that this thread has made and not dropped.
    made: usize,
    /// The part of them that the budget knows: at least all but a piece.
    charged: usize,
    /// Steps until the next look at the interrupt.
    steps_left: usize,
}

impl Counters {
    /// At the beginning of work for a budget.
    const BEGIN: Counters = Counters { made: 0, charged: 0, steps_left: STEPS_PER_CHECK };

    /// Without a budget, which is never asked for that many.
    const IDLE: Counters = Counters { made: 0, charged: usize::MAX, steps_left: usize::MAX };
}

impl Work {
    /// Goes on with other work; gives what there was.
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
            // More than that in advance, while there are enough.
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

    /// Looks at the interrupt.
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

    /// Forgets what was made beyond so many bytes.
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

    /// Gives back what is charged beyond so many bytes.
    #[cold]
    fn give_back(&self, charged: usize) {
        let counters = self.counters.get();
        if let Some(budget) = &*self.budget.borrow() {
            budget.release(counters.charged - charged);
            self.counters.set(Counters { charged, ..counters });
        }
    }
}

/// A thread works for a budget as long as there is this guard of [`Budget::enter`]; afterwards for the one before.
pub struct Entered {
    /// Nothing at the very end of a thread, which then works for none.
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

/// The values that the thread makes as long as there is this guard are dropped with it, and count no longer then.
pub struct Temporary {
    made: usize,
    thread: PhantomData<*const ()>,
}

/// Begins a stretch of work whose values do not outlive it.
#[inline]
pub fn temporary() -> Temporary {
    let made = WORK.try_with(|work| work.counters.get().made).unwrap_or(0);
    Temporary { made, thread: PhantomData }
}

impl Temporary {
    /// Says that of all that was made since the beginning so many bytes are left.
    pub fn holds(&self, bytes: usize) -> Result<(), Stop> {
        self.forget();
        make_room(bytes)
    }

    #[inline]
    fn forget(&self) {
        let _ = WORK.try_with(|work| work.forget(self.made));
    }

    /// Ends the stretch of work, after which a value of so many bytes is left of what it made.
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

/// Makes room for a value of so many bytes. Fails if the script that the thread works for may not take them, or must stop.
#[inline]
pub fn make_room(bytes: usize) -> Result<(), Stop> {
    WORK.try_with(|work| work.make_room(bytes)).unwrap_or(Ok(()))
}

/// Counts so many steps of a loop, each about as much work as comparing two values. Fails if the script that the thread works
/// for must stop.
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
