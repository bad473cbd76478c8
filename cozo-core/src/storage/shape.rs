//! The numbers of columns of a relation.

use crate::schema::RelationSchema;

/// The number of columns of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelationShape {
    /// The number of key columns.
    pub keys: usize,
    /// The number of all columns.
    pub arity: usize,
}

impl From<&RelationSchema> for RelationShape {
    fn from(schema: &RelationSchema) -> Self {
        RelationShape { keys: schema.keys.len(), arity: schema.arity() }
    }
}
