//! Runs on single values: plans that give one row at most, or the number of rows that begin with a key.
//!
//! Columns, batches and tables would cost many times what the look-up does. [`single_row`] runs a plan by its [`Strategy`]. For
//! one row, [`point_row`] fills the slots of the only rule operator by operator, and [`run_on_row`] stops at the first operator
//! that drops the row. For a count, [`counted_row`] asks the engine for the number of rows. If the engine would have to read
//! them, it gives `None`, and the plan runs in batches.
//!
//! `plan/passes/single_row.rs` chooses the strategy and establishes the invariants in the `unreachable!`s below. `row_recursion`
//! runs the operators of recursive rules by [`run_on_row`], too.

use std::slice::from_ref;

use smallvec::SmallVec;

use crate::exec::error::ExecError;
use crate::exec::rows::Rows;
use crate::expr::Expr;
use crate::plan::{JoinPlan, OperatorKind, OperatorPlan, Plan, RulePlan, SemiJoinPlan, Source, Strategy};
use crate::program::ConstantRows;
use crate::schema::RelationId;
use crate::txn::View;
use crate::value::{DataValue, Tuple};

/// Values by slot. Most rules have few enough slots to need no allocation.
type Slots = SmallVec<[DataValue; 8]>;

/// Values of leading key columns.
type ProbeValues = SmallVec<[DataValue; 4]>;

/// The one row of a plan that runs on single values, or none. `None` if the plan must run in batches.
#[inline(always)] // so that the row is not moved
pub fn single_row(plan: &Plan, parameters: &[&DataValue], view: View<'_>) -> Result<Option<Rows>, ExecError> {
    let row = match plan.strategy {
        Strategy::OneRow => point_row(plan, parameters, view)?,
        Strategy::Count => match counted_row(plan, parameters, view)? {
            None => return Ok(None),
            counted => counted,
        },
        Strategy::Batches => return Ok(None),
    };
    let bytes = row.iter().flatten().map(DataValue::memory_bytes).sum();
    Ok(Some(Rows::One(row, bytes)))
}

/// The row of a plan for [one row](Strategy::OneRow), if there is one.
fn point_row(plan: &Plan, parameters: &[&DataValue], view: View<'_>) -> Result<Option<Tuple>, ExecError> {
    let [component] = plan.components.as_slice() else { unreachable!("a point query is one component") };
    match (component.rules.as_slice(), component.constants.as_slice()) {
        ([rule], _) => {
            let mut slots = empty_slots(rule);
            if !run_on_row(&rule.operators, &mut slots, parameters, view)? {
                return Ok(None);
            }
            let mut row = Vec::with_capacity(rule.head.len());
            for (i, slot) in rule.head.iter().enumerate() {
                row.push(match rule.head[i + 1..].contains(slot) {
                    true => slots[*slot].clone(),
                    false => std::mem::take(&mut slots[*slot]),
                });
            }
            Ok(Some(row))
        }
        (_, [constant]) => {
            let ConstantRows::Rows(rows) = &constant.rows else { unreachable!("a point query has its row as given") };
            let mut row = Vec::with_capacity(rows[0].len());
            for cell in &rows[0] {
                row.push(cell.eval_or_borrow(parameters)?.into_owned());
            }
            Ok(Some(row))
        }
        _ => unreachable!("a point query has one rule or one row"),
    }
}

/// The row of a plan that [counts](Strategy::Count), if the engine knows the number without reading the rows.
fn counted_row(plan: &Plan, parameters: &[&DataValue], view: View<'_>) -> Result<Option<Tuple>, ExecError> {
    let [component] = plan.components.as_slice() else { unreachable!("what counts is one component") };
    let [rule] = component.rules.as_slice() else { unreachable!("what counts is one rule") };
    let Some((OperatorPlan { kind: OperatorKind::Join(join), .. }, before)) = rule.operators.split_last() else {
        unreachable!("what is counted is read by a join")
    };
    let mut slots = empty_slots(rule);
    let count = match run_on_row(before, &mut slots, parameters, view)? {
        true => {
            let mut key = ProbeValues::new();
            let relation = key_of(&join.source, &join.keys, &slots, parameters, &mut key)?;
            view.of(relation).count(relation, &key)
        }
        false => Some(0),
    };
    Ok(count.map(|count| vec![DataValue::from(count as i64); rule.head.len()]))
}

