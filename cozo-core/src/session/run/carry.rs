//! Indices of a relation whose rows are made anew, by `:replace` or by a change of its columns.
//!
//! ```text
//!             the key and the columns of the index stay as they are      anything else
//! before      the index goes over to the new definition with its rows    -
//! after       -                                                          the index is built from the new rows
//! ```
//!
//! An index finds its columns by their names. One whose column is gone is an error, since dropping it is for the user to decide.

use std::sync::Arc;

use crate::diag::SourceSpan;
use crate::exec::build_index;
use crate::index::search;
use crate::program::extractor;
use crate::schema::{IndexDefinition, RelationSchema, SchemaRef, SearchIndex, SearchOptions};
use crate::session::error::SessionError;
use crate::spill::SpillSpace;
use crate::txn::Transaction;
use crate::value::SmallStr;

/// The columns that have the same values in the new relation.
pub type Unchanged<'a> = &'a dyn Fn(&str) -> bool;

/// The indices that are built when the rows are there.
#[derive(Default)]
pub struct ToBuild {
    indices: Vec<(SmallStr, Vec<usize>)>,
    searches: Vec<(SmallStr, SearchOptions)>,
}

/// Gives a new definition the indices of the one before. Those that keep their rows are in the definition at once.
pub fn carry_indices(
    old: &RelationSchema,
    new: &mut RelationSchema,
    unchanged: Unchanged<'_>,
    span: SourceSpan,
) -> miette::Result<ToBuild> {
    let mut to_build = ToBuild::default();
    let same_key = old.keys.len() == new.keys.len()
        && old.keys.iter().zip(&new.keys).all(|(old, new)| old.name == new.name && unchanged(&old.name));
    let (mut indices, mut searches) = (vec![], vec![]);
    for index in &old.indices {
        let listed = positions(old, new, listed(old, index), &index.schema.name, span)?;
        let is_kept = same_key && names(old, &index.columns).all(unchanged);
        match is_kept {
            true => indices.push(IndexDefinition::new(new, &index.name, &listed, index.schema.id)),
            false => to_build.indices.push((index.name.clone(), listed)),
        }
    }
    for index in &old.searches {
        let options = moved(old, new, index, span)?;
        check_search(new, &SearchIndex { options: options.clone(), ..index.clone() }, span)?;
        let is_kept = same_key && names(old, extractor(old, index)?.columns()).all(unchanged);
        match is_kept {
            true => searches.push(SearchIndex { options, ..index.clone() }),
            false => to_build.searches.push((index.name.clone(), options)),
        }
    }
    (new.indices, new.searches) = (indices, searches);
    Ok(to_build)
}

/// Fails if the expression of a search index does not fit the columns of a relation.
pub fn check_search(relation: &RelationSchema, index: &SearchIndex, span: SourceSpan) -> Result<(), SessionError> {
    match extractor(relation, index) {
        Ok(_) => Ok(()),
        Err(cause) => {
            let (relation, index) = (relation.name.to_string(), index.listing.name.to_string());
            Err(SessionError::IndexExpression { relation, index, cause: cause.to_string(), span })
        }
    }
}

impl ToBuild {
    /// Builds the indices from the rows of the relation.
    pub fn build(&self, relation: &SmallStr, txn: &mut Transaction, space: &Arc<SpillSpace>) -> miette::Result<()> {
        for (name, listed) in &self.indices {
            let schema = current(relation, txn);
            let index = txn.create_index(&schema, name, listed);
            build_index(&schema, &index, txn, space)?;
        }
        for (name, options) in &self.searches {
            let schema = current(relation, txn);
            let index = txn.create_search(&schema, name, options.clone());
            let extractor = extractor(&schema, &index)?;
            search::build(&schema, &index, &extractor, txn)?;
        }
        Ok(())
    }
}

fn current(relation: &SmallStr, txn: &Transaction) -> SchemaRef {
    txn.catalog().find(relation).cloned().expect("the transaction has made the relation")
}

/// The columns that an index was created with, without the keys that follow in their order.
fn listed<'i>(relation: &RelationSchema, index: &'i IndexDefinition) -> &'i [usize] {
    match index.sort_width(relation) {
        0 => &index.columns,
        width => &index.columns[..width],
    }
}

fn names<'r>(relation: &'r RelationSchema, columns: &'r [usize]) -> impl Iterator<Item = &'r str> {
    columns.iter().filter_map(|column| relation.columns().nth(*column)).map(|column| column.name.as_str())
}

/// Where columns stand in the new definition.
fn positions(
    old: &RelationSchema,
    new: &RelationSchema,
    columns: &[usize],
    index: &SmallStr,
    span: SourceSpan,
) -> Result<Vec<usize>, SessionError> {
    let place = |name: &str| {
        let missing = || SessionError::IndexColumn { index: index.to_string(), column: name.to_string(), span };
        new.column_index(name).ok_or_else(missing)
    };
    names(old, columns).map(place).collect()
}

/// The options of a search index over the new columns.
fn moved(
    old: &RelationSchema,
    new: &RelationSchema,
    index: &SearchIndex,
    span: SourceSpan,
) -> Result<SearchOptions, SessionError> {
    let mut options = index.options.clone();
    if let SearchOptions::Vectors(vectors) = &mut options {
        vectors.fields = positions(old, new, &vectors.fields, &index.listing.name, span)?;
        let is_same = |(was, is): (&usize, &usize)| {
            let of = |schema: &RelationSchema, at: usize| schema.columns().nth(at).map(|c| c.column_type.base.clone());
            of(old, *was) == of(new, *is)
        };
        let SearchOptions::Vectors(before) = &index.options else { unreachable!("a clone of it") };
        if let Some((was, _)) = before.fields.iter().zip(&vectors.fields).find(|pair| !is_same(*pair)) {
            let column = names(old, &[*was]).collect();
            return Err(SessionError::IndexedVectors { index: index.listing.name.to_string(), column, span });
        }
    }
    Ok(options)
}
