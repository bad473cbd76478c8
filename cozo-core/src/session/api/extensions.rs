//! What a host adds to a database: fixed rules, receivers of changes, and a function for debug output.

use std::collections::BTreeMap;
use std::sync::Arc;

use crossbeam_channel::{Receiver, never};

use super::db::DbInstance;
use crate::fixed_rule::FixedRule;
use crate::session::events::Change;
use crate::session::results::NamedRows;

impl DbInstance {
    /// The fixed rules that scripts may use, by name.
    pub fn get_fixed_rules(&self) -> BTreeMap<String, Arc<Box<dyn FixedRule>>> {
        self.core().map(|core| core.fixed_rules.current().for_host()).unwrap_or_default()
    }

    /// Adds a fixed rule. Fails if there is one with this name; those of the language cannot be replaced. A rule that has a handle
    /// of this database keeps the database open until the rule is removed.
    pub fn register_fixed_rule<R: FixedRule + 'static>(&self, name: String, rule: R) -> miette::Result<()> {
        Ok(self.core()?.fixed_rules.register(name, Box::new(rule))?)
    }

    /// Removes a fixed rule that was added. Returns whether there was one. Running queries continue to use it.
    pub fn unregister_fixed_rule(&self, name: &str) -> miette::Result<bool> {
        Ok(self.core()?.fixed_rules.unregister(name)?)
    }

    /// Allows or forbids fixed rules that read files or web addresses (`CsvReader`, `JsonReader`). They are allowed by default. A
    /// host that runs scripts of others should forbid them. The setting holds for all handles of the database.
    pub fn set_external_access(&self, allowed: bool) {
        if let Ok(core) = self.core() {
            core.fixed_rules.set_external_access(allowed);
        }
    }

    /// Registers a channel that receives every operation that puts or removes rows of a relation. The relation need not exist
    /// yet. After each commit, in the order of commits, a message has the operation, the rows put (or the keys to be removed), and
    /// the full rows that were there before. Imports send nothing, nor does an operation that changes no row.
    ///
    /// A commit never waits for a receiver. With a `capacity`, a receiver that is this many messages behind is dropped: its channel
    /// ends after the messages in it, so no change is missed unnoticed. Dropping the receiver ends it too.
    pub fn register_callback(&self, relation: &str, capacity: Option<usize>) -> (u32, Receiver<Change>) {
        self.core().map_or_else(|_| (u32::MAX, never()), |core| core.events.callbacks.register(relation, capacity))
    }

    /// Ends a callback, and closes its channel. Returns whether there was one with this number.
    pub fn unregister_callback(&self, id: u32) -> bool {
        self.core().is_ok_and(|core| core.events.callbacks.unregister(id))
    }

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
            core.debug.set(show);
        }
    }
}
