//! The contexts that queries and scripts run in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::budget::{Budget, Interrupt, Stop};
use crate::parse::ast::{Query, SystemOp};
use crate::session::core::Core;
use crate::session::results::NamedRows;
use crate::session::running::Running;
use crate::session::script::{DEFAULT_TIMEOUT_SECONDS, timeout_of};
use crate::txn::Transaction;
use crate::value::DataValue;

/// A function that runs a system operation.
pub type RunSystem = fn(&SystemOp, &mut Transaction, &ScriptContext<'_>) -> miette::Result<NamedRows>;

/// The context of a query.
pub struct QueryContext<'a> {
    /// The parameters by name.
    pub parameters: &'a BTreeMap<String, DataValue>,
    /// Stops the script.
    pub interrupt: &'a Interrupt,
    /// The database.
    pub core: &'a Core,
    /// Whether writes set off triggers. Writes of triggers do not.
    pub sets_off_triggers: bool,
    /// The memory that the script holds while the query runs, besides that of its transaction.
    pub held_bytes: usize,
    /// For a script that was parsed just now: its beginning and its size.
    pub new_script: Option<(Instant, usize)>,
    /// The budget under which the query was compiled, if it was compiled just now.
    pub budget: Option<&'a Budget>,
}

impl<'a> QueryContext<'a> {
    /// The context of a script's query.
    pub fn new(
        parameters: &'a BTreeMap<String, DataValue>,
        interrupt: &'a Interrupt,
        core: &'a Core,
        new_script: Option<(Instant, usize)>,
    ) -> Self {
        QueryContext { parameters, interrupt, core, sets_off_triggers: true, held_bytes: 0, new_script, budget: None }
    }

    /// The budget of a query that is not compiled yet.
    pub fn budget_of(&self, query: &Query) -> Result<Budget, Stop> {
        let seconds = timeout_of(query, self.parameters).unwrap_or(DEFAULT_TIMEOUT_SECONDS);
        let (passed, script_bytes) =
            self.new_script.map_or((0.0, 0), |(began, bytes)| (began.elapsed().as_secs_f64(), bytes));
        // Zero stands for no limit, so a limit that has passed becomes a tiny one.
        let left = if seconds > 0.0 { (seconds - passed).max(f64::MIN_POSITIVE) } else { 0.0 };
        let budget = self.core.budget(self.interrupt, left);
        budget.charge(script_bytes)?;
        budget.check()?;
        Ok(budget)
    }

    /// The budget of a compiled query.
    pub fn budget(&self, timeout_seconds: f64, txn: &mut Transaction) -> Result<Budget, Stop> {
        let budget = match self.budget {
            Some(budget) => budget.clone(),
            None => self.core.budget(self.interrupt, timeout_seconds),
        };
        budget.check()?;
        budget.charge(txn.held_bytes(self.core.query_memory_bytes).saturating_add(self.held_bytes))?;
        Ok(budget)
    }
}

/// The context of statements and system operations.
pub struct ScriptContext<'a> {
    /// The parameters by name.
    pub parameters: &'a BTreeMap<String, DataValue>,
    /// Stops the script.
    pub interrupt: &'a Interrupt,
    /// The number of the script.
    pub script: u64,
    /// The running scripts.
    pub running: &'a Arc<Running>,
    /// The database.
    pub core: &'a Core,
    /// For a script that was parsed just now: its beginning and its size.
    pub new_script: Option<(Instant, usize)>,
    /// Whether the script is a single system operation.
    pub is_alone: bool,
    /// Runs system operations. They are above scripts, so the function is passed in.
    pub run_system: RunSystem,
}

impl ScriptContext<'_> {
    /// The context of a script's only query.
    pub fn query(&self) -> QueryContext<'_> {
        QueryContext::new(self.parameters, self.interrupt, self.core, self.new_script)
    }

    /// The context of one of several queries. Its time begins now.
    pub fn query_in_turn(&self) -> QueryContext<'_> {
        let new_script = self.new_script.map(|(_, bytes)| (Instant::now(), bytes));
        QueryContext { new_script, ..self.query() }
    }
}
