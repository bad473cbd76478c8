//! Programs in C and Go that use the library by its header alone.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::support::{compile, compiler, is_here, library_folder, output, root, run};

const FINE: &str = "all as it should be\n";

/// The exit code of a program in which valgrind found something.
const FOUND: i32 = 99;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder can be made")
}

fn engines() -> &'static [&'static str] {
    if cfg!(feature = "storage-rocksdb") { &["mem", "sqlite", "rocksdb"] } else { &["mem", "sqlite"] }
}

#[test]
fn functions_give_what_the_header_says() {
    for engine in engines() {
        let folder = folder();
        let program = compile("tests/c/functions.c", folder.path());
        assert_eq!(run(Command::new(program).arg(folder.path()).arg(engine)), FINE, "{engine}");
    }
}

#[test]
fn threads_share_databases() {
    let folder = folder();
    assert_eq!(run(&mut Command::new(compile("tests/c/threads.c", folder.path()))), FINE);
}

#[cfg(unix)]
#[test]
fn a_forked_process_is_told() {
    for engine in engines() {
        let folder = folder();
        let program = compile("tests/c/forks.c", folder.path());
        assert_eq!(run(Command::new(program).arg(folder.path()).arg(engine)), FINE, "{engine}");
    }
}

#[test]
fn a_program_may_end_with_open_databases() {
    for engine in engines() {
        let folder = folder();
        let program = compile("tests/c/exits.c", folder.path());
        let run = |what: &str| run(Command::new(&program).arg(folder.path()).arg(engine).arg(what));
        assert_eq!(run("end"), FINE, "{engine}");
        if *engine == "mem" {
            continue;
        }
        let left = std::fs::read_dir(folder.path().join(format!("database-{engine}"))).into_iter().flatten();
        let beside = std::fs::read_dir(folder.path()).expect("the folder is there");
        let names = left.chain(beside).flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        assert!(names.into_iter().all(|name| !name.contains("commits")), "{engine}: the commit log is applied");
        assert_eq!(run("look"), FINE, "{engine}");
    }
}

#[test]
fn the_example_answers() {
    let folder = folder();
    let answer = run(&mut Command::new(compile("examples/example.c", folder.path())));
    assert!(answer.contains(r#""rows":[["Bea",1],["Cid",2],["Dot",3]]"#), "{answer}");
}

#[test]
fn the_header_is_cplusplus() {
    if is_here("c++", "--version") {
        let header = root().join("cozo_c.h");
        run(Command::new("c++").args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++"]).arg(header));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_static_library_links() {
    let folder = folder();
    let program = folder.path().join("example");
    let mut command = compiler();
    command.arg(root().join("examples/example.c")).arg(library_folder().join("libcozo_c.a")).arg("-o").arg(&program);
    command.args(["-ldl", "-lm"]);
    if cfg!(feature = "storage-rocksdb") {
        command.arg("-lstdc++");
    }
    run(&mut command);
    assert!(run(&mut Command::new(program)).contains(r#""ok":true"#));
}

/// Valgrind, which makes a leak or an invalid access an error.
fn valgrind(program: &Path) -> Command {
    let mut command = Command::new("valgrind");
    let exit_code = format!("--error-exitcode={FOUND}");
    command.args(["--quiet", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]);
    command.arg(exit_code).arg(program);
    command
}

#[test]
fn nothing_leaks_and_no_access_is_invalid() {
    if !is_here("valgrind", "--version") {
        return;
    }
    let folder = folder();
    let program = compile("tests/c/functions.c", folder.path());
    assert_eq!(run(valgrind(&program).arg(folder.path()).arg("mem")), FINE);
}

#[test]
fn a_leak_would_be_found() {
    if !is_here("valgrind", "--version") {
        return;
    }
    let folder = folder();
    let output = output(&mut valgrind(&compile("tests/c/leak.c", folder.path())));
    let report = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(FOUND), "{report}");
    assert!(report.contains("definitely lost") && report.contains("cozo_run_query"), "{report}");
}

#[test]
fn go_programs_use_the_library() {
    if !is_here("go", "version") {
        return;
    }
    let (library, target) = (library_folder(), Path::new(env!("CARGO_TARGET_TMPDIR")));
    let link = format!("-L{0} -lcozo_c -Wl,-rpath,{0}", library.display());
    let mut command = Command::new("go");
    command.args(["test", "-count=1", "./..."]).current_dir(root().join("tests/go"));
    command.env("CGO_ENABLED", "1").env("CGO_CFLAGS", format!("-I{}", root().display())).env("CGO_LDFLAGS", link);
    // What Go keeps from run to run lies where cargo's does; it fetches nothing.
    command.env("GOCACHE", target.join("go-cache")).env("GOFLAGS", "-mod=mod").env("GOTOOLCHAIN", "local");
    command.env("GOPROXY", "off");
    run(&mut command);
}
