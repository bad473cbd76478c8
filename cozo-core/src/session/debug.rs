//! The output of `%debug`: standard output, or a function of the host.

use std::io::{Write, stdout};
use std::sync::Arc;

use super::{DbInstance, NamedRows};
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

impl DbInstance {
    /// Makes `%debug` call a function with the name and the rows of a relation. Without one it prints a line on standard output. The
    /// function serves all handles of the database. Scripts wait until it returns.
    ///
    /// ```
    /// # fn main() -> cozo::Result<()> {
    /// let db = cozo::DbInstance::default();
    /// let (sender, shown) = std::sync::mpsc::channel();
    /// db.on_debug(move |name, rows| drop(sender.send((name.to_string(), rows.rows.len()))));
    /// db.run_default("{?[a] <- [[1], [2]] :create _t {a}} %debug _t")?;
    /// assert_eq!(shown.recv(), Ok(("_t".to_string(), 2)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_debug(&self, show: impl Fn(&str, NamedRows) + Send + Sync + 'static) {
        if let Ok(core) = self.core() {
            *core.debug.0.write() = Arc::new(show);
        }
    }
}
