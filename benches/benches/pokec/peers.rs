//! Reads and writes of one user at a time by others that are embedded in a program: SQLite with prepared statements, in memory, and
//! RocksDB as it is; and by the database, prepared.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cozo::{DataValue, DbInstance, ScriptMutability, Statement};
use cozo_benches::figures::Figures;
use cozo_benches::pokec::{Network, User, questions};
use rand::rngs::Xoshiro256PlusPlus as Random;
use rand::{RngExt, SeedableRng};
use rocksdb::{DB, WriteBatch};
use rusqlite::{Connection, params};

use super::Bench;
use super::throughput::{new_uid, uid};

const PREPARED: &str = "cozo mem, prepared";
const SQLITE: &str = "SQLite, prepared";
const ROCKSDB: &str = "raw RocksDB";

/// As SQLite's statement does, it names the columns that change.
const UPDATE: &str = "?[uid, cmpl_pct] <- [[$id, $n]] :update user {uid => cmpl_pct}";

/// How long each kind of query is asked.
const ASKED_FOR: Duration = Duration::from_secs(1);

/// Measures what is wanted of it, on one thread; what is wrong ends the run.
pub fn measure(bench: &Bench, db: &DbInstance) -> Result<(), String> {
    let wanted = |name: &&str| bench.settings.wants(&format!("throughput/{name}/1"));
    let wanted: Vec<&str> = ["read", "write", "update"].into_iter().filter(wanted).collect();
    if bench.settings.once || wanted.is_empty() {
        return Ok(());
    }
    let mut figures = Figures::new("pokec", &bench.title);
    prepared(db, &bench.network, &wanted, &mut figures).map_err(|error| format!("{error:?}"))?;
    sqlite(&bench.network, &wanted, &mut figures).map_err(|error| format!("{SQLITE}: {error}"))?;
    rocksdb(&bench.network, &wanted, &mut figures).map_err(|error| format!("{ROCKSDB}: {error}"))?;
    figures.publish()
}

/// Runs something for users that are drawn, over and over, and adds how often a second.
fn rate<E>(
    figures: &mut Figures,
    system: &str,
    name: &str,
    mut run: impl FnMut(&mut Random) -> Result<(), E>,
) -> Result<(), E> {
    let (mut random, mut done) = (Random::seed_from_u64(1), 0);
    let start = Instant::now();
    while start.elapsed() < ASKED_FOR {
        // The time is not asked for each.
        for _ in 0..100 {
            run(&mut random)?;
        }
        done += 100;
    }
    figures.add(system, &format!("{name}, threads 1"), "queries/s", f64::from(done) / start.elapsed().as_secs_f64());
    Ok(())
}

fn prepared(db: &DbInstance, network: &Network, wanted: &[&str], figures: &mut Figures) -> cozo::Result<()> {
    let read = db.prepare(questions::READ, ScriptMutability::Immutable)?;
    let [write, update] = [questions::WRITE, UPDATE].map(|script| db.prepare(script, ScriptMutability::Mutable));
    let (write, update) = (write?, update?);
    let mut parameters: BTreeMap<String, DataValue> =
        ["id", "n"].map(|name| (name.to_string(), DataValue::from(0))).into();
    let mut run = |statement: &Statement, id: i64, n: i64| {
        for (name, value) in [("id", id), ("n", n)] {
            if let Some(place) = parameters.get_mut(name) {
                *place = value.into();
            }
        }
        statement.rows(&parameters).map(|rows| drop(std::hint::black_box(rows)))
    };
    for name in wanted {
        rate(figures, PREPARED, name, |random| match *name {
            "read" => run(&read, uid(network, random), 0),
            "write" => run(&write, new_uid(network, random), 0),
            _ => run(&update, uid(network, random), random.random_range(0..100)),
        })?;
    }
    Ok(())
}

fn sqlite(network: &Network, wanted: &[&str], figures: &mut Figures) -> rusqlite::Result<()> {
    let mut db = Connection::open_in_memory()?;
    db.execute_batch("create table user(uid integer primary key, cmpl_pct integer, gender text, age integer)")?;
    let transaction = db.transaction()?;
    {
        let mut insert = transaction.prepare("insert into user values (?, ?, ?, ?)")?;
        for User { uid, completion, gender, age } in &network.users {
            insert.execute(params![uid, completion, gender.map(|gender| gender.name()), age])?;
        }
    }
    transaction.commit()?;
    let mut read = db.prepare("select cmpl_pct, gender, age from user where uid = ?")?;
    let mut write = db.prepare("insert or replace into user values (?, 0, null, null)")?;
    let mut update = db.prepare("update user set cmpl_pct = ? where uid = ?")?;
    for name in wanted {
        rate(figures, SQLITE, name, |random| match *name {
            "read" => {
                let uid = uid(network, random);
                let row = |row: &rusqlite::Row<'_>| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?, row.get::<_, Option<i64>>(2)?))
                };
                read.query_row([uid], row).map(|found| drop(std::hint::black_box(found)))
            }
            "write" => write.execute([new_uid(network, random)]).map(drop),
            _ => update.execute([random.random_range(0..100), uid(network, random)]).map(drop),
        })?;
    }
    Ok(())
}

/// A user as RocksDB keeps it: the number as the key, and the rest in as many bytes as it needs.
fn value_of(completion: u8, gender: &str, age: Option<u8>) -> Vec<u8> {
    let mut value = vec![completion, age.unwrap_or(u8::MAX)];
    value.extend_from_slice(gender.as_bytes());
    value
}

fn rocksdb(network: &Network, wanted: &[&str], figures: &mut Figures) -> Result<(), String> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
    let db = DB::open_default(folder.path()).map_err(|error| error.to_string())?;
    let mut all = WriteBatch::default();
    for User { uid, completion, gender, age } in &network.users {
        let gender = gender.map_or("", |gender| gender.name());
        all.put(i64::from(*uid).to_be_bytes(), value_of(*completion, gender, *age));
    }
    db.write(all).map_err(|error| error.to_string())?;
    for name in wanted {
        let outcome = rate(figures, ROCKSDB, name, |random| match *name {
            "read" => db.get(uid(network, random).to_be_bytes()).map(|found| drop(std::hint::black_box(found))),
            "write" => db.put(new_uid(network, random).to_be_bytes(), value_of(0, "", None)),
            _ => {
                let key = uid(network, random).to_be_bytes();
                let mut value = db.get(key)?.unwrap_or_default();
                if let Some(completion) = value.first_mut() {
                    *completion = random.random_range(0..100);
                }
                db.put(key, value)
            }
        });
        outcome.map_err(|error| error.to_string())?;
    }
    Ok(())
}
