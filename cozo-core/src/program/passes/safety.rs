//! Safety: puts the atoms of every body where their variables are bound, or reports the variable that nothing binds.
//!
//! [`Ordering`] places one atom after the other. Applications and unifications stay in the order of the text, but a unification
//! whose right side is bound later waits for it. Filters and negations stand as early as they can be tested. An expression that
//! may fail is thus evaluated only for rows that pass all atoms before it and all tests that can run before it.
//!
//! The order decides what a further occurrence of a variable means:
//!
//! | occurrence | means |
//! |---|---|
//! | a unification of a bound variable | `==` |
//! | an expression among arguments, bound only after its atom | `==` |
//! | a bound variable among arguments | the same value |
//!
//! **After this pass** all that is fixed: an expression among arguments uses only variables that atoms before it bind, an
//! application has no free variable twice, and a body that is reordered ([`Choice::BoundFirst`], [`Choice::AsGiven`]) compares as
//! this one does.

use std::collections::{BTreeMap, BTreeSet};

use super::condition::{call, use_of};
use super::equalities::share_variables;
use crate::budget;
use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::program::{
    Apply, Arg, AsOfRead, Atom, Definition, Predicate, Program, ProgramError, Rule, Search, Variable,
};
use crate::value::{DataValue, SmallStr};

/// Orders the bodies of all rules.
pub fn order_bodies(program: Program) -> Result<Program, ProgramError> {
    let mut predicates = BTreeMap::new();
    for (name, predicate) in program.predicates {
        let definition = match predicate.definition {
            Definition::Rules(rules) => {
                let order = |rule: Rule| {
                    if rule.body.len() > MAX_ATOMS {
                        return Err(ProgramError::TooManyAtoms { limit: MAX_ATOMS, span: rule.span });
                    }
                    let rule = share_variables(Rule { body: with_parts_of_filters(rule.body), ..rule });
                    Ok(Rule { body: order_body(&rule.head, rule.body, Choice::Textual)?, ..rule })
                };
                Definition::Rules(rules.into_iter().map(order).collect::<Result<_, _>>()?)
            }
            constant => constant,
        };
        predicates.insert(name, Predicate { definition, ..predicate });
    }
    Ok(Program { predicates, components: vec![] })
}

/// The rule by which the next atom is chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The first atom of the text. This pass orders bodies so.
    Textual,
    /// The first application with a bound argument, if there is one. For a body that this pass has ordered.
    BoundFirst,
    /// The first atom of the new order. For a body that this pass has ordered, and that its caller has reordered.
    AsGiven,
}

/// The most atoms of one body: each becomes an operator, and operators call each other recursively.
const MAX_ATOMS: usize = 1000;

/// Orders one body.
pub fn order_body(head: &[Variable], atoms: Vec<Atom>, choice: Choice) -> Result<Vec<Atom>, ProgramError> {
    if let (true, Some(last)) = (atoms.len() > 2 * MAX_ATOMS, atoms.last()) {
        let span = if let Atom::Filter(expr) = last { expr.span() } else { SourceSpan::default() };
        return Err(ProgramError::TooManyAtoms { limit: MAX_ATOMS, span });
    }
    let mut ordering = Ordering {
        bindable: atoms.iter().flat_map(Atom::bindings).cloned().collect(),
        bound: BTreeSet::new(),
        fresh: count_made_up(&atoms),
        waiting: atoms,
        ordered: vec![],
        choice,
    };
    while ordering.settle_ready_atoms()? || ordering.place_next()? {}
    if let Some(atom) = ordering.waiting.first() {
        return Err(ordering.complaint(atom));
    }
    match head.iter().find(|variable| !ordering.bound.contains(&variable.name)) {
        Some(unbound) => Err(ProgramError::UnboundInHead { name: unbound.name.to_string(), span: unbound.span }),
        None => Ok(ordering.ordered),
    }
}

