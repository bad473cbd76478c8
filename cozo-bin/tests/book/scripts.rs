//! Blocks of CozoScript.

use std::collections::BTreeMap;
use std::path::PathBuf;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};
use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability, format_error_as_json};
use serde_json::Value;

use crate::Given;
use crate::support::Scratch;
use crate::support::page::Block;

/// The database of a page.
pub struct Scripts<'a> {
    folder: &'a Scratch,
    db: Option<DbInstance>,
    parameters: BTreeMap<String, DataValue>,
}

impl<'a> Scripts<'a> {
    pub fn new(folder: &'a Scratch) -> Self {
        Scripts { folder, db: None, parameters: BTreeMap::new() }
    }

    /// Lets go of a file, so that commands can open it.
    pub fn close(&mut self) {
        self.db.take_if(|_| database_in(self.folder).is_some());
    }

    /// Takes the parameters of the script that follows.
    pub fn set_parameters(&mut self, block: &Block) {
        let json: BTreeMap<String, Value> = serde_json::from_str(&block.code).expect("it is a JSON object");
        self.parameters = json.into_iter().map(|(name, value)| (name, value.into())).collect();
    }

    /// Runs a script that succeeds.
    pub fn run(&mut self, block: &Block, as_json: bool) -> Given {
        let rows = self.outcome(block).unwrap_or_else(|error| panic!("{}: {error:?}", block.place));
        if as_json {
            return Given::Json(rows.into_json()["rows"].take());
        }
        let tables: Vec<String> = rows.flatten().iter().map(table).collect();
        Given::Text(tables.join("\n"))
    }

    /// Runs a script that fails.
    pub fn fail(&mut self, block: &Block) -> Given {
        match self.outcome(block) {
            Ok(rows) => panic!("{} should fail, and gives\n{}", block.place, table(&rows)),
            Err(error) => Given::Text(complaint(error)),
        }
    }

    fn outcome(&mut self, block: &Block) -> cozo::Result<NamedRows> {
        let db = self.db.get_or_insert_with(|| open(self.folder));
        db.run_script(&block.code, std::mem::take(&mut self.parameters), ScriptMutability::Mutable)
    }
}

/// The database that commands have made in the folder.
fn database_in(folder: &Scratch) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder.path("")).expect("the folder can be read");
    let mut paths = entries.map(|entry| entry.expect("the entry can be read").path());
    paths.find(|path| path.extension().is_some_and(|extension| extension == "db"))
}

/// That database, or an empty one in memory.
fn open(folder: &Scratch) -> DbInstance {
    match database_in(folder) {
        Some(file) => DbInstance::new("sqlite", file, "").expect("the database opens"),
        None => DbInstance::default(),
    }
}

/// Rows as `cozo` prints them.
fn table(rows: &NamedRows) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(&rows.headers);
    for row in &rows.rows {
        table.add_row(row.iter().map(|value| match value {
            DataValue::Num(_) => Cell::new(value).set_alignment(CellAlignment::Right),
            _ => Cell::new(value),
        }));
    }
    table.to_string()
}

/// The code of an error, what it says, and what helps.
fn complaint(error: cozo::Error) -> String {
    let json = format_error_as_json(error, None);
    let text = |name: &str| json[name].as_str().map(str::to_string);
    let causes = json["causes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let lines = text("code").map(|code| format!("{code}: ")).into_iter().chain(text("message")).collect::<String>();
    let causes = causes.map(|cause| format!("because: {cause}"));
    let help = text("help").map(|help| format!("help: {help}"));
    std::iter::once(lines).chain(causes).chain(help).collect::<Vec<_>>().join("\n")
}
