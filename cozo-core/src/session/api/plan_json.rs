//! The plan of a query as JSON, for tools and other engines.

use std::collections::BTreeMap;

use super::db::{DbInstance, ScriptMutability};
use crate::session::portable::{RelationSizes, plan_document};
use crate::value::DataValue;

impl DbInstance {
    /// The plan of a script after all passes, as JSON; the script is not run. Parameters are replaced by their values. `sizes` has the
    /// sizes of relations whose rows are elsewhere; the others have the sizes of their rows. `docs/design/plan-json.md` documents the form.
    ///
    /// Fails as the script would before its first row, and with `plan::not_one_query` unless the script is one query.
    ///
    /// ```
    /// # fn main() -> cozo::Result<()> {
    /// let db = cozo::DbInstance::default();
    /// let plan = db.plan_json("?[x] := x in [1, 2]", Default::default(), &Default::default())?;
    /// assert_eq!(plan["headers"][0], "x");
    /// # Ok(())
    /// # }
    /// ```
    pub fn plan_json(
        &self,
        script: &str,
        params: BTreeMap<String, DataValue>,
        sizes: &RelationSizes,
    ) -> miette::Result<serde_json::Value> {
        let cached = self.prepared(script)?;
        let txn = self.begin(&cached.script, ScriptMutability::Immutable);
        let rules = self.core()?.fixed_rules.current();
        plan_document(&cached.script, &txn, &rules, &params, sizes).map_err(|report| cached.explain(report))
    }
}
