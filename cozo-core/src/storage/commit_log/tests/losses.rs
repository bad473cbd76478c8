//! Tests of losses: they are reported, and files that could not be applied are renamed.

use super::*;

/// A database that was killed with commits in two files of the log, and one commit of the engine between them.
fn killed() -> TestFolder {
    let folder = TestFolder::new();
    let (logged, faults) = {
        let faults = Arc::new(Faults::default());
        let logged = folder.open_over(PATIENT, |storage| Box::new(Failing(storage, faults.clone())));
        (logged, faults)
    };
    logged.commit(&mut [relation()]).unwrap();
    logged.commit(&mut [put([(1, "a")])]).unwrap();
    logged.commit(&mut [put([(2, "b")])]).unwrap();
    Faults::set(&faults.commits, true);
    assert!(logged.shared.apply().is_err());
    let killed = folder.killed_after(&logged, [put([(3, "c")]), put([(4, "d")])]);
    assert_eq!(killed.logs().len(), 2);
    killed
}

/// Opens the database, and returns the number of its commits and the warnings. Both are the same at the next opening.
fn opened(folder: &TestFolder) -> (usize, Vec<String>) {
    let logged = folder.open(PATIENT);
    let found = rows(&*logged.snapshot());
    let all = texts([(1, "a"), (2, "b"), (3, "c"), (4, "d")]);
    assert!(all.iter().take(found.len()).eq(&found), "commits are missing in between: {found:?}");
    let warnings = logged.opened().unwrap().warnings;
    drop(logged);
    let again = folder.open(PATIENT);
    assert_eq!((rows(&*again.snapshot()), again.opened().unwrap().warnings), (found.clone(), vec![]));
    (found.len(), warnings)
}

/// The renamed files. The check reports each of them.
fn lost(folder: &TestFolder) -> usize {
    let problems = folder.open(PATIENT).verify().unwrap();
    let lost = folder.logs().iter().filter(|path| path.to_str().unwrap().contains(".lost")).count();
    assert_eq!(problems.len(), lost, "{problems:?}");
    lost
}

#[test]
fn a_whole_log_loses_nothing() {
    let folder = killed();
    assert_eq!(opened(&folder), (4, vec![]));
    assert_eq!(lost(&folder), 0);
}

#[test]
fn damage_is_told_and_the_file_stays() {
    for (number, least) in [(0, 0), (1, 2)] {
        let whole = killed();
        let bytes = fs::read(&whole.logs()[number]).unwrap();
        for position in 0..bytes.len() {
            let (copy, mut damaged) = (whole.copy(), bytes.clone());
            damaged[position] ^= 0x10;
            fs::write(&copy.logs()[number], damaged).unwrap();
            let (found, warnings) = opened(&copy);
            assert!(found >= least, "file {number}, byte {position}");
            if found < 4 {
                assert!(!warnings.is_empty(), "file {number}, byte {position}: {found} commits, and no word");
            }
        }
    }
}

#[test]
fn a_file_that_was_cut_short_is_told_if_a_later_one_is_there() {
    let whole = killed();
    let len = fs::metadata(&whole.logs()[0]).unwrap().len();
    // The last bytes are the note that ends the file; without it all commits are there.
    for cut in 0..len - 9 {
        let copy = whole.copy();
        fs::File::options().write(true).open(&copy.logs()[0]).unwrap().set_len(cut).unwrap();
        let (found, warnings) = opened(&copy);
        assert!(found < 4 && !warnings.is_empty(), "{cut} of {len} bytes: {found} commits, {warnings:?}");
        assert!(lost(&copy) > 0);
    }
}

#[test]
fn a_missing_file_is_told() {
    for (number, there) in [(0, 0), (1, 2)] {
        let folder = killed();
        fs::remove_file(&folder.logs()[number]).unwrap();
        let (found, warnings) = opened(&folder);
        assert_eq!(found, there);
        assert!(warnings[0].contains(&format!("'db-commits-{number}' is missing")), "{warnings:?}");
        assert_eq!(lost(&folder), usize::from(number == 0), "what comes after it stays");
    }
}

