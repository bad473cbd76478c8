//! One step: the atoms with a variable that the head does not have become a part, a predicate of their own.

use std::collections::BTreeSet;

use super::{aggregation, multiplied, used};
use crate::budget::Stop;
use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::plan::cost::{is_application, may_fail};
use crate::plan::estimates::Estimates;
use crate::program::{
    Apply, Arg, Atom, Definition, HeadColumn, Predicate, ProgramError, Rule, Target, Variable, order_body,
};
use crate::value::SmallStr;

/// The most columns of a part besides its weight. A part with more has seldom fewer rows than the join that it replaces.
const MAX_SHARED: usize = 2;

/// A rule whose solutions count several times.
#[derive(Clone)]
pub(super) struct Weighted {
    /// The rule.
    pub(super) rule: Rule,
    /// The variables whose product says how often a solution counts.
    pub(super) weights: Vec<SmallStr>,
    /// Whether the solutions are taken away instead of added.
    pub(super) is_negative: bool,
}

/// Some atoms of a rule, and what they share with the rest of it.
pub(super) struct Group {
    /// The positions of the atoms.
    atoms: Vec<usize>,
    /// The variables that other atoms or the head have, too.
    pub(super) shared: Vec<SmallStr>,
}

impl Weighted {
    /// A rule whose solutions count once.
    pub(super) fn of(rule: &Rule) -> Self {
        Weighted { rule: rule.clone(), weights: vec![], is_negative: false }
    }

    /// The atoms with a variable, if they may become a part: together they give all their variables, they cannot fail, and they share few
    /// variables with the rest.
    pub(super) fn group_of(&self, variable: &SmallStr, needed: &BTreeSet<SmallStr>) -> Option<Group> {
        let body = &self.rule.body;
        let mentions = |at: &usize| body[*at].variables().contains(&variable);
        let atoms: Vec<usize> = (0..body.len()).filter(mentions).collect();
        let gives_rows = |at: &usize| is_application(&body[*at]);
        let is_whole = (0..body.len()).all(|at| !gives_rows(&at) || atoms.contains(&at));
        if is_whole || !atoms.iter().any(gives_rows) {
            return None;
        }
        let outside: BTreeSet<&SmallStr> = (0..body.len())
            .filter(|at| !atoms.contains(at))
            .flat_map(|at| body[at].variables())
            .chain(needed)
            .collect();
        let mut shared: Vec<SmallStr> = vec![];
        for name in atoms.iter().flat_map(|at| body[*at].variables()) {
            if outside.contains(name) && !self.weights.contains(name) && !shared.contains(name) {
                shared.push(name.clone());
            }
        }
        let given: BTreeSet<&SmallStr> = atoms.iter().flat_map(|at| body[*at].bindings()).collect();
        let gives_all = atoms.iter().flat_map(|at| body[*at].variables()).all(|name| given.contains(name));
        if !gives_all || shared.is_empty() || shared.len() > MAX_SHARED {
            return None;
        }
        let may_fail = may_fail(body);
        (!atoms.iter().any(|at| may_fail[*at])).then_some(Group { atoms, shared })
    }

    /// The rule with a part in place of a group, and the part. Weights are left out if `counts` is not set. `None` if the atoms have no safe
    /// order in one of the two, or if the part has a row for each pair of values: such a part closes no cycle.
    pub(super) fn with_part(
        &self,
        group: &Group,
        counts: bool,
        name: &SmallStr,
        estimates: &Estimates<'_>,
    ) -> Result<Option<(Weighted, Predicate)>, Stop> {
        let span = self.rule.span;
        let mut body: Vec<Atom> = group.atoms.iter().map(|at| self.rule.body[*at].clone()).collect();
        let is_inner = |weight: &SmallStr| body.iter().any(|atom| atom.variables().contains(&weight));
        let (inner, mut weights): (Vec<SmallStr>, Vec<SmallStr>) = self.weights.iter().cloned().partition(is_inner);
        let is_function = follow_from(&group.shared, &body, estimates);
        if group.shared.len() > 1 && !is_function {
            return Ok(None);
        }
        let mut columns: Vec<PartColumn> = group.shared.iter().map(|name| PartColumn::value(name, span)).collect();
        if counts && !is_function {
            let weight = SmallStr::from(format!("#n{}", name.rsplit(' ').next().unwrap_or_default()));
            columns.push(PartColumn::weight(&weight, &inner, &group.shared[0], &mut body, span));
            weights.push(weight);
        } else {
            columns.extend(inner.iter().map(|name| PartColumn::value(name, span)));
            weights.extend(inner);
        }
        let (columns, head): (Vec<HeadColumn>, Vec<Variable>) =
            columns.into_iter().map(|column| (column.column, column.variable)).unzip();
        let args = columns.iter().map(|column| Arg::Variable(Variable { name: column.name.clone(), span })).collect();
        let applied = Atom::Apply(Apply { target: Target::Predicate(name.clone()), args, negated: false, span });
        let mut rest = self.rule.body.clone();
        rest[group.atoms[0]] = applied;
        let mut position = 0..;
        rest.retain(|_| position.next().is_some_and(|at| at == group.atoms[0] || !group.atoms.contains(&at)));
        let (Some(body), Some(rest)) = (in_safe_order(&head, body)?, in_safe_order(&self.rule.head, rest)?) else {
            return Ok(None);
        };
        let definition = Definition::Rules(vec![Rule { head, body, span }]);
        let rule = Rule { body: rest, ..self.rule.clone() };
        Ok(Some((Weighted { rule, weights, ..self.clone() }, Predicate { columns, definition, span })))
    }
}

