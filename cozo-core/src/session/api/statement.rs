//! Prepared scripts.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::db::{DbInstance, ScriptMutability};
use crate::session::results::NamedRows;
use crate::session::script::CachedScript;
use crate::value::{DataValue, Tuple};

/// A script of a database, parsed once by [`DbInstance::prepare`]. Threads may share it.
///
/// A run does not look up the script by its text. The parameters are borrowed, so a program can change one value between runs
/// instead of building a new map.
#[derive(Clone)]
pub struct Statement {
    db: DbInstance,
    script: Arc<CachedScript>,
    mutability: ScriptMutability,
}

impl Statement {
    /// The text of the script.
    pub fn script(&self) -> &str {
        &self.script.source
    }

    /// Runs it as [`DbInstance::run_script`] does.
    pub fn run(&self, params: &BTreeMap<String, DataValue>) -> miette::Result<NamedRows> {
        self.db.check_process()?;
        self.db.run_cached(&self.script, params, self.mutability, None)
    }

    /// [`Statement::run`] without the headers.
    pub fn rows(&self, params: &BTreeMap<String, DataValue>) -> miette::Result<Vec<Tuple>> {
        self.db.check_process()?;
        self.db.run_cached(&self.script, params, self.mutability, None)
    }
}

impl DbInstance {
    /// Prepares a script for many runs. It may write if `mutability` allows it.
    ///
    /// ```
    /// # fn main() -> cozo::Result<()> {
    /// use cozo::{DataValue, DbInstance, ScriptMutability::Immutable};
    /// let db = DbInstance::default();
    /// db.run_default("?[id, name] <- [[1, 'Ann'], [2, 'Bea']] :create user {id: Int => name: String}")?;
    /// let name_of = db.prepare("?[name] := *user{id: $id, name}", Immutable)?;
    /// let mut parameters = [("id".to_string(), DataValue::from(1))].into();
    /// assert_eq!(name_of.rows(&parameters)?, [["Ann".into()]]);
    /// parameters.insert("id".to_string(), 2.into());
    /// assert_eq!(name_of.rows(&parameters)?, [["Bea".into()]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Syntax errors are reported here. Names are resolved when the script runs.
    pub fn prepare(&self, script: &str, mutability: ScriptMutability) -> miette::Result<Statement> {
        let script = self.prepared(script)?.to_shared().expect("scripts are kept where they may be replaced");
        Ok(Statement { db: self.clone(), script, mutability })
    }
}
