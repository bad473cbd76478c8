//! Column types, as the codec distinguishes them.

use crate::schema::{BaseType, ColumnType};

/// The encoding of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypeKind {
    pub base: Base,
    /// Whether a byte before the value tells null from other values. Tagged values need no such byte.
    pub nullable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Bool,
    Int,
    Float,
    Str,
    Bytes,
    Uuid,
    Validity,
    /// Tagged values.
    Any,
}

impl TypeKind {
    pub fn of(column: &ColumnType) -> Self {
        let base = match column.base {
            BaseType::Bool => Base::Bool,
            BaseType::Int => Base::Int,
            BaseType::Float => Base::Float,
            BaseType::String => Base::Str,
            BaseType::Bytes => Base::Bytes,
            BaseType::Uuid => Base::Uuid,
            BaseType::Validity => Base::Validity,
            _ => Base::Any,
        };
        TypeKind { base, nullable: column.nullable && base != Base::Any }
    }
}

/// The byte for a null of a nullable column.
pub(super) const NULL: u8 = 0;

/// The byte before any other value of a nullable column.
pub(super) const PRESENT: u8 = 1;
