//! A process that was forked from one with an open database: every call says so, and nothing is done to the files.
#![cfg(unix)]
#![allow(unsafe_code)]

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use cozo::ScriptMutability::{Immutable, Mutable};
use cozo::{DbInstance, MultiTransaction, NamedColumns, NamedRows, RelationReader, Statement, TransactionPayload};
use crossbeam_channel::unbounded;

const ENGINES: &[&str] =
    if cfg!(feature = "storage-rocksdb") { &["mem", "sqlite", "rocksdb"] } else { &["mem", "sqlite"] };

/// Runs something in a forked process; whether it says yes.
fn in_child(work: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child does what any program may do that forks with one thread, and ends without the functions of the parent.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0, "no process");
        if child == 0 {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            libc::_exit(if outcome.unwrap_or(false) { 0 } else { 1 });
        }
        let mut status = -1;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }
}

fn is_forked<T>(outcome: cozo::Result<T>) -> bool {
    let code = outcome.err().and_then(|report| report.code().map(|code| code.to_string()));
    code.as_deref() == Some("db::forked")
}

/// What a program may have of a database.
struct Held {
    db: DbInstance,
    statement: Statement,
    transaction: MultiTransaction,
    reader: RelationReader,
}

impl Held {
    fn open(engine: &str, path: &Path) -> Held {
        let db = DbInstance::new(engine, path, "").expect("it opens");
        db.run_default("?[k] <- [[1]] :create r {k: Int}").expect("it is made");
        let statement = db.prepare("?[k] := *r[k]", Immutable).expect("it parses");
        let transaction = db.multi_transaction(true);
        transaction.run_script("?[k] <- [[2]] :put r {k}", BTreeMap::new()).expect("it is put");
        let reader = db.read_relation("r").expect("it is there");
        Held { db, statement, transaction, reader }
    }

    fn everything_is_refused(&self, path: &Path) -> bool {
        let Held { db, statement, transaction, reader } = self;
        let none = BTreeMap::new();
        let script = cozo::parse::parse_script("?[x] := x = 1").expect("it parses");
        let other = db.multi_transaction(true);
        let (payloads, answers) = (unbounded(), unbounded());
        payloads.0.send(TransactionPayload::Abort).expect("it is taken");
        db.run_multi_transaction(true, payloads.1, answers.0);
        let (_, changes) = db.register_callback("r", None);
        db.interrupt_all();
        db.set_external_access(false);
        is_forked(db.check_process())
            && is_forked(db.run_script("?[k] := *r[k]", none.clone(), Immutable))
            && is_forked(db.run_script("?[", none.clone(), Mutable))
            && is_forked(db.run_script_interruptible("?[k] := *r[k]", none.clone(), Immutable, &Default::default()))
            && is_forked(db.run_script_columns("?[k] := *r[k]", none.clone(), Immutable, &Default::default()))
            && is_forked(db.run_script_ast(script, cozo::ValidityTs(Reverse(0)), Immutable))
            && is_forked(db.prepare("?[k] := *r[k]", Immutable))
            && is_forked(statement.run(&none))
            && is_forked(statement.rows(&none))
            && is_forked(db.export_relations(["r"].iter()))
            && is_forked(db.import_relations([("r".to_string(), NamedRows::default())].into()))
            && is_forked(db.import_columns("r", NamedColumns::default()))
            && is_forked(db.read_relation("r"))
            && is_forked(reader.batches().map(Iterator::count))
            && is_forked(db.check())
            && is_forked(db.backup_db(path))
            && is_forked(db.restore_backup(path))
            && is_forked(db.import_from_backup(path, &[]))
            && is_forked(db.unregister_fixed_rule("R"))
            && is_forked(transaction.run_script("?[k] := *r[k]", none.clone()))
            && is_forked(transaction.commit())
            && is_forked(transaction.abort())
            && is_forked(other.run_script("?[k] := *r[k]", none))
            && is_forked(other.commit())
            && answers.1.recv().is_ok_and(is_forked)
            && changes.try_recv().is_err()
            && !db.unregister_callback(0)
    }
}

/// In one test, so that no thread of another one is at work when a process is forked.
#[test]
fn a_child_is_told_and_changes_nothing() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("db");
        let held = Held::open(engine, &path);
        assert!(in_child(|| held.everything_is_refused(&folder.path().join("backup"))), "{engine}");
        assert!(
            in_child(|| {
                // What is dropped in a child, or kept until its end, is left as it is.
                // SAFETY: the process ends without dropping what is read here a second time.
                let Held { db, statement, transaction, reader } = unsafe { std::ptr::read(&raw const held) };
                drop((reader, transaction, statement, db.clone(), db));
                let own = DbInstance::default();
                own.run_default("?[x] := x = 1").is_ok()
            }),
            "{engine}"
        );
        held.transaction.commit().expect("the parent goes on");
        assert_eq!(held.db.run_default("?[k] := *r[k]").expect("it is read").rows.len(), 2, "{engine}");
        let rows = held.reader.batches().expect("it reads").map(|batch| batch.expect("it is read").len).sum::<usize>();
        assert_eq!(rows, 1, "{engine}");
        drop(held);
        if *engine != "mem" {
            let again = DbInstance::new(engine, &path, "").expect("it was closed");
            assert_eq!(again.run_default("?[k] := *r[k]").expect("it is read").rows.len(), 2, "{engine}");
        }
    }
    a_child_may_open_what_its_parent_has_closed();
}

fn a_child_may_open_what_its_parent_has_closed() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("db");
    let open = || DbInstance::new("sqlite", &path, "");
    let is_locked = |opened: cozo::Result<DbInstance>| {
        opened.err().and_then(|report| report.code().map(|code| code.to_string())).as_deref() == Some("storage::locked")
    };
    let first = open().expect("it opens");
    first.run_default("?[k] <- [[1]] :create r {k: Int}").expect("it is made");
    assert!(in_child(|| is_locked(open())));
    drop(first);
    let put = || {
        let db = open()?;
        for k in 10..2000 {
            db.run_default(&format!("?[k] <- [[{k}]] :put r {{k}}"))?;
        }
        let many = db.run_default("?[a] := a in int_range(200000) :create many {a: Int}")?;
        let count = db.run_default("n[b, count(a)] := *many[a], b = a % 7 ?[count(x)] := n[x, _]")?;
        Ok::<_, cozo::Error>(many.rows.len() == 1 && count.rows[0][0] == 7.into())
    };
    assert!(in_child(|| put().unwrap_or(false)));
    let again = open().expect("the child has closed it");
    assert_eq!(again.run_default("?[count(k)] := *r[k]").expect("it is read").rows, vec![vec![1991.into()]]);
}
