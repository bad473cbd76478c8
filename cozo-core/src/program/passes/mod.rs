//! The passes, in order.

mod equalities;
mod magic;
mod normalise;
mod safety;
mod stratify;

#[cfg(test)]
mod tests;

use super::{Atom, Formula, Predicate, Program, ProgramError, Variable};

/// Puts the atoms of a prepared body, given in another order, where their variables are bound; those that give rows keep
/// the order as given, and what is compared is compared as before.
pub fn order_body(head: &[Variable], atoms: Vec<Atom>) -> Result<Vec<Atom>, ProgramError> {
    safety::order_body(head, atoms, safety::Choice::AsGiven)
}

/// Which of the optional passes run; the result of a query never depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Rewriting {
    /// Restrict rules to the bindings that are asked for.
    pub magic_sets: bool,
}

/// Finds what is wrong with a predicate that nothing needs, whatever else there is: variables of its rules that nothing binds.
/// That a column of the head is not bound is no harm.
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

/// [`prepare`], showing the program after each pass.
fn prepare_watched(
    program: Program<Formula>,
    rewriting: Rewriting,
    watch: &mut dyn FnMut(&'static str, &Program),
) -> Result<Program, ProgramError> {
    // Bodies become conjunctions: every later pass looks at atoms only.
    let program = normalise::normalise(program)?;
    watch("normalise", &program);
    // Atoms are put where their variables are bound; after this, every prefix of a body can be evaluated.
    let program = safety::order_bodies(program)?;
    watch("safety", &program);
    // Before magic sets, so that the script's own rules are judged and named in errors.
    let program = stratify::stratify(program)?;
    watch("stratify", &program);
    if !rewriting.magic_sets {
        return Ok(program);
    }
    // Needs ordered bodies. A rewriting that makes recursion run through an aggregation is not used.
    Ok(match magic::specialise(&program)?.map(stratify::stratify) {
        Some(Ok(rewritten)) => {
            watch("magic", &rewritten);
            rewritten
        }
        Some(Err(ProgramError::Stopped(stop))) => return Err(stop.into()),
        Some(Err(_)) | None => program,
    })
}
