//! The threads that share the work of queries, and threads for a single purpose.
//!
//! Work is divided by rayon, whose threads serve the whole program. They start when work is divided for the first time, so that a
//! program of small queries has one thread. Code that divides work calls [`ready`] or [`count`] first:
//!
//! - The threads are there: the work is divided among them.
//! - The system has fewer threads than processors: rayon gets half of what it has.
//! - There are none, or this process was forked from the one that has them: the calling thread does all of the work.
//!
//! ```ignore
//! threads::ready();
//! rows.par_iter().for_each(work);
//! ```

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle, available_parallelism, yield_now};

use rayon::current_num_threads;
use rayon::{ThreadBuilder, ThreadPoolBuilder};

use crate::fork::Process;

/// One of the states below, with the generation of the process for which it holds.
static SHARED_THREADS: AtomicU64 = AtomicU64::new(NOT_STARTED);

const NOT_STARTED: u64 = 0;
const STARTING: u64 = 1;
const STARTED: u64 = 2;
const NONE: u64 = 3;

const STATE_BITS: u32 = 2;

/// Makes sure that the calling thread can divide its work.
pub fn ready() {
    // A thread of rayon's can divide its work.
    if rayon::current_thread_index().is_none() && !are_started() {
        work_alone();
    }
}

/// The number of threads among which work is divided.
pub fn count() -> usize {
    ready();
    current_num_threads()
}

/// Starts a thread for a single purpose.
pub fn start<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.to_string()).spawn(work)
}

/// Whether there are threads that share work. The first call starts them.
fn are_started() -> bool {
    let generation = u64::from(Process::current().generation()) << STATE_BITS;
    loop {
        let state = SHARED_THREADS.load(Ordering::Acquire);
        if state == NOT_STARTED {
            let mine = generation | STARTING;
            if SHARED_THREADS.compare_exchange(state, mine, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                let state = if start_shared() { STARTED } else { NONE };
                SHARED_THREADS.store(generation | state, Ordering::Release);
            }
        } else if state == generation | STARTING {
            yield_now();
        } else {
            return state == generation | STARTED;
        }
    }
}

/// Starts as many threads as there are processors, or half of the threads that the system has if these are fewer. Returns whether
/// there is one.
fn start_shared() -> bool {
    let wanted = wanted();
    let mut threads: Vec<Sender<ThreadBuilder>> = (0..wanted).map_while(|_| waiting_thread().ok()).collect();
    if threads.is_empty() {
        return false;
    }
    if threads.len() < wanted {
        // The rest of the program needs threads, too. Threads without work end at once.
        threads.truncate(threads.len().div_ceil(2));
    }
    let mut waiting = threads.iter();
    let hand_over = |work: ThreadBuilder| {
        let sent = waiting.next().is_some_and(|thread| thread.send(work).is_ok());
        if sent { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
    };
    // An error means that the program has set up rayon itself: its threads are there, and those made here end.
    let _ = ThreadPoolBuilder::new().num_threads(threads.len()).spawn_handler(hand_over).build_global();
    true
}

/// A thread that waits to become one of rayon's. (Rayon itself gives up for good if one of its threads cannot be started.)
fn waiting_thread() -> io::Result<Sender<ThreadBuilder>> {
    let (sender, work) = channel::<ThreadBuilder>();
    start("cozo-work", move || work.recv().map(ThreadBuilder::run))?;
    Ok(sender)
}

/// The wanted number of threads; rayon's environment variable sets it for all programs that use rayon.
fn wanted() -> usize {
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok()).filter(|count| *count > 0);
    asked.unwrap_or_else(|| available_parallelism().map_or(1, usize::from))
}

/// Makes the calling thread the only one of a pool, so that whatever it divides is done by itself.
fn work_alone() {
    if let Ok(pool) = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        // The pool belongs to the thread as long as the thread lives.
        std::mem::forget(pool);
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn a_thread_may_work_alone() {
        let alone = std::thread::spawn(|| {
            work_alone();
            ready();
            let here = std::thread::current().id();
            let are_here = (0..10_000).into_par_iter().map(|_| std::thread::current().id()).all(|id| id == here);
            let (first, second) = rayon::join(|| 1, || (0..1000).into_par_iter().sum::<usize>());
            (count(), are_here, first, second)
        });
        assert_eq!(alone.join().expect("no panic"), (1, true, 1, 499_500));
    }

    #[test]
    fn threads_are_started_once() {
        let counts: Vec<usize> =
            (0..4).map(|_| std::thread::spawn(count)).map(|thread| thread.join().expect("no panic")).collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
        assert!(are_started());
    }
}
