//! Bringing a network into a database.

use std::collections::BTreeMap;
use std::path::Path;

use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability};

use super::Network;
use super::truth::{Row, user_row};
use crate::{Result, run};

/// How many rows a small batch has, as in the benchmark.
pub const BATCH_ROWS: usize = 300;

/// How many rows a large piece has.
pub const BULK_ROWS: usize = 250_000;

/// Makes the relations of a network.
pub const CREATE: &str = "{:create user {uid: Int => cmpl_pct: Int, gender: String?, age: Int?}}
    {:create friends {fr: Int, to: Int}}
    {:create friends.rev {to: Int, fr: Int}}";

const PUT_USERS: &str = "?[uid, cmpl_pct, gender, age] <- $data :put user {uid => cmpl_pct, gender, age}";

const PUT_FRIENDS: &str = "{?[fr, to] <- $data :put friends {fr, to}} {?[fr, to] <- $data :put friends.rev {to, fr}}";

const READ_USERS: &str =
    "read[uid, cmpl_pct, gender, age] <~ CsvReader(types: ['Int', 'Int', 'String', 'Int?'], url: $url)
    ?[uid, cmpl_pct, gender, age] := read[uid, cmpl_pct, text, age], gender = if(text != '', text, null)
    :put user {uid => cmpl_pct, gender, age}";

const READ_FRIENDS: &str = "{?[fr, to] <~ CsvReader(types: ['Int', 'Int'], url: $url) :put friends {fr, to}}
    {?[to, fr] := *friends{fr, to} :put friends.rev {to, fr}}";

/// How many rows a network has in all relations; a friendship is in two.
pub fn rows(network: &Network) -> usize {
    network.users.len() + 2 * network.targets().len()
}

/// Makes the relations, empty.
pub fn create(db: &DbInstance) -> Result<()> {
    db.run_default(CREATE).map(drop)
}

/// Makes the relations and fills them in large pieces.
pub fn load(db: &DbInstance, network: &Network) -> Result<()> {
    create(db)?;
    import(db, network, BULK_ROWS)
}

/// Imports so many rows at a time.
pub fn import(db: &DbInstance, network: &Network, batch_rows: usize) -> Result<()> {
    for batch in batches(network.users.iter().map(user_row), batch_rows) {
        let rows = named(&["uid", "cmpl_pct", "gender", "age"], batch);
        db.import_relations(BTreeMap::from([("user".to_string(), rows)]))?;
    }
    for batch in batches(friend_rows(network), batch_rows) {
        let rows = named(&["fr", "to"], batch);
        let relations = [("friends".to_string(), rows.clone()), ("friends.rev".to_string(), rows)];
        db.import_relations(BTreeMap::from(relations))?;
    }
    Ok(())
}

/// Puts so many rows at a time, by scripts.
pub fn put(db: &DbInstance, network: &Network, batch_rows: usize) -> Result<()> {
    let put = |script: &str, batch: Vec<Row>| {
        let data = DataValue::List(batch.into_iter().map(DataValue::List).collect());
        db.run_script(script, BTreeMap::from([("data".to_string(), data)]), ScriptMutability::Mutable).map(drop)
    };
    batches(network.users.iter().map(user_row), batch_rows).try_for_each(|batch| put(PUT_USERS, batch))?;
    batches(friend_rows(network), batch_rows).try_for_each(|batch| put(PUT_FRIENDS, batch))
}

/// Has scripts read the files of [`write_csv`](super::export::write_csv) in a folder, whose path is absolute.
pub fn import_csv(db: &DbInstance, folder: &Path) -> Result<()> {
    for (script, file) in [(READ_USERS, "users.csv"), (READ_FRIENDS, "friends.csv")] {
        let url = format!("file://{}", folder.join(file).display());
        db.run_script(script, BTreeMap::from([("url".to_string(), url.into())]), ScriptMutability::Mutable)?;
    }
    Ok(())
}

/// Panics unless all relations have as many rows as the network, and sums of their columns as they must be.
pub fn check(db: &DbInstance, network: &Network) {
    let users = network.users.iter().map(|user| i64::from(user.uid));
    let completion: i64 = network.users.iter().map(|user| i64::from(user.completion)).sum();
    expect(
        db,
        "?[count(uid), sum(uid), sum(cmpl_pct)] := *user{uid, cmpl_pct}",
        [users.len() as i64, users.sum(), completion],
    );
    let (mut from_sum, mut to_sum) = (0, 0);
    for (from, to) in network.friendships() {
        (from_sum, to_sum) = (from_sum + i64::from(from), to_sum + i64::from(to));
    }
    for relation in ["friends", "friends.rev"] {
        let script = format!("?[count(fr), sum(fr), sum(to)] := *{relation}{{fr, to}}");
        expect(db, &script, [network.targets().len() as i64, from_sum, to_sum]);
    }
}

/// Panics unless the script answers these numbers in one row, as integers or floats.
fn expect(db: &DbInstance, script: &str, expected: [i64; 3]) {
    let rows = run(db, script, &[]).rows;
    let got: Vec<Option<f64>> = rows.iter().flatten().map(DataValue::get_float).collect();
    assert!(
        rows.len() == 1 && got == expected.map(|number| Some(number as f64)),
        "a wrong answer to\n{script}\nexpected {expected:?}\ngot      {rows:?}"
    );
}

/// The rows of `friends`.
pub fn friend_rows(network: &Network) -> impl Iterator<Item = Row> {
    network.friendships().map(|(from, to)| vec![DataValue::from(i64::from(from)), DataValue::from(i64::from(to))])
}

/// The rows, so many at a time.
pub fn batches(mut rows: impl Iterator<Item = Row>, batch_rows: usize) -> impl Iterator<Item = Vec<Row>> {
    std::iter::from_fn(move || {
        Some(rows.by_ref().take(batch_rows).collect::<Vec<Row>>()).filter(|batch| !batch.is_empty())
    })
}

fn named(headers: &[&str], rows: Vec<Row>) -> NamedRows {
    NamedRows::new(headers.iter().map(|header| header.to_string()).collect(), rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count;
    use crate::pokec::{export, generate};

    #[test]
    fn every_way_brings_the_whole_network() {
        let network = generate::network(&"1000x4000".parse().expect("a size"));
        let folder = tempfile::tempdir().expect("a folder");
        export::write_csv(&network, folder.path()).expect("files");
        type Fill<'a> = &'a dyn Fn(&DbInstance) -> Result<()>;
        let ways: [Fill<'_>; 3] = [&|db| import(db, &network, BULK_ROWS), &|db| put(db, &network, BATCH_ROWS), &|db| {
            import_csv(db, folder.path())
        }];
        for fill in ways {
            let db = DbInstance::default();
            create(&db).and_then(|()| fill(&db)).expect("the network fits");
            check(&db, &network);
            let unknown = count(&db, "?[count(uid)] := *user{uid, gender: null}");
            assert_eq!(unknown, network.users.iter().filter(|user| user.gender.is_none()).count() as i64);
        }
    }
}
