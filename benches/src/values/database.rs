//! Large values in the database.

use std::collections::BTreeMap;

use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability};

use super::Store;
use crate::run;

const READ: &str = "?[value] := *value{key: $key, value}";

/// A database with a relation of values.
pub struct Database(DbInstance);

impl Database {
    /// Without values.
    pub fn new(db: DbInstance) -> Database {
        run(&db, ":create value {key: Int => value: Bytes}", &[]);
        Database(db)
    }
}

impl Store for Database {
    fn write(&mut self, block: Vec<(u64, Vec<u8>)>) {
        let row = |(key, value): (u64, Vec<u8>)| vec![DataValue::from(key as i64), DataValue::Bytes(value)];
        let rows = NamedRows::new(vec!["key".to_string(), "value".to_string()], block.into_iter().map(row).collect());
        let written = self.0.import_relations(BTreeMap::from([("value".to_string(), rows)]));
        written.unwrap_or_else(|error| panic!("{error:?}"));
    }

    fn read(&mut self, key: u64) -> Option<Vec<u8>> {
        let parameters = BTreeMap::from([("key".to_string(), DataValue::from(key as i64))]);
        let rows = self.0.run_script(READ, parameters, ScriptMutability::Immutable);
        match rows.unwrap_or_else(|error| panic!("{error:?}\n{READ}")).rows.pop()?.pop()? {
            DataValue::Bytes(value) => Some(value),
            other => panic!("no bytes: {other:?}"),
        }
    }
}
