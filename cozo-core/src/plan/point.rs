//! Plans that give one row at most, whatever relations hold.

use super::{ComponentPlan, JoinPlan, Method, OperatorKind, OperatorPlan, Source, TableKind, TablePlan};
use crate::program::ConstantRows;

/// Whether a program is a single rule whose operators give one row at most for each, or a single row as given.
pub(super) fn is_point(tables: &[TablePlan], components: &[ComponentPlan]) -> bool {
    let ([TablePlan { kind: TableKind::Set, .. }], [component]) = (tables, components) else { return false };
    match (component.rules.as_slice(), component.constants.as_slice()) {
        ([rule], []) => !component.recursive && rule.operators.iter().all(OperatorPlan::is_point),
        ([], [constant]) => matches!(&constant.rows, ConstantRows::Rows(rows) if rows.len() == 1),
        _ => false,
    }
}

impl OperatorPlan {
    /// Whether it gives one row at most for each.
    pub fn is_point(&self) -> bool {
        match &self.kind {
            OperatorKind::Join(join) => is_by_key(join),
            OperatorKind::Filter(_) | OperatorKind::Same(..) | OperatorKind::Unify(..) | OperatorKind::Distinct => true,
            OperatorKind::Exists(_) | OperatorKind::UnifyEach(..) | OperatorKind::Intersect(_) => false,
        }
    }
}

/// Whether all key columns are bound, in their order.
fn is_by_key(join: &JoinPlan) -> bool {
    match &join.source {
        Source::Stored(read) => {
            join.method == Method::Prefix && read.as_of.is_none() && join.keys.len() == read.schema.keys.len()
        }
        Source::Table(_) => false,
    }
}
