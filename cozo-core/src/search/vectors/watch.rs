//! The budget of work that several threads do.

use crate::budget::{Budget, Stop};

/// The budget of the thread that began the work, for all threads that help.
pub(super) struct Watch(Option<Budget>);

impl Watch {
    /// The budget of the calling thread.
    pub fn current() -> Watch {
        Watch(Budget::current())
    }

    /// Fails if the script must stop.
    pub fn check(&self) -> Result<(), Stop> {
        self.0.as_ref().map_or(Ok(()), Budget::check)
    }
}
