//! The arguments of the command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::connection::Server;
use crate::database::DatabaseArguments;
use crate::error::CliError;
use crate::format::FileFormat;

/// A relational-graph database queried with CozoScript (Datalog).
///
/// 'cozo PATH' opens the database in a file or folder, and reads scripts from the terminal. It means 'cozo repl PATH'.
#[derive(Parser)]
#[command(name = "cozo", version, about, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// Reads the command line. Ends the program if it is wrong, or if it asks for help.
    pub fn read() -> Self {
        let mut words: Vec<OsString> = std::env::args_os().collect();
        if words.get(1).is_some_and(names_database) {
            words.insert(1, "repl".into());
        }
        Arguments::parse_from(words)
    }
}

/// Whether the first word is the path of a database and no command: it is there, or looks like a path. A mistyped command
/// makes no database.
fn names_database(word: &OsString) -> bool {
    let text = word.to_string_lossy();
    let is_command = Arguments::command().find_subcommand(word).is_some() || text == "help";
    let looks_like_path = text.contains(['.', '/', std::path::MAIN_SEPARATOR]) || Path::new(word).exists();
    !is_command && !text.is_empty() && !text.starts_with('-') && looks_like_path
}

/// CozoDB 0.7 takes `-e` for the engine in its `server` and `repl`. It is not listed, since `-e` is a script elsewhere.
pub fn short_engine(engine: clap::Arg) -> clap::Arg {
    engine.short_alias('e')
}

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Run scripts from files, from the command line or from standard input
    Run(RunArguments),
    /// Type scripts and see their results
    Repl(ReplArguments),
    /// Show the plan of a script, for tools and other engines
    Plan(PlanArguments),
    /// Load files of CSV, JSON Lines, JSON, Parquet or Arrow into a stored relation, or a folder of an export
    Import(ImportArguments),
    /// Write a relation, or the result of a script, to a file of CSV, JSON Lines, JSON, Parquet or Arrow, or all relations
    /// to a folder
    Export(ExportArguments),
    /// Write all relations to a backup, which is an SQLite file
    Backup(BackupArguments),
    /// Fill an empty database from a backup, or from a database of CozoDB 0.7
    Restore(RestoreArguments),
    /// Read a whole database and report what is wrong with it
    Check(CheckArguments),
    /// Free the space of rows that were removed or replaced
    Compact(CompactArguments),
    /// Show the entries of a log that processes share, and verify their checksums
    Log(LogArguments),
    /// Store the contents of a database in its shared log, so that others begin with them
    Checkpoint(CheckpointArguments),
    /// Serve a database over HTTP
    #[cfg(feature = "server")]
    Server(Box<crate::server::ServerArguments>),
    /// Say how to get the server, which this build lacks
    #[cfg(not(feature = "server"))]
    #[command(hide = true, disable_help_flag = true)]
    Server(WithoutServerArguments),
    /// Show what the language can do, on the dependency graph of a Rust workspace
    Demo(DemoArguments),
    /// Write the script with which a shell completes commands of this program
    Completions(CompletionsArguments),
    /// Write the manual pages
    Man(ManArguments),
}

/// A server instead of a database of this process.
#[derive(Args)]
pub struct ServerAddress {
    /// The address of a server to use instead of opening a database, such as http://127.0.0.1:9070
    #[arg(long, value_name = "URL", conflicts_with_all = ["engine", "path", "config"])]
    url: Option<String>,
    /// The token of the server; by default the value of the variable COZO_AUTH_TOKEN
    #[arg(long, value_name = "TOKEN", requires = "url")]
    token: Option<String>,
}

impl ServerAddress {
    /// The server, if one is named.
    pub fn connect(&self) -> Result<Option<Server>, CliError> {
        let variable = || std::env::var("COZO_AUTH_TOKEN").ok();
        let token = || self.token.clone().or_else(variable).filter(|token| !token.is_empty());
        self.url.as_deref().map(|url| Server::new(url, token())).transpose()
    }
}

/// `cozo run`.
#[derive(Args)]
pub struct RunArguments {
    /// Files with one script each. They run in order, on the same database. `-` is standard input, which is also read if no
    /// script is named and input is piped in
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A script, run after the files; may be repeated
    #[arg(short = 'e', long = "script", value_name = "SCRIPT")]
    pub scripts: Vec<String>,
    /// A parameter `$NAME` of the scripts; may be repeated
    #[arg(long = "param", value_name = "NAME=JSON")]
    pub parameters: Vec<String>,
    /// Load a file before the scripts run, as `cozo import` does: `trip=trips.csv` or
    /// `'trip {id: Int => km: Float}=trips.csv'`; may be repeated
    #[arg(long = "load", value_name = "RELATION=FILE", conflicts_with = "url")]
    pub loads: Vec<String>,
    /// The format of results
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Refuse scripts that write
    #[arg(long)]
    pub immutable: bool,
    #[command(flatten)]
    pub server: ServerAddress,
    #[command(flatten)]
    pub database: DatabaseArguments,
}

