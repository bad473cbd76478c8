//! The order in which rows are looked up.
//!
//! Look-ups in key order share their way through the relation. If a rule scans a table and looks each row up in a stored
//! relation, the scan is sorted by the key of the look-up.

use crate::expr::Expr;
use crate::plan::{Method, OperatorKind, OperatorPlan, Source};

/// Sorts the scan of a table by the key that the next operator looks up in a stored relation.
pub(super) fn sort_before_lookup(operators: &mut [OperatorPlan]) {
    let [first, second, ..] = operators else { return };
    if let (OperatorKind::Join(scan), OperatorKind::Join(lookup)) = (&mut first.kind, &second.kind)
        && matches!(scan.source, Source::Table(_))
        && scan.method == Method::Scan
        && lookup.method == Method::Prefix
        && let (_, Expr::Slot(probe, _)) = &lookup.keys[0]
    {
        scan.sort_by = scan.outputs.iter().position(|(_, slot)| slot == probe).map(|i| scan.outputs[i].0);
    }
}
