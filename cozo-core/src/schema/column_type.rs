//! Column types and how they are written.

use std::fmt::{self, Display, Formatter};

/// A column type.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ColumnType {
    /// The type of what is not null.
    pub base: BaseType,
    /// Whether null is allowed.
    pub nullable: bool,
}

/// A column type without its nullability.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum BaseType {
    /// Any value.
    Any,
    /// Booleans.
    Bool,
    /// Integers.
    Int,
    /// Floats.
    Float,
    /// Strings.
    String,
    /// Byte strings.
    Bytes,
    /// UUIDs.
    Uuid,
    /// JSON values.
    Json,
    /// Times with an assertion or a retraction.
    Validity,
    /// Lists of one element type, perhaps of a fixed length.
    List(Box<ColumnType>, Option<usize>),
    /// Lists of fixed length with a type for each place.
    Tuple(Vec<ColumnType>),
    /// Vectors of floats of fixed length.
    Vector {
        /// 64-bit elements.
        wide: bool,
        /// The number of elements.
        len: usize,
    },
}

impl ColumnType {
    /// The type of a column without a type: anything, also null.
    pub const ANY: ColumnType = ColumnType { base: BaseType::Any, nullable: true };
}

/// As `::columns` shows it, without blanks.
impl Display for ColumnType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.base)?;
        f.write_str(if self.nullable { "?" } else { "" })
    }
}

impl Display for BaseType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            BaseType::Any => f.write_str("Any"),
            BaseType::Bool => f.write_str("Bool"),
            BaseType::Int => f.write_str("Int"),
            BaseType::Float => f.write_str("Float"),
            BaseType::String => f.write_str("String"),
            BaseType::Bytes => f.write_str("Bytes"),
            BaseType::Uuid => f.write_str("Uuid"),
            BaseType::Json => f.write_str("Json"),
            BaseType::Validity => f.write_str("Validity"),
            BaseType::List(element, None) => write!(f, "[{element}]"),
            BaseType::List(element, Some(len)) => write!(f, "[{element};{len}]"),
            BaseType::Tuple(elements) => {
                f.write_str("(")?;
                for (i, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if i > 0 { "," } else { "" })?;
                }
                f.write_str(")")
            }
            BaseType::Vector { wide, len } => write!(f, "<F{};{len}>", if *wide { 64 } else { 32 }),
        }
    }
}