/// `cozo plan`.
#[derive(Args)]
pub struct PlanArguments {
    /// A file with a script of one query; `-` is standard input, which is also read if no script is named
    #[arg(value_name = "FILE", conflicts_with = "script")]
    pub file: Option<PathBuf>,
    /// A script of one query
    #[arg(short = 'e', long, value_name = "SCRIPT")]
    pub script: Option<String>,
    /// A parameter `$NAME` of the script; may be repeated
    #[arg(long = "param", value_name = "NAME=JSON")]
    pub parameters: Vec<String>,
    /// A script that runs before, such as `':create edge {from: Int, to: Int}'`; may be repeated
    #[arg(long, value_name = "SCRIPT")]
    pub first: Vec<String>,
    /// Sizes of relations whose rows are elsewhere: `'{"edge": {"rows": 1000000, "distinct": {"from": 1000}}}'`
    #[arg(long, value_name = "JSON")]
    pub sizes: Option<String>,
    /// Write the whole plan as JSON, instead of a table of its operators
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub database: DatabaseArguments,
}

/// How results are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people; errors go to standard error
    Table,
    /// A line with a JSON object for each script, or for its error
    Json,
    /// A line with a JSON object for each row
    Jsonl,
    /// CSV with a header
    Csv,
}

/// `cozo repl`.
#[derive(Args)]
#[command(mut_arg("engine", short_engine))]
pub struct ReplArguments {
    /// The file or folder of the database, as in --path
    #[arg(value_name = "PATH", conflicts_with_all = ["path", "url"])]
    pub place: Option<PathBuf>,
    #[command(flatten)]
    pub server: ServerAddress,
    #[command(flatten)]
    pub database: DatabaseArguments,
}

/// `cozo import`.
#[derive(Args)]
pub struct ImportArguments {
    /// The relation, by name or as `'name {key: Type => column: Type}'`; it is created if it does not exist
    #[arg(required_unless_present = "partition")]
    pub relation: Option<String>,
    /// `.csv`, `.tsv`, `.jsonl`, `.json`, `.parquet` or `.arrow` files, or a pattern such as `'data/*.csv'`; text may
    /// be compressed (`.csv.gz`)
    #[arg(required_unless_present = "partition", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A folder that `cozo export --partition` has written: all its relations are created and filled, or none
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["relation", "files", "format", "delimiter", "rename"])]
    pub partition: Option<PathBuf>,
    /// The relations of the partition to import; by default all
    #[arg(long, value_name = "NAME,...", requires = "partition", value_delimiter = ',')]
    pub only: Vec<String>,
    #[command(flatten)]
    pub reading: FileArguments,
    /// A script to run afterwards, in the same process; may be repeated
    #[arg(long, value_name = "SCRIPT")]
    pub then: Vec<String>,
    #[command(flatten)]
    pub database: DatabaseArguments,
}

/// How files are read.
#[derive(Args, Default)]
pub struct FileArguments {
    /// The format of the files, if their extensions do not say it
    #[arg(long, value_enum)]
    pub format: Option<FileFormat>,
    /// The character between values of CSV, such as `;` or `tab`; by default, the first lines show it
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// New names of columns. Without a value, it changes headers that cannot be names: `Order ID` becomes `Order_ID`.
    /// May be repeated
    #[arg(long, value_name = "OLD=NEW,...", num_args = 0..=1, default_missing_value = "")]
    pub rename: Vec<String>,
}

/// The options after the file of `%import`.
#[derive(Parser)]
#[command(no_binary_name = true, name = "%import", disable_help_flag = true)]
struct ShellFileArguments {
    #[command(flatten)]
    reading: FileArguments,
}

impl FileArguments {
    /// Splits the options off the end of a line of the shell.
    pub fn split_off(line: &str) -> Result<(&str, Self), CliError> {
        let Some((rest, options)) = line.split_once(" --") else { return Ok((line, Self::default())) };
        let words = format!("--{options}");
        let parsed = ShellFileArguments::try_parse_from(words.split_whitespace());
        let wrong =
            |error: clap::Error| CliError::Usage(error.to_string().lines().next().unwrap_or_default().to_string());
        parsed.map(|parsed| (rest.trim_end(), parsed.reading)).map_err(wrong)
    }
}

/// A character between values, as an argument.
fn delimiter(text: &str) -> Result<u8, &'static str> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        (_, &[byte]) if !byte.is_ascii_alphanumeric() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(byte),
        _ => Err("write one character, such as ';', or tab"),
    }
}

