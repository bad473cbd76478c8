//! The suite of all engines over a folder, and tests of folders and of RocksDB.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::io;

use super::*;
use crate::schema::{BaseType, ColumnType};
use crate::storage::tests::{self as suite, RELATION, Subject, creation, schema};
use crate::storage::{ChangeKind, ChangeSet, KeyRange, RowChanges, Snapshot, Storage};
use crate::value::{Batch, Column, DataValue};

fn options(text: &str) -> Options {
    Options::parse(text).unwrap()
}

fn open_at(path: &Path) -> RocksDbStorage {
    open(path, &Options::default()).unwrap()
}

fn refusal(path: &Path, text: &str) -> StorageError {
    open(path, &options(text)).err().expect("it is refused")
}

fn of(base: BaseType) -> ColumnType {
    ColumnType { base, nullable: false }
}

/// The relation of the tests with an Int key and a String value.
fn texts() -> ChangeSet {
    creation(&schema(1, vec![of(BaseType::Int), of(BaseType::String)]))
}

fn put(keys: impl IntoIterator<Item = i64>, text: &str) -> ChangeSet {
    let rows: Vec<[DataValue; 2]> = keys.into_iter().map(|key| [key.into(), text.into()]).collect();
    let rows = Batch::from_rows(2, rows.iter().map(|row| &row[..]));
    ChangeSet::of_rows(vec![RowChanges::new(RELATION, ChangeKind::Put, rows)])
}

fn count(snapshot: &dyn Snapshot, range: &KeyRange) -> usize {
    let mut cursor = snapshot.scan(RELATION, range, &[], None).unwrap();
    std::iter::from_fn(|| cursor.next_batch(1000).unwrap()).map(|batch| batch.len).sum()
}

#[test]
fn the_engine_behaves_like_the_model() {
    let subject = || {
        let folder = tempfile::tempdir().unwrap();
        // Small buffers, so that rows come from files too.
        let small = options("{\"write_buffer_mb\": 1, \"block_cache_mb\": 1}");
        Subject { open: Box::new(move || Box::new(open(folder.path(), &small).unwrap())), exact: false, durable: true }
    };
    suite::run_all(subject, 16);
}

#[test]
fn rows_in_files_are_found_partitioned_and_compacted() {
    let folder = tempfile::tempdir().unwrap();
    let open = || open(folder.path(), &options("{\"write_buffer_mb\": 1, \"compression\": \"none\"}")).unwrap();
    let storage = open();
    storage.commit(&mut [texts()]).unwrap();
    for part in 0..40 {
        storage.commit(&mut [put(part * 1_000..(part + 1) * 1_000, &"x".repeat(100))]).unwrap();
    }
    // An opening flushes all rows to files. Parts are cut by the sizes of files.
    drop(storage);
    let storage = open();
    let verify = || {
        let snapshot = storage.snapshot();
        assert_eq!(count(&*snapshot, &KeyRange::all()), 40_000);
        let probes = [Column::ints((39_000..41_000).rev().collect())];
        let found = snapshot.contains(RELATION, &probes, None).unwrap();
        assert_eq!(found.iter().filter(|found| **found).count(), 1_000);
        let parts = snapshot.partition(RELATION, &KeyRange::all(), 4);
        let sizes: Vec<usize> = parts.iter().map(|part| count(&*snapshot, part)).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 40_000);
        assert!(sizes.len() == 4 && sizes.iter().all(|size| (6_000..15_000).contains(size)), "{sizes:?}");
    };
    verify();
    storage.compact().unwrap();
    verify();
}

#[test]
fn large_values_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open_at(folder.path());
    let text = "long ".repeat(10_000);
    storage.commit(&mut [texts(), put([1, 2], &text), put([3], "short")]).unwrap();
    storage.compact().unwrap();
    let snapshot = storage.snapshot();
    let batch = snapshot.scan(RELATION, &KeyRange::all(), &[1], None).unwrap().next_batch(9).unwrap().unwrap();
    let expected: Vec<DataValue> = [&text[..], &text, "short"].map(DataValue::from).to_vec();
    assert_eq!(batch.columns[0].iter().collect::<Vec<_>>(), expected);
    let blobs = fs::read_dir(folder.path()).unwrap().flatten();
    assert!(blobs.into_iter().any(|file| file.path().extension().is_some_and(|extension| extension == "blob")));
}

