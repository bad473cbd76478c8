//! Building and running programs against the library that cargo has just built.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the libraries: cargo builds them beside the tests that use the crate.
pub fn library_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it lies");
    let folder = test.parent().expect("a file lies in a folder").to_path_buf();
    assert!(folder.join("libcozo_c.a").exists(), "no libcozo_c.a in {}", folder.display());
    folder
}

/// Runs a command, which must succeed; gives what it wrote to stdout.
pub fn run(command: &mut Command) -> String {
    let output = output(command);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{stdout}\n{stderr}", output.status);
    stdout
}

pub fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Whether there is such a program; says so on stderr, past the capture of the tests' output, if there is none.
pub fn is_here(program: &str, argument: &str) -> bool {
    let here = Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success());
    if !here {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "NOT RUN: {program} is not here");
    }
    here
}

/// The compiler of the system, with warnings as errors.
pub fn compiler() -> Command {
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command.args(["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"]);
    command.arg(root());
    command
}

/// Compiles a program of this crate against the shared library.
pub fn compile(source: &str, folder: &Path) -> PathBuf {
    compile_file(&root().join(source), folder)
}

/// Compiles any program against the shared library.
pub fn compile_file(source: &Path, folder: &Path) -> PathBuf {
    let library = library_folder();
    let program = folder.join(source.file_stem().expect("a source has a name"));
    let rpath = format!("-Wl,-rpath,{}", library.display());
    run(compiler().arg(source).arg("-o").arg(&program).arg("-L").arg(&library).args(["-lcozo_c", &rpath]));
    program
}
