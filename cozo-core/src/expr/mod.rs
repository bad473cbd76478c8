//! Resolved expressions, the functions that they call, and the aggregations of rule heads.
//!
//! An [`Expr`] is evaluated over a [`Frame`] of columns, a batch at a time. A function has one body that takes values and is the
//! reference. It may have a kernel that takes typed columns and is fast; a kernel declines what it does not handle.
//!
//! **expr never sees rules, relations or text**: names were resolved against the registries of [`functions`] and [`aggregations`]
//! before.

pub mod aggregations;
mod error;
mod eval;
mod folding;
pub mod functions;

use std::fmt::{self, Display, Formatter};

pub use error::{EvalError, FunctionError};
pub use eval::{Condition, Frame, Operand};
pub use folding::{Folding, not};

use crate::diag::SourceSpan;
use crate::value::{DataValue, SmallStr};
use functions::{Function, Makes};

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

    /// Whether it is a constant or a parameter, whose value is known before any row is read.
    pub fn is_given(&self) -> bool {
        matches!(self, Expr::Constant(..) | Expr::Parameter(..))
    }

    /// Whether a function in it may make a value that is much larger than its arguments.
    pub fn makes_much(&self) -> bool {
        self.any(&|part| matches!(part, Expr::Call { function, .. } if function.makes == Makes::Much))
    }

    /// How many times larger than a small value the result may be, if the inputs may be `copies` times larger.
    pub fn copies(&self, mut copies: usize) -> usize {
        self.walk(&mut |part| {
            if let Expr::Call { function, args, .. } = part {
                copies = match function.makes {
                    Makes::Little => copies,
                    Makes::Joined => copies.saturating_mul(args.len().max(1)),
                    Makes::Much => usize::MAX,
                };
            }
        });
        copies
    }

    /// Whether it always has the same value for the same row.
    pub fn is_deterministic(&self) -> bool {
        !self.any(&|part| matches!(part, Expr::Call { function, .. } if !function.deterministic))
    }

    /// Whether it may have another value for each row.
    fn varies(&self) -> bool {
        self.any(&|part| match part {
            Expr::Variable(..) | Expr::Slot(..) => true,
            Expr::Call { function, .. } => !function.deterministic,
            Expr::Constant(..) | Expr::Parameter(..) | Expr::Conditional { .. } => false,
        })
    }

    /// Whether a test holds for the expression or one of its parts.
    fn any(&self, test: &impl Fn(&Expr) -> bool) -> bool {
        let in_parts = || match self {
            Expr::Call { args, .. } => args.iter().any(|arg| arg.any(test)),
            Expr::Conditional { branches, .. } => {
                branches.iter().any(|(condition, value)| condition.any(test) || value.any(test))
            }
            _ => false,
        };
        test(self) || in_parts()
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
        Folding::default().fold(replaced)
    }

    /// The variables in the order of their occurrences, with repetitions.
    pub fn variables(&self) -> Vec<&SmallStr> {
        let mut found = vec![];
        self.walk(&mut |part| {
            if let Expr::Variable(name, _) = part {
                found.push(name);
            }
        });
        found
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
