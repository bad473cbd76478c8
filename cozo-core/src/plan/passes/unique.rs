//! Rules that give no row twice, so that their rows need not be compared with each other.
//!
//! The head of such a rule determines the solution: it says, directly or through other columns, which row of each joined relation
//! a solution has. `known` grows from the slots of the head to the slots that follow from them, until every operator follows or
//! none is added.

use std::collections::BTreeSet;

use crate::expr::Expr;
use crate::plan::{ComponentPlan, JoinPlan, OperatorKind, RulePlan, Source, TableKind, TablePlan};

/// Marks a table whose rows come from one rule that gives no row twice.
pub(super) fn note_unique(component: &ComponentPlan, tables: &mut [TablePlan]) {
    if let ([rule], false) = (&component.rules[..], component.recursive)
        && let TableKind::Set = tables[rule.table].kind
    {
        tables[rule.table].unique = gives_none_twice(rule, tables);
    }
}

/// Whether the head tells the solutions of a rule apart: it determines the row of each joined relation.
fn gives_none_twice(rule: &RulePlan, tables: &[TablePlan]) -> bool {
    // The slots whose values follow from the head.
    let mut known: BTreeSet<usize> = rule.head.iter().copied().collect();
    loop {
        let before = known.len();
        let open = rule.operators.iter().filter(|operator| !follows(&operator.kind, &mut known, tables)).count();
        if open == 0 || known.len() == before {
            return open == 0;
        }
    }
}

/// Whether what an operator adds to a solution follows from the known slots. Adds the slots that follow.
fn follows(operator: &OperatorKind, known: &mut BTreeSet<usize>, tables: &[TablePlan]) -> bool {
    match operator {
        OperatorKind::Join(join) => {
            let follows = identifying_columns(&join.source, tables).all(|column| is_known(join, column, known));
            if follows {
                known.extend(join.outputs.iter().map(|(_, slot)| *slot));
            }
            follows
        }
        OperatorKind::Same(slot, expr) => {
            match expr {
                Expr::Slot(other, _) if known.contains(slot) => known.insert(*other),
                _ => is_fixed(expr, known) && known.insert(*slot),
            };
            true
        }
        OperatorKind::Intersect(intersect) => known.contains(&intersect.slot),
        // What gives one row at most adds nothing that does not follow. A list may have an element twice.
        other => !other.signature().multiplies,
    }
}

/// The columns that tell the rows of a relation apart.
fn identifying_columns<'a>(source: &Source, tables: &'a [TablePlan]) -> Box<dyn Iterator<Item = usize> + 'a> {
    match source {
        Source::Stored(read) => Box::new(0..read.identifying_columns()),
        Source::Table(table) => match &tables[*table].kind {
            TableKind::Groups(aggregations) => Box::new((0..aggregations.len()).filter(|i| aggregations[*i].is_none())),
            TableKind::Set | TableKind::Meet { .. } => Box::new(0..tables[*table].arity),
        },
    }
}

/// Whether a column of a joined relation is the same in all solutions with the same known slots.
fn is_known(join: &JoinPlan, column: usize, known: &BTreeSet<usize>) -> bool {
    join.keys.iter().any(|(key, expr)| *key == column && is_fixed(expr, known))
        || join.outputs.iter().any(|(output, slot)| *output == column && known.contains(slot))
}

/// Whether an expression has the same value in all solutions with the same known slots. Functions may be random.
fn is_fixed(expr: &Expr, known: &BTreeSet<usize>) -> bool {
    match expr {
        Expr::Constant(..) | Expr::Parameter(..) => true,
        Expr::Slot(slot, _) => known.contains(slot),
        _ => false,
    }
}
