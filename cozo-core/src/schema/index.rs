//! Ordinary indices: other orders in which the rows of a relation are stored.
//!
//! ```text
//! user {uid => city, age}      ::index create user:place {city}
//! user:place {city, uid}       the columns listed, then the keys not listed
//! ```
//!
//! An index is a relation of its own that has key columns only. It belongs to the definition of its relation, so that it is
//! renamed, found and checked together with it.

use super::{AccessLevel, RelationId, RelationSchema, SchemaRef, SearchIndex, Triggers};
use crate::value::SmallStr;

/// An ordinary index of a relation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct IndexDefinition {
    /// Its name, without that of the relation.
    pub name: SmallStr,
    /// The index as a relation: `relation:name`, all columns are keys.
    pub schema: SchemaRef,
    /// For each column of the index its position in the relation. Every key column of the relation is among them.
    pub columns: Vec<usize>,
}

impl IndexDefinition {
    /// An index of `relation` on the listed columns, none of them twice.
    pub fn new(relation: &RelationSchema, name: &SmallStr, listed: &[usize], id: RelationId) -> Self {
        let rest = (0..relation.keys.len()).filter(|key| !listed.contains(key));
        let columns: Vec<usize> = listed.iter().copied().chain(rest).collect();
        let key = |position: &usize| {
            let column = relation.columns().nth(*position);
            column.expect("the columns of an index are columns of its relation").clone()
        };
        let schema = RelationSchema {
            id,
            name: SmallStr::from(format!("{}:{name}", relation.name)),
            keys: columns.iter().map(key).collect(),
            values: vec![],
            // An index can be read like its relation, but never written by scripts.
            access_level: relation.access_level.min(AccessLevel::ReadOnly),
            description: String::new(),
            triggers: Triggers::default(),
            indices: vec![],
            searches: vec![],
        };
        IndexDefinition { name: name.clone(), schema: SchemaRef::new(schema), columns }
    }

    /// How many leading columns decide a sort of rows that come in key order. The columns after them are keys in the order of the
    /// relation, which a stable sort leaves as they are.
    pub fn sort_width(&self, relation: &RelationSchema) -> usize {
        let ordered = |width: &usize| {
            let rest = (0..relation.keys.len()).filter(|key| !self.columns[..*width].contains(key));
            rest.eq(self.columns[*width..].iter().copied())
        };
        (0..self.columns.len()).find(ordered).unwrap_or(self.columns.len())
    }
}

/// A relation, then the relations that keep its indices.
pub fn with_indices(schema: &SchemaRef) -> impl Iterator<Item = &SchemaRef> {
    let indices = schema.indices.iter().map(|index| &index.schema);
    let searches = schema.searches.iter().flat_map(|search| &search.stored);
    std::iter::once(schema).chain(indices).chain(searches)
}

impl RelationSchema {
    /// The index of this name.
    pub fn index(&self, name: &str) -> Option<&IndexDefinition> {
        self.indices.iter().find(|index| index.name == name)
    }

    /// The search index of this name.
    pub fn search(&self, name: &str) -> Option<&SearchIndex> {
        self.searches.iter().find(|search| search.name == name)
    }

    /// Whether it has indices of any kind.
    pub fn has_indices(&self) -> bool {
        !(self.indices.is_empty() && self.searches.is_empty())
    }

    /// The names of its indices as relations.
    pub fn index_names(&self) -> impl Iterator<Item = &SmallStr> {
        let searches = self.searches.iter().map(|search| &search.listing.name);
        self.indices.iter().map(|index| &index.schema.name).chain(searches)
    }

    /// An index as a relation that scripts can read, by its name without that of the relation.
    pub fn readable_index(&self, name: &str) -> Option<&SchemaRef> {
        let searches = self.searches.iter().flat_map(SearchIndex::readable);
        let named = |schema: &&SchemaRef| schema.name.strip_prefix(&*self.name).is_some_and(|rest| &rest[1..] == name);
        self.index(name).map(|index| &index.schema).or_else(|| searches.into_iter().find(named))
    }

    /// This definition with one more search index.
    pub fn with_search(&self, search: SearchIndex) -> Self {
        let mut changed = self.clone();
        let place = changed.searches.partition_point(|other| other.name < search.name);
        changed.searches.insert(place, search);
        changed
    }

    /// This definition without a search index.
    pub fn without_search(&self, name: &str) -> Self {
        let mut changed = self.clone();
        changed.searches.retain(|search| search.name != name);
        changed
    }

    /// This definition with one more index.
    pub fn with_index(&self, index: IndexDefinition) -> Self {
        let mut changed = self.clone();
        let place = changed.indices.partition_point(|other| other.name < index.name);
        changed.indices.insert(place, index);
        changed
    }

    /// This definition without an index.
    pub fn without_index(&self, name: &str) -> Self {
        let mut changed = self.clone();
        changed.indices.retain(|index| index.name != name);
        changed
    }

    /// This definition with indices that have its name and its access level.
    pub fn with_indices_in_step(self) -> Self {
        let remake =
            |index: &IndexDefinition| IndexDefinition::new(&self, &index.name, &index.columns, index.schema.id);
        let indices = self.indices.iter().map(remake).collect();
        let searches = self.searches.iter().map(|search| search.remade(&self)).collect();
        RelationSchema { indices, searches, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{ColumnDefinition, ColumnType};

    #[test]
    fn keys_not_listed_follow_and_need_no_sorting() {
        let column = |name: &str| ColumnDefinition { name: name.into(), column_type: ColumnType::ANY, default: None };
        let relation = RelationSchema {
            id: RelationId(1),
            name: "r".into(),
            keys: ["a", "b", "c"].map(column).to_vec(),
            values: ["d", "e"].map(column).to_vec(),
            access_level: AccessLevel::Normal,
            description: String::new(),
            triggers: Triggers::default(),
            indices: vec![],
            searches: vec![],
        };
        for (listed, columns, sorted) in [
            (vec![3], vec![3, 0, 1, 2], 1),
            (vec![3, 0], vec![3, 0, 1, 2], 1),
            (vec![1], vec![1, 0, 2], 1),
            (vec![4, 2], vec![4, 2, 0, 1], 2),
            (vec![0], vec![0, 1, 2], 0),
            (vec![0, 3], vec![0, 3, 1, 2], 2),
        ] {
            let index = IndexDefinition::new(&relation, &"i".into(), &listed, RelationId(2));
            assert_eq!((index.columns.clone(), index.sort_width(&relation)), (columns, sorted), "{listed:?}");
            assert_eq!(index.schema.name, "r:i");
        }
    }
}
