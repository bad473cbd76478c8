//! The relations that a statement of another language may mean.

use std::collections::BTreeMap;

use cozo::{DataValue, Interrupt, ScriptMutability};

use crate::connection::Connection;

/// A look at the relations of a database.
pub struct Catalog<'a> {
    connection: &'a Connection,
    names: Vec<String>,
}

/// A relation that is there.
pub struct Relation {
    /// Its name as it is written here.
    pub name: String,
    /// Its key columns.
    pub keys: Vec<String>,
    /// All of its columns, the keys first.
    pub columns: Vec<String>,
}

impl<'a> Catalog<'a> {
    /// The relations at present.
    pub fn new(connection: &'a Connection) -> Self {
        Catalog { connection, names: connection.names("::relations") }
    }

    /// The relation of a name, whose capitals do not matter in other languages.
    pub fn relation(&self, name: &str) -> Option<Relation> {
        let name = self.names.iter().find(|known| known.eq_ignore_ascii_case(name))?;
        let (immutable, interrupt) = (ScriptMutability::Immutable, Interrupt::default());
        let listed = self.connection.run_script(&format!("::columns {name}"), BTreeMap::new(), immutable, &interrupt);
        // The columns of the list are the name, whether it is a key, and more.
        let columns: Vec<(String, bool)> = listed
            .ok()?
            .rows
            .iter()
            .filter_map(|row| Some((row.first()?.get_str()?.to_string(), row.get(1).and_then(DataValue::get_bool)?)))
            .collect();
        let keys = columns.iter().filter(|(_, is_key)| *is_key).map(|(name, _)| name.clone()).collect();
        Some(Relation { name: name.clone(), keys, columns: columns.into_iter().map(|(name, _)| name).collect() })
    }
}

/// Adds a name to a list that has each once.
pub fn add(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_string());
    }
}
