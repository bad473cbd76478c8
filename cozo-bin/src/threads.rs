//! Whether the system gives threads at all.
//!
//! The engine works with as many threads as it can have, and without any other than the calling one. The tools do not: a server
//! needs one for each request, and a shell reads its input beside the query that runs.

use std::thread;

use crate::error::CliError;

/// Fails if there is not a single thread to be had.
pub fn try_one() -> Result<(), CliError> {
    let thread = thread::Builder::new().spawn(|| ()).map_err(CliError::NoThreads)?;
    // It does nothing that could go wrong.
    let _ = thread.join();
    Ok(())
}
