//! Resolving `head <- data`: constant rules.
//!
//! | the data is | the rows are | their width is known |
//! |---|---|---|
//! | a long list of constants | columns, made by the parser | at once |
//! | a list of lists | a row of expressions each | at once |
//! | another expression without parameters | its value | at once |
//! | an expression with parameters | its value when the script runs | from the head, or from the present values of the parameters |

use serde_json::Value;

use super::{ConstantRows, Definition, Formula, HeadColumn, Predicate, ProgramError, Resolver};
use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::parse::ast;
use crate::value::{DataValue, JsonData, SmallStr};

/// Data of a constant rule that is not a list of rows of one width.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum ConstantDataError {
    /// The data of a constant rule is not a list.
    #[error("the data of a constant rule must be a list of lists")]
    #[diagnostic(code(fixed_rule::arg_wrong), help("give a list of rows, each a list: [[1, 'a'], [2, 'b']]"))]
    NotAList {
        /// The data.
        #[label("gave {found}")]
        span: SourceSpan,
        /// What was found instead.
        found: String,
    },
    /// An element of a constant rule's data is not a list.
    #[error("the data of a constant rule must be a list of lists")]
    #[diagnostic(code(parser::bad_row_for_const), help("every row is a list: [[1, 'a'], [2, 'b']]"))]
    RowNotAList {
        /// The data.
        #[label("gave {found}")]
        span: SourceSpan,
        /// What was found instead.
        found: String,
    },
    /// Rows of a constant rule have different widths.
    #[error("the rows of a constant rule have different lengths")]
    #[diagnostic(code(parser::const_data_arity_mismatch), help("give every row the same number of values"))]
    Ragged {
        /// The data.
        #[label("rows of {first} and of {other} values")]
        span: SourceSpan,
        /// The length of the first row.
        first: usize,
        /// The length of another.
        other: usize,
    },
    /// Rows of a constant rule have no values.
    #[error("the rows of a constant rule are empty")]
    #[diagnostic(code(parser::const_rule_empty_row), help("give every row at least one value"))]
    EmptyRow {
        /// The data.
        #[label("rows without values")]
        span: SourceSpan,
    },
}

impl Resolver<'_> {
    /// Resolves a rule whose body is data.
    pub(super) fn constant(&mut self, rule: &ast::Rule, data: &ast::Expr) -> Result<Predicate<Formula>, ProgramError> {
        if let Some(arg) = rule.head.args.iter().find(|arg| arg.aggregation.is_some()) {
            return Err(ProgramError::AggregationInConstant { span: arg.variable.span });
        }
        let (rows, width) = self.constant_rows(data, rule.head.args.len())?;
        let named = rule.head.args.len();
        let span = rule.span;
        let columns: Vec<SmallStr> = match width {
            _ if named > 0 => {
                if let Some(width) = width.filter(|width| *width != named) {
                    return Err(ProgramError::ConstantHead { head: named, data: width, span });
                }
                rule.head.args.iter().map(|arg| arg.variable.name.clone()).collect()
            }
            None => return Err(ProgramError::EmptyConstant { span }),
            Some(width) => {
                parameter_names(data).unwrap_or_else(|| (0..width).map(|i| SmallStr::from(format!("_{i}"))).collect())
            }
        };
        let columns = columns.into_iter().map(|name| HeadColumn { name, aggregation: None }).collect();
        Ok(Predicate { columns, definition: Definition::Constant(rows), span: rule.head.span })
    }

    /// The rows of a constant rule, and their width if it is known before the script runs.
    fn constant_rows(&mut self, data: &ast::Expr, named: usize) -> Result<(ConstantRows, Option<usize>), ProgramError> {
        let span = data.span();
        if let ast::Expr::Rows(rows, _) = data {
            return Ok((ConstantRows::Columns(rows.clone()), Some(rows.columns.len())));
        }
        if let Some(rows) = literal_rows(data) {
            let mut resolved: Vec<Vec<Expr>> = vec![];
            for row in rows {
                resolved.push(row.iter().map(|cell| self.closed(cell)).collect::<Result<_, _>>()?);
            }
            let width = check_widths(resolved.iter().map(Vec::len), span)?;
            return Ok((ConstantRows::Rows(resolved), width));
        }
        let expr = self.closed(data)?;
        if let Some(value) = expr.as_constant() {
            let width = check_constant_rows(value, span)?;
            return Ok((ConstantRows::List(expr), width));
        }
        if named > 0 {
            return Ok((ConstantRows::List(expr), None));
        }
        // Without a head, the width comes from the present values of the parameters.
        self.parameters.shape_depends_on_values = true;
        let values = self.parameters.bind(self.values)?;
        let value = expr
            .eval_closed(&values)
            .map_err(|error| ConstantDataError::NotAList { span, found: error.to_string() })?;
        let width = check_constant_rows(&value, span)?;
        Ok((ConstantRows::List(Expr::Constant(value, span)), width))
    }
}

/// The rows of data that is a literal list of lists.
fn literal_rows(data: &ast::Expr) -> Option<Vec<&[ast::Expr]>> {
    let ast::Expr::List(rows, _) = data else { return None };
    fn cells(row: &ast::Expr) -> Option<&[ast::Expr]> {
        match row {
            ast::Expr::List(cells, _) => Some(cells.as_slice()),
            _ => None,
        }
    }
    rows.iter().map(cells).collect()
}

/// The headers of `?[] <- [[$a, $b]]`: a single row of parameters names its columns by them.
fn parameter_names(data: &ast::Expr) -> Option<Vec<SmallStr>> {
    let rows = literal_rows(data)?;
    let [row] = rows.as_slice() else { return None };
    let name = |cell: &ast::Expr| match cell {
        ast::Expr::Parameter(symbol) => Some(symbol.name.clone()),
        _ => None,
    };
    row.iter().map(name).collect()
}

/// The common width of rows; `None` if there are no rows.
fn check_widths(mut widths: impl Iterator<Item = usize>, span: SourceSpan) -> Result<Option<usize>, ProgramError> {
    let Some(first) = widths.next() else { return Ok(None) };
    if let Some(other) = widths.find(|width| *width != first) {
        return Err(ConstantDataError::Ragged { span, first, other }.into());
    }
    if first == 0 {
        return Err(ConstantDataError::EmptyRow { span }.into());
    }
    Ok(Some(first))
}

/// Checks that a value is a list of lists of one width, and returns that width. Json arrays are lists.
pub fn check_constant_rows(value: &DataValue, span: SourceSpan) -> Result<Option<usize>, ProgramError> {
    let found = |value: &DataValue| value.type_name().to_string();
    let rows = value.elements()?.ok_or_else(|| ConstantDataError::NotAList { span, found: found(value) })?;
    let width = |row: &DataValue| match row {
        DataValue::List(cells) => Some(cells.len()),
        DataValue::Json(JsonData(Value::Array(cells))) => Some(cells.len()),
        _ => None,
    };
    if let Some(row) = rows.iter().find(|row| width(row).is_none()) {
        return Err(ConstantDataError::RowNotAList { span, found: found(row) }.into());
    }
    check_widths(rows.iter().filter_map(width), span)
}
