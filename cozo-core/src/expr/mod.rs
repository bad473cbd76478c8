//! Resolved expressions, the functions they call, and the aggregations of rule heads.
//!
//! An [`Expr`] is evaluated over a [`Frame`] of columns, a batch at a time. A function has one body that takes values,
//! which is always right, and may have a kernel that takes typed columns, which is fast; the kernel declines what it
//! does not know.
//!
//! **expr never sees rules, relations or text**: names were resolved against the registries of [`functions`] and
//! [`aggregations`] before.

pub mod aggregations;
mod error;
mod eval;
pub mod functions;

use std::fmt::{self, Display, Formatter};

pub use error::{EvalError, FunctionError};
pub use eval::{Condition, Frame, Operand};

use crate::diag::SourceSpan;
use crate::value::{DataValue, SmallStr};
use functions::Function;

/// An expression whose functions are resolved.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A value.
    Constant(DataValue, SourceSpan),
    /// The parameter of this number, bound when the script runs.
    Parameter(usize, SourceSpan),
    /// A variable of the rule; the planner turns it into a slot.
    Variable(SmallStr, SourceSpan),
    /// The column of the frame with this number.
    Slot(usize, SourceSpan),
    /// A function of all its arguments.
    Call {
        /// The function.
        function: &'static Function,
        /// Its arguments, as many as its arity allows.
        args: Vec<Expr>,
        /// The whole call.
        span: SourceSpan,
    },
    /// The value of the first branch whose condition is true; null if none is. Only that branch is evaluated.
    Conditional {
        /// Conditions and values.
        branches: Vec<(Expr, Expr)>,
        /// The whole expression.
        span: SourceSpan,
    },
}

impl Expr {
    /// Whether it is a value or a variable by itself, which cannot fail.
    pub fn is_leaf(&self) -> bool {
        !matches!(self, Expr::Call { .. } | Expr::Conditional { .. })
    }

    /// Where the expression stands in the script.
    pub fn span(&self) -> SourceSpan {
        match self {
            Expr::Constant(_, span)
            | Expr::Parameter(_, span)
            | Expr::Variable(_, span)
            | Expr::Slot(_, span)
            | Expr::Call { span, .. }
            | Expr::Conditional { span, .. } => *span,
        }
    }

    /// The value, if the expression is one.
    pub fn as_constant(&self) -> Option<&DataValue> {
        match self {
            Expr::Constant(value, _) => Some(value),
            _ => None,
        }
    }

    /// Whether it is a constant or a parameter: its value is known before any row is read, without a computation.
    pub fn is_given(&self) -> bool {
        matches!(self, Expr::Constant(..) | Expr::Parameter(..))
    }

    /// Calls `visit` on this expression and all its parts, outermost first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        match self {
            Expr::Call { args, .. } => args.iter().for_each(|arg| arg.walk(visit)),
            Expr::Conditional { branches, .. } => {
                for (condition, value) in branches {
                    condition.walk(visit);
                    value.walk(visit);
                }
            }
            _ => {}
        }
    }

    /// Rebuilds the expression with its leaves (constants, parameters, variables, slots) replaced.
    pub fn map_leaves(&self, replace: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
        match self {
            Expr::Call { function, args, span } => {
                let args = args.iter().map(|arg| arg.map_leaves(replace)).collect();
                Expr::Call { function, args, span: *span }
            }
            Expr::Conditional { branches, span } => {
                let mut map =
                    |(condition, value): &(Expr, Expr)| (condition.map_leaves(replace), value.map_leaves(replace));
                Expr::Conditional { branches: branches.iter().map(&mut map).collect(), span: *span }
            }
            leaf => replace(leaf),
        }
    }

    /// The expression with its parameters replaced by their values.
    pub fn with_parameters(&self, parameters: &[&DataValue]) -> Expr {
        let replaced = self.map_leaves(&mut |leaf| match leaf {
            Expr::Parameter(index, span) => Expr::Constant(parameters[*index].clone(), *span),
            other => other.clone(),
        });
        replaced.fold_constants()
    }

    /// The variables that occur, in order, repeated ones repeated.
    pub fn variables(&self) -> Vec<&SmallStr> {
        let mut found = vec![];
        self.walk(&mut |part| {
            if let Expr::Variable(name, _) = part {
                found.push(name);
            }
        });
        found
    }

    /// Replaces parts that depend on nothing by their values. A part that fails is left to fail when it is evaluated.
    pub fn fold_constants(self) -> Expr {
        match self {
            Expr::Call { function, args, span } => {
                let args: Vec<Expr> = args.into_iter().map(Expr::fold_constants).collect();
                let values: Option<Vec<DataValue>> = args.iter().map(|arg| arg.as_constant().cloned()).collect();
                match values.filter(|_| function.deterministic).map(|values| (function.eval)(&values)) {
                    Some(Ok(value)) => Expr::Constant(value, span),
                    _ => Expr::Call { function, args, span },
                }
            }
            Expr::Conditional { branches, span } => {
                let fold = |(condition, value): (Expr, Expr)| (condition.fold_constants(), value.fold_constants());
                let branches: Vec<(Expr, Expr)> = branches.into_iter().map(fold).collect();
                let taken = branches.iter().position(|(condition, _)| condition.as_constant() != Some(&false.into()));
                let chosen = match taken.map(|taken| &branches[taken]) {
                    None => Expr::Constant(DataValue::Null, span),
                    Some((condition, value)) if condition.as_constant() == Some(&true.into()) => value.clone(),
                    Some(_) => return Expr::Conditional { branches, span },
                };
                // A branch that is never taken may still name a variable that nothing binds.
                let parts = branches
                    .iter()
                    .flat_map(|(condition, value)| condition.variables().into_iter().chain(value.variables()));
                match parts.count() == chosen.variables().len() {
                    true => chosen,
                    false => Expr::Conditional { branches, span },
                }
            }
            leaf => leaf,
        }
    }
}

/// In functional form: `add(x, 1)`.
impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Constant(value, _) => write!(f, "{value}"),
            Expr::Parameter(index, _) => write!(f, "$#{index}"),
            Expr::Variable(name, _) => write!(f, "{name}"),
            Expr::Slot(slot, _) => write!(f, "_{slot}"),
            Expr::Call { function, args, .. } => {
                write!(f, "{}(", function.name)?;
                for (i, arg) in args.iter().enumerate() {
                    write!(f, "{}{arg}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
            Expr::Conditional { branches, .. } => {
                f.write_str("cond(")?;
                for (i, (condition, value)) in branches.iter().enumerate() {
                    write!(f, "{}{condition}, {value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
        }
    }
}
