//! Results and imports as columns, for hosts that work on columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{DbInstance, NamedRows, ScriptMutability, transfer};
use crate::budget::{Interrupt, Stop, make_room};
use crate::exec::MAX_BATCH_ROWS;
use crate::fork::Process;
use crate::schema::SchemaRef;
use crate::storage::{KeyRange, Snapshot};
use crate::txn::{Transaction, TxnError};
use crate::value::{Batch, DataValue, Tuple};

/// Columns under headers: the result of a script in the engine's own form, without a value for each cell.
///
/// The type of a column follows from its values, not from a declaration. Without rows, or with only nulls, it has no type.
#[derive(Clone, Debug, Default)]
pub struct NamedColumns {
    /// A header for each column.
    pub headers: Vec<String>,
    /// The columns, all of the same length.
    pub rows: Batch,
    /// A further result, if a script returns several.
    pub next: Option<Box<NamedColumns>>,
}

impl NamedColumns {
    /// Columns under headers.
    pub fn new(headers: Vec<String>, rows: Batch) -> Self {
        NamedColumns { headers, rows, next: None }
    }
}

/// A type for the result of a script.
pub trait ScriptResult: Sized {
    /// The result of a query that returns columns.
    fn of_columns(headers: Vec<String>, rows: Batch) -> Result<Self, Stop>;

    /// The result of any other statement.
    fn of_rows(rows: NamedRows) -> Result<Self, Stop>;

    /// The result of a query that returns one row or none.
    fn of_row(headers: &[String], row: Option<Tuple>) -> Result<Self, Stop> {
        Self::of_rows(NamedRows::new(headers.to_vec(), row.into_iter().collect()))
    }
}

/// Rows without headers.
impl ScriptResult for Vec<Tuple> {
    fn of_columns(headers: Vec<String>, rows: Batch) -> Result<Self, Stop> {
        Ok(NamedRows::from_batch(headers, &rows)?.rows)
    }

    fn of_rows(rows: NamedRows) -> Result<Self, Stop> {
        Ok(rows.rows)
    }

    fn of_row(_: &[String], row: Option<Tuple>) -> Result<Self, Stop> {
        Ok(row.into_iter().collect())
    }
}

impl ScriptResult for NamedRows {
    fn of_columns(headers: Vec<String>, rows: Batch) -> Result<Self, Stop> {
        NamedRows::from_batch(headers, &rows)
    }

    fn of_rows(rows: NamedRows) -> Result<Self, Stop> {
        Ok(rows)
    }
}

impl ScriptResult for NamedColumns {
    fn of_columns(headers: Vec<String>, rows: Batch) -> Result<Self, Stop> {
        Ok(NamedColumns::new(headers, rows))
    }

    fn of_rows(result: NamedRows) -> Result<Self, Stop> {
        make_room(result.memory_bytes())?;
        let rows = Batch::from_rows(result.headers.len(), result.rows.iter().map(Vec::as_slice));
        let next = result.next.map(|next| NamedColumns::of_rows(*next).map(Box::new)).transpose()?;
        Ok(NamedColumns { headers: result.headers, rows, next })
    }
}

/// A stored relation at one moment. It can be read batch by batch, any number of times.
pub struct RelationReader {
    schema: SchemaRef,
    snapshot: Arc<dyn Snapshot>,
    /// The process that has the files of the snapshot open.
    process: Process,
}

impl Drop for RelationReader {
    fn drop(&mut self) {
        if !self.process.is_current() {
            std::mem::forget(self.snapshot.clone());
        }
    }
}

impl RelationReader {
    pub(super) fn new(schema: SchemaRef, txn: &mut Transaction) -> Result<Self, TxnError> {
        let snapshot = txn.view(&[schema.id])?.shared(schema.id).clone();
        Ok(RelationReader { schema, snapshot, process: Process::current() })
    }

    /// The names of the columns, keys first.
    pub fn headers(&self) -> Vec<String> {
        self.schema.columns().map(|column| column.name.to_string()).collect()
    }

    /// The types of the columns, as a script spells them.
    pub fn types(&self) -> Vec<String> {
        self.schema.columns().map(|column| column.column_type.to_string()).collect()
    }

    /// The number of key columns.
    pub fn keys(&self) -> usize {
        self.schema.keys.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> miette::Result<bool> {
        self.process.check()?;
        let mut cursor = self.snapshot.scan(self.schema.id, &KeyRange::all(), &[])?;
        Ok(cursor.next_batch(1)?.is_none())
    }

    /// All rows in the order of their keys, some thousand at a time.
    pub fn batches(&self) -> miette::Result<impl Iterator<Item = miette::Result<Batch>> + '_> {
        self.process.check()?;
        let columns: Vec<usize> = (0..self.schema.arity()).collect();
        let mut cursor = self.snapshot.scan(self.schema.id, &KeyRange::all(), &columns)?;
        Ok(std::iter::from_fn(move || cursor.next_batch(MAX_BATCH_ROWS).map_err(Into::into).transpose()))
    }

    /// All rows at once.
    pub(super) fn named_rows(&self) -> miette::Result<NamedRows> {
        let mut rows = Batch::empty(self.schema.arity());
        for batch in self.batches()? {
            let batch = batch?;
            make_room(batch.memory_bytes())?;
            rows.append(&batch);
        }
        Ok(NamedRows::from_batch(self.headers(), &rows)?)
    }
}

impl DbInstance {
    /// [`DbInstance::run_script_interruptible`] with the result as columns.
    ///
    /// ```
    /// # fn main() -> cozo::Result<()> {
    /// use cozo::ScriptMutability::Immutable;
    /// let db = cozo::DbInstance::default();
    /// let result = db.run_script_columns("?[x] := x in [2, 1]", Default::default(), Immutable, &Default::default())?;
    /// assert_eq!(result.rows.columns[0].as_dense_ints(), Some([1, 2].as_slice()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn run_script_columns(
        &self,
        payload: &str,
        params: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: &Interrupt,
    ) -> miette::Result<NamedColumns> {
        self.run_script_as(payload, params, mutability, Some(interrupt))
    }

    /// The rows of a relation as they are now, for exports that hold few rows at a time. Its index `i` has the name `relation:i`.
    ///
    /// ```
    /// # fn main() -> cozo::Result<()> {
    /// let db = cozo::DbInstance::default();
    /// db.run_default("?[k, v] <- [[1, 'a'], [2, 'b']] :create r {k: Int => v}")?;
    /// let reader = db.read_relation("r")?;
    /// db.run_default("?[k] <- [[1]] :rm r {k}")?;
    /// assert_eq!((reader.headers(), reader.keys()), (vec!["k".to_string(), "v".to_string()], 1));
    /// let rows = reader.batches()?.map(|batch| batch.map(|batch| batch.len));
    /// assert_eq!(rows.sum::<cozo::Result<usize>>()?, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_relation(&self, relation: &str) -> miette::Result<RelationReader> {
        transfer::read(self.pipeline()?, relation)
    }

    /// [`DbInstance::import_relations`] for one relation, from columns. If the name begins with `-`, rows are removed.
    ///
    /// Fails if there is not one column for each header, or if their lengths differ from the number of rows.
    pub fn import_columns(&self, relation: &str, data: NamedColumns) -> miette::Result<()> {
        self.import_relations_columns([(relation.to_string(), data)])
    }

    /// [`DbInstance::import_relations`] from columns; all relations or none.
    pub fn import_relations_columns(
        &self,
        relations: impl IntoIterator<Item = (String, NamedColumns)>,
    ) -> miette::Result<()> {
        transfer::import_columns(self.pipeline()?, relations)
    }
}
