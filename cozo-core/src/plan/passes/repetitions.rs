//! Distinct operators: where equal rows count once, duplicates are dropped before the next join.
//!
//! An operator may make equal rows if it drops a slot, or if it does not give the whole key of its relation. The joins that
//! follow would repeat their work for each of them.
//!
//! ```text
//! ?[c] := *e[a, b], *e[b, c], *f[c]
//!     scan e -> b,  distinct b,  look up e by b -> c,  distinct c,  test f by c
//! ```

use crate::plan::{OperatorKind, OperatorPlan, RulePlan, Source};

/// Adds a distinct operator before each join whose input may have equal rows.
pub(super) fn drop_repetitions(rule: &mut RulePlan) {
    let reads = std::mem::take(&mut rule.reads);
    let mut checked: Vec<OperatorPlan> = vec![];
    let mut live: Vec<usize> = vec![];
    let mut repeats = false;
    for (position, operator) in std::mem::take(&mut rule.operators).into_iter().enumerate() {
        let (is_join, filled) = {
            let signature = operator.kind.signature();
            (!signature.sources.is_empty(), signature.fills)
        };
        if is_join && repeats && !live.is_empty() {
            checked.push(OperatorPlan { number: 0, kind: OperatorKind::Distinct, keep: live.clone(), estimate: None });
            repeats = false;
        }
        // `keep` is in ascending order.
        repeats |=
            live.iter().any(|slot| operator.keep.binary_search(slot).is_err()) || gives_repetitions(&operator.kind);
        live = operator.keep.iter().copied().chain(filled).collect();
        // `reads` names operators by position, and these move.
        rule.reads.extend(reads.iter().filter(|(at, _)| *at == position).map(|(_, part)| (checked.len(), *part)));
        checked.push(operator);
    }
    rule.operators = checked;
}

/// Whether one input row may become several equal rows.
fn gives_repetitions(kind: &OperatorKind) -> bool {
    match kind {
        OperatorKind::Join(join) => {
            let known = |column: usize| {
                join.keys.iter().any(|(key, _)| *key == column) || join.outputs.iter().any(|(out, _)| *out == column)
            };
            match &join.source {
                Source::Stored(stored) => !(0..stored.identifying_columns()).all(known),
                // The width of a table is not known here: its outputs are taken for whole rows.
                Source::Table(_) => join.outputs.is_empty(),
            }
        }
        OperatorKind::Unnest(..) => true,
        _ => false,
    }
}
