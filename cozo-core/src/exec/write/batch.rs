//! Applying rows to a stored relation as columns.
//!
//! [`mutate`] works in three steps: take each column of the relation from its source (an output, a default, null, or the stored
//! row), coerce it to the column's type, and apply the operation. The first row that does not fit is an error that shows the row.
//!
//! | operation | reads stored rows | fails if | writes |
//! |---|---|---|---|
//! | `:put`, `:create`, `:replace` | for a report | | the rows |
//! | `:insert` | always | the key exists, or is given twice | the rows |
//! | `:update` | always | the key is missing | the stored rows with the new values |
//! | `:rm` | for a report | | removals |
//! | `:delete` | always | the key is missing, or is given twice | removals |
//! | `:ensure`, `:ensure_not` | always | the row is missing or differs; the key exists | nothing: the transaction relies on the keys |
//!
//! Rows are written sorted by key, and of rows with equal keys the last counts. If the relation has indices, the old rows are
//! always read: they say what the indices lose.

use smallvec::SmallVec;

use crate::budget::make_room;
use crate::diag::SourceSpan;
use crate::exec::thresholds::MAX_BATCH_ROWS;
use crate::expr::Frame;
use crate::expr::functions::shorten;
use crate::index::{search, secondary};
use crate::parse::ast::MutationOp;
use crate::plan::{MutationPlan, ValueSource};
use crate::schema::{ColumnDefinition, SchemaRef, coerce_column, coerce_to_vectors, surely_fits};
use crate::storage::{ChangeKind, Snapshot};
use crate::txn::Transaction;
use crate::value::sort::last_of_each_key;
use crate::value::{Batch, Column, DataValue};

use crate::exec::error::ExecError;
use crate::exec::error::RowError;

/// What an operation did; filled only if a report was asked for.
#[derive(Default)]
pub struct Mutated {
    /// The number of rows given.
    pub given: usize,
    /// The rows put (all columns) or asked to be removed (key columns), in order of application.
    pub new: Batch,
    /// The full rows that were there before, one for each key that existed.
    pub old: Batch,
}

impl Mutated {
    /// The new rows that are there in the end: of rows with equal keys the last.
    pub fn last_new(&self, key_width: usize) -> Batch {
        last_of_each_key(self.new.clone(), key_width)
    }
}

/// Applies any number of rows.
pub fn mutate(
    plan: &MutationPlan,
    schema: &SchemaRef,
    rows: Batch,
    parameters: &[&DataValue],
    txn: &mut Transaction,
    report: bool,
) -> Result<Mutated, ExecError> {
    let mutation = Mutation::new(plan, schema, parameters, txn);
    // The old rows say which entries the indices lose.
    let report = report || schema.has_indices();
    let given = mutation.columns(rows)?;
    match plan.op {
        MutationOp::Create | MutationOp::Replace | MutationOp::Put => mutation.put(given, txn, report),
        MutationOp::Insert => mutation.insert(given, txn, report),
        MutationOp::Update => mutation.update(given, txn, report),
        MutationOp::Rm | MutationOp::Delete => mutation.remove(given, txn, report),
        MutationOp::Ensure => mutation.ensure(given, txn),
        MutationOp::EnsureNot => mutation.ensure_not(given, txn),
    }
}

/// An operation on a relation.
pub struct Mutation<'a> {
    plan: &'a MutationPlan,
    schema: &'a SchemaRef,
    parameters: &'a [&'a DataValue],
    now_micros: i64,
}

/// Rows for a relation, coerced to its types, in order of application. Columns whose stored values stay are empty.
pub struct Given {
    pub rows: Batch,
}

