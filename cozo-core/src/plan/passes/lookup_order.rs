//! In which order rows are looked up.

use crate::expr::Expr;
use crate::plan::{Method, OperatorKind, OperatorPlan, Source};

/// A rule that scans a table and looks each row up in a stored relation scans in the order of the look-ups.
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