#[test]
fn a_dropped_relation_leaves_held_snapshots_and_a_reused_number_starts_empty() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open_at(folder.path());
    storage.commit(&mut [texts(), put(0..100, "a")]).unwrap();
    let before = storage.snapshot();
    storage.commit(&mut [ChangeSet { dropped: vec![RELATION], ..ChangeSet::default() }, texts()]).unwrap();
    assert_eq!((count(&*before, &KeyRange::all()), count(&*storage.snapshot(), &KeyRange::all())), (100, 0));
    storage.compact().unwrap();
    assert_eq!(count(&*before, &KeyRange::all()), 100);
}

#[test]
fn one_handle_writes_and_others_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open_at(folder.path());
    storage.commit(&mut [texts(), put(0..10, "a")]).unwrap();
    assert!(matches!(refusal(folder.path(), ""), StorageError::Locked(_)));
    let reader = open(folder.path(), &options("{\"read_only\": true}")).unwrap();
    assert_eq!(count(&*reader.snapshot(), &KeyRange::all()), 10);
    assert!(matches!(reader.commit(&mut [put([1], "b")]), Err(StorageError::ReadOnly)));
    drop(storage);
    drop(open_at(folder.path()));
}

#[test]
fn what_is_no_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("file"), "text").unwrap();
    fs::create_dir_all(path("foreign")).unwrap();
    fs::write(path("foreign").join("letter.txt"), "dear").unwrap();
    fs::create_dir_all(path("old").join("data")).unwrap();
    fs::write(path("old").join("manifest"), "1").unwrap();
    let found = |name: &str, text: &str| match refusal(&path(name), text) {
        StorageError::NotADatabase { found, help, .. } => (found, help),
        other => panic!("{other}"),
    };
    assert_eq!(found("file", "").0, "a file is there");
    assert_eq!(found("foreign", "").0, "other files are there, such as 'letter.txt'");
    assert_eq!(found("none", "{\"read_only\": true}").0, "nothing is there");
    let (what, help) = found("old", "");
    assert_eq!(what, "a database of CozoDB 0.7 is there");
    assert!(help.contains("backup of it with CozoDB 0.7"), "{help}");
    assert_eq!(fs::read_dir(path("foreign")).unwrap().count(), 1);
    assert!(!path("none").exists());
}

#[test]
fn a_store_of_another_program_is_not_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut create = ::rocksdb::Options::default();
    create.create_if_missing(true);
    let other = DB::open(&create, folder.path()).unwrap();
    other.put("key", "value").unwrap();
    drop(other);
    assert!(matches!(refusal(folder.path(), ""), StorageError::NotADatabase { .. }));
}

#[test]
fn damaged_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open_at(folder.path());
    storage.commit(&mut [texts(), put(0..10_000, "a")]).unwrap();
    storage.compact().unwrap();
    drop(storage);
    let tables = fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path());
    for table in tables.filter(|path| path.extension().is_some_and(|extension| extension == "sst")) {
        let mut bytes = fs::read(&table).unwrap();
        let middle = bytes.len() / 3;
        bytes[middle..middle + 64].iter_mut().for_each(|byte| *byte ^= 0x55);
        fs::write(&table, bytes).unwrap();
    }
    let scanned = open(folder.path(), &Options::default()).and_then(|storage| {
        let snapshot = storage.snapshot();
        let mut cursor = snapshot.scan(RELATION, &KeyRange::all(), &[0], None)?;
        while cursor.next_batch(1000)?.is_some() {}
        Ok(())
    });
    assert!(matches!(scanned, Err(StorageError::Damaged(_))), "{scanned:?}");
}

#[test]
fn options_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    for (text, message) in [
        ("{\"block_cache\": 1}", "unknown option `block_cache`"),
        ("{\"compression\": \"gzip\"}", "unknown variant `gzip`"),
        ("{\"write_buffer_mb\": 0}", "write_buffer_mb must be at least 1"),
        ("{\"max_open_files\": 1}", "max_open_files must be at least 16"),
    ] {
        let error = refusal(folder.path(), text).to_string();
        assert!(error.starts_with("bad database options") && error.contains(message), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let text = "{\"durability\": \"disk\", \"compression\": \"zstd\", \"block_cache_mb\": 0, \"min_blob_bytes\": 100}";
    let storage = open(folder.path(), &options(text)).unwrap();
    storage.commit(&mut [texts(), put(0..10, &"zero cache ".repeat(50))]).unwrap();
    drop(storage);
    assert_eq!(count(&*open_at(folder.path()).snapshot(), &KeyRange::all()), 10);
}

/// The files with rows.
fn row_files(folder: &Path) -> usize {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "sst")).count()
}