/// The atoms, with a filter for each part of a filter of rows that is a conjunction: `is_int(x) && x > 1` after `*r{x}` then
/// evaluates `x > 1` only where the first part holds.
fn with_parts_of_filters(atoms: Vec<Atom>) -> Vec<Atom> {
    if !atoms.iter().any(|atom| matches!(atom, Atom::Filter(Expr::Call { function, .. }) if function.name == "and")) {
        return atoms;
    }
    let applies = atoms.iter().filter_map(|atom| match atom {
        Atom::Apply(apply) if !apply.negated => Some(apply),
        _ => None,
    });
    let from_rows: BTreeSet<&SmallStr> = applies.flat_map(Apply::bindings).collect();
    let is_split = |atom: &Atom| match atom {
        Atom::Filter(expr @ Expr::Call { function, .. }) => {
            let variables = expr.variables();
            function.name == "and"
                && !variables.is_empty()
                && variables.into_iter().all(|name| from_rows.contains(name))
        }
        _ => false,
    };
    if !atoms.iter().any(is_split) {
        return atoms;
    }
    fn parts(expr: Expr, into: &mut Vec<Atom>) {
        match expr {
            Expr::Call { function, args, .. } if function.name == "and" => {
                args.into_iter().for_each(|arg| parts(arg, into))
            }
            part => into.push(Atom::Filter(part)),
        }
    }
    let split: Vec<bool> = atoms.iter().map(is_split).collect();
    let mut all = vec![];
    for (atom, split) in atoms.into_iter().zip(split) {
        match atom {
            Atom::Filter(expr) if split => parts(expr, &mut all),
            atom => all.push(atom),
        }
    }
    all
}

/// At least the number of variables that an earlier ordering made up, so that new ones get other names.
fn count_made_up(atoms: &[Atom]) -> usize {
    atoms.iter().flat_map(Atom::variables).filter(|name| name.starts_with('#')).count()
}

/// A variable that no script has.
fn made_up(count: &mut usize, span: SourceSpan) -> Variable {
    *count += 1;
    Variable { name: SmallStr::from(format!("#{count}")), span }
}

struct Ordering {
    /// The variables that the body can bind at all.
    bindable: BTreeSet<SmallStr>,
    /// The variables bound by the atoms placed so far.
    bound: BTreeSet<SmallStr>,
    /// The atoms that are not placed yet, in textual order.
    waiting: Vec<Atom>,
    /// The atoms that are placed.
    ordered: Vec<Atom>,
    /// The number of variables made up so far.
    fresh: usize,
    choice: Choice,
}

impl Ordering {
    /// Places atoms that only test, and unifications; returns whether any was placed.
    fn settle_ready_atoms(&mut self) -> Result<bool, ProgramError> {
        let mut settled = false;
        while let Some(position) = self.waiting.iter().position(|atom| self.is_ready(atom)) {
            budget::step(self.waiting.len())?;
            let atom = self.waiting.remove(position);
            self.settle(atom)?;
            settled = true;
        }
        Ok(settled)
    }

