//! The interrupt of a script: a switch set by another thread, and a deadline.
//!
//! ```text
//!            kill                 close
//!  RUNNING ───────> KILLED     any state ───────> CLOSED (for good)
//!     ^                │
//!     └──── rearm ─────┘
//! ```
//!
//! The state is an atomic number. Its low bits are the state, and the others are the number of the script that the interrupt
//! serves. So a kill for an earlier script never stops a later one with the same interrupt.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::{Stop, Usage};
use crate::clock::Deadline;
use crate::sync::Mutex;

/// A switch with which other threads stop a script. Clones are the same switch.
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
    shared: Arc<SharedSwitch>,
    /// The deadline of this clone alone.
    deadline: Option<Deadline>,
}

/// What all clones of an interrupt share.
#[derive(Debug, Default)]
struct SharedSwitch {
    /// One of the states below, and the number of the script that it serves, if it serves several in turn.
    state: AtomicU64,
    /// What the running query of the script uses.
    usage: Mutex<Weak<Usage>>,
}

const RUNNING: u64 = 0;
const KILLED: u64 = 1;
const CLOSED: u64 = 2;

/// The number of bits of a state.
const STATE_BITS: u32 = 2;
const STATE_MASK: u64 = (1 << STATE_BITS) - 1;

impl Interrupt {
    /// The same switch with a deadline, after which a query fails with `eval::killed`. An earlier deadline stays. The deadline does
    /// not set the switch: clones without it go on.
    pub fn until(&self, deadline: Instant) -> Self {
        self.within(deadline.saturating_duration_since(Instant::now()))
    }

    /// [`Interrupt::until`] with a timeout from now.
    pub(super) fn within(&self, timeout: Duration) -> Self {
        let deadline = Deadline::after(timeout);
        let deadline = self.deadline.map_or(deadline, |earlier| earlier.min(deadline));
        Interrupt { shared: self.shared.clone(), deadline: Some(deadline) }
    }

    /// Stops the script as by `::kill`. The switch stays set: a script that begins with it fails immediately.
    pub fn kill(&self) {
        // A closed switch stays closed.
        self.turn(RUNNING, KILLED);
    }

    /// Resets a kill, once the script that it was for has ended.
    pub fn rearm(&self) {
        self.turn(KILLED, RUNNING);
    }

    /// Stops the script because its database or transaction closes.
    pub fn close(&self) {
        self.shared.state.fetch_or(CLOSED, Ordering::Relaxed);
    }

    fn turn(&self, from: u64, to: u64) {
        let turned = |state: u64| (state & STATE_MASK == from).then_some(state & !STATE_MASK | to);
        let _ = self.shared.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, turned);
    }

    /// Begins to serve the script with this number, and no other.
    pub(crate) fn serve(&self, number: u64) {
        self.shared.state.store(number << STATE_BITS | RUNNING, Ordering::Relaxed);
    }

    /// [`Interrupt::kill`], if it serves the script with this number. Returns whether it does.
    pub(crate) fn kill_script(&self, number: u64) -> bool {
        self.stop_script(number, KILLED)
    }

    /// [`Interrupt::close`], if it serves the script with this number.
    pub(crate) fn close_script(&self, number: u64) {
        self.stop_script(number, CLOSED);
    }

    fn stop_script(&self, number: u64, how: u64) -> bool {
        let stopped = |state: u64| (state >> STATE_BITS == number).then_some(state | how);
        self.shared.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, stopped).is_ok()
    }

    /// Notes what a query of the script uses.
    pub(super) fn watch(&self, usage: &Arc<Usage>) {
        *self.shared.usage.lock() = Arc::downgrade(usage);
    }

    /// What the running query of the script uses, if it is measured.
    pub(crate) fn usage(&self) -> Option<Arc<Usage>> {
        self.shared.usage.lock().upgrade()
    }

    /// Fails if the query must stop.
    pub fn check(&self) -> Result<(), Stop> {
        match self.shared.state.load(Ordering::Relaxed) & STATE_MASK {
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
