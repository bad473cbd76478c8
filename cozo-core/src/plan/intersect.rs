//! Where lists are intersected: the planner's side of worst-case optimal joins.
//!
//! In `e[a, b], e[b, c], e[c, a]`, a join of two atoms gives every path of two edges, most of which close no triangle. Once `a`
//! and `b` are known, `c` is in the list of `b` and in the list of the nodes that lead to `a`. Reading the shorter of two sorted
//! lists never does more work than there can be triangles (the bound of Atserias, Grohe and Marx 2008).

use super::rule_builder::RuleBuilder;
use super::{IntersectInput, IntersectPlan, Source, TablePart};
use crate::program::{Apply, Arg, Atom, Target};
use crate::value::SmallStr;

/// The cost of reading and sorting a row, of beginning an intersection, and of looking at an element of a list, in look-ups of a
/// key.
const SORT: f64 = 0.6;
const BEGIN: f64 = 0.4;
const LOOK_AT: f64 = 0.05;

/// A list this many times longer than the shortest is not intersected with two shorter ones.
const LONG_LIST: f64 = 2.0;

/// An atom that gives a list of values for a variable.
struct Lister<'b> {
    at: usize,
    apply: &'b Apply,
    /// The column whose argument is known.
    key: usize,
    /// The column that is the variable.
    values: usize,
}

impl RuleBuilder<'_> {
    /// The intersection that binds the variable of the atom `at`, with the positions of all atoms that it replaces. `None` if no
    /// other atom gives the variable, or if testing each candidate is cheaper.
    pub(super) fn intersection(
        &mut self,
        body: &[Atom],
        parts: &[Option<TablePart>],
        at: usize,
    ) -> Option<(IntersectPlan, Vec<usize>)> {
        let estimates = self.estimates?;
        let first = self.lister(body, parts, at, None)?;
        let Arg::Variable(variable) = &first.apply.args[first.values] else { return None };
        let others = (at + 1..body.len()).filter_map(|other| self.lister(body, parts, other, Some(&variable.name)));
        let mut listers: Vec<Lister<'_>> = std::iter::once(first).chain(others).collect();
        let length = |lister: &Lister<'_>| estimates.size(&lister.apply.target).matches(&[lister.key]);
        let mut lengths: Vec<f64> = listers.iter().map(length).collect();
        // What two short lists have in common is tested against a long one.
        lengths.sort_by(f64::total_cmp);
        if let [shortest, second, _, ..] = lengths[..] {
            let longest = second.max(shortest * LONG_LIST);
            listers.retain(|lister| length(lister) <= longest);
        }
        if listers.len() < 2 || listers[0].at != at {
            return None;
        }
        let rows = estimates.rows_after(&body[..at]);
        let sizes: Vec<_> = listers.iter().map(|lister| estimates.size(&lister.apply.target)).collect();
        let lengths: Vec<f64> = listers.iter().zip(&sizes).map(|(lister, size)| size.matches(&[lister.key])).collect();
        if lengths[0] <= 1.0 {
            // The others only test the one candidate.
            return None;
        }
        let testing = rows * (1.0 + lengths[0]);
        let shortest = lengths.iter().copied().fold(f64::INFINITY, f64::min);
        let sorting: f64 = sizes.iter().map(|size| size.rows * SORT).sum();
        if testing <= sorting + rows * (BEGIN + 2.0 * shortest * LOOK_AT) {
            return None;
        }
        let inputs: Vec<IntersectInput> = listers.iter().map(|lister| self.input(lister)).collect::<Option<_>>()?;
        let slot = self.bind(&variable.name);
        Some((IntersectPlan { slot, inputs }, listers.iter().map(|lister| lister.at).collect()))
    }

    /// A list as the intersection reads it.
    fn input(&self, lister: &Lister<'_>) -> Option<IntersectInput> {
        let key = match &lister.apply.args[lister.key] {
            Arg::Variable(known) => self.known(known)?,
            Arg::Expr(expr) => self.slotted(expr),
            Arg::Wildcard => return None,
        };
        Some(IntersectInput {
            source: Source::of(&lister.apply.target, self.numbers),
            key: (lister.key, key),
            values: lister.values,
        })
    }

    /// The atom at `at`, if it lists the values of the variable `wanted`, or of any, and all its other arguments are known.
    fn lister<'b>(
        &self,
        body: &'b [Atom],
        parts: &[Option<TablePart>],
        at: usize,
        wanted: Option<&SmallStr>,
    ) -> Option<Lister<'b>> {
        let Atom::Apply(apply) = &body[at] else { return None };
        if apply.negated || parts[at].is_some() {
            return None;
        }
        let key_width = match &apply.target {
            Target::Stored(read) => read.identifying_columns(),
            Target::Predicate(_) => apply.args.len(),
        };
        let (mut key, mut values) = (None, None);
        for (column, arg) in apply.args.iter().enumerate() {
            let known = match arg {
                Arg::Wildcard if column >= key_width => continue,
                Arg::Wildcard => return None,
                Arg::Variable(variable) => self.slots.contains_key(&variable.name),
                Arg::Expr(expr) => expr.variables().into_iter().all(|name| self.slots.contains_key(name)),
            };
            match (known, arg) {
                (true, _) if key.replace(column).is_none() => {}
                (false, Arg::Variable(variable))
                    if wanted.is_none_or(|name| *name == variable.name) && values.replace(column).is_none() => {}
                _ => return None,
            }
        }
        Some(Lister { at, apply, key: key?, values: values? })
    }
}