#[test]
fn many_rows_after_all_others_are_added_as_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open_at(folder.path());
    storage.commit(&mut [texts()]).unwrap();
    storage.commit(&mut [put([0], "before")]).unwrap();
    let before = storage.snapshot();
    storage.commit(&mut [put(1..20_001, "added")]).unwrap();
    // One has what precedes them.
    assert_eq!(row_files(folder.path()), 2);
    assert_eq!(count(&*before, &KeyRange::all()), 1, "an earlier snapshot does not see them");
    assert_eq!(count(&*storage.snapshot(), &KeyRange::all()), 20_001);
    // Some of these keys exist already, and these values are too large for such a file.
    let large = "x".repeat(5000).leak();
    storage.commit(&mut [put(10_000..30_000, "again")]).unwrap();
    storage.commit(&mut [put(40_000..56_384, large)]).unwrap();
    assert_eq!(row_files(folder.path()), 2);
    // Removed rows stay removed where others are added.
    storage.commit(&mut [ChangeSet { dropped: vec![RELATION], ..ChangeSet::default() }]).unwrap();
    storage.commit(&mut [texts()]).unwrap();
    storage.commit(&mut [put((0..40_000).step_by(2), "new")]).unwrap();
    drop((before, storage));
    let storage = open_at(folder.path());
    assert_eq!(count(&*storage.snapshot(), &KeyRange::all()), 20_000);
    assert_eq!(storage.snapshot().row_count(RELATION), 20_000);
    let key = [Column::ints(vec![10_000])];
    let snapshot = storage.snapshot();
    let mut cursor = snapshot.lookup(RELATION, &key, &[1], None).unwrap();
    assert_eq!(cursor.next_matches(1).unwrap().unwrap().batch.columns[0].get(0), DataValue::from("new"));
}

/// The path of the manifest.
fn manifest_of(folder: &Path) -> std::path::PathBuf {
    folder.join(fs::read_to_string(folder.join("CURRENT")).unwrap().trim_end())
}

/// The files of a folder, without RocksDB's journal and lock. If RocksDB removes one of them meanwhile, they are read again.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = || -> io::Result<BTreeMap<String, Vec<u8>>> {
        let files = fs::read_dir(folder).unwrap().map(|file| Ok(file?.file_name().into_string().unwrap()));
        let named = files.filter(|name| !name.as_ref().is_ok_and(|name| name.starts_with("LO")));
        named.map(|name| name.and_then(|name| Ok((name.clone(), fs::read(folder.join(name))?)))).collect()
    };
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            files => return files.unwrap(),
        }
    }
}

/// RocksDB itself reads the rest of such a manifest without a warning, and removes the files that it lacks.
#[test]
fn a_manifest_that_lacks_something_is_refused_and_nothing_removed() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open_at(folder.path());
    storage.commit(&mut [texts(), put(0..10, "before")]).unwrap();
    let manifest = manifest_of(folder.path());
    let older = fs::read(&manifest).unwrap();
    storage.commit(&mut [put(10..20_000, "a file of its own")]).unwrap();
    storage.commit(&mut [put([20_000], "in the log")]).unwrap();
    drop(storage);
    let whole = fs::read(&manifest).unwrap();
    assert!(whole.len() > older.len() && whole.starts_with(&older));

    let mut flipped = whole.clone();
    // A byte of the length of the record that lists the file of rows.
    flipped[older.len() + 5] ^= 1;
    for damaged in [older, whole[..whole.len() - 1].to_vec(), whole[..7].to_vec(), vec![], flipped] {
        fs::write(&manifest, &damaged).unwrap();
        let before = contents(folder.path());
        for text in ["", "{\"read_only\": true}"] {
            let refused = refusal(folder.path(), text);
            let StorageError::Damaged(why) = &refused else { panic!("{refused}") };
            assert!(why.contains("list of files") && why.contains("MANIFEST-"), "{why}");
        }
        assert_eq!(before, contents(folder.path()));
    }
    fs::write(&manifest, &whole).unwrap();
    let storage = open_at(folder.path());
    assert_eq!((storage.opened().unwrap().warnings, count(&*storage.snapshot(), &KeyRange::all())), (vec![], 20_001));
}

#[test]
fn the_note_of_a_closed_database_covers_the_whole_manifest() {
    let folder = tempfile::tempdir().unwrap();
    open_at(folder.path()).commit(&mut [texts()]).unwrap();
    // Each opening writes the rows of the last one to a file. RocksDB merges such files in the background.
    for opening in 0..40 {
        open_at(folder.path()).commit(&mut [put((opening..1_000).step_by(2), "again")]).unwrap();
        let noted = height::read(folder.path()).unwrap();
        let bytes = fs::metadata(manifest_of(folder.path())).unwrap().len();
        assert_eq!((noted.is_closed, noted.manifest.bytes), (true, bytes), "opening {opening}");
    }
}

