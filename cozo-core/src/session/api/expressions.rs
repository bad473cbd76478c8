//! Expressions on their own, for hosts that compute with CozoScript.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::show_in;
use crate::expr::Expr;
use crate::parse::parse_expr;
use crate::program::{Parameters, ProgramError, Resolver};
use crate::value::DataValue;

/// The value of an expression. `params` has its `$` parameters, and `vars` its variables.
pub fn evaluate_expressions(
    src: &str,
    params: &BTreeMap<String, DataValue>,
    vars: &BTreeMap<String, DataValue>,
) -> miette::Result<DataValue> {
    let evaluate = || -> miette::Result<DataValue> {
        let (expr, parameters) = resolve(src, params)?;
        let mut unbound = None;
        let closed = expr.map_leaves(&mut |leaf| match leaf {
            Expr::Variable(name, span) => match vars.get(name.as_str()) {
                Some(value) => Expr::Constant(value.clone(), *span),
                None => {
                    let name = name.to_string();
                    unbound.get_or_insert(ProgramError::UnboundVariable { name, span: *span });
                    leaf.clone()
                }
            },
            other => other.clone(),
        });
        match unbound {
            Some(error) => Err(error.into()),
            None => Ok(closed.eval_closed(&parameters.bind(params)?)?),
        }
    };
    evaluate().map_err(|report| show_in(report, src))
}

/// The variables of an expression.
pub fn get_variables(src: &str, params: &BTreeMap<String, DataValue>) -> miette::Result<BTreeSet<String>> {
    let (expr, _) = resolve(src, params).map_err(|report| show_in(report, src))?;
    Ok(expr.variables().into_iter().map(|name| name.to_string()).collect())
}

/// The expression and its parameters, all of which have values.
fn resolve(src: &str, params: &BTreeMap<String, DataValue>) -> miette::Result<(Expr, Parameters)> {
    let mut resolver = Resolver::standalone(params);
    let expr = resolver.expr(&parse_expr(src)?)?;
    resolver.parameters.bind(params)?;
    Ok((expr, resolver.parameters))
}
