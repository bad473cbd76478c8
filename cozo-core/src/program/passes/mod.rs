//! The passes, in order.
//!
//! [`prepare`] runs them: `normalise` makes bodies conjunctions (and treats negations, `negation`), `safety` puts atoms where their
//! variables are bound (and shares variables that are equal, `equalities`), `stratify` finds the components, and `magic` restricts
//! rules to the bindings that are asked for. Each pass takes a program and returns one, or the error that names what is wrong. The planner calls [`order_body`]
//! again when it reorders a body.

mod condition;
mod equalities;
mod magic;
mod negation;
mod normalise;
mod safety;
mod stratify;

#[cfg(test)]
mod tests;

use self::magic::Scope;
use super::{Atom, Formula, Predicate, Program, ProgramError, Variable};

/// Puts the atoms of a prepared body, which come in another order, where their variables are bound. Atoms that give rows stay in
/// the order of `atoms`, and comparisons mean the same as before.
pub fn order_body(head: &[Variable], atoms: Vec<Atom>) -> Result<Vec<Atom>, ProgramError> {
    safety::order_body(head, atoms, safety::Choice::AsGiven)
}

/// The optional passes to run. The result of a query never depends on them.
#[derive(Clone, Copy, Debug)]
pub struct Rewriting {
    /// Restrict rules to the bindings that are asked for.
    pub magic_sets: bool,
}

/// Checks a predicate that the entry does not reach: its rules must bind the variables of their bodies. Columns of its head may
/// be unbound.
pub(super) fn check_unused(predicate: Predicate<Formula>) -> Result<(), ProgramError> {
    let program = Program { predicates: [("unused".into(), predicate)].into(), components: vec![] };
    match normalise::normalise(program).and_then(safety::order_bodies) {
        Ok(_) | Err(ProgramError::UnboundInHead { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// A resolved program in the form that the planner takes.
pub fn prepare(program: Program<Formula>, rewriting: Rewriting) -> Result<Program, ProgramError> {
    prepare_watched(program, rewriting, &mut |_, _| ())
}

/// [`prepare`], which shows the program after each pass to `watch`.
fn prepare_watched(
    program: Program<Formula>,
    rewriting: Rewriting,
    watch: &mut dyn FnMut(&'static str, &Program),
) -> Result<Program, ProgramError> {
    // Bodies become conjunctions: every later pass looks at atoms only.
    let program = normalise::normalise(program)?;
    watch("normalise", &program);
    // Atoms are put where their variables are bound: from here on, every prefix of a body can be evaluated.
    let program = safety::order_bodies(program)?;
    watch("safety", &program);
    // Before magic sets, so that errors name the script's own rules.
    let program = stratify::stratify(program)?;
    watch("stratify", &program);
    if !rewriting.magic_sets {
        return Ok(program);
    }
    // Needs ordered bodies. A rewriting that makes recursion run through an aggregation is not used.
    for scope in [Scope::All, Scope::Sets] {
        match magic::specialise(&program, scope)?.map(stratify::stratify) {
            Some(Ok(rewritten)) => {
                watch("magic", &rewritten);
                return Ok(rewritten);
            }
            Some(Err(ProgramError::Stopped(stop))) => return Err(stop.into()),
            Some(Err(_)) => {}
            None => break,
        }
    }
    Ok(program)
}
