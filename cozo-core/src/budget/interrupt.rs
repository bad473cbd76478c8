//! The switch that stops a script: thrown from another thread, or by its deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Stop;
use crate::clock::Deadline;

/// A switch that other threads throw to stop a script. Clones are the same switch.
///
/// ```
/// # fn main() -> cozo::Result<()> {
/// use cozo::{DbInstance, Interrupt, ScriptMutability};
/// let (db, interrupt) = (DbInstance::default(), Interrupt::default());
/// let switch = interrupt.clone();
/// let watcher = std::thread::spawn(move || switch.kill());
/// let endless = "n[x] := x = 0  n[x] := n[y], x = y + 1  ?[x] := n[x]";
/// let stopped = db.run_script_interruptible(endless, Default::default(), ScriptMutability::Immutable, &interrupt);
/// assert!(stopped.is_err());
/// # drop(watcher.join());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    /// One of the below, beside the number of the script that it is for, if it serves one after the other.
    state: Arc<AtomicU64>,
    /// Belongs to this clone alone.
    deadline: Option<Deadline>,
}

const RUNNING: u64 = 0;
const KILLED: u64 = 1;
const CLOSED: u64 = 2;

/// The bits of those.
const STATE_BITS: u32 = 2;
const STATE_MASK: u64 = (1 << STATE_BITS) - 1;

impl Interrupt {
    /// The same switch, with which a query also fails (`eval::killed`) if it still runs at an instant; an earlier deadline
    /// stays. Throws nothing: clones without the deadline go on.
    pub fn until(&self, deadline: Instant) -> Self {
        self.within(deadline.saturating_duration_since(Instant::now()))
    }

    /// [`Interrupt::until`] after so long.
    pub(super) fn within(&self, timeout: Duration) -> Self {
        let deadline = Deadline::after(timeout);
        let deadline = self.deadline.map_or(deadline, |earlier| earlier.min(deadline));
        Interrupt { state: self.state.clone(), deadline: Some(deadline) }
    }

    /// Stops the script as by `::kill`. It stays stopped: a script that begins with this switch fails at once.
    pub fn kill(&self) {
        // A database that is being closed stays so.
        self.turn(RUNNING, KILLED);
    }

    /// Takes a kill back, once what it was meant for has ended.
    pub fn rearm(&self) {
        self.turn(KILLED, RUNNING);
    }

    /// Stops the script since its database or transaction is being closed.
    pub fn close(&self) {
        self.state.fetch_or(CLOSED, Ordering::Relaxed);
    }

    fn turn(&self, from: u64, to: u64) {
        let turned = |state: u64| (state & STATE_MASK == from).then_some(state & !STATE_MASK | to);
        let _ = self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, turned);
    }

    /// Begins to serve the script of a number, and no other.
    pub(crate) fn serve(&self, number: u64) {
        self.state.store(number << STATE_BITS | RUNNING, Ordering::Relaxed);
    }

    /// [`Interrupt::kill`], if it serves the script of this number; whether it does.
    pub(crate) fn kill_script(&self, number: u64) -> bool {
        self.stop_script(number, KILLED)
    }

    /// [`Interrupt::close`], if it serves the script of this number.
    pub(crate) fn close_script(&self, number: u64) {
        self.stop_script(number, CLOSED);
    }

    fn stop_script(&self, number: u64, how: u64) -> bool {
        let stopped = |state: u64| (state >> STATE_BITS == number).then_some(state | how);
        self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, stopped).is_ok()
    }

    /// Fails if the query is to stop.
    pub fn check(&self) -> Result<(), Stop> {
        match self.state.load(Ordering::Relaxed) & STATE_MASK {
            RUNNING if self.deadline.is_some_and(Deadline::is_over) => Err(Stop::Killed(
                "it ran into its timeout",
                "':timeout' sets the seconds it may take; 0 means no limit",
            )),
            RUNNING => Ok(()),
            KILLED => Err(Stop::Killed("it was killed", "'::kill' or an interrupt from the host stopped it")),
            _ => Err(Stop::Killed(
                "its database or transaction was closed",
                "the handle was dropped or closed while it ran",
            )),
        }
    }
}
