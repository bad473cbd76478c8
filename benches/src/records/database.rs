//! Records in the database: handed over as columns, asked for by scripts.

use std::collections::BTreeMap;

use cozo::value::{Batch, Column};
use cozo::{DataValue, DbInstance, NamedColumns, ScriptMutability};

use super::{Record, Records};
use crate::run;

const CREATE: &str = "{:create record {id: Int => part: Int, amount: Int, stamp: Int, next: Int}}
                      {:create text {id: Int => value: String}}";

const COUNT: &str = "?[count(id)] := *record{id, amount: $amount}";

const PART: &str = "?[id, part, amount, stamp, next] := part = $part, *record{id, part, amount, stamp, next}";

const CHAIN: &str = "at[id] := id = 0
                     at[next] := at[id], *record{id, next}, next >= 0
                     ?[count(id)] := at[id]";

/// A database with records.
pub struct Database(DbInstance);

impl Database {
    /// Without records.
    pub fn new(db: DbInstance) -> Database {
        run(&db, CREATE, &[]);
        Database(db)
    }

    fn import<const N: usize>(&self, relation: &str, headers: [&str; N], columns: [Column; N]) {
        let rows = columns[0].len();
        let headers = headers.map(str::to_string).to_vec();
        let columns = NamedColumns::new(headers, Batch::new(columns.to_vec(), rows));
        self.0.import_columns(relation, columns).unwrap_or_else(|error| panic!("{error:?}"));
    }

    fn one(&self, script: &str, parameters: &[(&str, i64)]) -> i64 {
        run(&self.0, script, parameters).rows[0][0].get_int().expect("the script answers an integer")
    }
}

impl Records for Database {
    fn insert(&mut self, records: &[Record]) {
        let column = |of: fn(&Record) -> i64| Column::ints(records.iter().map(of).collect());
        let columns = [column(|r| r.id), column(|r| r.part), column(|r| r.amount), column(|r| r.stamp), column(|r| r.next)];
        self.import("record", ["id", "part", "amount", "stamp", "next"], columns);
    }

    fn insert_strings(&mut self, first: i64, strings: &[String]) {
        let mut values = Column::default();
        strings.iter().for_each(|string| values.push_str(string));
        let ids = Column::ints((first..first + strings.len() as i64).collect());
        self.import("text", ["id", "value"], [ids, values]);
    }

    fn count_amount(&mut self, amount: i64) -> i64 {
        self.one(COUNT, &[("amount", amount)])
    }

    fn index(&mut self) {
        run(&self.0, "::index create record:by_part {part}", &[]);
    }

    fn part(&mut self, part: i64) -> i64 {
        let parameters = BTreeMap::from([("part".to_string(), DataValue::from(part))]);
        let rows = self.0.run_script(PART, parameters, ScriptMutability::Immutable);
        let rows = rows.unwrap_or_else(|error| panic!("{error:?}\n{PART}")).rows;
        rows.iter().map(|row| row[0].get_int().expect("an integer")).sum()
    }

    fn chain(&mut self) -> i64 {
        self.one(CHAIN, &[])
    }
}
