//! The threads that queries share: one for each processor, or as many as the system gives.
//!
//! Left to the first query that needs them, they would be as many as there are processors, or a panic.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, available_parallelism};

use rayon::{ThreadBuilder, ThreadPoolBuilder};

use crate::error::CliError;

/// Another number of threads than there are processors, as rayon knows it.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// A thread that waits for its part in the pool.
type Waiting = Sender<ThreadBuilder>;

/// Starts the threads; fails if there is not a single one.
pub fn start() -> Result<(), CliError> {
    let wanted = std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
    let wanted = wanted.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
    let mut waiting = wait(wanted)?;
    if waiting.len() < wanted {
        // Others need threads, too.
        waiting.truncate(waiting.len().div_ceil(2));
    }
    let pool = ThreadPoolBuilder::new().num_threads(waiting.len());
    let hand_over = move |part: ThreadBuilder| {
        let waiting = waiting.pop().ok_or(io::ErrorKind::WouldBlock)?;
        waiting.send(part).map_err(|_| io::ErrorKind::WouldBlock.into())
    };
    // The pool is there already if the program opens a second database.
    let _ = pool.spawn_handler(hand_over).build_global();
    Ok(())
}

/// Fails if there is not a single thread to be had.
#[cfg(feature = "server")]
pub fn try_one() -> Result<(), CliError> {
    let thread = thread::Builder::new().spawn(|| ()).map_err(CliError::NoThreads)?;
    // It does nothing that could go wrong.
    let _ = thread.join();
    Ok(())
}

/// Starts so many threads, or fewer. To start them before the pool is made is what lets it have fewer.
fn wait(wanted: usize) -> Result<Vec<Waiting>, CliError> {
    let start = || -> io::Result<Waiting> {
        let (sender, parts) = channel::<ThreadBuilder>();
        let work = move || parts.into_iter().for_each(ThreadBuilder::run);
        thread::Builder::new().name("queries".to_string()).spawn(work).map(|_| sender)
    };
    let first = start().map_err(CliError::NoThreads)?;
    let others = (1..wanted).map_while(|_| start().ok());
    Ok(std::iter::once(first).chain(others).collect())
}
