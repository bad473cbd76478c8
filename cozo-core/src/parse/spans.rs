//! Where the parts of a tree stand in the script.
//!
//! ```
//! use cozo::{diag::SourceSpan, parse::parse_expr};
//! assert_eq!(parse_expr(" a + 1 ").unwrap().span(), SourceSpan(1, 5));
//! ```

use super::ast::{Atom, Expr, FixedInput, Formula};
use crate::diag::SourceSpan;

impl Expr {
    /// Where the expression stands, without parentheses around it.
    pub fn span(&self) -> SourceSpan {
        match self {
            Expr::Literal(_, span)
            | Expr::List(_, span)
            | Expr::Data(_, span)
            | Expr::Rows(_, span)
            | Expr::Object(_, span)
            | Expr::Call { span, .. } => *span,
            Expr::Parameter(name) | Expr::Variable(name) => name.span,
        }
    }
}

impl Atom {
    /// Where the atom stands.
    pub fn span(&self) -> SourceSpan {
        match self {
            Atom::Rule(apply) => apply.span,
            Atom::Stored(apply) => apply.span,
            Atom::Search(apply) => apply.span,
            Atom::Unify { span, .. } | Atom::Unnest { span, .. } => *span,
            Atom::Filter(expr) => expr.span(),
        }
    }
}

impl Formula {
    /// Where the formula stands, from its first part to its last.
    pub fn span(&self) -> SourceSpan {
        match self {
            Formula::And(parts) | Formula::Or(parts) => match (parts.first(), parts.last()) {
                (Some(first), Some(last)) => first.span().merge(last.span()),
                _ => SourceSpan::default(),
            },
            Formula::Not(_, span) => *span,
            Formula::Atom(atom) => atom.span(),
        }
    }
}

impl FixedInput {
    /// Where the input stands.
    pub fn span(&self) -> SourceSpan {
        match self {
            FixedInput::Rule { span, .. } | FixedInput::Stored { span, .. } => *span,
        }
    }
}
