//! Reads of histories, each row as of its own time: `*price{item, cents @ sold_at}`.
//!
//! For each row so far the atom finds the state of the relation at the time that the row has: for every key the last entry at that
//! time or before, if it is an assertion. The time is an input of the atom, as the query of a search is. Key columns that other atoms
//! bind are looked up, so only their histories are read.
//!
//! ```text
//! ?[item, cents] := *sale{item, sold_at}, *price{item, cents @ sold_at}
//!                                         keys: item            outputs: cents
//! ```

use super::names::column_index;
use super::resolve::{check_once, variable};
use super::time_travel::check_history;
use super::{Atom, Formula, ProgramError, Resolver, Variable};
use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::parse::ast;
use crate::schema::SchemaRef;
use crate::value::SmallStr;

/// A read of a relation that keeps histories, as of the time of each row.
#[derive(Clone, Debug)]
pub struct AsOfRead {
    /// The relation.
    pub schema: SchemaRef,
    /// The time.
    pub time: Expr,
    /// Key columns other than the Validity that must equal expressions, which are bound before.
    pub keys: Vec<(usize, Expr)>,
    /// The columns that are bound, and the variables.
    pub outputs: Vec<(usize, Variable)>,
    /// The whole atom.
    pub span: SourceSpan,
}

impl AsOfRead {
    /// The variables that must be bound before it.
    pub fn inputs(&self) -> impl Iterator<Item = &SmallStr> {
        let of_keys = self.keys.iter().flat_map(|(_, value)| value.variables());
        self.time.variables().into_iter().chain(of_keys)
    }

    /// The variables that it can bind.
    pub fn bindings(&self) -> impl Iterator<Item = &SmallStr> {
        self.outputs.iter().map(|(_, variable)| &variable.name)
    }

    /// Whether a column tells histories apart.
    pub fn identifies(&self, column: usize) -> bool {
        column + 1 < self.schema.keys.len()
    }
}

impl Resolver<'_> {
    /// Resolves an application of a stored relation whose time has variables. What it finds may have to equal expressions.
    pub(super) fn as_of(&mut self, apply: &ast::StoredApply, time: &ast::Expr) -> Result<Formula, ProgramError> {
        let schema = self.readable(&apply.name)?;
        check_history(&schema, time)?;
        let args: Vec<(usize, &ast::Expr)> = match &apply.args {
            ast::StoredArgs::Positional(args) => {
                self.check_arity(&schema, args.len(), apply.span)?;
                args.iter().enumerate().collect()
            }
            ast::StoredArgs::Named(named) => {
                check_once(named.iter().map(|arg| &arg.column), "column")?;
                let place = |arg: &'_ ast::NamedArg| column_index(&schema, &arg.column);
                let places = named.iter().map(place).collect::<Result<Vec<_>, _>>()?;
                places.into_iter().zip(named.iter().map(|arg| &arg.expr)).collect()
            }
        };
        let (time, mut tests) = (self.expr(time)?, vec![]);
        let mut read = AsOfRead { schema, time, keys: vec![], outputs: vec![], span: apply.span };
        for (column, arg) in args {
            match arg {
                ast::Expr::Variable(symbol) if symbol.name == "_" => {}
                ast::Expr::Variable(symbol) => read.outputs.push((column, variable(symbol))),
                expr => {
                    let value = self.expr(expr)?;
                    if read.identifies(column) && value.variables().is_empty() {
                        read.keys.push((column, value));
                        continue;
                    }
                    let name = SmallStr::from(format!("~{}@{column}", apply.span.0));
                    let own = Variable { name, span: expr.span() };
                    read.outputs.push((column, own.clone()));
                    tests.push(Formula::Atom(Atom::Same(own, value)));
                }
            }
        }
        tests.insert(0, Formula::Atom(Atom::AsOf(read)));
        Ok(Formula::And(tests))
    }
}

/// Whether an expression has variables.
pub(super) fn has_variables(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::Variable(_) => true,
        ast::Expr::List(items, _) | ast::Expr::Call { args: items, .. } => items.iter().any(has_variables),
        ast::Expr::Object(pairs, _) => pairs.iter().any(|(key, value)| has_variables(key) || has_variables(value)),
        ast::Expr::Literal(..) | ast::Expr::Parameter(_) | ast::Expr::Data(..) | ast::Expr::Rows(..) => false,
    }
}
