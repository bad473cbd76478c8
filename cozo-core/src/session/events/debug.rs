//! The output of `%debug`: standard output, or a function of the host.

use std::io::{Write, stdout};
use std::sync::Arc;

use crate::session::results::NamedRows;
use crate::sync::RwLock;

/// A function that shows a relation by its name and its rows.
type Show = dyn Fn(&str, NamedRows) + Send + Sync;

/// The sink of `%debug`.
pub struct DebugSink(RwLock<Arc<Show>>);

impl Default for DebugSink {
    fn default() -> Self {
        DebugSink(RwLock::new(Arc::new(print)))
    }
}

impl DebugSink {
    /// Shows relations by a function from now on.
    pub fn set(&self, show: impl Fn(&str, NamedRows) + Send + Sync + 'static) {
        *self.0.write() = Arc::new(show);
    }

    /// Shows a relation. No lock is held meanwhile.
    pub fn show(&self, name: &str, rows: NamedRows) {
        let show = self.0.read().clone();
        show(name, rows);
    }
}

/// Prints a line on standard output. A closed output does not make the script fail.
fn print(name: &str, rows: NamedRows) {
    let _ = writeln!(stdout(), "{name}: {}", rows.into_json());
}
