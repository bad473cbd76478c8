//! Formulas and atoms.

use std::fmt::{self, Display, Formatter};

use super::{commas, separated};
use crate::parse::ast::{Atom, Expr, Formula, NamedArg, RuleApply, SearchApply, StoredApply, StoredArgs, Symbol};

impl Display for Formula {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Formula::And(parts) => separated(f, ", ", parts.iter().map(Operand)),
            Formula::Or(parts) => separated(f, " or ", parts.iter().map(Operand)),
            Formula::Not(inner, _) => write!(f, "not {}", Operand(inner)),
            Formula::Atom(atom) => write!(f, "{atom}"),
        }
    }
}

/// A part of a formula. Joined parts stand in parentheses, so that they stay together: `a, (b, c)` is not `a, b, c`.
struct Operand<'f>(&'f Formula);

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            joined @ (Formula::And(_) | Formula::Or(_)) => write!(f, "({joined})"),
            single => write!(f, "{single}"),
        }
    }
}

impl Display for Atom {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Rule(apply) => write!(f, "{apply}"),
            Atom::Stored(apply) => write!(f, "{apply}"),
            Atom::Search(apply) => write!(f, "{apply}"),
            Atom::Unify { variable, expr, .. } => write!(f, "{variable} = {expr}"),
            Atom::Unnest { variable, expr, .. } => write!(f, "{variable} in {expr}"),
            Atom::Filter(expr) => write!(f, "{expr}"),
        }
    }
}

impl Display for RuleApply {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.name)?;
        commas(f, &self.args)?;
        f.write_str("]")
    }
}

impl Display for StoredApply {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "*{}", self.name)?;
        match &self.args {
            StoredArgs::Positional(args) => bracketed(f, ["[", "]"], args, &self.validity),
            StoredArgs::Named(args) => bracketed(f, ["{", "}"], args, &self.validity),
        }
    }
}

/// Arguments in their brackets, with the time asked for.
pub(super) fn bracketed<T: Display>(
    f: &mut Formatter<'_>,
    [opening, closing]: [&str; 2],
    items: impl IntoIterator<Item = T>,
    validity: &Option<Expr>,
) -> fmt::Result {
    f.write_str(opening)?;
    commas(f, items)?;
    if let Some(validity) = validity {
        write!(f, " @ {validity}")?;
    }
    f.write_str(closing)
}

impl Display for NamedArg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.expr {
            Expr::Variable(variable) if *variable == self.column => write!(f, "{variable}"),
            expr => write!(f, "{}: {expr}", self.column),
        }
    }
}

impl Display for SearchApply {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "~{}:{}{{", self.relation, self.index)?;
        commas(f, &self.bindings)?;
        f.write_str(" | ")?;
        commas(f, self.parameters.iter().map(Setting))?;
        if let Some(within) = &self.within {
            write!(f, ", within: {within}")?;
        }
        f.write_str("}")
    }
}

/// `name: expr`
pub(super) struct Setting<'s>(pub &'s (Symbol, Expr));

impl Display for Setting<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.0, self.0.1)
    }
}
