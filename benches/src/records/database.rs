//! Records in the database: handed over in large pieces, asked for by scripts.

use std::collections::BTreeMap;

use cozo::{DataValue, DbInstance, ScriptMutability};

use super::{Record, Records};
use crate::run;

const CREATE: &str = "{:create record {id: Int => part: Int, amount: Int, stamp: Int, next: Int}}
                      {:create text {id: Int => value: String}}";

const COUNT: &str = "?[count(id)] := *record{id, amount: $amount}";

const PART: &str = "?[id, part, amount, stamp, next] := part = $part, *record{id, part, amount, stamp, next}";

const COUNT_PART: &str = "?[count(id)] := *record{id, part: $part}";

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

    /// Imports columns of integers, and one of strings behind them, if there are strings.
    fn import<const N: usize>(
        &self,
        relation: &str,
        headers: &[&str],
        ints: [Vec<i64>; N],
        strings: Option<&[String]>,
    ) {
        let headers = headers.iter().map(ToString::to_string).collect();
        #[cfg(feature = "columns")]
        let imported = self.0.import_columns(relation, cozo::NamedColumns::new(headers, batch(ints, strings)));
        #[cfg(not(feature = "columns"))]
        let imported = {
            let rows = cozo::NamedRows::new(headers, rows(&ints, strings));
            self.0.import_relations(BTreeMap::from([(relation.to_string(), rows)]))
        };
        imported.unwrap_or_else(|error| panic!("{error:?}"));
    }

    fn one(&self, script: &str, parameters: &[(&str, i64)]) -> i64 {
        run(&self.0, script, parameters).rows[0][0].get_int().expect("the script answers an integer")
    }
}

impl Records for Database {
    fn insert(&mut self, records: &[Record]) {
        let column = |of: fn(&Record) -> i64| records.iter().map(of).collect::<Vec<i64>>();
        let columns =
            [column(|r| r.id), column(|r| r.part), column(|r| r.amount), column(|r| r.stamp), column(|r| r.next)];
        self.import("record", &["id", "part", "amount", "stamp", "next"], columns, None);
    }

    fn insert_strings(&mut self, first: i64, strings: &[String]) {
        let ids = (first..first + strings.len() as i64).collect();
        self.import("text", &["id", "value"], [ids], Some(strings));
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

    fn count_part(&mut self, part: i64) -> i64 {
        self.one(COUNT_PART, &[("part", part)])
    }

    fn chain(&mut self) -> i64 {
        self.one(CHAIN, &[])
    }
}

/// Columns as the crate takes them.
#[cfg(feature = "columns")]
fn batch<const N: usize>(ints: [Vec<i64>; N], strings: Option<&[String]>) -> cozo::value::Batch {
    use cozo::value::{Batch, Column};
    let rows = ints[0].len();
    let column = |strings: &[String]| {
        let mut column = Column::default();
        strings.iter().for_each(|string| column.push_str(string));
        column
    };
    Batch::new(ints.into_iter().map(Column::ints).chain(strings.map(column)).collect(), rows)
}

/// The same as rows, for a crate that takes no columns.
#[cfg(not(feature = "columns"))]
fn rows<const N: usize>(ints: &[Vec<i64>; N], strings: Option<&[String]>) -> Vec<Vec<DataValue>> {
    let row = |place: usize| {
        let string = strings.map(|strings| DataValue::from(strings[place].as_str()));
        ints.iter().map(|column| DataValue::from(column[place])).chain(string).collect()
    };
    (0..ints[0].len()).map(row).collect()
}
