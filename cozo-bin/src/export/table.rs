//! What is exported: headers, and batches of rows that can be gone through more than once.

use std::collections::BTreeMap;

use cozo::value::Batch;
use cozo::{DataValue, DbInstance, Interrupt, NamedRows, RelationReader, ResultStream, ScriptMutability};

use crate::error::CliError;
use crate::load::takes_json;

/// Rows of a batch of a result.
const BATCH_ROWS: usize = 2048;

/// A relation or a result.
pub struct Table {
    /// The names of the columns.
    pub headers: Vec<String>,
    rows: Rows,
    /// Ends the reading.
    interrupt: Interrupt,
}

enum Rows {
    Relation(RelationReader),
    Result(Batch),
    /// A result that memory need not hold.
    Stream(ResultStream),
}

/// How a relation declares its columns.
#[cfg(feature = "arrow")]
pub struct Declared {
    /// A type a column, as in a script.
    pub types: Vec<String>,
    /// How many of the columns are keys.
    pub keys: usize,
}

impl Table {
    /// A stored relation, as of now.
    pub fn of_relation(db: &DbInstance, relation: &str, interrupt: &Interrupt) -> miette::Result<Self> {
        let reader = db.read_relation(relation)?;
        Ok(Table { headers: reader.headers(), rows: Rows::Relation(reader), interrupt: interrupt.clone() })
    }

    /// The result of a script, which may not write.
    pub fn of_script(
        db: &DbInstance,
        script: &str,
        parameters: BTreeMap<String, DataValue>,
        interrupt: &Interrupt,
    ) -> miette::Result<Self> {
        let result = db.run_script_stream(script, parameters, ScriptMutability::Immutable, interrupt)?;
        if result.has_more() {
            return Err(CliError::SeveralResults.into());
        }
        Ok(Table { headers: result.headers().to_vec(), rows: Rows::Stream(result), interrupt: interrupt.clone() })
    }

    /// A result that is there, without those that follow it.
    pub fn of_rows(result: &NamedRows, interrupt: &Interrupt) -> Self {
        let rows = Batch::from_rows(result.headers.len(), result.rows.iter().map(Vec::as_slice));
        Table { headers: result.headers.clone(), rows: Rows::Result(rows), interrupt: interrupt.clone() }
    }

    /// The columns whose fields an import takes for JSON where they can be read as such.
    pub fn json_columns(&self) -> Vec<bool> {
        match &self.rows {
            Rows::Relation(reader) => reader.types().iter().map(|column_type| takes_json(column_type)).collect(),
            Rows::Result(_) | Rows::Stream(_) => vec![false; self.headers.len()],
        }
    }

    /// How the columns are declared, if they are.
    #[cfg(feature = "arrow")]
    pub fn declared(&self) -> Option<Declared> {
        match &self.rows {
            Rows::Relation(reader) => Some(Declared { types: reader.types(), keys: reader.keys() }),
            Rows::Result(_) | Rows::Stream(_) => None,
        }
    }

    /// All rows, some thousand at a time.
    pub fn batches(&self) -> miette::Result<Box<dyn Iterator<Item = miette::Result<Batch>> + '_>> {
        let batches: Box<dyn Iterator<Item = miette::Result<Batch>>> = match &self.rows {
            Rows::Relation(reader) => Box::new(reader.batches()?),
            Rows::Stream(stream) => {
                let mut stream = stream.again();
                Box::new(std::iter::from_fn(move || stream.next_batch().transpose()))
            }
            Rows::Result(rows) => {
                let starts = (0..rows.len).step_by(BATCH_ROWS);
                Box::new(starts.map(|start| Ok(rows.slice(start..rows.len.min(start + BATCH_ROWS)))))
            }
        };
        Ok(Box::new(batches.map(|batch| {
            self.interrupt.check()?;
            batch
        })))
    }
}
