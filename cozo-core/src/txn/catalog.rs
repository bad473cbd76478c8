//! The catalog: the relations of the database by name.

use crate::schema::{RelationId, SchemaRef};
use crate::storage::ChangeSet;
use crate::value::SmallStr;

/// Schemas by name. A clone is cheap and shares everything.
#[derive(Clone, Default)]
pub struct Catalog {
    by_name: imbl::OrdMap<SmallStr, SchemaRef>,
    /// Grows with every change. A plan is valid for the version that it was made with, and for no other.
    pub version: u64,
}

impl Catalog {
    /// The relation of this name, or the index `relation:index`.
    pub fn find(&self, name: &str) -> Option<&SchemaRef> {
        self.by_name.get(name).or_else(|| {
            let (relation, index) = name.split_once(':')?;
            self.by_name.get(relation)?.readable_index(index)
        })
    }

    /// All relations in the order of their names. A schema contains its indices.
    pub fn iter(&self) -> impl Iterator<Item = &SchemaRef> {
        self.by_name.values()
    }

    /// The relation with this identity, under any name.
    pub fn find_id(&self, id: RelationId) -> Option<&SchemaRef> {
        self.by_name.values().find(|schema| schema.id == id)
    }

    /// Adds a relation. It replaces one of the same name.
    pub fn insert(&mut self, schema: SchemaRef) {
        self.by_name.insert(schema.name.clone(), schema);
    }

    /// Removes a relation.
    pub fn remove(&mut self, name: &str) {
        self.by_name.remove(name);
    }

    /// Applies the definitions of a change set. The version changes if there are any.
    pub fn apply(&mut self, changes: &ChangeSet, version: u64) {
        for (name, after) in &changes.definitions {
            match after {
                Some(schema) => self.insert(schema.clone()),
                None => self.remove(name),
            }
            self.version = version;
        }
    }
}