#[test]
fn without_the_note_a_manifest_is_taken_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open_at(folder.path());
    storage.commit(&mut [texts(), put(0..10, "before")]).unwrap();
    storage.compact().unwrap();
    let older = fs::read(manifest_of(folder.path())).unwrap();
    storage.commit(&mut [put(10..20_000, "a file of its own")]).unwrap();
    drop(storage);
    fs::write(manifest_of(folder.path()), older).unwrap();
    fs::remove_file(folder.path().join("height")).unwrap();
    assert_eq!(count(&*open_at(folder.path()).snapshot(), &KeyRange::all()), 10);
}

/// RocksDB reads a log that is truncated between two records without a warning. Only the height shows the loss.
#[test]
fn an_earlier_state_is_told_and_what_it_was_opened_from_kept() {
    let folder = tempfile::tempdir().unwrap();
    open_at(folder.path()).commit(&mut [texts(), put(0..10, "before")]).unwrap();
    let noted = height::read(folder.path()).unwrap();
    assert!(noted.is_closed);
    let later = height::Noted { number: noted.number + 7, is_closed: false, ..noted };
    fs::write(folder.path().join("height"), later.to_bytes()).unwrap();
    let before = contents(folder.path());

    let storage = open_at(folder.path());
    assert_eq!(count(&*storage.snapshot(), &KeyRange::all()), 10);
    let [warning] = &storage.opened().unwrap().warnings[..] else { panic!("{:?}", storage.opened().unwrap().warnings) };
    assert!(warning.contains("an earlier state of the database"), "{warning}");
    for (name, bytes) in before.iter().filter(|(name, _)| name.starts_with("MANIFEST-") || name.ends_with(".log")) {
        let kept = format!("{name}.lost");
        assert!(warning.contains(&kept), "{warning}");
        assert_eq!(&fs::read(folder.path().join(kept)).unwrap(), bytes);
    }
    drop(storage);
    assert!(open_at(folder.path()).opened().unwrap().warnings.is_empty(), "it was told");
    assert!(contents(folder.path()).keys().all(|name| !name.ends_with(".opening")));
}

#[test]
fn a_log_that_is_not_there_is_told_unless_the_database_was_closed() {
    let folder = tempfile::tempdir().unwrap();
    let remove_logs = |folder: &Path| {
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        files
            .filter(|path| path.extension().is_some_and(|end| end == "log"))
            .for_each(|log| fs::remove_file(log).unwrap());
    };
    let storage = open_at(folder.path());
    storage.commit(&mut [texts(), put(0..10, "there")]).unwrap();
    let copy = tempfile::tempdir().unwrap();
    for file in fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()) {
        fs::copy(&file, copy.path().join(file.file_name().unwrap())).unwrap();
    }
    drop(storage);
    remove_logs(folder.path());
    let storage = open_at(folder.path());
    assert_eq!((storage.opened().unwrap().warnings, count(&*storage.snapshot(), &KeyRange::all())), (vec![], 10));
    // A copy of the open database, as after a crash, lacks rows.
    remove_logs(copy.path());
    let refusal = open(copy.path(), &Options::default());
    let told = refusal.map_or_else(|error| error.to_string(), |storage| storage.opened().unwrap().warnings.join(" "));
    assert!(told.contains("log of RocksDB is not there") || told.contains("not a database"), "{told}");
}

/// A database whose memtables have become several logs: the folder as it is while all of them are still to be written to files.
/// The writes have the keys 0, 1, 2 and so on.
fn folder_with_several_logs(sync: bool) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = RocksOptions::default().setup().unwrap();
    setup.set_write_buffer_size(64 << 10);
    setup.set_max_write_buffer_number(8);
    setup.set_min_write_buffer_number_to_merge(7);
    let (db, warnings) = recovery::open(folder.path(), setup, false).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    let mut write = WriteOptions::default();
    write.set_sync(sync);
    for key in 0_u64.. {
        db.put_opt(key.to_be_bytes(), vec![key as u8; 4000], &write).unwrap();
        let found = contents(folder.path());
        if found.keys().filter(|name| name.ends_with(".log")).count() == 4 {
            assert_eq!(row_files(folder.path()), 0);
            return found;
        }
    }
    unreachable!("a memtable is full at some time")
}

