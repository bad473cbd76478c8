//! Runs that tell how many rows they wrote.

use std::collections::BTreeMap;

use super::db::{DbInstance, ScriptMutability};
use crate::budget::Interrupt;
use crate::clock::now_micros;
use crate::diag::show_in;
use crate::session::results::NamedRows;
use crate::session::running::Running;
use crate::txn::Written;
use crate::value::DataValue;

impl DbInstance {
    /// [`DbInstance::run_script_interruptible`], and how many rows the script has written.
    ///
    /// ```
    /// # fn main() -> cozo::Result<()> {
    /// use cozo::ScriptMutability::Mutable;
    /// let db = cozo::DbInstance::default();
    /// let script = "?[id, name] <- [[1, 'Ann'], [2, 'Bea']] :create user {id: Int => name: String}";
    /// let (_, written) = db.run_script_counted(script, Default::default(), Mutable, &Default::default())?;
    /// assert_eq!((written.created, written.put), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn run_script_counted(
        &self,
        payload: &str,
        params: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: &Interrupt,
    ) -> miette::Result<(NamedRows, Written)> {
        let core = self.core()?;
        let entry = Running::enter(self.running(), Some(interrupt), now_micros());
        let script = core.prepared(payload, interrupt).map_err(|report| show_in(report, payload))?;
        let mut txn = self.begin(&script.script, mutability);
        match self.run_prepared(&script.script, &mut txn, &params, &entry, None) {
            Err(report) => Err(self.failed(&script, txn, report)),
            Ok(rows) => Ok((rows, txn.written)),
        }
    }
}
