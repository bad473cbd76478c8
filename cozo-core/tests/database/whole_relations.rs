//! Several relations read at one moment, and new relations filled as a whole.

#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{code, rows};
use crate::engines::SETTINGS;
use cozo::value::{Batch, Column};
use cozo::{DataValue, DbInstance, Interrupt, RelationReader};

fn all_rows(reader: &RelationReader) -> Vec<Vec<DataValue>> {
    reader.batches().unwrap().flat_map(|batch| batch.unwrap().rows().collect::<Vec<_>>()).collect()
}

/// So many relations that a writer comes between the reads of two of them, unless all are read at one moment.
const RELATIONS: usize = 40;

#[test]
fn relations_are_read_at_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let of_all = |script: &str| (0..RELATIONS).map(|n| script.replace('R', &format!("r{n}"))).collect::<String>();
    let add = of_all("{?[k, n] := *R{k, n: m}, n = m + 1 :put R {k => n}}\n");
    for (number, setting) in SETTINGS.iter().enumerate() {
        let place = folder.path().join(number.to_string());
        std::fs::create_dir(&place).unwrap();
        let db = setting.open(&place).unwrap();
        rows(&db, &of_all("{?[k, n] <- [[1, 0]] :create R {k => n}}\n"));
        let before = db.read_relations(None).unwrap();
        assert_eq!(before.len(), RELATIONS);
        rows(&db, &add);
        assert!(before.iter().all(|reader| all_rows(reader) == [vec![1.into(), 0.into()]]));
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (0..100).for_each(|_| drop(rows(&db, &add)));
                done.store(true, Ordering::SeqCst);
            });
            while !done.load(Ordering::SeqCst) {
                let readers = db.read_relations(None).unwrap();
                let first = all_rows(&readers[0]);
                assert!(readers.iter().all(|reader| all_rows(reader) == first));
            }
        });
        assert_eq!(rows(&db, "?[n] := *r7{n}"), [vec![101.into()]]);
    }
}

fn ints(values: std::ops::Range<i64>) -> Batch {
    let len = values.clone().count();
    Batch::new(vec![Column::ints(values.clone().collect()), Column::ints(values.collect())], len)
}

#[test]
fn new_relations_are_there_with_all_rows_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let like = DbInstance::default();
    rows(&like, ":create r {k: Int => v: Int}");
    rows(&like, "::index create r:back {v}");
    let definition = like.read_relation("r").unwrap().definition().clone();
    for (number, setting) in SETTINGS.iter().enumerate() {
        let place = folder.path().join(number.to_string());
        std::fs::create_dir(&place).unwrap();
        let db = setting.open(&place).unwrap();
        rows(&db, "?[k] <- [[1]] :create other {k}");
        let before = rows(&db, "::relations");
        let fill = |batches: Vec<Batch>, interrupt: &Interrupt| {
            db.fill_relations(interrupt, |new| {
                let mut relation = new.create(&definition)?;
                batches.into_iter().try_for_each(|batch| relation.put(batch))?;
                relation.finish()?;
                // Others see nothing yet.
                assert_eq!(db.read_relation("r").map(drop).map_err(code), Err("query::relation_not_found".to_string()));
                Ok(())
            })
        };
        let never = Interrupt::default();
        for batches in [vec![ints(0..9), ints(8..10)], vec![ints(5..9), ints(0..6)], vec![Batch::empty(1)]] {
            assert_eq!(code(fill(batches, &never).unwrap_err()), "import::bad_data");
            assert_eq!(rows(&db, "::relations"), before);
        }
        // The index is not built any more.
        let stopped = Interrupt::default();
        stopped.kill();
        assert!(fill(vec![ints(0..9)], &stopped).is_err());
        assert_eq!(rows(&db, "::relations"), before);
        fill(vec![ints(5000..9000), ints(0..5000)], &never).unwrap();
        assert_eq!(rows(&db, "?[count(k), max(v)] := *r{k, v}"), [vec![9000.into(), 8999.into()]]);
        assert_eq!(rows(&db, "?[k] := *r:back{v: 77, k}"), [vec![77.into()]]);
        assert_eq!(code(fill(vec![], &never).unwrap_err()), "eval::rel_name_conflict");
        rows(&db, "?[k, v] <- [[-1, -1]] :put r {k => v}");
        drop(db);
        if let Ok(db) = setting.open(&place)
            && !rows(&db, "::relations").is_empty()
        {
            assert_eq!(rows(&db, "?[count(k)] := *r{k}"), [vec![9001.into()]]);
            assert_eq!(db.check().unwrap().problems, Vec::<String>::new());
        }
    }
}