impl<'a> Mutation<'a> {
    /// An operation of a transaction.
    pub fn new(
        plan: &'a MutationPlan,
        schema: &'a SchemaRef,
        parameters: &'a [&'a DataValue],
        txn: &Transaction,
    ) -> Self {
        Mutation { plan, schema, parameters, now_micros: txn.now_micros() }
    }

    fn key_width(&self) -> usize {
        self.schema.keys.len()
    }

    /// The columns of the relation, from the columns of the answer.
    pub fn columns(&self, mut rows: Batch) -> Result<Given, ExecError> {
        if self.are_as_given(&rows) {
            return Ok(Given { rows });
        }
        let mut columns: Vec<Column> = Vec::with_capacity(self.plan.sources.len());
        // The outputs that were moved, and the columns that they became.
        let mut moved: SmallVec<[(usize, usize); 8]> = SmallVec::new();
        for (source, definition) in self.plan.sources.iter().zip(self.schema.columns()) {
            let column = match source {
                ValueSource::Output(output) => match moved.iter().find(|(known, _)| known == output) {
                    Some((_, place)) => columns[*place].copy_range(0..rows.len)?,
                    None if surely_fits(&rows.columns[*output], &definition.column_type) => {
                        moved.push((*output, columns.len()));
                        columns.push(std::mem::take(&mut rows.columns[*output]));
                        continue;
                    }
                    None => match coerce_to_vectors(&rows.columns[*output], &definition.column_type)? {
                        Some(vectors) => vectors,
                        None => rows.columns[*output].copy_range(0..rows.len)?,
                    },
                },
                ValueSource::Default(expr) => {
                    let frame = Frame { columns: &[], len: rows.len, parameters: self.parameters };
                    expr.eval(frame)?.into_column(rows.len)?
                }
                ValueSource::Null => Column::Null(rows.len),
                ValueSource::Kept => {
                    columns.push(Column::default());
                    continue;
                }
            };
            match coerce_column(column, &definition.column_type, self.now_micros) {
                Ok(coerced) => columns.push(coerced),
                Err(column) => {
                    let misfit = columns.len();
                    moved
                        .iter()
                        .for_each(|(output, place)| rows.columns[*output] = std::mem::take(&mut columns[*place]));
                    return Err(self.misfit(&rows, &column, misfit));
                }
            }
        }
        Ok(Given { rows: Batch { columns, len: rows.len } })
    }

    /// Whether the columns of the answer are those of the relation, and need no change.
    fn are_as_given(&self, rows: &Batch) -> bool {
        let fits = |(i, definition): (usize, &ColumnDefinition)| {
            matches!(self.plan.sources[i], ValueSource::Output(output) if output == i)
                && surely_fits(&rows.columns[i], &definition.column_type)
        };
        self.plan.sources.len() == rows.columns.len()
            && self.schema.columns().take(rows.columns.len()).enumerate().all(fits)
    }

    /// Finds the row that does not fit, for the error.
    fn misfit(&self, rows: &Batch, column: &Column, index: usize) -> ExecError {
        let definition = self.schema.columns().nth(index).expect("the column was just coerced");
        let fit = |value| crate::schema::coerce(value, &definition.column_type, self.now_micros);
        let found = column.iter().enumerate().find_map(|(row, value)| fit(value).err().map(|error| (row, error)));
        let (row, cause) = found.expect("some value does not fit, or the column would");
        let (row, column, span) = (show(&rows.row(row)), definition.name.to_string(), self.plan.span);
        self.wrap(RowError::Coercion { row, column, cause, span })
    }

    fn wrap(&self, cause: RowError) -> ExecError {
        ExecError::Write { relation: self.schema.name.to_string(), cause }
    }

    fn assertion(&self, row: &[DataValue], reason: &'static str, help: &'static str) -> ExecError {
        let span: SourceSpan = self.plan.span;
        self.wrap(RowError::Assertion { row: show(row), reason, help, span })
    }

    /// See [`last_of_each_key`].
    fn sorted(&self, rows: Batch) -> Batch {
        last_of_each_key(rows, self.key_width())
    }

    /// For each row the full stored row with its key, if there is one.
    pub fn stored(&self, rows: &Batch, txn: &mut Transaction) -> Result<StoredRows, ExecError> {
        let view = txn.view(&[self.schema.id])?;
        let snapshot: &dyn Snapshot = view.of(self.schema.id);
        let columns: Vec<usize> = (0..self.schema.arity()).collect();
        let keys = &rows.columns[..self.key_width()];
        let mut stored = StoredRows { rows: Batch::empty(columns.len()), of: vec![None; rows.len] };
        if rows.is_empty() {
            return Ok(stored);
        }
        let mut cursor = snapshot.lookup(self.schema.id, keys, &columns, None)?;
        while let Some(matches) = cursor.next_matches(MAX_BATCH_ROWS)? {
            make_room(matches.batch.memory_bytes())?;
            for (i, row) in matches.probe_rows.iter().enumerate() {
                stored.of[*row as usize] = Some((stored.rows.len + i) as u32);
            }
            stored.rows.append(&matches.batch);
        }
        Ok(stored)
    }

    fn report(&self, new: Batch, sorted: &Batch, txn: &mut Transaction, report: bool) -> Result<Mutated, ExecError> {
        if !report {
            return Ok(Mutated::default());
        }
        Ok(Mutated { new, old: self.stored(sorted, txn)?.rows, given: 0 })
    }

    fn put(&self, given: Given, txn: &mut Transaction, report: bool) -> Result<Mutated, ExecError> {
        if !report {
            txn.write(self.schema, ChangeKind::Put, self.sorted(given.rows))?;
            return Ok(Mutated::default());
        }
        make_room(given.rows.memory_bytes())?;
        let sorted = self.sorted(given.rows.clone());
        let mutated = Mutated { old: self.stored(&sorted, txn)?.rows, new: given.rows, given: 0 };
        self.write(ChangeKind::Put, sorted, &mutated.old, txn)?;
        Ok(mutated)
    }

    /// Writes rows sorted by key, over the old rows, and updates the indices.
    fn write(&self, kind: ChangeKind, rows: Batch, old: &Batch, txn: &mut Transaction) -> Result<(), ExecError> {
        if !self.schema.indices.is_empty() {
            secondary::follow(self.schema, kind, &rows, old, txn);
        }
        if !self.schema.searches.is_empty() {
            search::follow(self.schema, &self.plan.extractors, kind, &rows, old, txn)?;
        }
        Ok(txn.write(self.schema, kind, rows)?)
    }

    fn insert(&self, given: Given, txn: &mut Transaction, report: bool) -> Result<Mutated, ExecError> {
        let stored = self.stored(&given.rows, txn)?;
        let help = "use ':put' to overwrite, or ':update' to change some columns";
        if let Some(row) = stored.of.iter().position(Option::is_some) {
            return Err(self.assertion(&given.rows.row(row), "has a key that is in the relation already", help));
        }
        make_room(given.rows.memory_bytes())?;
        let sorted = self.sorted(given.rows.clone());
        if sorted.len < given.rows.len {
            let row = self.repeated_key(&given.rows);
            return Err(self.assertion(&given.rows.row(row), "has a key that is given twice", help));
        }
        let old = Batch::empty(self.schema.arity());
        self.write(ChangeKind::Put, sorted, &old, txn)?;
        Ok(if report { Mutated { new: given.rows, old, given: 0 } } else { Mutated::default() })
    }

    /// The first row whose key an earlier row has.
    fn repeated_key(&self, rows: &Batch) -> usize {
        let key = |row: usize| rows.columns[..self.key_width()].iter().map(|c| c.get(row)).collect::<Vec<_>>();
        let mut seen = std::collections::BTreeSet::new();
        (0..rows.len).find(|row| !seen.insert(key(*row))).unwrap_or(0)
    }

    fn update(&self, given: Given, txn: &mut Transaction, report: bool) -> Result<Mutated, ExecError> {
        let stored = self.stored(&given.rows, txn)?;
        let mut found = Vec::with_capacity(given.rows.len);
        for (row, stored) in stored.of.iter().enumerate() {
            let help = "use ':put' to add rows";
            let missing = || self.assertion(&self.key(&given.rows, row), "is not in the relation", help);
            found.push(stored.ok_or_else(missing)?);
        }
        let merge = |(i, column): (usize, Column)| match self.plan.sources[i] {
            ValueSource::Kept => stored.rows.columns[i].take(&found),
            _ => column,
        };
        let columns = given.rows.columns.into_iter().enumerate().map(merge).collect();
        self.put(Given { rows: Batch { columns, len: found.len() } }, txn, report)
    }

    fn key(&self, rows: &Batch, row: usize) -> Vec<DataValue> {
        rows.columns[..self.key_width()].iter().map(|column| column.get(row)).collect()
    }

    fn remove(&self, given: Given, txn: &mut Transaction, report: bool) -> Result<Mutated, ExecError> {
        if self.plan.op == MutationOp::Delete {
            let stored = self.stored(&given.rows, txn)?;
            if let Some(row) = stored.of.iter().position(Option::is_none) {
                let help = "use ':rm' to ignore missing rows";
                return Err(self.assertion(&given.rows.row(row), "is not in the relation", help));
            }
        }
        make_room(given.rows.memory_bytes())?;
        let sorted = self.sorted(given.rows.clone());
        if self.plan.op == MutationOp::Delete && sorted.len < given.rows.len {
            let row = self.repeated_key(&given.rows);
            let help = "use ':rm' to ignore missing rows";
            return Err(self.assertion(
                &given.rows.row(row),
                "has a key that is given twice: the row is gone by then",
                help,
            ));
        }
        let mutated = self.report(given.rows, &sorted, txn, report)?;
        self.write(ChangeKind::Remove, sorted, &mutated.old, txn)?;
        Ok(mutated)
    }

    fn ensure(&self, given: Given, txn: &mut Transaction) -> Result<Mutated, ExecError> {
        let stored = self.stored(&given.rows, txn)?;
        for (row, found) in stored.of.iter().enumerate() {
            let help = "the script is not applied";
            match found {
                None => return Err(self.assertion(&given.rows.row(row), "is not in the relation", help)),
                Some(found) if given.rows.compare_rows(row, &stored.rows, *found as usize).is_ne() => {
                    return Err(self.assertion(&given.rows.row(row), "is in the relation with other values", help));
                }
                Some(_) => {}
            }
        }
        txn.rely_on(self.schema, &given.rows.into())?;
        Ok(Mutated::default())
    }

    fn ensure_not(&self, given: Given, txn: &mut Transaction) -> Result<Mutated, ExecError> {
        let stored = self.stored(&given.rows, txn)?;
        if let Some(row) = stored.of.iter().position(Option::is_some) {
            let help = "the script is not applied";
            return Err(self.assertion(&given.rows.row(row), "is in the relation", help));
        }
        txn.rely_on(self.schema, &given.rows.into())?;
        Ok(Mutated::default())
    }
}

/// Stored rows, and for each row that was looked up the stored row with its key.
pub struct StoredRows {
    pub rows: Batch,
    of: Vec<Option<u32>>,
}

/// A row as text, shortened.
fn show(row: &[DataValue]) -> String {
    shorten(&DataValue::List(row.to_vec()), SHOWN_BYTES, "…")
}

/// How much of a row an error shows, in bytes.
const SHOWN_BYTES: usize = 120;
