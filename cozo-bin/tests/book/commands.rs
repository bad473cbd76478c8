//! Blocks of shell commands.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::Given;
use crate::support::Scratch;
use crate::support::curl::{self, curl};
use crate::support::page::{Block, book};
use crate::support::server::{Server, start};

/// Where programs are that stand in for others, below the folder of a page.
const TOOLS: &str = ".tools";

/// Stands in for the shell of SQLite, which need not be installed.
const SQLITE3: &str = "\
#!/usr/bin/env python3
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print(*row, sep='|')
";

/// A database of CozoDB 0.7, and its name in the folder of a page.
const LEGACY: (&str, &str) = ("../cozo-core/tests/data/cozo-0.7/catalog.db", "cozo-0.7.backup");

/// The folder where the commands of a page run, and the server that they talk to.
pub struct Commands<'a> {
    folder: &'a Scratch,
    server: Option<Server>,
}

impl<'a> Commands<'a> {
    /// Commands in a folder, which gets the files of `docs/data` and a database of CozoDB 0.7.
    pub fn new(folder: &'a Scratch) -> Self {
        for entry in std::fs::read_dir(book().join("data")).expect("the folder can be read") {
            let entry = entry.expect("the entry can be read");
            std::fs::copy(entry.path(), folder.path(&entry.file_name().to_string_lossy())).expect("it can be copied");
        }
        std::fs::copy(book().join(LEGACY.0), folder.path(LEGACY.1)).expect("it can be copied");
        write_program(folder, "sqlite3", SQLITE3);
        Commands { folder, server: None }
    }

    /// Runs commands that succeed.
    pub fn run(&mut self, block: &Block) -> Given {
        if block.code.starts_with("curl ") {
            return Given::Json(curl::without_time(curl(self.server(), &block.code).ok()));
        }
        let output = self.shell(block);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{}: {}\n{stdout}{stderr}", block.place, output.status);
        Given::Text(without_times(&stdout))
    }

    /// Runs commands that fail.
    pub fn fail(&mut self, block: &Block) -> Given {
        if block.code.starts_with("curl ") {
            let reply = curl(self.server(), &block.code);
            assert_eq!(reply.status, 400, "{}: {}", block.place, reply.text());
            return Given::Text(reply.text());
        }
        let output = self.shell(block);
        assert!(!output.status.success(), "{} should fail, and gives\n{}", block.place, text(&output.stdout));
        Given::Text(text(&output.stderr))
    }

    fn server(&mut self) -> &Server {
        self.server.get_or_insert_with(|| start(&["--files", &self.folder.path("")]))
    }

    fn shell(&self, block: &Block) -> Output {
        let binary = Path::new(env!("CARGO_BIN_EXE_cozo")).parent().expect("it lies in a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{}:{path}", binary.display(), self.folder.path(TOOLS));
        let mut command = Command::new("sh");
        command.args(["-eu", "-c", &block.code]).current_dir(self.folder.path("")).stdin(Stdio::null());
        command.env("PATH", path).env("LC_ALL", "C").env_remove("COZO_AUTH_TOKEN");
        command.output().expect("there is a shell")
    }
}

fn write_program(folder: &Scratch, name: &str, content: &str) {
    std::fs::create_dir(folder.path(TOOLS)).expect("the folder can be made");
    let program = folder.file(&format!("{TOOLS}/{name}"), content);
    std::fs::set_permissions(program, Permissions::from_mode(0o755)).expect("it can be made executable");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Without the lines that say how many rows came in what time.
fn without_times(stdout: &str) -> String {
    let is_summary = |line: &&str| line.contains(" rows in ") || line.contains(" row in ");
    stdout.lines().filter(|line| !is_summary(line)).collect::<Vec<_>>().join("\n")
}
