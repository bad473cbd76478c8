//! The library that stands between a process and the system, see `inject.c`: how it is made, and what it is told.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::sync::LazyLock;

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::trace::{Class, Trace};

/// The library, compiled once for each run of the tests.
static LIBRARY: LazyLock<PathBuf> = LazyLock::new(compile);

fn compile() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/inject.c");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (library, unfinished) =
        (folder.join("libinject.so"), folder.join(format!("libinject.{}.so", std::process::id())));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let arguments = ["-shared", "-fPIC", "-O1", "-Wall", "-o"];
    let command = Command::new(&compiler).args(arguments).arg(&unfinished).arg(&source).arg("-ldl").output();
    let output = command.unwrap_or_else(|error| {
        panic!("the tests with faults need a C compiler, as SQLite does: '{compiler}' cannot be run: {error}")
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Another process may load it at this moment.
    std::fs::rename(&unfinished, &library).unwrap();
    library
}

/// Has a process look at the files below a folder through the library; nothing is synced.
pub fn preload(command: &mut Command, root: &Path) {
    command.env("LD_PRELOAD", &*LIBRARY).env("COZO_FAULTS_ROOT", root);
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Without any effect.
    Plain,
    /// After its effect.
    Late,
    /// It writes half, and the next write to the file fails.
    Short,
}

/// Which calls fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub class: Class,
    /// The first call that fails, from 1.
    pub n: u64,
    pub error: i32,
    /// How many calls fail from there on.
    pub times: u64,
    pub how: How,
    /// Of which files: a pattern as shells have it.
    pub files: String,
}

/// For ever.
const ALWAYS: u64 = 1_000_000_000;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EDQUOT: i32 = 122;
const EMFILE: i32 = 24;

/// The kinds of files that faults are for, of all engines.
const FILES: &[&str] = &[
    "*",
    "db.sqlite",
    "db.sqlite-wal",
    "db.sqlite-journal",
    "*commits-*",
    "*.log",
    "*.sst",
    "*.blob",
    "*MANIFEST-*",
    "*CURRENT",
    "*OPTIONS-*",
    "*.dbtmp",
    "*appended.tmp",
    "*backup-*",
    "source.db*",
];

/// Draws a fault that a process will meet which does about what a trace has.
pub fn draw(trace: &Trace, random: &mut StdRng) -> Fault {
    loop {
        let class = *Class::ALL.choose(random).expect("there are classes");
        let files = *FILES.choose(random).expect("there are kinds of files");
        let calls = trace.calls(class, files);
        if calls == 0 {
            continue;
        }
        let errors: &[i32] = match class {
            Class::Write | Class::Truncate => &[EIO, ENOSPC, EDQUOT],
            Class::Open => &[EIO, ENOSPC, EMFILE],
            Class::Sync | Class::Rename => &[EIO, ENOSPC],
            Class::Unlink | Class::Read => &[EIO],
        };
        let how = match (class, random.random_range(0..5)) {
            (Class::Write, 0) => How::Short,
            (Class::Write | Class::Sync | Class::Truncate | Class::Rename | Class::Unlink, 1) => How::Late,
            _ => How::Plain,
        };
        let times = match (how, random.random_range(0..6)) {
            (How::Short, _) | (_, 0..3) => 1,
            (_, 3) => 2,
            (_, 4) => random.random_range(3..30),
            _ => ALWAYS,
        };
        let error = *errors.choose(random).expect("there are errors");
        return Fault { class, n: random.random_range(1..=calls), error, times, how, files: files.to_string() };
    }
}

impl Display for Fault {
    /// As the library reads it.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Fault { class, n, error, times, how, files } = self;
        write!(f, "{} {n} {error} {times} {} {files}", *class as u8, *how as u8)
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(' ').collect();
        let [class, n, error, times, how, files] = parts[..] else { return Err(format!("no fault: '{text}'")) };
        let number = |text: &str| text.parse::<u64>().map_err(|error| error.to_string());
        let class = *Class::ALL.get(number(class)? as usize).ok_or("no such class")?;
        let how = *[How::Plain, How::Late, How::Short].get(number(how)? as usize).ok_or("no such way to fail")?;
        let (n, error, times) = (number(n)?, number(error)? as i32, number(times)?);
        Ok(Fault { class, n, error, times, how, files: files.to_string() })
    }
}
