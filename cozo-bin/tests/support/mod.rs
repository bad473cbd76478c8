//! Running the binary, and files for it to read.

#![allow(dead_code, reason = "each test program uses its part")]

#[cfg(feature = "server")]
pub mod curl;
pub mod page;
#[cfg(feature = "server")]
pub mod server;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a run of the binary left behind.
pub struct Outcome {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Outcome {
    /// Standard output, if all went well.
    pub fn succeeded(self) -> String {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self.stdout
    }

    /// Standard output as JSON, if all went well.
    pub fn json(self) -> Value {
        serde_json::from_str(&self.succeeded()).expect("it is JSON")
    }

    /// Checks that the arguments were refused.
    pub fn refused(self) {
        assert_eq!(self.code, 2, "{}{}", self.stdout, self.stderr);
    }

    /// Checks that it failed and said this.
    pub fn failed(self, with: &str) {
        assert_eq!(self.code, 1, "{}", self.stdout);
        assert!(self.stderr.contains(with), "'{with}' in {}", self.stderr);
    }
}

/// Runs the binary without input.
pub fn cozo(arguments: &[&str]) -> Outcome {
    cozo_with_input(arguments, "")
}

/// Runs the binary with standard input from a pipe.
pub fn cozo_with_input(arguments: &[&str], input: &str) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cozo"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    // A program that refuses its arguments does not wait for input.
    let _ = child.stdin.take().expect("there is a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("it is UTF-8");
    Outcome { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A directory for the files of one test.
pub struct Scratch(PathBuf);

/// An empty directory of this name.
pub fn scratch(name: &str) -> Scratch {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("the directory can be made");
    Scratch(directory)
}

impl Scratch {
    /// The path of a file in it.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Writes a file and gives its path.
    pub fn file(&self, name: &str, content: &str) -> String {
        std::fs::write(self.0.join(name), content).expect("the file can be written");
        self.path(name)
    }

    /// The names of the files in it, in order.
    pub fn names(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.0).expect("the directory is there");
        let name = |file: std::io::Result<std::fs::DirEntry>| file.expect("it can be listed").file_name();
        let mut names: Vec<String> = files.map(|file| name(file).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
