//! Column specifications and types.

use std::fmt::{self, Display, Formatter};

use super::commas;
use crate::parse::ast::{BaseTypeSpec, ColumnSource, ColumnSpec, ColumnSpecs, ColumnTypeSpec};

impl Display for ColumnSpecs {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        commas(f, &self.keys)?;
        if !self.values.is_empty() {
            f.write_str(" => ")?;
            commas(f, &self.values)?;
        }
        f.write_str("}")
    }
}

impl Display for ColumnSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if let Some(column_type) = &self.column_type {
            write!(f, ": {column_type}")?;
        }
        match &self.source {
            ColumnSource::SameName => Ok(()),
            ColumnSource::Binding(column) => write!(f, " = {column}"),
            ColumnSource::Default(expr) => write!(f, " default {expr}"),
        }
    }
}

impl Display for ColumnTypeSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.base, if self.nullable { "?" } else { "" })
    }
}

impl Display for BaseTypeSpec {
    /// Without blanks, as `::columns` shows types.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            BaseTypeSpec::Named(name) => f.write_str(name),
            BaseTypeSpec::List(element, None) => write!(f, "[{element}]"),
            BaseTypeSpec::List(element, Some(length)) => write!(f, "[{element};{length}]"),
            BaseTypeSpec::Tuple(elements) => {
                f.write_str("(")?;
                super::separated(f, ",", elements)?;
                f.write_str(")")
            }
            BaseTypeSpec::Vector { wide, len } => write!(f, "<{};{len}>", if *wide { "F64" } else { "F32" }),
        }
    }
}
