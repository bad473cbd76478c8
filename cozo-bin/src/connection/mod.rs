//! Where scripts run: in a database of this process, or on a server.

mod failure;
mod remote;

use std::collections::BTreeMap;
use std::time::Instant;

use cozo::session::{SessionError, Written};
use cozo::{DataValue, DbInstance, Interrupt, NamedColumns, NamedRows, ScriptMutability};
use serde_json::Value;

use crate::decode::{DecodeError, Meter, RelationsSeed, decode};
use crate::error::CliError;
pub use remote::Server;

/// Relations from the text of JSON.
fn relations(text: &str) -> miette::Result<BTreeMap<String, NamedColumns>> {
    let interrupt = Interrupt::default();
    let meter = Meter::new(usize::MAX, &interrupt, &|_| true);
    match decode(text.as_bytes(), RelationsSeed(&meter), &meter) {
        Ok(relations) => Ok(relations),
        Err(DecodeError::Row(error)) => Err(error.into()),
        Err(DecodeError::Bad(reason)) => Err(SessionError::BadJson(reason).into()),
        Err(DecodeError::Stopped(report)) => Err(report),
        Err(DecodeError::TooMuch | DecodeError::NoMemory) => Err(CliError::NoMemory.into()),
    }
}

/// A database, here or behind a server.
#[derive(Clone)]
pub enum Connection {
    /// In this process.
    Local(DbInstance),
    /// Behind a server.
    Remote(Server),
}

impl Connection {
    /// Runs a script. An interrupt stops it; on a server it may go on unseen, which the error says.
    pub fn run_script(
        &self,
        script: &str,
        parameters: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: &Interrupt,
    ) -> miette::Result<NamedRows> {
        match self {
            Connection::Local(db) => db.run_script_interruptible(script, parameters, mutability, interrupt),
            Connection::Remote(server) => server.run_script(script, parameters, mutability, interrupt),
        }
    }

    /// Runs a script that may write, and says how many rows it wrote, which a server does not tell.
    pub fn run_script_counted(
        &self,
        script: &str,
        parameters: BTreeMap<String, DataValue>,
        interrupt: &Interrupt,
    ) -> miette::Result<(NamedRows, Option<Written>)> {
        let mutable = ScriptMutability::Mutable;
        match self {
            Connection::Local(db) => {
                let (rows, written) = db.run_script_counted(script, parameters, mutable, interrupt)?;
                Ok((rows, Some(written)))
            }
            Connection::Remote(server) => {
                server.run_script(script, parameters, mutable, interrupt).map(|rows| (rows, None))
            }
        }
    }

    /// What a script that has run probably does not mean, as [`DbInstance::script_warnings`]. A server says so in its own answers.
    pub fn script_warnings(&self, script: &str) -> Vec<String> {
        match self {
            Connection::Local(db) => db.script_warnings(script),
            Connection::Remote(_) => vec![],
        }
    }

    /// Whether there is a stored relation with rows. What cannot be read counts as one.
    pub fn has_rows(&self) -> bool {
        let is_empty = |relation: &String| match self {
            Connection::Local(db) => db.read_relation(relation).and_then(|reader| reader.is_empty()).unwrap_or(false),
            Connection::Remote(_) => false,
        };
        !self.names("::relations").iter().all(is_empty)
    }

    /// Runs a script; its result or error as the JSON of the API.
    pub fn run_script_fold_err(
        &self,
        script: &str,
        parameters: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
        interrupt: &Interrupt,
    ) -> miette::Result<Value> {
        let db = match self {
            Connection::Local(db) => db,
            Connection::Remote(server) => return server.answer_unless(script, parameters, mutability, interrupt),
        };
        let start = Instant::now();
        Ok(match db.run_script_interruptible(script, parameters, mutability, interrupt) {
            Ok(rows) => {
                let mut result = rows.into_json();
                result["ok"] = true.into();
                result["took"] = start.elapsed().as_secs_f64().into();
                result
            }
            Err(report) => cozo::format_error_as_json(report, Some(script)),
        })
    }

    /// Imports relations from the text of JSON; all of them or none.
    pub fn import(&self, text: &str) -> miette::Result<()> {
        match self {
            Connection::Local(db) => db.import_relations_columns(relations(text)?),
            Connection::Remote(server) => server.import(text),
        }
    }

    /// Writes a backup; a server writes it where the server is.
    pub fn backup(&self, file: &str) -> miette::Result<()> {
        match self {
            Connection::Local(db) => db.backup_db(file),
            Connection::Remote(server) => server.backup(file),
        }
    }

    /// Fills the empty database from a backup.
    pub fn restore(&self, file: &str) -> miette::Result<()> {
        match self {
            Connection::Local(db) => db.restore_backup(file),
            Connection::Remote(_) => {
                Err(CliError::NotRemotely("a server is restored when it starts: cozo server --restore FILE").into())
            }
        }
    }

    /// The first column of what a system operation lists; nothing if it fails.
    pub fn names(&self, operation: &str) -> Vec<String> {
        let (immutable, interrupt) = (ScriptMutability::Immutable, Interrupt::default());
        let listed = self.run_script(operation, BTreeMap::new(), immutable, &interrupt).unwrap_or_default();
        listed.rows.iter().filter_map(|row| row.first().and_then(DataValue::get_str).map(str::to_string)).collect()
    }

    /// The fixed rules that scripts may use.
    pub fn fixed_rules(&self) -> Vec<String> {
        match self {
            Connection::Local(db) => db.get_fixed_rules().into_keys().collect(),
            Connection::Remote(_) => self.names("::fixed_rules"),
        }
    }
}
