//! Work on the database, off the threads that serve connections unless it ends within a moment: so much at a time, stopped when nobody waits for it.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use cozo::Interrupt;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::error::{Failure, ServerError};

/// The threads that work on the database.
pub struct Workers {
    /// The runtime that they are of.
    runtime: Handle,
    slots: Arc<Semaphore>,
    /// How long a script may wait and run.
    time_limit: Option<Duration>,
}

impl Workers {
    /// So many pieces of work at a time; scripts for so long.
    pub fn new(runtime: Handle, slots: usize, time_limit: Option<Duration>) -> Self {
        Workers { runtime, slots: Arc::new(Semaphore::new(slots)), time_limit }
    }

    /// Does work that is not to be stopped half-way, to its end even if nobody waits for it any more.
    pub async fn finish<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let slot = self.slot().await?;
        let task = self.runtime.spawn_blocking(move || {
            let _slot = slot;
            work()
        });
        task.await.unwrap_or_else(|panic| Err(internal(&panic)))
    }

    /// Runs a script, which `interrupt` stops when its time is over, or when the caller goes away.
    pub async fn run<T: Send + 'static>(
        &self,
        interrupt: Interrupt,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let deadline = self.time_limit.map(|limit| (Instant::now() + limit, limit));
        let slot = match deadline {
            None => self.slot().await?,
            Some((deadline, limit)) => {
                timeout_at(deadline, self.slot()).await.map_err(|_| ServerError::Timeout(limit.as_secs_f64()))??
            }
        };
        let switch = Arc::new(Switch(Mutex::new(Some(interrupt))));
        let caller = Caller(switch.clone());
        let mut task = self.runtime.spawn_blocking(move || {
            let _slot = slot;
            let outcome = work();
            switch.ended();
            outcome
        });
        let ended = match deadline {
            None => task.await,
            Some((deadline, limit)) => match timeout_at(deadline, &mut task).await {
                Ok(ended) => ended,
                Err(_) => {
                    caller.0.kill();
                    // It may just have ended well, and then what it did counts.
                    task.await.map(|outcome| {
                        outcome.map_err(|failure| match failure.has_code("eval::killed") {
                            true => ServerError::Timeout(limit.as_secs_f64()).into(),
                            false => failure,
                        })
                    })
                }
            },
        };
        ended.unwrap_or_else(|panic| Err(internal(&panic)))
    }

    /// Does work on the thread of the caller, which serves connections: for what ends within a moment. Gives nothing if there
    /// is no slot.
    pub fn try_at_once<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Option<Result<T, Failure>> {
        let _slot = self.slots.try_acquire().ok()?;
        // A panic on another thread would not take the connection with it either.
        let outcome = catch_unwind(AssertUnwindSafe(work));
        Some(outcome.unwrap_or_else(|_| Err(internal(&"a script panicked"))))
    }

    /// Does work beside all other: for what scripts that have the slots wait for.
    pub async fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        self.runtime.spawn_blocking(work).await.unwrap_or_else(|panic| Err(internal(&panic)))
    }

    async fn slot(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let closed = |_| ServerError::Internal("the server is ending".to_string());
        Ok(self.slots.clone().acquire_owned().await.map_err(closed)?)
    }
}

/// The interrupt of a script for as long as it runs: it may be that of a transaction, which goes on afterwards.
struct Switch(Mutex<Option<Interrupt>>);

impl Switch {
    /// From now on nobody can stop anything, and what was meant for this script does not stop the next one.
    fn ended(&self) {
        if let Some(interrupt) = self.0.lock().take() {
            interrupt.rearm();
        }
    }

    fn kill(&self) {
        if let Some(interrupt) = &*self.0.lock() {
            interrupt.kill();
        }
    }
}

/// Whoever waits for the script. The future that holds it is dropped when the client has closed the connection.
struct Caller(Arc<Switch>);

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.kill();
    }
}

fn internal(panic: &dyn Display) -> Failure {
    tracing::error!(%panic, "a worker failed");
    ServerError::Internal("a worker failed, see the log".to_string()).into()
}