    /// Whether an atom can stand here that gives no rows and may move.
    fn is_ready(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Filter(expr) => self.all_bound(expr),
            Atom::Same(variable, expr) | Atom::Unnest(variable, expr) => {
                self.bound.contains(&variable.name) && self.all_bound(expr)
            }
            // A variable that equals a value other than a number by `==` is identical to it, so this atom may move.
            Atom::Unify(_, Expr::Constant(value, _)) if self.choice == Choice::Textual => {
                !matches!(value, DataValue::Num(_))
            }
            Atom::Unify(_, expr) => self.choice != Choice::Textual && expr.is_leaf() && self.all_bound(expr),
            Atom::Apply(apply) => {
                let pending = |name: &&SmallStr| self.bindable.contains(*name) && !self.bound.contains(*name);
                apply.negated && !apply.args.iter().flat_map(Arg::variables).any(|name| pending(&name))
            }
            Atom::Search(_) | Atom::AsOf(_) => false,
        }
    }

    fn all_bound(&self, expr: &Expr) -> bool {
        expr.variables().into_iter().all(|name| self.bound.contains(name))
    }

    fn settle(&mut self, atom: Atom) -> Result<(), ProgramError> {
        let placed = match atom {
            Atom::Unify(variable, expr) if self.bound.contains(&variable.name) => self.test(variable, expr),
            Atom::Unify(variable, expr) => {
                if variable.name != "_" {
                    self.bound.insert(variable.name.clone());
                }
                Atom::Unify(variable, expr)
            }
            Atom::Unnest(variable, expr) => Atom::Filter(call("is_in", vec![use_of(variable), expr])),
            Atom::Apply(apply) => Atom::Apply(self.negated(apply)?),
            tested @ (Atom::Filter(_) | Atom::Same(..) | Atom::Search(_) | Atom::AsOf(_)) => tested,
        };
        self.ordered.push(placed);
        Ok(())
    }

    /// The test that a bound variable has the value of an expression.
    fn test(&self, variable: Variable, expr: Expr) -> Atom {
        match self.choice {
            Choice::Textual => Atom::Filter(call("eq", vec![use_of(variable), expr])),
            // In the order of the first pass, one was bound by the other.
            Choice::BoundFirst | Choice::AsGiven => Atom::Same(variable, expr),
        }
    }

    /// A negated application tests its bound arguments; its other variables stand for any value.
    fn negated(&self, mut apply: Apply) -> Result<Apply, ProgramError> {
        for arg in &mut apply.args {
            match arg {
                Arg::Variable(variable) if !self.bound.contains(&variable.name) => *arg = Arg::Wildcard,
                Arg::Expr(expr) => {
                    if let Some(error) = self.unbound_in(expr) {
                        return Err(error);
                    }
                }
                _ => {}
            }
        }
        if apply.args.iter().all(|arg| matches!(arg, Arg::Wildcard)) {
            return Err(ProgramError::UnsafeNegation { span: apply.span });
        }
        Ok(apply)
    }

    /// Places the next atom that gives rows, or a unification that had to wait; returns whether there was one.
    fn place_next(&mut self) -> Result<bool, ProgramError> {
        budget::step(self.waiting.len())?;
        let can_stand = |atom: &Atom| match atom {
            Atom::Apply(apply) => !apply.negated,
            Atom::Unify(_, expr) | Atom::Unnest(_, expr) => self.all_bound(expr),
            Atom::Search(search) => search.inputs().all(|name| self.bound.contains(name)),
            Atom::AsOf(read) => read.inputs().all(|name| self.bound.contains(name)),
            Atom::Filter(_) | Atom::Same(..) => false,
        };
        let is_bound = |arg: &Arg| match arg {
            Arg::Wildcard => false,
            Arg::Variable(variable) => self.bound.contains(&variable.name),
            Arg::Expr(expr) => self.all_bound(expr),
        };
        let touches_bound = |atom: &Atom| match atom {
            Atom::Apply(apply) => can_stand(atom) && apply.args.iter().any(is_bound),
            Atom::Unnest(..) | Atom::Search(_) | Atom::AsOf(_) => can_stand(atom),
            _ => false,
        };
        let Some(textual) = self.waiting.iter().position(can_stand) else { return Ok(false) };
        let position = match (self.choice, &self.waiting[textual]) {
            (Choice::BoundFirst, Atom::Apply(_) | Atom::Unnest(..) | Atom::Search(_) | Atom::AsOf(_)) => {
                self.waiting.iter().position(touches_bound).unwrap_or(textual)
            }
            _ => textual,
        };
        match self.waiting.remove(position) {
            Atom::Apply(apply) => {
                let applied = Atom::Apply(self.applied(apply));
                self.ordered.push(applied);
            }
            Atom::Unnest(variable, expr) => {
                if variable.name != "_" {
                    self.bound.insert(variable.name.clone());
                }
                self.ordered.push(Atom::Unnest(variable, expr));
            }
            Atom::Search(search) => self.searched(search),
            Atom::AsOf(read) => self.read_as_of(read),
            unification => self.settle(unification)?,
        }
        Ok(true)
    }

    /// Places a search. A variable that is bound already is compared with what is found.
    fn searched(&mut self, mut search: Search) {
        let mut tests = vec![];
        for (_, variable) in &mut search.outputs {
            if !self.bound.insert(variable.name.clone()) {
                let known = std::mem::replace(variable, made_up(&mut self.fresh, variable.span));
                tests.push(Atom::Same(known, use_of(variable.clone())));
                self.bound.insert(variable.name.clone());
            }
        }
        self.ordered.push(Atom::Search(search));
        self.ordered.extend(tests);
    }

    /// Places a read of histories. A variable that is bound already is looked up if its column tells histories apart, and compared with
    /// what is found otherwise.
    fn read_as_of(&mut self, mut read: AsOfRead) {
        let (mut tests, mut outputs) = (vec![], vec![]);
        for (column, variable) in std::mem::take(&mut read.outputs) {
            if self.bound.insert(variable.name.clone()) {
                outputs.push((column, variable));
            } else if read.identifies(column) && !outputs.iter().any(|(_, own)| own.name == variable.name) {
                read.keys.push((column, use_of(variable)));
            } else {
                let found = made_up(&mut self.fresh, variable.span);
                self.bound.insert(found.name.clone());
                outputs.push((column, found.clone()));
                tests.push(Atom::Same(variable, use_of(found)));
            }
        }
        read.keys.sort_by_key(|(column, _)| *column);
        read.outputs = outputs;
        self.ordered.push(Atom::AsOf(read));
        self.ordered.extend(tests);
    }

    /// Turns arguments that cannot be looked up into tests of the rows found: expressions that are not bound yet, and further
    /// occurrences of a variable that the atom binds.
    fn applied(&mut self, mut apply: Apply) -> Apply {
        let mut seen: BTreeSet<SmallStr> = BTreeSet::new();
        let mut tests = vec![];
        for arg in &mut apply.args {
            let value = match arg {
                Arg::Variable(variable) if self.bound.contains(&variable.name) => continue,
                Arg::Variable(variable) if !seen.insert(variable.name.clone()) => use_of(variable.clone()),
                Arg::Expr(expr) if !self.all_bound(expr) => expr.clone(),
                _ => continue,
            };
            let column = made_up(&mut self.fresh, value.span());
            tests.push(self.test(column.clone(), value));
            seen.insert(column.name.clone());
            *arg = Arg::Variable(column);
        }
        self.bound.extend(seen);
        // First, so that no other test sees rows that the application does not match.
        self.waiting.splice(0..0, tests);
        apply
    }

    fn unbound_in(&self, expr: &Expr) -> Option<ProgramError> {
        let mut error = None;
        expr.walk(&mut |part| {
            if let Expr::Variable(name, span) = part
                && !self.bound.contains(name)
            {
                error.get_or_insert_with(|| ProgramError::UnboundVariable { name: name.to_string(), span: *span });
            }
        });
        error
    }

    /// The error of an atom that could not be placed.
    fn complaint(&self, atom: &Atom) -> ProgramError {
        match atom {
            Atom::Filter(expr) | Atom::Same(_, expr) | Atom::Unify(_, expr) | Atom::Unnest(_, expr) => {
                self.unbound_in(expr).unwrap_or(ProgramError::UnboundVariable { name: "_".into(), span: expr.span() })
            }
            Atom::Apply(apply) => ProgramError::UnsafeNegation { span: apply.span },
            Atom::Search(search) => {
                let unbound = search.inputs().find(|name| !self.bound.contains(*name));
                let name = unbound.map_or("_".to_string(), SmallStr::to_string);
                ProgramError::UnboundVariable { name, span: search.span }
            }
            Atom::AsOf(read) => {
                let unbound = read.inputs().find(|name| !self.bound.contains(*name));
                let name = unbound.map_or("_".to_string(), SmallStr::to_string);
                ProgramError::UnboundVariable { name, span: read.span }
            }
        }
    }
}