/// A column of a part: how it is called outside, and the variable inside.
struct PartColumn {
    column: HeadColumn,
    variable: Variable,
}

impl PartColumn {
    /// A variable as it is.
    fn value(name: &SmallStr, span: SourceSpan) -> Self {
        let variable = Variable { name: name.clone(), span };
        PartColumn { column: HeadColumn { name: name.clone(), aggregation: None }, variable }
    }

    /// The number of solutions, each as often as its weights say. `any` is a variable that every solution has.
    fn weight(weight: &SmallStr, inner: &[SmallStr], any: &SmallStr, body: &mut Vec<Atom>, span: SourceSpan) -> Self {
        let product = multiplied(inner.iter().map(|weight| Expr::Variable(weight.clone(), span)).collect(), span);
        let (name, aggregated) = match product {
            None => (any.clone(), "count"),
            Some(Expr::Variable(weight, _)) => (weight, "int_sum"),
            Some(product) => {
                let name = SmallStr::from("#w");
                body.push(Atom::Unify(Variable { name: name.clone(), span }, product));
                (name, "int_sum")
            }
        };
        let aggregation = Some(used(aggregation(aggregated), span));
        PartColumn { column: HeadColumn { name: weight.clone(), aggregation }, variable: Variable { name, span } }
    }
}

/// A body in an order in which each atom finds its variables bound, if there is one. The head may have a variable that is only counted, so
/// it is not checked.
fn in_safe_order(head: &[Variable], body: Vec<Atom>) -> Result<Option<Vec<Atom>>, Stop> {
    let given: BTreeSet<SmallStr> = body.iter().flat_map(Atom::bindings).cloned().collect();
    let head: Vec<Variable> = head.iter().filter(|variable| given.contains(&variable.name)).cloned().collect();
    match order_body(&head, body) {
        Ok(body) => Ok(Some(body)),
        Err(ProgramError::Stopped(stop)) => Err(stop),
        Err(_) => Ok(None),
    }
}

/// Whether there is one solution of some atoms at most for each value of some variables: the variables give, directly or through other
/// atoms, the key of each relation.
fn follow_from(variables: &[SmallStr], atoms: &[Atom], estimates: &Estimates<'_>) -> bool {
    let mut known: BTreeSet<&SmallStr> = variables.iter().collect();
    let mut open: Vec<&Apply> = atoms
        .iter()
        .filter_map(|atom| match atom {
            Atom::Apply(apply) if !apply.negated => Some(apply),
            _ => None,
        })
        .collect();
    loop {
        let before = open.len();
        open.retain(|apply| {
            let is_known = |arg: &Arg| match arg {
                Arg::Wildcard => false,
                Arg::Variable(variable) => known.contains(&variable.name),
                Arg::Expr(expr) => expr.variables().into_iter().all(|name| known.contains(name)),
            };
            let keys = estimates.keys(&apply.target, apply.args.len());
            let follows = apply.args.iter().take(keys).all(is_known);
            if follows {
                known.extend(apply.bindings());
            }
            !follows
        });
        if open.is_empty() || open.len() == before {
            return open.is_empty();
        }
    }
}
