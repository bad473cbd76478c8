//! Column specifications and column types.
//!
//! `{k: Int => v: [String]? default []}` has the key `k` and the value `v`.

use super::ast::{BaseTypeSpec, ColumnSource, ColumnSpec, ColumnSpecs, ColumnTypeSpec};
use super::builder::Builder;
use super::error::ParseError;
use super::grammar::{Node, Rule, next_part, parts, span_of, symbol};
use super::option::output_column;
use crate::diag::nearest;

/// The types that have a name.
const TYPE_NAMES: [&str; 9] = ["Any", "Bool", "Int", "Float", "String", "Bytes", "Uuid", "Json", "Validity"];

/// The element types of vectors, and whether they have 64 bits.
const ELEMENT_TYPES: [(&str, bool); 4] = [("F32", false), ("F64", true), ("Float", false), ("Double", true)];

impl Builder<'_> {
    /// `{keys => values}`
    pub fn column_specs(&self, node: Node<'_>) -> Result<ColumnSpecs, ParseError> {
        let span = span_of(&node);
        let mut lists = parts(node);
        let keys = self.column_list(next_part(&mut lists))?;
        let values = lists.next().map(|list| self.column_list(list)).transpose()?.unwrap_or_default();
        Ok(ColumnSpecs { keys, values, span })
    }

    fn column_list(&self, node: Node<'_>) -> Result<Vec<ColumnSpec>, ParseError> {
        parts(node).map(|column| self.column_spec(column)).collect()
    }

    fn column_spec(&self, node: Node<'_>) -> Result<ColumnSpec, ParseError> {
        let mut inner = parts(node);
        let name = symbol(&next_part(&mut inner));
        let mut spec = ColumnSpec { name, column_type: None, source: ColumnSource::SameName };
        for part in inner {
            match part.as_rule() {
                Rule::column_type => spec.column_type = Some(self.column_type(part)?),
                Rule::column_binding => {
                    spec.source = ColumnSource::Binding(output_column(next_part(&mut parts(part))));
                }
                _ => spec.source = ColumnSource::Default(self.expr(next_part(&mut parts(part)))?),
            }
        }
        Ok(spec)
    }

    /// A type with its question mark.
    pub fn column_type(&self, node: Node<'_>) -> Result<ColumnTypeSpec, ParseError> {
        let span = span_of(&node);
        let mut inner = parts(node);
        let base = self.base_type(next_part(&mut inner))?;
        Ok(ColumnTypeSpec { base, nullable: inner.next().is_some(), span })
    }

    fn base_type(&self, node: Node<'_>) -> Result<BaseTypeSpec, ParseError> {
        Ok(match node.as_rule() {
            Rule::type_list => {
                let mut inner = parts(node);
                let element = self.column_type(next_part(&mut inner))?;
                let length = inner.next().map(|length| self.expr(length)).transpose()?;
                BaseTypeSpec::List(Box::new(element), length)
            }
            Rule::type_tuple => {
                BaseTypeSpec::Tuple(parts(node).map(|element| self.column_type(element)).collect::<Result<_, _>>()?)
            }
            Rule::type_vector => self.vector_type(node)?,
            _ => self.named_type(node)?,
        })
    }

    fn named_type(&self, node: Node<'_>) -> Result<BaseTypeSpec, ParseError> {
        let name = node.as_str();
        if TYPE_NAMES.contains(&name) {
            return Ok(BaseTypeSpec::Named(name.into()));
        }
        Err(self.unknown_type("column type", &node, &TYPE_NAMES))
    }

    fn vector_type(&self, node: Node<'_>) -> Result<BaseTypeSpec, ParseError> {
        let mut inner = parts(node);
        let element = next_part(&mut inner);
        let length = next_part(&mut inner);
        let Some((_, wide)) = ELEMENT_TYPES.iter().find(|(name, _)| *name == element.as_str()) else {
            return Err(self.unknown_type("type of vector elements", &element, &ELEMENT_TYPES.map(|(name, _)| name)));
        };
        let len = usize::try_from(self.integer(&length)?)
            .map_err(|_| self.misplaced("a vector cannot be so long", span_of(&length), "write a smaller length"))?;
        Ok(BaseTypeSpec::Vector { wide: *wide, len })
    }

    fn unknown_type(&self, what: &str, node: &Node<'_>, known: &[&str]) -> ParseError {
        let help = match nearest(node.as_str(), known) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        self.misplaced(&format!("unknown {what} `{}`", node.as_str()), span_of(node), &help)
    }
}
