//! Safety: puts the atoms of every body where their variables are bound, or says which variable never is.
//!
//! Applications keep their textual order. A unification stands as soon as its right side is bound, filters and
//! negations as early as they can be tested. After this pass, an expression among an application's arguments uses only
//! variables bound before the atom, and no application has a variable twice.

use std::collections::{BTreeMap, BTreeSet};

use super::normalise::{call, use_of};
use crate::expr::Expr;
use crate::program::{Apply, Arg, Atom, Definition, Predicate, Program, ProgramError, Rule, Variable};
use crate::value::SmallStr;

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

/// Which application comes next where several could.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The first in the text.
    Textual,
    /// The first that has an argument bound already, if any has.
    BoundFirst,
}

/// The most atoms of one body: each becomes an operator, and operators call each other.
const MAX_ATOMS: usize = 1000;

/// Orders one body.
pub fn order_body(head: &[Variable], atoms: Vec<Atom>, choice: Choice) -> Result<Vec<Atom>, ProgramError> {
    let mut ordering = Ordering {
        bindable: bindable_variables(&atoms),
        bound: BTreeSet::new(),
        fresh: count_made_up(&atoms),
        waiting: atoms,
        ordered: vec![],
        choice,
    };
    while ordering.settle_ready_atoms()? || ordering.place_next_binder() {}
    if let Some(atom) = ordering.waiting.first() {
        return Err(ordering.complaint(atom));
    }
    match head.iter().find(|variable| !ordering.bound.contains(&variable.name)) {
        Some(unbound) => Err(ProgramError::UnboundInHead { name: unbound.name.to_string(), span: unbound.span }),
        None => Ok(ordering.ordered),
    }
}

/// At least as many as the variables that an earlier ordering made up, so that new ones get other names.
fn count_made_up(atoms: &[Atom]) -> usize {
    atoms.iter().flat_map(Atom::variables).filter(|name| name.starts_with('#')).count()
}

/// The variables that some atom of the body can bind.
fn bindable_variables(atoms: &[Atom]) -> BTreeSet<SmallStr> {
    let mut bindable = BTreeSet::new();
    for atom in atoms {
        match atom {
            Atom::Apply(apply) if !apply.negated => {
                let variables = apply.args.iter().filter_map(|arg| match arg {
                    Arg::Variable(variable) => Some(variable.name.clone()),
                    _ => None,
                });
                bindable.extend(variables);
            }
            Atom::Unify(variable, _) | Atom::UnifyEach(variable, _) => {
                bindable.insert(variable.name.clone());
            }
            _ => {}
        }
    }
    bindable
}

struct Ordering {
    /// The variables that the body can bind at all.
    bindable: BTreeSet<SmallStr>,
    /// The variables bound by the atoms placed so far.
    bound: BTreeSet<SmallStr>,
    /// The atoms not placed yet, in textual order.
    waiting: Vec<Atom>,
    /// The atoms placed.
    ordered: Vec<Atom>,
    /// The number of variables made up so far.
    fresh: usize,
    choice: Choice,
}

impl Ordering {
    /// Places atoms that only test, and unifications; whether any was placed.
    fn settle_ready_atoms(&mut self) -> Result<bool, ProgramError> {
        let mut settled = false;
        while let Some(position) = self.waiting.iter().position(|atom| self.is_ready(atom)) {
            let atom = self.waiting.remove(position);
            self.settle(atom)?;
            settled = true;
        }
        Ok(settled)
    }

