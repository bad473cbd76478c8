//! The run on single values: for one row, for a count, or row by row in recursion.
//!
//! [`choose`] sets the [`Strategy`] of the plan, and [`Plan::follow`] replaces it if an option of the query needs batches. [`is_point`] and [`is_count`] find plans that give one row at most, whatever the
//! relations hold: the row of a key, or the number of rows that begin with a key. `exec/row/point.rs` runs them and relies on the
//! shapes checked here: one component with one rule, or with one constant row; joins by the whole key only; and for a count, a
//! last join by a key prefix. [`is_costly`] says whether the memory of such a run must be counted.

use crate::expr::Expr;
use crate::plan::{
    ComponentPlan, JoinPlan, Method, MutationPlan, OperatorKind, OperatorPlan, Options, Plan, RulePlan, Source,
    Strategy, TableKind, TablePlan, ValueSource,
};
use crate::program::{AggregationUse, ConstantRows};

/// Sets the strategy of the plan, and marks the components whose recursion can run row by row.
pub(super) fn choose(plan: &mut Plan) {
    plan.strategy = match (is_point(&plan.tables, &plan.components), is_count(&plan.tables, &plan.components)) {
        (true, _) => Strategy::OneRow,
        (_, true) => Strategy::Count,
        _ => Strategy::Batches,
    };
    plan.costly = plan.strategy != Strategy::Batches && is_costly(&plan.components);
    for component in &mut plan.components {
        component.row_by_row = component.recursive && gives_a_row_for_each(component, &plan.tables);
    }
}

/// Whether each recursive rule of a component gives one row at most for each row that it reads.
fn gives_a_row_for_each(component: &ComponentPlan, tables: &[TablePlan]) -> bool {
    let reads_the_delta_first = |rule: &RulePlan| {
        let first = rule.operators.first().map(|operator| &operator.kind);
        matches!(first, Some(OperatorKind::Join(JoinPlan { source: Source::Table(_), keys, .. })) if keys.is_empty())
            && matches!(rule.reads[..], [(0, _)])
    };
    let mut recursive = component.rules.iter().filter(|rule| !rule.reads.is_empty());
    component.tables.iter().all(|table| matches!(tables[*table].kind, TableKind::Set))
        && recursive.all(|rule| reads_the_delta_first(rule) && rule.operators[1..].iter().all(OperatorPlan::is_point))
}

/// Whether a plan is one rule whose operators give one row at most for each row, or one constant row.
fn is_point(tables: &[TablePlan], components: &[ComponentPlan]) -> bool {
    let ([TablePlan { kind: TableKind::Set, .. }], [component]) = (tables, components) else { return false };
    match (component.rules.as_slice(), component.constants.as_slice()) {
        ([rule], []) => !component.recursive && rule.operators.iter().all(OperatorPlan::is_point),
        ([], [constant]) => matches!(&constant.rows, ConstantRows::Rows(rows) if rows.len() == 1),
        _ => false,
    }
}

/// Whether a plan only counts the rows of a stored relation that begin with a key, or all its rows.
fn is_count(tables: &[TablePlan], components: &[ComponentPlan]) -> bool {
    let ([TablePlan { kind: TableKind::Groups(aggregations), .. }], [component]) = (tables, components) else {
        return false;
    };
    let [rule] = component.rules.as_slice() else { return false };
    let Some((OperatorPlan { kind: OperatorKind::Join(join), .. }, before)) = rule.operators.split_last() else {
        return false;
    };
    let counts = |used: &Option<AggregationUse>| used.as_ref().is_some_and(|used| used.aggregation.name == "count");
    let is_stored = matches!(&join.source, Source::Stored(read) if read.as_of.is_none());
    let by_prefix = matches!(join.method, Method::Prefix | Method::Scan);
    aggregations.iter().all(counts) && is_stored && by_prefix && before.iter().all(OperatorPlan::is_point)
}

/// A value that copies its inputs up to this many times is not counted.
const MAX_COPIES: usize = 64;

/// Whether an expression may make large values or take long, so that its values are counted.
fn is_costly(components: &[ComponentPlan]) -> bool {
    let mut copies = 1;
    components.iter().flat_map(expressions).any(|expr| {
        copies = expr.copies(copies);
        copies > MAX_COPIES
    })
}

/// The expressions of a component of a plan for a point or a count.
fn expressions(component: &ComponentPlan) -> Vec<&Expr> {
    let operators = component.rules.iter().flat_map(|rule| &rule.operators);
    let mut expressions: Vec<&Expr> = operators.flat_map(|operator| operator.kind.signature().evaluates).collect();
    for constant in &component.constants {
        if let ConstantRows::Rows(rows) = &constant.rows {
            expressions.extend(rows.iter().flatten());
        }
    }
    expressions
}

impl Plan {
    /// Runs the plan on batches if an option needs them, such as `:limit`. Only then is the strategy final.
    pub fn follow(&mut self, options: &Options) {
        if !options.keep_single_row() {
            (self.strategy, self.costly) = (Strategy::Batches, false);
        }
    }

    /// Lets a point query give the columns in the order of the relation that it writes, if all of them are outputs. The row is
    /// then written as it is. (With more rows, the order of columns would decide the order of rows.)
    pub fn give_in_order_of(&mut self, mutation: &mut MutationPlan) {
        let output = |source: &ValueSource| match source {
            ValueSource::Output(output) => Some(*output),
            _ => None,
        };
        let outputs: Option<Vec<usize>> = mutation.sources.iter().map(output).collect();
        let (Some(outputs), true) = (outputs, self.strategy == Strategy::OneRow) else { return };
        let Some(rule) = self.components.iter_mut().flat_map(|component| &mut component.rules).next() else { return };
        rule.head = outputs.iter().map(|output| rule.head[*output]).collect();
        self.headers = outputs.iter().map(|output| self.headers[*output].clone()).collect();
        self.tables[self.entry].arity = outputs.len();
        mutation.sources = (0..outputs.len()).map(ValueSource::Output).collect();
    }
}
