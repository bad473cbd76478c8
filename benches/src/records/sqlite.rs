//! Records in SQLite, in memory: prepared statements, and a transaction for each batch.

use rusqlite::{Connection, Result, params};

use super::{Record, Records};

const CREATE: &str =
    "create table record (id integer primary key, part integer, amount integer, stamp integer, next integer);
                      create table text (id integer primary key, value text)";

const CHAIN: &str = "with recursive at (id) as (
                         select 0 union all select next from at join record using (id) where next >= 0
                     ) select count(*) from at";

/// A database with records.
pub struct Sqlite(Connection);

impl Sqlite {
    /// Without records.
    pub fn in_memory() -> Sqlite {
        let connection = Connection::open_in_memory().expect("SQLite opens");
        connection.execute_batch(CREATE).expect("SQLite makes tables");
        Sqlite(connection)
    }

    fn one(&self, query: &str, parameters: impl rusqlite::Params) -> i64 {
        let answer = self.0.prepare_cached(query).and_then(|mut query| query.query_row(parameters, |row| row.get(0)));
        answer.expect("SQLite answers an integer")
    }

    /// One transaction.
    fn transaction(&mut self, insert: impl FnOnce(&Connection) -> Result<()>) {
        let written = self.0.transaction().and_then(|transaction| {
            insert(&transaction)?;
            transaction.commit()
        });
        written.expect("SQLite inserts");
    }
}

impl Records for Sqlite {
    fn insert(&mut self, records: &[Record]) {
        self.transaction(|connection| {
            let mut insert = connection.prepare_cached("insert into record values (?, ?, ?, ?, ?)")?;
            records.iter().try_for_each(|r| insert.execute(params![r.id, r.part, r.amount, r.stamp, r.next]).map(drop))
        });
    }

    fn insert_strings(&mut self, first: i64, strings: &[String]) {
        self.transaction(|connection| {
            let mut insert = connection.prepare_cached("insert into text values (?, ?)")?;
            (first..).zip(strings).try_for_each(|(id, string)| insert.execute(params![id, string]).map(drop))
        });
    }

    fn count_amount(&mut self, amount: i64) -> i64 {
        self.one("select count(*) from record where amount = ?", [amount])
    }

    fn index(&mut self) {
        self.0.execute_batch("create index by_part on record (part)").expect("SQLite makes an index");
    }

    fn part(&mut self, part: i64) -> i64 {
        let found = || {
            let mut select =
                self.0.prepare_cached("select id, part, amount, stamp, next from record where part = ?")?;
            let record = |row: &rusqlite::Row<'_>| {
                Ok(Record {
                    id: row.get(0)?,
                    part: row.get(1)?,
                    amount: row.get(2)?,
                    stamp: row.get(3)?,
                    next: row.get(4)?,
                })
            };
            select.query_map([part], record)?.collect::<Result<Vec<Record>>>()
        };
        found().expect("SQLite answers records").iter().map(|record| record.id).sum()
    }

    fn count_part(&mut self, part: i64) -> i64 {
        self.one("select count(*) from record where part = ?", [part])
    }

    fn chain(&mut self) -> i64 {
        self.one(CHAIN, [])
    }
}
