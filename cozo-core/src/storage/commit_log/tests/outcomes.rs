//! Tests of failed commits: the error for the host, and the contents afterwards.

use super::*;

fn failing(folder: &TestFolder) -> (Logged, Arc<Faults>) {
    let faults = Arc::new(Faults::default());
    let logged = folder.open_over(PATIENT, |storage| Box::new(Failing(storage, faults.clone())));
    logged.commit(&mut [relation()]).unwrap();
    logged.commit(&mut [put([(1, "a")])]).unwrap();
    (logged, faults)
}

/// A number of rows too great for the log.
fn many() -> ChangeSet {
    put((100..100 + MAX_ROWS as i64 + 1).map(|key| (key, "many")))
}

#[test]
fn what_comes_after_a_failed_commit_is_there_after_reopening() {
    for is_killed in [true, false] {
        let folder = TestFolder::new();
        let (logged, faults) = failing(&folder);
        Faults::set(&faults.commits, true);
        for _ in 0..2 {
            assert!(matches!(logged.commit(&mut [many()]), Err(StorageError::Engine { .. })));
        }
        Faults::set(&faults.commits, false);
        let killed = folder.killed_after(&logged, [put([(2, "b")])]);
        drop(logged);
        let reopened = if is_killed { killed.open(PATIENT) } else { folder.open(PATIENT) };
        assert_eq!(rows(&*reopened.snapshot()), texts([(1, "a"), (2, "b")]), "killed: {is_killed}");
        assert_eq!(reopened.opened().unwrap().warnings, Vec::<String>::new());
    }
}

#[test]
fn nothing_is_acknowledged_while_an_outcome_is_not_known() {
    let folder = TestFolder::new();
    let (logged, faults) = failing(&folder);
    Faults::set(&faults.acknowledgements, true);
    Faults::set(&faults.settling, true);
    assert!(matches!(logged.commit(&mut [many()]), Err(StorageError::UnknownOutcome(_))));
    for changes in [put([(2, "b")]), many(), relation()] {
        assert!(matches!(logged.commit(&mut [changes]), Err(StorageError::InDoubt(_))));
    }
    // The engine has the commit, although it returned an error.
    let copy = folder.copy();
    let reopened = copy.open(PATIENT);
    assert_eq!(rows(&*reopened.snapshot()).len(), 1 + MAX_ROWS + 1);
    Faults::set(&faults.acknowledgements, false);
    Faults::set(&faults.settling, false);
    logged.commit(&mut [put([(3, "c")])]).unwrap();
    drop(logged);
    assert_eq!(rows(&*folder.open(PATIENT).snapshot())[&3], "c");
}

#[test]
fn an_engine_that_could_not_apply_the_log_settles_before_the_next_commit() {
    let folder = TestFolder::new();
    let (logged, faults) = failing(&folder);
    Faults::set(&faults.acknowledgements, true);
    assert!(logged.shared.apply().is_err());
    logged.commit(&mut [put([(2, "b")])]).unwrap();
    Faults::set(&faults.settling, true);
    assert!(matches!(logged.commit(&mut [many()]), Err(StorageError::Engine { .. })), "it is refused for certain");
    let killed = folder.killed_after(&logged, [put([(3, "c")])]);
    assert_eq!(rows(&*killed.open(PATIENT).snapshot()), texts([(1, "a"), (2, "b"), (3, "c")]));
}

#[test]
fn a_log_that_cannot_be_begun_refuses_commits() {
    let folder = TestFolder::new();
    let (logged, _) = failing(&folder);
    // A folder has the name of the next file.
    let next = logged.shared.place.file(1);
    fs::create_dir(&next).unwrap();
    let refusal = logged.commit(&mut [many()]).err().unwrap();
    assert!(matches!(refusal, StorageError::Engine { action: "begin a file", .. }), "{refusal}");
    logged.commit(&mut [put([(2, "b")])]).unwrap();
    fs::remove_dir(&next).unwrap();
    logged.commit(&mut [many()]).unwrap();
    let found = rows(&*folder.killed_after(&logged, []).open(PATIENT).snapshot());
    assert_eq!((found.len(), &*found[&2]), (2 + MAX_ROWS + 1, "b"));
}
