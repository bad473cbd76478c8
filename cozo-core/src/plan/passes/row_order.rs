//! Tables that are sorted before they are read.
//!
//! A table is sorted if a reader's result depends on the order of its rows: an aggregation such as `collect`, or a fixed rule.

use crate::plan::{ComponentPlan, JoinPlan, OperatorKind, Source, TablePlan};

/// Marks the tables that a component needs in order, and those that the entry reads. A fixed rule may come from the host, which
/// sees the order of its input.
pub(super) fn note_readers(component: &ComponentPlan, entry: usize, tables: &mut [TablePlan]) {
    for input in component.fixed.iter().flat_map(|fixed| &fixed.inputs) {
        if let Source::Table(table) = input.source {
            tables[table].in_order = true;
        }
    }
    let order_matters = component.tables.iter().any(|table| tables[*table].kind.order_matters());
    for rule in &component.rules {
        for operator in &rule.operators {
            if let OperatorKind::Join(JoinPlan { source: Source::Table(table), .. }) = operator.kind {
                tables[table].in_order |= order_matters && !component.tables.contains(&table);
                tables[table].read_by_entry |= rule.table == entry;
            }
        }
    }
}
