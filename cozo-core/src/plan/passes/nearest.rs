//! Joins by comparisons of which one match of each input row is enough.
//!
//! ```text
//! ?[s, max(u)] := *a{s}, *b{u}, u < s       the last u before s: an as-of join
//! ?[s] := *a{s}, *b{u}, u < s               any u before s
//! ```
//!
//! The join must be by a single expression, with all else after it decided by the join itself. Of the joined rows the head may have
//! only that expression, and only in `max` or in `min`.

use crate::expr::Expr;
use crate::plan::{ComparePlan, ComponentPlan, JoinPlan, OperatorKind, RulePlan, TableKind, TablePlan};
use crate::storage::End;

/// Marks the joins of a component that give one match.
pub(super) fn note_nearest(component: &mut ComponentPlan, tables: &[TablePlan]) {
    for rule in &mut component.rules {
        let Some((at, end)) = nearest(rule, &tables[rule.table].kind) else { continue };
        if let OperatorKind::Join(JoinPlan { compare: Some(compare), .. }) = &mut rule.operators[at].kind {
            compare.one = Some(end);
        }
    }
}

/// The position of the join, and the end of its matches that is enough.
fn nearest(rule: &RulePlan, kind: &TableKind) -> Option<(usize, End)> {
    let at = rule.operators.iter().rposition(|operator| matches!(operator.kind, OperatorKind::Join(_)))?;
    let OperatorKind::Join(join) = &rule.operators[at].kind else { return None };
    let ComparePlan { by, decides: true, .. } = &**join.compare.as_ref()? else { return None };
    let [by] = &by[..] else { return None };
    let is_of_rows = |slot: &usize| join.outputs.iter().any(|(_, output)| output == slot);
    match kind {
        TableKind::Set => (!rule.head.iter().any(is_of_rows)).then_some((at, End::Last)),
        TableKind::Meet { .. } => None,
        TableKind::Groups(aggregations) => {
            let mut end = None;
            for (slot, aggregation) in rule.head.iter().zip(aggregations) {
                let wanted = match aggregation.as_ref().map(|used| used.aggregation.name) {
                    None if is_of_rows(slot) => return None,
                    None => continue,
                    Some("max") => End::Last,
                    Some("min") => End::First,
                    Some(_) => return None,
                };
                let is_compared = matches!(by.of_rows, Expr::Slot(compared, _) if compared == *slot);
                if !is_compared || end.is_some_and(|end| end != wanted) {
                    return None;
                }
                end = Some(wanted);
            }
            Some((at, end?))
        }
    }
}
