//! Stopping what runs long.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

/// Says whether the query must stop: killed, out of time, or its database closed. Ask in every loop that may be long.
#[derive(Clone)]
pub struct Poison(Arc<dyn Fn() -> miette::Result<()> + Send + Sync>);

/// How many steps pass between two looks at the poison.
const STEPS_PER_CHECK: u32 = 1024;

impl Poison {
    /// A poison that asks `check`.
    pub fn new(check: impl Fn() -> miette::Result<()> + Send + Sync + 'static) -> Self {
        Poison(Arc::new(check))
    }

    /// Fails if the query must stop; hand the error on. Reads the clock: see [`Poison::pace`] for tight loops.
    pub fn check(&self) -> miette::Result<()> {
        (self.0)()
    }

    /// Counts steps, and checks every thousand or so.
    pub fn pace(&self) -> Pace<'_> {
        Pace { poison: self, left: STEPS_PER_CHECK }
    }
}

/// Checks a poison every so many steps.
#[derive(Debug)]
pub struct Pace<'a> {
    poison: &'a Poison,
    left: u32,
}

impl Pace<'_> {
    /// One step; fails if the query must stop.
    #[inline]
    pub fn step(&mut self) -> miette::Result<()> {
        self.left -= 1;
        if self.left == 0 {
            self.left = STEPS_PER_CHECK;
            return self.poison.check();
        }
        Ok(())
    }
}

/// Never stops anything.
impl Default for Poison {
    fn default() -> Self {
        Poison::new(|| Ok(()))
    }
}

impl Debug for Poison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Poison")
    }
}
