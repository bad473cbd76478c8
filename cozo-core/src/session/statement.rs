//! Scripts that a program keeps ready to run.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::core::CachedScript;
use super::{DbInstance, NamedRows, ScriptMutability};
use crate::value::{DataValue, Tuple};

/// A script of a database, parsed and checked for syntax once: [`DbInstance::prepare`]. Threads may share it.
///
/// It saves looking the script up by its text, and the parameters are lent, so that a program changes the value of one
/// instead of making all anew for each run.
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

    /// [`Statement::run`] for those who know the headers, and ask for the rows alone.
    pub fn rows(&self, params: &BTreeMap<String, DataValue>) -> miette::Result<Vec<Tuple>> {
        self.db.check_process()?;
        self.db.run_cached(&self.script, params, self.mutability, None)
    }
}

impl DbInstance {
    /// Makes a script ready to be run again and again. It may write if `mutability` allows it.
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
    /// Errors of syntax come here; what names stand for is found out when it runs.
    pub fn prepare(&self, script: &str, mutability: ScriptMutability) -> miette::Result<Statement> {
        let script = self.cached(script)?.to_shared().expect("scripts are kept where they may be replaced");
        Ok(Statement { db: self.clone(), script, mutability })
    }
}