/// Opens a folder with these files. Returns how many writes there are, all of them the first ones, and whether it warns.
fn opened_prefix(files: &BTreeMap<String, Vec<u8>>) -> (usize, bool) {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, bytes)| fs::write(folder.path().join(name), bytes).unwrap());
    let setup = RocksOptions::default().setup().unwrap();
    let (db, warnings) = recovery::open(folder.path(), setup.clone(), false).unwrap();
    let keys = |db: &DB| -> Vec<u64> {
        let keys = db.iterator(::rocksdb::IteratorMode::Start).map(|entry| entry.unwrap().0);
        keys.map(|key| u64::from_be_bytes(key[..].try_into().unwrap())).collect()
    };
    let found = keys(&db);
    assert_eq!(found, (0..found.len() as u64).collect::<Vec<_>>(), "{warnings:?}");
    drop(db);
    let (db, again) = recovery::open(folder.path(), setup, true).unwrap();
    assert_eq!((keys(&db), again), (found.clone(), vec![]), "the second opening has the same, and nothing to tell");
    (found.len(), !warnings.is_empty())
}

/// While memtables are written to files there are several logs, and a later one without the one before it is no state of the
/// database. A log that ends between two records looks as if it were whole.
#[test]
fn a_log_is_not_applied_without_the_ones_before_it() {
    for sync in [true, false] {
        let whole = folder_with_several_logs(sync);
        let (all, warns) = opened_prefix(&whole);
        assert!(all > 40 && !warns, "{all}");
        let logs: Vec<&String> = whole.keys().filter(|name| name.ends_with(".log")).collect();
        for log in &logs[..3] {
            let mut files = whole.clone();
            files.remove(*log);
            let (found, warns) = opened_prefix(&files);
            assert!(found < all && warns, "{log} is not there: {found} of {all}");
            for share in 1..40 {
                let length = whole[*log].len() * share / 40;
                files.insert(log.to_string(), whole[*log][..length].to_vec());
                let (found, warns) = opened_prefix(&files);
                assert!(found < all && warns, "{log} has {length} bytes: {found} of {all}");
            }
        }
    }
}

/// A file of added rows is read whatever the log has. Without the commits before it, the database would show a state that never was.
#[test]
fn what_precedes_a_file_of_added_rows_does_not_depend_on_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open(folder.path(), &options("{\"commit_log_mb\": 0}")).unwrap();
    storage.commit(&mut [texts(), put(0..10, "before")]).unwrap();
    storage.commit(&mut [put(10..20_010, "added")]).unwrap();
    storage.commit(&mut [put(20_010..20_020, "after")]).unwrap();
    let copy = tempfile::tempdir().unwrap();
    for (name, mut bytes) in contents(folder.path()) {
        if name.ends_with(".log") {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        }
        fs::write(copy.path().join(name), bytes).unwrap();
    }
    let storage = open_at(copy.path());
    assert!(!storage.opened().unwrap().warnings.is_empty());
    assert_eq!(count(&*storage.snapshot(), &KeyRange::all()), 20_010);
}

/// A system may report a failure although it has made the hard link. Copying onto the link would empty the file.
#[test]
fn a_copy_for_evidence_never_writes_over_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (file, other) = (folder.path().join("MANIFEST-000001"), folder.path().join("MANIFEST-000001.opening"));
    fs::write(&file, "the list of files").unwrap();
    fs::hard_link(&file, &other).unwrap();
    evidence::copy_to_new(&file, &other).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"the list of files");
    fs::remove_file(&other).unwrap();
    evidence::copy_to_new(&file, &other).unwrap();
    assert_eq!(fs::read(&other).unwrap(), b"the list of files");
}

/// If RocksDB cannot sync its list of files, it removes an ingested file, although the list has it.
#[test]
fn a_file_of_added_rows_that_was_removed_is_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open_at(folder.path());
    storage.commit(&mut [texts(), put(0..10, "before")]).unwrap();
    storage.commit(&mut [put(10..20_010, "added")]).unwrap();
    drop(storage);
    let files = || fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    let added = files().filter(|path| path.extension().is_some_and(|end| end == "sst")).max().unwrap();
    fs::rename(&added, folder.path().join(APPENDED_FILE)).unwrap();
    let storage = open_at(folder.path());
    assert_eq!((storage.opened().unwrap().warnings, count(&*storage.snapshot(), &KeyRange::all())), (vec![], 20_010));
    drop(storage);
    // Another file in its place does not belong to this database.
    fs::remove_file(&added).unwrap();
    fs::write(folder.path().join(APPENDED_FILE), "something else").unwrap();
    assert!(matches!(refusal(folder.path(), ""), StorageError::Damaged(_)));
    assert!(!added.exists());
}
