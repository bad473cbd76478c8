//! Column types as scripts write them.

use super::ProgramError;
use crate::parse::ast;
use crate::schema::{BaseType, ColumnType};
use crate::value::DataValue;

/// The column type that a specification writes.
pub fn resolve_column_type(
    spec: &ast::ColumnTypeSpec,
    length: &mut dyn FnMut(&ast::Expr) -> Result<DataValue, ProgramError>,
) -> Result<ColumnType, ProgramError> {
    let base = match &spec.base {
        ast::BaseTypeSpec::Named(name) => match name.as_str() {
            "Bool" => BaseType::Bool,
            "Int" => BaseType::Int,
            "Float" => BaseType::Float,
            "String" => BaseType::String,
            "Bytes" => BaseType::Bytes,
            "Uuid" => BaseType::Uuid,
            "Json" => BaseType::Json,
            "Validity" => BaseType::Validity,
            _ => BaseType::Any,
        },
        ast::BaseTypeSpec::List(element, len) => {
            let len = match len {
                None => None,
                Some(expr) => {
                    let value = length(expr)?.get_int().and_then(|len| usize::try_from(len).ok());
                    Some(value.ok_or(ProgramError::ListLength { span: expr.span() })?)
                }
            };
            BaseType::List(Box::new(resolve_column_type(element, length)?), len)
        }
        ast::BaseTypeSpec::Tuple(elements) => {
            let elements = elements.iter().map(|element| resolve_column_type(element, length));
            BaseType::Tuple(elements.collect::<Result<_, _>>()?)
        }
        ast::BaseTypeSpec::Vector { wide, len } => BaseType::Vector { wide: *wide, len: *len },
    };
    Ok(ColumnType { base, nullable: spec.nullable })
}