#[test]
fn the_only_file_of_a_session_that_was_not_closed_must_be_there() {
    let (_, killed) = filled(&TestFolder::new());
    fs::remove_file(&killed.logs()[0]).unwrap();
    let logged = killed.open(PATIENT);
    assert!(
        logged.opened().unwrap().warnings[0].contains("'db-commits-0' is missing"),
        "{:?}",
        logged.opened().unwrap().warnings
    );
    drop(logged);
    assert_eq!(killed.open(PATIENT).opened().unwrap().warnings, Vec::<String>::new(), "the session was closed");
}

#[test]
fn an_engine_that_lost_commits_is_noticed() {
    let folder = TestFolder::new();
    let logged = folder.open(PATIENT);
    logged.commit(&mut [relation()]).unwrap();
    let before = folder.copy();
    logged.commit(&mut [put((1..=MAX_ROWS as i64 + 1).map(|key| (key, "many")))]).unwrap();
    let killed = folder.killed_after(&logged, [put([(1, "one")])]);
    // The engine is as it was before the commit, and the log is not.
    for file in ["db", "db-wal"] {
        fs::copy(before.0.path().join(file), killed.0.path().join(file)).unwrap();
    }
    let reopened = killed.open(PATIENT);
    assert_eq!(rows(&*reopened.snapshot()), BTreeMap::new());
    assert!(
        reopened.opened().unwrap().warnings[0].contains("the 1 commits before the rest of it are missing"),
        "{:?}",
        reopened.opened().unwrap().warnings
    );
    drop(reopened);
    assert_eq!(lost(&killed), 1);
}

#[test]
fn the_log_of_another_database_stays_and_is_told() {
    let (_, one) = filled(&TestFolder::new());
    let (_, other) = filled(&TestFolder::new());
    fs::copy(&other.logs()[0], &one.logs()[0]).unwrap();
    let logged = one.open(PATIENT);
    assert!(
        logged.opened().unwrap().warnings[0].contains("those of another database"),
        "{:?}",
        logged.opened().unwrap().warnings
    );
    drop(logged);
    assert_eq!(lost(&one), 1);
}

#[test]
fn a_torn_commit_is_told_and_its_file_stays() {
    let (_, killed) = filled(&TestFolder::new());
    let log = fs::File::options().write(true).open(&killed.logs()[0]).unwrap();
    log.set_len(log.metadata().unwrap().len() - 1).unwrap();
    let logged = killed.open(PATIENT);
    assert_eq!(rows(&*logged.snapshot()), texts([(2, "b"), (3, "c")]));
    assert!(
        logged.opened().unwrap().warnings[0].contains("was being written"),
        "{:?}",
        logged.opened().unwrap().warnings
    );
    drop(logged);
    assert_eq!(lost(&killed), 1);
}

#[test]
fn the_note_that_ends_a_file_may_be_torn() {
    let whole = killed();
    let first = &whole.logs()[0];
    let len = fs::metadata(first).unwrap().len();
    for cut in 1..=9 {
        let copy = whole.copy();
        fs::File::options().write(true).open(&copy.logs()[0]).unwrap().set_len(len - cut).unwrap();
        assert_eq!(opened(&copy), (4, vec![]), "{cut} bytes less");
    }
}

#[test]
fn a_file_that_was_just_begun_may_be_torn() {
    let folder = TestFolder::new();
    drop(filled(&folder));
    for len in [0, 10, file::HEAD] {
        let copy = folder.copy();
        fs::write(copy.0.path().join("db-commits-9"), vec![0; len]).unwrap();
        let logged = copy.open(PATIENT);
        assert_eq!(logged.opened().unwrap().warnings, Vec::<String>::new());
        logged.commit(&mut [put([(8, "later")])]).unwrap();
        drop(logged);
        assert_eq!(rows(&*copy.open(PATIENT).snapshot())[&8], "later");
    }
}
