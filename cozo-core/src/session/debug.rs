//! Where `%debug` shows relations: on standard output, or wherever the host wants.

use std::io::{Write, stdout};
use std::sync::Arc;

use super::{DbInstance, NamedRows};
use crate::sync::RwLock;

/// Takes the name of a relation and its rows.
type Show = dyn Fn(&str, NamedRows) + Send + Sync;

/// What `%debug` calls.
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

/// A line on standard output. A script does not fail because nobody can read it.
fn print(name: &str, rows: NamedRows) {
    let _ = writeln!(stdout(), "{name}: {}", rows.into_json());
}

impl DbInstance {
    /// Has `%debug` give the name and the rows of a relation to the host; before, it writes a line to standard output. Holds for
    /// all handles of the database. Scripts wait until the host returns.
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