/// The slots of a rule, all null.
#[inline] // given back from a call, all of it would be copied
fn empty_slots(rule: &RulePlan) -> Slots {
    // Not by `resize`, which would clone a null for each slot.
    let mut slots = Slots::new();
    (0..rule.slots).for_each(|_| slots.push(DataValue::Null));
    slots
}

/// Runs operators that [give one row at most](OperatorPlan::is_point) on one row; returns whether it passes them all.
pub fn run_on_row(
    operators: &[OperatorPlan],
    slots: &mut [DataValue],
    parameters: &[&DataValue],
    view: View<'_>,
) -> Result<bool, ExecError> {
    for operator in operators {
        let holds = match &operator.kind {
            OperatorKind::Join(JoinPlan { source, keys, outputs, .. }) => {
                look_up(source, keys, outputs, slots, parameters, view)?
            }
            OperatorKind::SemiJoin(SemiJoinPlan { source, keys, negated, .. }) => {
                look_up(source, keys, &[], slots, parameters, view)? != *negated
            }
            OperatorKind::Filter(expr) => expr.holds_for_row(slots, parameters)?,
            OperatorKind::Same(slot, expr) => expr.eval_row(slots, parameters)? == slots[*slot],
            OperatorKind::Unify(slot, expr) => {
                slots[*slot] = expr.eval_row(slots, parameters)?;
                true
            }
            OperatorKind::Distinct => true,
            OperatorKind::Unnest(..) | OperatorKind::Intersect(_) | OperatorKind::Search(_) | OperatorKind::AsOf(_) => {
                unreachable!("these operators may give many rows")
            }
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Fills slots from the row with a key; returns whether there is one.
#[inline]
fn look_up(
    source: &Source,
    keys: &[(usize, Expr)],
    outputs: &[(usize, usize)],
    slots: &mut [DataValue],
    parameters: &[&DataValue],
    view: View<'_>,
) -> Result<bool, ExecError> {
    // A key of a single value is mostly a constant or in a slot, and need not be copied.
    if let [(_, expr)] = keys {
        let relation = relation_of(source);
        let snapshot = view.of(relation);
        if let Some(value) = expr.given(parameters) {
            return Ok(snapshot.get(relation, from_ref(value), outputs, slots)?);
        }
        if let Expr::Slot(slot, _) = expr {
            let value = std::mem::take(&mut slots[*slot]);
            let found = snapshot.get(relation, from_ref(&value), outputs, slots);
            slots[*slot] = value;
            return Ok(found?);
        }
    }
    let mut key = ProbeValues::new();
    let relation = key_of(source, keys, slots, parameters, &mut key)?;
    Ok(view.of(relation).get(relation, &key, outputs, slots)?)
}

/// The stored relation that is read.
#[inline]
fn relation_of(source: &Source) -> RelationId {
    let Source::Stored(read) = source else { unreachable!("point queries read stored relations") };
    read.schema.id
}

/// The stored relation that is read. Appends the values of its leading key columns to `key`.
#[inline]
fn key_of(
    source: &Source,
    keys: &[(usize, Expr)],
    slots: &[DataValue],
    parameters: &[&DataValue],
    key: &mut ProbeValues, // given back, all of its room would be copied
) -> Result<RelationId, ExecError> {
    for (_, expr) in keys {
        key.push(expr.eval_row(slots, parameters)?);
    }
    Ok(relation_of(source))
}