    fn is_ready(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Filter(expr) | Atom::Unify(_, expr) => self.all_bound(expr),
            Atom::UnifyEach(variable, expr) => self.bound.contains(&variable.name) && self.all_bound(expr),
            Atom::Apply(apply) => {
                let pending = |name: &&SmallStr| self.bindable.contains(*name) && !self.bound.contains(*name);
                apply.negated && !apply.args.iter().flat_map(Arg::variables).any(|name| pending(&name))
            }
        }
    }

    fn all_bound(&self, expr: &Expr) -> bool {
        expr.variables().into_iter().all(|name| self.bound.contains(name))
    }

    fn settle(&mut self, atom: Atom) -> Result<(), ProgramError> {
        let placed = match atom {
            Atom::Unify(variable, expr) if self.bound.contains(&variable.name) => {
                Atom::Filter(call("eq", vec![use_of(variable), expr]))
            }
            Atom::Unify(variable, expr) => {
                if variable.name != "_" {
                    self.bound.insert(variable.name.clone());
                }
                Atom::Unify(variable, expr)
            }
            Atom::UnifyEach(variable, expr) => Atom::Filter(call("is_in", vec![use_of(variable), expr])),
            Atom::Apply(apply) => Atom::Apply(self.negated(apply)?),
            Atom::Filter(expr) => Atom::Filter(expr),
        };
        self.ordered.push(placed);
        Ok(())
    }

    /// A negated application tests its bound arguments; its other variables stand for anything.
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

    /// Places the next atom that binds variables by giving rows; whether there was one.
    fn place_next_binder(&mut self) -> bool {
        let can_bind = |atom: &&Atom| match atom {
            Atom::Apply(apply) => !apply.negated,
            Atom::UnifyEach(_, expr) => self.all_bound(expr),
            _ => false,
        };
        let is_bound = |arg: &Arg| match arg {
            Arg::Wildcard => false,
            Arg::Variable(variable) => self.bound.contains(&variable.name),
            Arg::Expr(expr) => self.all_bound(expr),
        };
        let touches_bound = |atom: &&Atom| match atom {
            Atom::Apply(apply) => can_bind(atom) && apply.args.iter().any(is_bound),
            _ => can_bind(atom),
        };
        let textual = self.waiting.iter().position(|atom| can_bind(&atom));
        let position = match self.choice {
            Choice::Textual => textual,
            Choice::BoundFirst => self.waiting.iter().position(|atom| touches_bound(&atom)).or(textual),
        };
        let Some(position) = position else { return false };
        let placed = match self.waiting.remove(position) {
            Atom::Apply(apply) => Atom::Apply(self.applied(apply)),
            Atom::UnifyEach(variable, expr) => {
                if variable.name != "_" {
                    self.bound.insert(variable.name.clone());
                }
                Atom::UnifyEach(variable, expr)
            }
            _ => unreachable!("only applications and 'in' give rows"),
        };
        self.ordered.push(placed);
        true
    }

    /// Turns arguments that cannot be looked up into tests of the rows found: expressions that are not bound yet, and
    /// a variable's second occurrence.
    fn applied(&mut self, mut apply: Apply) -> Apply {
        let mut seen: BTreeSet<SmallStr> = BTreeSet::new();
        for arg in &mut apply.args {
            let test = match arg {
                Arg::Variable(variable) if !seen.insert(variable.name.clone()) => use_of(variable.clone()),
                Arg::Expr(expr) if !self.all_bound(expr) => expr.clone(),
                _ => continue,
            };
            self.fresh += 1;
            let column = Variable { name: SmallStr::from(format!("#{}", self.fresh)), span: test.span() };
            self.waiting.push(Atom::Filter(call("eq", vec![use_of(column.clone()), test])));
            seen.insert(column.name.clone());
            *arg = Arg::Variable(column);
        }
        self.bound.extend(seen);
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

    /// Why an atom could not be placed.
    fn complaint(&self, atom: &Atom) -> ProgramError {
        match atom {
            Atom::Filter(expr) | Atom::Unify(_, expr) | Atom::UnifyEach(_, expr) => {
                self.unbound_in(expr).unwrap_or(ProgramError::UnboundVariable { name: "_".into(), span: expr.span() })
            }
            Atom::Apply(apply) => ProgramError::UnsafeNegation { span: apply.span },
        }
    }
}
