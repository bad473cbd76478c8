//! Building search indices in transactions of their own, while others read and write the relation.
//!
//! ```text
//! begin    the index exists, and is not ready: writers of the relation follow it from here on
//! build    vectors, texts: a segment of the rows in a snapshot; the keys of rows that change meanwhile are in the tail
//!          near-duplicates: the rows of one range of keys after the other; a range is read again if it changes before its commit
//! finish   the segment is written, and the index is ready
//! ```
//!
//! An index that is not ready is dropped if its building fails, or when the database is opened next.

use super::index_error::IndexError;
use crate::budget;
use crate::index::search::{self, Indexed, Segment};
use crate::program::extractor;
use crate::schema::{RelationId, SchemaRef, SearchIndex, SearchOptions};
use crate::session::results::NamedRows;
use crate::session::run::ScriptContext;
use crate::txn::{Transaction, TxnError};
use crate::value::SmallStr;

/// How often a definition or a row is written again if others change it meanwhile.
const ATTEMPTS: usize = 64;

/// The rows of near-duplicates that are committed together. Unit: rows. Bench: `search`.
const ROWS_PER_COMMIT: usize = 4096;

/// A search index while it is built.
struct Building<'a> {
    relation: &'a SmallStr,
    name: &'a SmallStr,
    context: &'a ScriptContext<'a>,
}

/// Builds an index of a relation.
pub fn create_online(
    relation: &SmallStr,
    name: &SmallStr,
    options: SearchOptions,
    context: &ScriptContext<'_>,
) -> miette::Result<NamedRows> {
    let building = Building { relation, name, context };
    building.in_turn(|schema, txn| {
        if schema.index(name).is_some() || schema.search(name).is_some() {
            return Err(building.dropped().into());
        }
        txn.begin_search(schema, name, options.clone());
        Ok(())
    })?;
    if let Err(error) = building.build().and_then(|(id, segment)| building.finish(id, segment.as_ref())) {
        building.in_turn(|schema, txn| {
            if let Some(index) = schema.search(name).filter(|index| !index.is_ready) {
                txn.drop_search(schema, index);
            }
            Ok(())
        })?;
        return Err(error);
    }
    context.core.sealer.note(std::slice::from_ref(relation));
    Ok(NamedRows::status("OK"))
}

impl Building<'_> {
    /// What the index holds, with the relation that stands for it. The rows of near-duplicates are written.
    fn build(&self) -> miette::Result<(RelationId, Option<Segment>)> {
        let version = self.context.core.pipeline.current();
        let schema = version.catalog.find(self.relation).ok_or_else(|| self.dropped())?;
        let index = schema.search(self.name).ok_or_else(|| self.dropped())?;
        let id = index.stored[1].id;
        if matches!(index.options, SearchOptions::Duplicates(_)) {
            drop(version);
            self.write_duplicates(id)?;
            return Ok((id, None));
        }
        let extractor = extractor(schema, index)?;
        let snapshot = &*version.snapshot;
        let of = Indexed { relation: schema, index, extractor: &extractor, snapshot, cache: None };
        Ok((id, Some(search::build_segment(of)?)))
    }

    /// Writes the bands and signatures of all rows, range by range.
    fn write_duplicates(&self, id: RelationId) -> miette::Result<()> {
        let (mut from, mut rows, mut attempt) = (None, ROWS_PER_COMMIT, 0);
        loop {
            budget::step(rows)?;
            let mut txn = Transaction::begin_held(&self.context.core.pipeline, true);
            let schema = txn.catalog().find(self.relation).cloned().ok_or_else(|| self.dropped())?;
            let index = self.mine(&schema, id)?;
            let extractor = extractor(&schema, index)?;
            let next = search::write_duplicates(&schema, index, &extractor, from.clone(), rows, &mut txn)?;
            match txn.commit() {
                Ok(()) if next.is_none() => return Ok(()),
                Ok(()) => (from, rows, attempt) = (next, ROWS_PER_COMMIT, 0),
                // Fewer rows are less likely to change.
                Err(TxnError::Conflict) if attempt < ATTEMPTS => (rows, attempt) = ((rows / 2).max(1), attempt + 1),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Writes the segment, and makes the index ready.
    fn finish(&self, id: RelationId, segment: Option<&Segment>) -> miette::Result<()> {
        self.in_turn(|schema, txn| {
            let index = self.mine(schema, id)?.clone();
            if let Some(segment) = segment {
                search::write_first(segment, &index, txn)?;
            }
            txn.finish_search(schema, &index);
            Ok(())
        })
    }

    /// The index, unless it was dropped meanwhile.
    fn mine<'s>(&self, schema: &'s SchemaRef, id: RelationId) -> Result<&'s SearchIndex, IndexError> {
        let index = schema.search(self.name).filter(|index| !index.is_ready && index.stored[1].id == id);
        index.ok_or_else(|| self.dropped())
    }

    fn dropped(&self) -> IndexError {
        IndexError::Dropped { name: self.name.to_string() }
    }

    /// Changes the definition of the relation in a transaction of its own, again if another definition changes meanwhile.
    fn in_turn(&self, change: impl Fn(&SchemaRef, &mut Transaction) -> miette::Result<()>) -> miette::Result<()> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let mut txn = Transaction::begin(&self.context.core.pipeline, true);
            let schema = txn.catalog().find(self.relation).cloned();
            change(&schema.ok_or_else(|| IndexError::Dropped { name: self.relation.to_string() })?, &mut txn)?;
            match txn.commit() {
                Err(TxnError::SchemaConflict(_) | TxnError::Conflict) if attempt < ATTEMPTS => {}
                outcome => return Ok(outcome?),
            }
        }
    }
}
