//! Which database a command opens: by its path alone, and as it is named.

mod support;

use support::{Outcome, cozo, cozo_with_input, scratch};

const CREATE: &str = "?[a] <- [[1]] :create r {a}";
const READ: &str = "?[a] := *r{a}";

/// The engines of files and folders in this build.
#[cfg(feature = "storage-rocksdb")]
const ENGINES: [&str; 2] = ["sqlite", "rocksdb"];
#[cfg(not(feature = "storage-rocksdb"))]
const ENGINES: [&str; 1] = ["sqlite"];

/// Checks that the row of [`CREATE`] was read.
fn has_row(outcome: Outcome) {
    let output = outcome.succeeded();
    assert!(output.contains("│ 1 │") || output.contains("a\n1\n"), "{output}");
}

#[test]
fn a_path_alone_opens_what_is_there() {
    for engine in ENGINES {
        let directory = scratch(&format!("place_{engine}"));
        let path = directory.path("data");
        cozo(&["run", "--engine", engine, "--path", &path, "-e", CREATE]).succeeded();
        for arguments in [&["repl", &path][..], &["repl", "-p", &path], &[&path], &["repl", "-e", engine, "-p", &path]]
        {
            let outcome = cozo_with_input(arguments, READ);
            assert!(outcome.stderr.starts_with(&format!("{engine} database '{path}'\n")), "{}", outcome.stderr);
            has_row(outcome);
        }
        has_row(cozo(&["run", "-p", &path, "-e", READ]));
        has_row(cozo(&["run", "-p", &path, "--script", READ]));
        has_row(cozo(&["export", "r", "-", "-p", &path]));
        has_row(cozo(&["export", "-e", READ, "-", "-p", &path]));
        cozo(&["import", "r", &directory.file("two.csv", "a\n2\n"), "-p", &path]).succeeded();
        assert!(cozo(&["check", &path]).succeeded().starts_with("r: 2 rows\n"));
        for arguments in [&["compact", &path][..], &["compact", "-p", &path], &["compact", "-e", engine, "-p", &path]] {
            cozo(arguments).succeeded();
        }
        let backup = directory.path("backup.db");
        cozo(&["backup", &backup, "-p", &path]).succeeded();
        cozo(&["restore", &backup, "-p", &directory.path("new")]).succeeded();
        assert!(directory.names().contains(&"new-lock".to_string()), "a new database is a file");
        has_row(cozo(&["run", "-p", &directory.path("new"), "-e", READ]));
        has_row(cozo(&["run", "-p", &backup, "-e", READ]));
    }
}

/// `cozo run` takes files of scripts. Who gives it a database is told how to name that.
#[test]
fn a_database_in_place_of_a_script_gets_a_hint() {
    let directory = scratch("place_of_script");
    let (made, new, folder) = (directory.path("made.db"), directory.path("new.db"), directory.path(""));
    cozo(&["run", "--path", &made, "-e", CREATE]).succeeded();
    for path in [&made, &new, &folder] {
        let outcome = cozo(&["run", path, "-e", READ]);
        let hint = outcome.stderr.replace(|c: char| c.is_whitespace() || c == '│', "");
        assert!(hint.contains(&format!("write--path'{path}'")), "{}", outcome.stderr);
        outcome.failed("cli::file");
    }
    assert!(!std::path::Path::new(&new).exists(), "nothing is made");
}

#[test]
fn where_nothing_is_a_file_is_made() {
    let directory = scratch("place_new");
    let place = |name: &str| directory.path(name);
    cozo(&["run", "-p", &place("run.db"), "-e", CREATE]).succeeded();
    let outcome = cozo_with_input(&["repl", "-p", &place("repl.db")], CREATE);
    assert!(outcome.stderr.starts_with("new sqlite database '"), "{}", outcome.stderr);
    cozo_with_input(&[&place("alone.db")], CREATE).succeeded();
    cozo(&["import", "r {a}", &directory.file("r.csv", "a\n1\n"), "-p", &place("import.db")]).succeeded();
    for name in ["run.db", "repl.db", "alone.db", "import.db"] {
        let header = std::fs::read(place(name)).expect("the file is there");
        assert!(header.starts_with(b"SQLite format 3\0"), "{name}");
        has_row(cozo(&["run", "-p", &place(name), "-e", READ]));
    }
    let nowhere = place("no/such/folder/x.db");
    assert_eq!(cozo(&["run", "-p", &nowhere, "-e", CREATE]).code, 1);
}

