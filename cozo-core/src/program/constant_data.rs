//! The data of constant rules: `rule[a, b] <- [[1, 2], [3, 4]]`.

use super::ProgramError;
use crate::diag::SourceSpan;
use crate::parse::ast;
use crate::value::{DataValue, SmallStr};

/// The rows of data that is a literal list of lists.
pub fn literal_rows(data: &ast::Expr) -> Option<Vec<&[ast::Expr]>> {
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
pub fn parameter_names(data: &ast::Expr) -> Option<Vec<SmallStr>> {
    let rows = literal_rows(data)?;
    let [row] = rows.as_slice() else { return None };
    let name = |cell: &ast::Expr| match cell {
        ast::Expr::Parameter(symbol) => Some(symbol.name.clone()),
        _ => None,
    };
    row.iter().map(name).collect()
}

/// The common width of rows; `None` if there are no rows.
pub fn check_widths(mut widths: impl Iterator<Item = usize>, span: SourceSpan) -> Result<Option<usize>, ProgramError> {
    let Some(first) = widths.next() else { return Ok(None) };
    if let Some(other) = widths.find(|width| *width != first) {
        return Err(ProgramError::RaggedConstant { span, first, other });
    }
    if first == 0 {
        return Err(ProgramError::EmptyConstantRow { span });
    }
    Ok(Some(first))
}

/// Checks that a value is a list of lists of one width, and returns that width.
pub fn check_constant_rows(value: &DataValue, span: SourceSpan) -> Result<Option<usize>, ProgramError> {
    let found = |value: &DataValue| value.type_name().to_string();
    let rows = value.get_slice().ok_or_else(|| ProgramError::BadConstantData { span, found: found(value) })?;
    if let Some(row) = rows.iter().find(|row| row.get_slice().is_none()) {
        return Err(ProgramError::BadConstantRow { span, found: found(row) });
    }
    check_widths(rows.iter().map(|row| row.get_slice().map_or(0, <[DataValue]>::len)), span)
}
