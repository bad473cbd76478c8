//! The passes that choose how a program runs, in their order. Each writes its choice into the plan, and `::explain` shows it.
//!
//! | pass | works on | chooses |
//! |---|---|---|
//! | [`ranges`] | the operators of a rule | a range of keys for filters after a scan |
//! | [`equal`] | the operators of a rule | a hash table on expressions for equalities after a scan |
//! | [`compare`] | the operators of a rule | an order of the rows for comparisons after a scan or a look-up |
//! | [`kept_slots`] | the operators of a rule | the columns that each operator carries over |
//! | [`repetitions`] | a rule | where equal rows are dropped before the end |
//! | [`lookup_order`] | a rule | a sorted scan before a look-up |
//! | [`min_max`] | a component | a scan from one end that stops at the first row |
//! | [`nearest`] | a component | one match for each row of a join by comparisons |
//! | [`row_order`] | a component | tables that are sorted before they are read |
//! | [`unique`] | a component | tables whose rules give no row twice, so that their rows are not compared |
//! | [`single_row`] | the plan | the run on single values: for one row, for a count, or row by row in recursion |
//!
//! The order of atoms ([`order`](super::order)), and the index or key by which a relation is read ([`indices`](super::indices),
//! [`intersect`](super::intersect)), are chosen earlier, while operators are made. **A pass never changes the rows of a rule.**

mod compare;
mod connections;
mod equal;
mod kept_slots;
mod lookup_order;
mod min_max;
mod nearest;
mod ranges;
mod repetitions;
mod row_order;
mod single_row;
mod unique;

pub(super) use kept_slots::with_kept_slots;

use super::{OperatorKind, Plan, RulePlan};

/// Lets the operators of a rule read fewer rows. `own` has the positions of those that read a table of the rule's own component;
/// `matches` says how many rows of a stored relation match values of some columns, as far as sizes are known.
pub(super) fn of_operators(operators: &mut [OperatorKind], own: &[usize], matches: &compare::Matches<'_>) {
    ranges::narrow(operators);
    equal::join_by_equalities(operators);
    compare::join_by_comparisons(operators, own, matches);
}

/// Lets a rule do less work. In a `bag` equal rows count each; `keeps_order` forbids a change of the order of solutions.
pub(super) fn of_rule(rule: &mut RulePlan, bag: bool, keeps_order: bool) {
    if !bag {
        repetitions::drop_repetitions(rule);
    }
    if !keeps_order {
        lookup_order::sort_before_lookup(&mut rule.operators);
    }
}

/// Chooses how the plan runs as a whole.
pub(super) fn of_plan(plan: &mut Plan) {
    for component in &mut plan.components {
        min_max::note_extreme(component, &plan.tables);
        nearest::note_nearest(component, &plan.tables);
        row_order::note_readers(component, plan.entry, &mut plan.tables);
        unique::note_unique(component, &mut plan.tables);
    }
    single_row::choose(plan);
    number(plan);
}

/// Numbers rules and operators, once the plan is complete.
fn number(plan: &mut Plan) {
    let rules = plan.components.iter_mut().flat_map(|component| &mut component.rules);
    let mut operators = 0..;
    for (number, rule) in rules.enumerate() {
        rule.number = number;
        rule.operators.iter_mut().zip(&mut operators).for_each(|(operator, number)| operator.number = number);
    }
}