#[test]
fn without_a_path_nothing_is_kept() {
    let directory = scratch("place_mem");
    cozo(&["run", "-e", CREATE, "-e", READ]).succeeded();
    cozo(&["run", "--engine", "mem", "-p", &directory.path("x.db"), "-e", CREATE]).succeeded();
    cozo_with_input(&["repl"], CREATE).succeeded();
    assert_eq!(directory.names(), [""; 0]);
    cozo(&["backup", &directory.path("b.db")]).failed("cli::nothing_in_mem");
    cozo(&["compact"]).failed("cli::nothing_in_mem");
    cozo(&["restore", &directory.path("b.db")]).failed("cli::restore_into_nothing");
}

#[test]
fn what_is_no_database_is_refused_and_left_as_it_is() {
    let directory = scratch("place_other");
    let text = directory.file("text.db", "this is no database, and has nothing in it that could be one");
    let other = directory.path("other");
    std::fs::create_dir(&other).expect("the folder can be made");
    std::fs::write(format!("{other}/readme"), "").expect("the file can be written");
    let old = directory.path("old.db");
    std::fs::copy("../cozo-core/tests/data/cozo-0.7/catalog.db", &old).expect("it can be copied");
    let before = directory.names();
    for (path, found) in [(&text, "a file that is no SQLite file"), (&old, "of CozoDB 0.7")] {
        cozo(&["run", "-p", path, "-e", READ]).failed(found);
        cozo(&["check", path]).failed(found);
        cozo_with_input(&["repl", path], READ).failed(found);
    }
    let found = if cfg!(feature = "storage-rocksdb") { "other files are there" } else { "cli::without_rocksdb" };
    cozo(&["run", "-p", &other, "-e", READ]).failed(found);
    assert_eq!(directory.names(), before);
}

/// A folder is not taken for an SQLite database by a build that has no other.
#[cfg(not(feature = "storage-rocksdb"))]
#[test]
fn a_build_without_rocksdb_says_so() {
    let directory = scratch("place_without");
    std::fs::create_dir(directory.path("data")).expect("the folder can be made");
    for arguments in [
        &["repl", "data"][..],
        &["run", "-p", "data", "-e", READ],
        &["check", "data"],
        &["compact", "data"],
        &["export", "r", "-", "-p", "data"],
    ] {
        let arguments: Vec<String> =
            arguments.iter().map(|word| word.replace("data", &directory.path("data"))).collect();
        cozo(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).failed("cli::without_rocksdb");
    }
}

#[test]
fn a_mistyped_command_makes_no_database() {
    let directory = scratch("place_typo");
    for word in ["serve", "exprot", "people"] {
        let outcome = cozo(&[word]);
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains("unrecognized subcommand"), "{}", outcome.stderr);
    }
    for arguments in
        [&["repl", "a.db", "-p", "b.db"][..], &["compact", "a.db", "-p", "b.db"], &["repl", "a.db", "--url", "x"]]
    {
        assert_eq!(cozo(arguments).code, 2, "{arguments:?}");
    }
    assert_eq!(directory.names(), [""; 0]);
    assert!(cozo(&["help"]).succeeded().contains("cozo PATH"));
}

#[cfg(feature = "server")]
#[test]
fn a_server_says_first_what_it_has_open() {
    use support::server::start;
    for engine in ENGINES {
        let directory = scratch(&format!("place_server_{engine}"));
        let path = directory.path("data");
        cozo(&["run", "--engine", engine, "--path", &path, "-e", CREATE]).succeeded();
        for arguments in [&[path.as_str()][..], &["-p", &path], &["-e", engine, "-p", &path]] {
            let server = start(arguments);
            assert!(server.first_line.contains(&format!("{engine} database '{path}'")), "{}", server.first_line);
            assert_eq!(server.rows(READ), serde_json::json!([[1]]));
            server.stop();
        }
    }
    let directory = scratch("place_server_new");
    let server = start(&[&directory.path("new.db")]);
    assert!(server.first_line.contains("new sqlite database '"), "{}", server.first_line);
    assert!(start(&[]).first_line.contains("in memory: nothing is kept"));
    cozo(&["server", "-P", "0", "a.db", "-p", "b.db"]).refused();
}
