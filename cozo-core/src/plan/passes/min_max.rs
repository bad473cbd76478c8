//! Rules for the smallest or greatest value of a key column: the rows at one end of the relation are enough.
//!
//! ```text
//! r {a: Int, b}    ?[min(a)] := *r{a}          the first row
//!                  ?[max(b)] := *r{a: 1, b}    the last row of the prefix 1, if b is an Int
//! ```
//!
//! The column must be the first key column after a prefix of constants. It must hold integers only: of another type, a value that
//! is not read might have been an error.

use crate::plan::{ComponentPlan, JoinPlan, OperatorKind, RulePlan, Source, TableKind, TablePlan};
use crate::schema::{BaseType, ColumnType};
use crate::storage::End;

/// Marks the rule of a component that needs only one end of a relation.
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

/// Whether the key column that follows the prefix holds integers only, which no aggregation refuses.
fn is_of_ints(join: &JoinPlan) -> bool {
    let Source::Stored(read) = &join.source else { return false };
    let ints = ColumnType { base: BaseType::Int, nullable: false };
    read.schema.keys.get(join.keys.len()).is_some_and(|key| key.column_type == ints)
}
