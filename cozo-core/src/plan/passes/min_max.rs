//! Rules for the smallest or greatest value of what a relation is ordered by: the rows at one end are enough.

use crate::plan::{ComponentPlan, JoinPlan, OperatorKind, RulePlan, Source, TableKind, TablePlan};
use crate::schema::{BaseType, ColumnType};
use crate::storage::End;

/// Notes the rule of a component that reads one end of a relation alone.
pub(super) fn note_extreme(component: &mut ComponentPlan, tables: &[TablePlan]) {
    if let ([rule], false) = (&mut component.rules[..], component.recursive) {
        rule.end = decisive_end(rule, tables);
    }
}

fn decisive_end(rule: &RulePlan, tables: &[TablePlan]) -> Option<End> {
    let (TableKind::Groups(aggregations), [operator]) = (&tables[rule.table].kind, &rule.operators[..]) else {
        return None;
    };
    let ([Some(used)], OperatorKind::Join(join)) = (&aggregations[..], &operator.kind) else { return None };
    let end = match used.aggregation.name {
        "min" => End::First,
        "max" => End::Last,
        _ => return None,
    };
    (join.slot_after_prefix() == Some(rule.head[0]) && is_of_ints(join)).then_some(end)
}

/// Whether the key column that follows the prefix holds integers alone, among which none is refused by an aggregation.
fn is_of_ints(join: &JoinPlan) -> bool {
    let Source::Stored(read) = &join.source else { return false };
    let ints = ColumnType { base: BaseType::Int, nullable: false };
    read.schema.keys.get(join.keys.len()).is_some_and(|key| key.column_type == ints)
}
