//! A database lies in one place, however its path is written.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use cozo::{DbInstance, NamedRows};

use crate::common::{code, number, rows};
use crate::engines::persistent;

#[test]
#[cfg(unix)]
fn a_database_is_open_once_however_its_path_is_written() {
    for setting in persistent() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, folder.path().join("linked")).unwrap();
        std::os::unix::fs::symlink(real.join("db"), folder.path().join("db-link")).unwrap();
        let open = |path: PathBuf| DbInstance::new(setting.engine, path, setting.options);
        let db = open(real.join("db")).unwrap();
        rows(&db, "?[k] <- [[1]] :create r {k}");
        let others = ["linked/db", "db-link", "real/./db", "real/../real/db", "linked/../real/db"];
        for other in others {
            let refused = open(folder.path().join(other)).err();
            assert_eq!(refused.map(code).as_deref(), Some("storage::locked"), "{other} on {setting}");
        }
        rows(&db, "?[k] <- [[2]] :put r {k}");
        drop(db);
        for other in others {
            let db = open(folder.path().join(other)).unwrap();
            assert_eq!(number(&db, "?[count(k)] := *r{k}"), 2, "{other} on {setting}");
        }
    }
}

#[test]
fn a_closed_file_holds_everything() {
    for setting in persistent().filter(|setting| setting.engine == "sqlite") {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("db"), folder.path().join("copy"));
        let db = DbInstance::new(setting.engine, &path, setting.options).unwrap();
        rows(&db, ":create r {k: Int => v: Int}");
        let many = NamedRows::new(
            vec!["k".to_string(), "v".to_string()],
            (0..1000).map(|k| vec![k.into(), (k * 2).into()]).collect(),
        );
        db.import_relations([("r".to_string(), many)].into()).unwrap();
        // The version that is read last is still there when the database closes.
        for _ in 0..3 {
            assert_eq!(number(&db, "?[count(k)] := *r{k, v}, v >= 0"), 1000);
        }
        drop(db);
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(!left.iter().any(|name| name == "db-wal" || name == "db-shm"), "{left:?} on {setting}");
        std::fs::copy(path, &copy).unwrap();
        let db = DbInstance::new(setting.engine, &copy, setting.options).unwrap();
        assert_eq!(number(&db, "?[count(k)] := *r{k}"), 1000, "{setting}");
    }
}
