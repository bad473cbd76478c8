//! New relations that are created and filled as a whole, for imports of whole databases.
//!
//! ```text
//! fill    create, put, put, finish for each relation: the rows are in the engine, and nothing is visible
//! then    all definitions in one commit: every relation is there with its rows
//! then    an index after the other, each in a transaction of its own
//! ```
//!
//! Whatever fails, no relation remains.

use std::sync::Arc;

use super::core::Core;
use super::error::SessionError;
use crate::budget::Interrupt;
use crate::diag::wrap;
use crate::exec::build_index;
use crate::index::search;
use crate::program::extractor;
use crate::schema::{ColumnType, IndexDefinition, RelationSchema, SchemaRef, SearchIndex, coerce, coerce_column};
use crate::txn::{Filler, Transaction};
use crate::value::sort::last_of_each_key;
use crate::value::{Batch, Column, check_depth, compare_columns};

/// Creates relations; see [`DbInstance::fill_relations`](super::DbInstance::fill_relations).
pub struct NewRelations<'f, 'p> {
    filler: &'f mut Filler<'p>,
    /// The definitions with their indices, which are built at the end.
    definitions: Vec<RelationSchema>,
    now_micros: i64,
}

/// A relation that is being filled.
pub struct NewRelation<'r, 'p> {
    filler: &'r mut Filler<'p>,
    schema: SchemaRef,
    now_micros: i64,
    rows: usize,
    /// The row before.
    last: Option<Batch>,
    /// Whether the rows came in the order of their keys so far, each key once.
    ascends: bool,
}

impl<'p> NewRelations<'_, 'p> {
    /// Creates a relation like another, also of another database, without its rows. Fails if the name is taken.
    pub fn create(&mut self, definition: &RelationSchema) -> miette::Result<NewRelation<'_, 'p>> {
        let plain = RelationSchema { indices: vec![], searches: vec![], ..definition.clone() };
        let schema = self.filler.create(&plain)?;
        self.definitions.push(definition.clone());
        let now_micros = self.now_micros;
        Ok(NewRelation { filler: self.filler, schema, now_micros, rows: 0, last: None, ascends: true })
    }
}

impl NewRelation<'_, '_> {
    /// Puts rows with a column for each column of the relation, in this order. Rows in the order of their keys are fastest.
    pub fn put(&mut self, rows: Batch) -> miette::Result<()> {
        let (given, width) = (rows.len, self.schema.keys.len());
        let rows = last_of_each_key(self.fitting(rows)?, width);
        if rows.len < given {
            return Err(self.repeated().into());
        }
        let Some(end) = rows.len.checked_sub(1) else { return Ok(()) };
        if let Some(last) = &self.last {
            self.ascends &= compare_columns(&last.columns[..width], 0, &rows.columns[..width], 0).is_lt();
        }
        self.last = Some(rows.slice(end..rows.len));
        self.rows += given;
        Ok(self.filler.put(&self.schema, rows)?)
    }

    /// Ends the relation. Returns the number of its rows.
    pub fn finish(self) -> miette::Result<usize> {
        // Rows out of order may repeat a key of an earlier batch, which the engine has replaced then.
        if !self.ascends && self.filler.count(&self.schema)? != self.rows {
            return Err(self.repeated().into());
        }
        Ok(self.rows)
    }

    /// The rows with values of the types of their columns.
    fn fitting(&self, rows: Batch) -> miette::Result<Batch> {
        let is_table = rows.columns.iter().all(|column| column.len() == rows.len);
        if rows.columns.len() != self.schema.arity() || !is_table {
            return Err(SessionError::ImportShape { relation: self.schema.name.to_string() }.into());
        }
        let mut columns = Vec::with_capacity(rows.columns.len());
        for (column, definition) in rows.columns.into_iter().zip(self.schema.columns()) {
            if let Column::Any(values) = &column {
                values.iter().try_for_each(|value| check_depth(value, 0))?;
            }
            let coerced = coerce_column(column, &definition.column_type, self.now_micros);
            columns.push(coerced.map_err(|column| SessionError::BadValue {
                relation: self.schema.name.to_string(),
                column: definition.name.to_string(),
                reason: self.reason(&column, &definition.column_type),
            })?);
        }
        Ok(Batch::new(columns, rows.len))
    }

    /// Why a column does not fit a type.
    fn reason(&self, column: &Column, column_type: &ColumnType) -> String {
        let refusal = column.iter().find_map(|value| coerce(value, column_type, self.now_micros).err());
        refusal.map(|refusal| refusal.to_string()).unwrap_or_default()
    }

    fn repeated(&self) -> SessionError {
        SessionError::RepeatedKey { relation: self.schema.name.to_string() }
    }
}

/// Creates and fills relations, then builds their indices.
pub fn fill(
    core: &Core,
    interrupt: &Interrupt,
    fill: impl FnOnce(&mut NewRelations<'_, '_>) -> miette::Result<()>,
) -> miette::Result<()> {
    let mut definitions = vec![];
    core.pipeline.fill_beside(|filler| {
        let now_micros = Transaction::begin(&core.pipeline, false).now_micros();
        let mut new = NewRelations { filler, definitions: vec![], now_micros };
        fill(&mut new)?;
        definitions = new.definitions;
        Ok::<(), miette::Report>(())
    })?;
    let built = definitions.iter().try_for_each(|definition| build_indices(definition, core, interrupt));
    let Err(report) = built else { return Ok(()) };
    match definitions.iter().try_for_each(|definition| remove(definition, core)) {
        Ok(()) => Err(report),
        Err(_) => Err(wrap(report, "the new relations are filled, but not all have their indices")),
    }
}

/// Builds the indices of a definition for the relation of its name.
fn build_indices(definition: &RelationSchema, core: &Core, interrupt: &Interrupt) -> miette::Result<()> {
    let budget = core.budget(interrupt, 0.0);
    let _entered = budget.enter();
    for index in &definition.indices {
        interrupt.check()?;
        change(definition, core, |schema, txn| {
            let made: IndexDefinition = txn.create_index(schema, &index.name, &index.columns);
            Ok(build_index(schema, &made, txn, &core.spill)?)
        })?;
    }
    for index in &definition.searches {
        interrupt.check()?;
        change(definition, core, |schema, txn| {
            let made: SearchIndex = txn.create_search(schema, &index.name, index.options.clone());
            let extractor = extractor(schema, &made)?;
            Ok(search::build(schema, &made, &extractor, txn)?)
        })?;
    }
    Ok(())
}

/// Removes the relation of this name, with its indices.
fn remove(definition: &RelationSchema, core: &Core) -> miette::Result<()> {
    let found = |txn: &Transaction| txn.catalog().find(&definition.name).cloned();
    change(definition, core, |schema, txn| {
        let mut current = schema.clone();
        for index in &schema.indices {
            txn.drop_index(&current, index);
            current = found(txn).unwrap_or(current);
        }
        for index in &schema.searches {
            txn.drop_search(&current, index);
            current = found(txn).unwrap_or(current);
        }
        Ok(txn.drop_relation(&current)?)
    })
}

/// Changes the relation of this name in a transaction, if it is there.
fn change(
    definition: &RelationSchema,
    core: &Core,
    change: impl FnOnce(&SchemaRef, &mut Transaction) -> miette::Result<()>,
) -> miette::Result<()> {
    let mut txn = Transaction::begin(&core.pipeline, true);
    let Some(schema) = txn.catalog().find(&definition.name).map(Arc::clone) else { return Ok(()) };
    change(&schema, &mut txn)?;
    Ok(core.commit(&mut txn)?)
}
