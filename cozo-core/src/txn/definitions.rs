//! The definitions that a transaction changes: indices, and relations that are dropped, renamed or replaced.
//!
//! ```text
//! redefine   the same rows under another definition: another name, other names of columns, one index more or fewer
//! replace    another relation under the same name: it begins without rows, and the old one goes
//! ```

use std::sync::Arc;

use super::ephemeral::is_ephemeral;
use super::error::TxnError;
use super::transaction::Transaction;
use crate::schema::{IndexDefinition, RelationId, RelationSchema, SchemaRef, SearchIndex, SearchOptions, with_indices};
use crate::storage::ChangeSet;
use crate::value::SmallStr;

impl Transaction {
    /// Creates an empty index of a relation, which the caller fills. Rows that another transaction writes to the relation
    /// meanwhile would be missing from it, so they make the commit fail.
    pub fn create_index(&mut self, relation: &SchemaRef, name: &SmallStr, listed: &[usize]) -> IndexDefinition {
        self.pin();
        let index = IndexDefinition::new(relation, name, listed, self.pipeline().next_relation_id());
        self.redefine(relation, relation.with_index(index.clone()));
        let writes = self.writes_mut();
        writes.create(index.schema.clone());
        writes.request.whole.push(relation.id);
        index
    }

    /// Creates an empty search index of a relation, which the caller fills, under the same conditions.
    pub fn create_search(&mut self, relation: &SchemaRef, name: &SmallStr, options: SearchOptions) -> SearchIndex {
        self.pin();
        let search = self.define_search(relation, name, options, true);
        self.writes_mut().request.whole.push(relation.id);
        search
    }

    /// Creates a search index that is not ready. Writers of the relation note in it what changes from its commit on.
    pub fn begin_search(&mut self, relation: &SchemaRef, name: &SmallStr, options: SearchOptions) -> SearchIndex {
        self.define_search(relation, name, options, false)
    }

    fn define_search(
        &mut self,
        relation: &SchemaRef,
        name: &SmallStr,
        options: SearchOptions,
        is_ready: bool,
    ) -> SearchIndex {
        let made = SearchIndex::new(relation, name, options, || self.pipeline().next_relation_id());
        let search = SearchIndex { is_ready, ..made };
        self.redefine(relation, relation.with_search(search.clone()));
        let writes = self.writes_mut();
        // The bands of near-duplicates are stored as they are listed.
        search.stored.iter().for_each(|schema| writes.create(schema.clone()));
        search
    }

    /// Makes a search index ready.
    pub fn finish_search(&mut self, relation: &SchemaRef, search: &SearchIndex) {
        let ready = SearchIndex { is_ready: true, ..search.clone() };
        self.redefine(relation, relation.without_search(&search.name).with_search(ready));
    }

    /// Drops a search index of a relation.
    pub fn drop_search(&mut self, relation: &SchemaRef, search: &SearchIndex) {
        self.redefine(relation, relation.without_search(&search.name));
        self.writes_mut().request.changes.dropped.extend(search.stored.iter().map(|schema| schema.id));
    }

    /// Drops an index of a relation.
    pub fn drop_index(&mut self, relation: &SchemaRef, index: &IndexDefinition) {
        self.redefine(relation, relation.without_index(&index.name));
        self.writes_mut().request.changes.dropped.push(index.schema.id);
    }

    /// Drops a relation that has no indices.
    pub fn drop_relation(&mut self, schema: &SchemaRef) -> Result<(), TxnError> {
        if is_ephemeral(schema.id) {
            self.ephemeral.schemas.remove(&schema.name);
            return self.ephemeral.apply(ChangeSet { dropped: vec![schema.id], ..Default::default() });
        }
        self.change_schema(&schema.name, None);
        let request = &mut self.writes_mut().request;
        request.changes.dropped.push(schema.id);
        // Rows that others have written meanwhile would be lost, though this transaction has not seen them.
        request.whole.push(schema.id);
        Ok(())
    }

    /// Replaces a relation's definition by one with the same identity, perhaps under another name.
    pub fn redefine(&mut self, old: &SchemaRef, new: RelationSchema) {
        if old.name != new.name {
            self.change_schema(&old.name, None);
        }
        let new = Arc::new(new.with_indices_in_step());
        self.change_schema(&new.name.clone(), Some(new));
    }

    /// Puts a new relation without rows in the place of one, with the indices that its definition has. Indices that the old
    /// relation has too, with the same identity, keep their rows. Rows that others write to the old one meanwhile make the
    /// commit fail.
    pub fn replace(&mut self, old: &SchemaRef, mut new: RelationSchema) -> SchemaRef {
        self.pin();
        new.id = self.pipeline().next_relation_id();
        let new = Arc::new(new.with_indices_in_step());
        self.change_schema(&new.name.clone(), Some(new.clone()));
        let kept: Vec<RelationId> = with_indices(&new).map(|schema| schema.id).collect();
        let gone = with_indices(old).map(|schema| schema.id).filter(|id| !kept.contains(id));
        let writes = self.writes_mut();
        writes.request.changes.dropped.extend(gone);
        writes.request.whole.push(old.id);
        writes.create(new.clone());
        new
    }
}
