//! Tests that span a rule: `a != c`, or `not *e[a, c]`. A count without the solutions that a test excludes is the count of all solutions less
//! the count of the excluded ones, where both may be cheaper than to test each solution.
//!
//! ```text
//! ?[count(b)] := *e[a, b], *e[b, c], a != c
//!     all of *e[a, b], *e[b, c]     less those of *e[a, b], *e[b, a]
//! ```

use super::column_type;
use super::part::Weighted;
use crate::expr::Expr;
use crate::plan::cost::may_fail;
use crate::program::{Apply, Arg, Atom, HeadColumn, Predicate, Rule, Target};
use crate::schema::BaseType;
use crate::value::SmallStr;

/// The most tests of a rule that are replaced: each doubles the number of rules.
const MAX_TESTS: usize = 2;

/// The rules that count together what a rule with tests counts. `None` if the predicate is not a count of all solutions without groups (a
/// group without solutions would have the count 0), or there is no such test.
pub(super) fn without_tests(predicate: &Predicate, rule: &Rule) -> Option<Vec<Weighted>> {
    let is_count =
        |column: &HeadColumn| column.aggregation.as_ref().is_some_and(|used| used.aggregation.name == "count");
    // Another test might fail for a solution that this one excludes.
    if !predicate.columns.iter().all(is_count) || may_fail(&rule.body).contains(&true) {
        return None;
    }
    let mut rules = vec![Weighted::of(rule)];
    for _ in 0..MAX_TESTS {
        let split: Option<Vec<[Weighted; 2]>> = rules.iter().map(split).collect();
        let Some(split) = split else { break };
        rules = split.into_iter().flatten().collect();
    }
    (rules.len() > 1).then_some(rules)
}

/// The rule without its first test, and what the test excludes.
fn split(weighted: &Weighted) -> Option<[Weighted; 2]> {
    let body = &weighted.rule.body;
    let (at, excluded) = (0..body.len()).find_map(|at| Some((at, excluded(body, at)?)))?;
    let mut all = weighted.clone();
    all.rule.body.remove(at);
    let mut of_excluded = Weighted { is_negative: !weighted.is_negative, ..all.clone() };
    match excluded {
        Excluded::Equal(a, b) => of_excluded.rule.replace_variable(&a, &b),
        Excluded::With(apply) => of_excluded.rule.body.push(Atom::Apply(apply)),
    }
    Some([all, of_excluded])
}

/// What a test excludes.
enum Excluded {
    /// Solutions in which two variables are equal.
    Equal(SmallStr, SmallStr),
    /// Solutions with a row of a relation.
    With(Apply),
}

/// What the atom at a position excludes, if it is such a test.
fn excluded(body: &[Atom], at: usize) -> Option<Excluded> {
    match &body[at] {
        Atom::Filter(Expr::Call { function, args, .. }) if function.name == "neq" => {
            let [Expr::Variable(a, _), Expr::Variable(b, _)] = &args[..] else { return None };
            let (of_a, of_b) = (column_type(body, a)?, column_type(body, b)?);
            // Of these types, equal values are the same value.
            let is_exact = matches!(
                of_a.base,
                BaseType::Int | BaseType::String | BaseType::Bytes | BaseType::Uuid | BaseType::Bool
            );
            (a != b && of_a == of_b && is_exact).then(|| Excluded::Equal(a.clone(), b.clone()))
        }
        Atom::Apply(apply) if apply.negated => {
            let Target::Stored(read) = &apply.target else { return None };
            let is_variable = |arg: &Arg| matches!(arg, Arg::Variable(_));
            // One row at most, so that it excludes each solution once.
            let is_by_key = apply.args.iter().take(read.identifying_columns()).all(is_variable);
            is_by_key.then(|| Excluded::With(Apply { negated: false, ..apply.clone() }))
        }
        _ => None,
    }
}
