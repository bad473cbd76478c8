//! Resolving expressions: functions by name, parameters by number, `if` and `cond`. Constant parts are folded.

use super::habits::suggested_function;
use super::{ProgramError, Resolver};
use crate::budget;
use crate::diag::SourceSpan;
use crate::expr::functions::Function;
use crate::expr::{Expr, functions};
use crate::parse::ast;
use crate::value::DataValue;

/// About how many bytes a part of an expression takes: in the program, in the plan, and in the tables of the run.
const EXPR_BYTES: usize = 1 << 8;

/// A call that names no function or aggregation, or does not have the arguments that it needs.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum CallError {
    /// No such function.
    #[error("there is no function '{name}'")]
    #[diagnostic(code(eval::no_implementation))]
    UnknownFunction {
        /// The name.
        name: String,
        /// The nearest names.
        #[help]
        hint: String,
        /// Where it stands.
        #[label("unknown function")]
        span: SourceSpan,
    },
    /// A function got too few or too many arguments.
    #[error("wrong number of arguments for '{name}': {found}")]
    #[diagnostic(code(parser::func_wrong_num_args))]
    FunctionArity {
        /// The function.
        name: String,
        /// How many it needs, and what they are.
        #[help]
        hint: String,
        /// The call.
        #[label("has {found}")]
        span: SourceSpan,
        /// How many it got.
        found: usize,
    },
    /// `if` with other than two or three arguments.
    #[error("wrong number of arguments for 'if'")]
    #[diagnostic(
        code(parser::bad_if),
        help("give a condition, the value where it holds and perhaps another: if(x > 0, 'plus', 'other')")
    )]
    IfArity {
        /// The call.
        #[label("has {found}")]
        span: SourceSpan,
        /// How many it got.
        found: usize,
    },
    /// `cond()` without arguments.
    #[error("'cond' has no arguments")]
    #[diagnostic(
        code(parser::empty_cond),
        help("give pairs of a condition and a value: cond(x > 0, 'plus', true, 'other')")
    )]
    EmptyCond {
        /// The call.
        #[label("no arguments")]
        span: SourceSpan,
    },
    /// No such aggregation.
    #[error("there is no aggregation '{name}'")]
    #[diagnostic(code(parser::aggr_not_found))]
    UnknownAggregation {
        /// The name.
        name: String,
        /// The nearest names.
        #[help]
        hint: String,
        /// Where it stands.
        #[label("unknown aggregation")]
        span: SourceSpan,
    },
}

impl Resolver<'_> {
    /// Resolves an expression that must not have variables.
    pub fn closed(&mut self, expr: &ast::Expr) -> Result<Expr, ProgramError> {
        let resolved = self.expr(expr)?;
        let mut unbound = None;
        resolved.walk(&mut |part| {
            if let Expr::Variable(name, span) = part {
                unbound.get_or_insert_with(|| ProgramError::NotConstant { name: name.to_string(), span: *span });
            }
        });
        unbound.map_or(Ok(resolved), Err)
    }

    /// Resolves an expression.
    pub fn expr(&mut self, expr: &ast::Expr) -> Result<Expr, ProgramError> {
        let resolved = self.expr_unfolded(expr)?;
        Ok(self.folding.fold(resolved))
    }

    /// Resolves an expression whose constant parts are folded later.
    fn expr_unfolded(&mut self, expr: &ast::Expr) -> Result<Expr, ProgramError> {
        budget::make_room(EXPR_BYTES)?;
        match expr {
            ast::Expr::Literal(value, span) => Ok(Expr::Constant(value.clone(), *span)),
            ast::Expr::Parameter(symbol) => {
                Ok(Expr::Parameter(self.parameters.number(&symbol.name, symbol.span), symbol.span))
            }
            ast::Expr::Variable(symbol) => Ok(Expr::Variable(symbol.name.clone(), symbol.span)),
            ast::Expr::List(items, span) => self.call(literal_function("list"), items.iter(), *span),
            ast::Expr::Data(value, span) if self.keeps_data => {
                Ok(Expr::Parameter(self.parameters.number_of_data(value), *span))
            }
            ast::Expr::Data(value, span) => Ok(Expr::Constant(DataValue::clone(value), *span)),
            ast::Expr::Rows(rows, span) => {
                Ok(Expr::Constant(DataValue::List(rows.rows().map(DataValue::List).collect()), *span))
            }
            ast::Expr::Object(pairs, span) => {
                let items = pairs.iter().flat_map(|(key, value)| [key, value]);
                self.call(literal_function("json_object"), items, *span)
            }
            ast::Expr::Call { function, args, span } => match function.name.as_str() {
                "if" => self.conditional_if(args, *span),
                "cond" => self.conditional_cond(args, *span),
                name => {
                    let found = functions::find(name).ok_or_else(|| CallError::UnknownFunction {
                        name: name.to_string(),
                        hint: suggested_function(name),
                        span: function.span,
                    })?;
                    if !found.arity.accepts(args.len()) {
                        let needs = format!("{}: {}", found.arity, found.signature());
                        return Err(wrong_arity(name, &needs, args.len(), *span));
                    }
                    self.call(found, args.iter(), *span)
                }
            },
        }
    }

    fn call<'e>(
        &mut self,
        function: &'static Function,
        args: impl Iterator<Item = &'e ast::Expr>,
        span: SourceSpan,
    ) -> Result<Expr, ProgramError> {
        let args = args.map(|arg| self.expr_unfolded(arg)).collect::<Result<_, _>>()?;
        Ok(Expr::Call { function, args, span })
    }

    fn conditional_if(&mut self, args: &[ast::Expr], span: SourceSpan) -> Result<Expr, ProgramError> {
        if !(2..=3).contains(&args.len()) {
            return Err(CallError::IfArity { span, found: args.len() }.into());
        }
        let mut branches = vec![(self.expr_unfolded(&args[0])?, self.expr_unfolded(&args[1])?)];
        if let Some(otherwise) = args.get(2) {
            let always = Expr::Constant(true.into(), otherwise.span());
            branches.push((always, self.expr_unfolded(otherwise)?));
        }
        Ok(Expr::Conditional { branches, span })
    }

    fn conditional_cond(&mut self, args: &[ast::Expr], span: SourceSpan) -> Result<Expr, ProgramError> {
        if args.is_empty() {
            return Err(CallError::EmptyCond { span }.into());
        }
        if !args.len().is_multiple_of(2) {
            let needs = "Need an even number of arguments: conditions and values";
            return Err(wrong_arity("cond", needs, args.len(), span));
        }
        let mut branches = vec![];
        for pair in args.chunks_exact(2) {
            branches.push((self.expr_unfolded(&pair[0])?, self.expr_unfolded(&pair[1])?));
        }
        Ok(Expr::Conditional { branches, span })
    }
}

fn literal_function(name: &str) -> &'static Function {
    functions::find(name).expect("the functions of literals are registered")
}

fn wrong_arity(name: &str, hint: &str, found: usize, span: SourceSpan) -> ProgramError {
    CallError::FunctionArity { name: name.to_string(), hint: hint.to_string(), span, found }.into()
}