/// `cozo export`.
#[derive(Args)]
#[command(allow_missing_positional = true)]
pub struct ExportArguments {
    /// The relation
    #[arg(required_unless_present_any = ["script", "partition"], conflicts_with_all = ["script", "partition"])]
    pub relation: Option<String>,
    /// A `.csv`, `.tsv`, `.jsonl`, `.json`, `.parquet` or `.arrow` file. An existing file is replaced. Text is compressed if
    /// the name ends in `.gz` (`.csv.gz`). `-` is standard output
    #[arg(required_unless_present = "partition")]
    pub file: Option<PathBuf>,
    /// Write all relations into this new folder, as Parquet files with a catalog
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["file", "script", "format"])]
    pub partition: Option<PathBuf>,
    /// The relations to write into the folder; by default all
    #[arg(long, value_name = "NAME,...", requires = "partition", value_delimiter = ',')]
    pub only: Vec<String>,
    /// The most rows of a file in the folder
    #[arg(long, value_name = "ROWS", requires = "partition", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub part_rows: u32,
    /// A script; its result is written instead of a relation
    #[arg(short = 'e', long, value_name = "SCRIPT")]
    pub script: Option<String>,
    /// A parameter `$NAME` of the script; may be repeated
    #[arg(long = "param", value_name = "NAME=JSON", requires = "script")]
    pub parameters: Vec<String>,
    /// The format of the file, if its extension does not say it; by default, standard output gets CSV
    #[arg(long, value_enum)]
    pub format: Option<FileFormat>,
    #[command(flatten)]
    pub database: DatabaseArguments,
}

/// `cozo backup`.
#[derive(Args)]
#[command(mut_arg("engine", short_engine))]
pub struct BackupArguments {
    /// The file to write; it must not exist
    pub file: PathBuf,
    #[command(flatten)]
    pub database: DatabaseArguments,
}

/// `cozo restore`.
#[derive(Args)]
#[command(mut_arg("engine", short_engine))]
pub struct RestoreArguments {
    /// A backup, or an SQLite database of this program or of CozoDB 0.7; or else --at
    #[arg(value_name = "FILE | --at POINT", required_unless_present = "at", conflicts_with = "at")]
    pub file: Option<PathBuf>,
    /// What the log at --shared had: the number of an entry, or a time such as 2026-11-29T12:00:00Z
    #[arg(long, value_name = "POINT", requires = "shared")]
    pub at: Option<String>,
    /// Leave out rows of a damaged file that fit no relation, and list them
    #[arg(long)]
    pub what_fits: bool,
    #[command(flatten)]
    pub database: DatabaseArguments,
}

/// `cozo check`.
#[derive(Args)]
pub struct CheckArguments {
    /// The file or folder of the database
    pub path: PathBuf,
    /// The storage engine; by default that of the database at the path
    #[arg(short_alias = 'e', long, value_name = "NAME")]
    pub engine: Option<String>,
}

/// `cozo compact`.
#[derive(Args)]
#[command(mut_arg("engine", short_engine))]
pub struct CompactArguments {
    /// The file or folder of the database, as in --path
    #[arg(value_name = "PATH", conflicts_with = "path")]
    pub place: Option<PathBuf>,
    #[command(flatten)]
    pub database: DatabaseArguments,
}

/// `cozo log`.
#[derive(Args)]
pub struct LogArguments {
    /// The address of the log, as in --shared
    pub address: String,
    /// The number of the first entry to show
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub from: u64,
    /// Show at most so many entries
    #[arg(long, value_name = "COUNT")]
    pub limit: Option<usize>,
    /// Only verify the entries
    #[arg(short, long)]
    pub quiet: bool,
}

/// `cozo checkpoint`.
#[derive(Args)]
#[command(mut_arg("engine", short_engine))]
pub struct CheckpointArguments {
    /// Remove old entries of the log, up to an earlier checkpoint; no state before it can be restored then
    #[arg(long)]
    pub truncate: bool,
    /// Keep at least so many entries when others are removed: a process that lacks more must open its database again
    #[arg(long, value_name = "COUNT", default_value_t = 1000, requires = "truncate")]
    pub keep: u64,
    #[command(flatten)]
    pub database: DatabaseArguments,
}

/// `cozo server` in a build without the server, with any arguments.
#[cfg(not(feature = "server"))]
#[derive(Args)]
pub struct WithoutServerArguments {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _ignored: Vec<OsString>,
}

/// `cozo demo`.
#[derive(Args)]
pub struct DemoArguments {
    /// The lock file of the workspace; by default that of the current directory, or of one above it
    #[arg(value_name = "Cargo.lock")]
    pub lockfile: Option<PathBuf>,
    /// Open the REPL with the data afterwards
    #[arg(long)]
    pub repl: bool,
}

/// `cozo completions`.
#[derive(Args)]
pub struct CompletionsArguments {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `cozo man`.
#[derive(Args)]
pub struct ManArguments {
    /// The folder for the pages, one for each command; by default, the main page goes to standard output
    pub directory: Option<PathBuf>,
}
