//! `cozo demo`: a dozen questions to the dependency graph of a Rust workspace, answered in CozoScript.

mod lockfile;
mod queries;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability};

use crate::args::DemoArguments;
use crate::connection::Connection;
use crate::error::CliError;
use crate::output;
use crate::repl;
use crate::table::Strings;
use lockfile::Graph;
use queries::{QUERIES, Query, Subjects};

/// More rows of an answer are counted, but not shown.
const SHOWN_ROWS: usize = 10;

/// What the graph is stored as.
const SCHEMA: [&str; 2] = [
    ":create crate {name: String, version: String => source: String?}",
    ":create depends {name: String, version: String, dep_name: String, dep_version: String}",
];

/// Loads the graph, asks the questions, and says where to go on, or goes on in the REPL.
pub fn run(arguments: &DemoArguments) -> miette::Result<ExitCode> {
    let path = match &arguments.lockfile {
        Some(path) => path.clone(),
        None => find_lockfile()?,
    };
    let graph = lockfile::read(&path)?;
    let db = DbInstance::default();
    let subjects = Subjects::choose(&graph);
    load(&db, graph, &path)?;
    QUERIES.iter().enumerate().try_for_each(|(number, query)| ask(&db, number + 1, query, &subjects))?;
    if arguments.repl {
        output::line("\nThe relations are *crate and *depends; any script above can be pasted here.")?;
        let description = "the demonstration, in memory".to_string();
        return repl::start(repl::Opened { connection: Connection::Local(db), description, forgets: false });
    }
    output::line("\nGo on with this data: cozo demo --repl. The language: docs/ and cozo repl, %help.")?;
    Ok(ExitCode::SUCCESS)
}

/// The `Cargo.lock` of this directory or the nearest one above.
fn find_lockfile() -> Result<PathBuf, CliError> {
    let here = std::env::current_dir()?;
    here.ancestors()
        .map(|directory| directory.join("Cargo.lock"))
        .find(|path| path.is_file())
        .ok_or(CliError::NoLockfile)
}

/// Stores the graph and says how fast that was.
fn load(db: &DbInstance, graph: Graph, path: &Path) -> miette::Result<()> {
    SCHEMA.iter().try_for_each(|create| db.run_default(create).map(drop))?;
    let (crates, edges) = (graph.crates.len(), graph.depends.len());
    let named = |headers: &[&str], rows| NamedRows::new(headers.iter().map(ToString::to_string).collect(), rows);
    let relations = BTreeMap::from([
        ("crate".to_string(), named(&["name", "version", "source"], graph.crates)),
        ("depends".to_string(), named(&["name", "version", "dep_name", "dep_version"], graph.depends)),
    ]);
    let start = Instant::now();
    db.import_relations(relations)?;
    let took = start.elapsed();
    let rate = output::rate(crates + edges, took);
    output::line(output::bold(&format!("The dependency graph in {}", path.display())))?;
    let (crates, edges) = (output::count(crates, "crate"), output::count(edges, "dependency edge"));
    Ok(output::line(format!("{crates} and {edges} loaded in {}, {rate}", output::duration(took)))?)
}

/// Runs a query and shows its title, script, answer and time.
fn ask(db: &DbInstance, number: usize, query: &Query, subjects: &Subjects) -> miette::Result<()> {
    let script = subjects.put_into(query.script);
    output::line(format!("\n{}", output::bold(&format!("{number}. {}", subjects.put_into(query.title)))))?;
    script.lines().try_for_each(|line| output::line(output::dim(&format!("   {line}"))))?;
    let start = Instant::now();
    let rows = db.run_script(&script, BTreeMap::new(), ScriptMutability::Immutable)?;
    show(&rows, start.elapsed())
}

fn show(rows: &NamedRows, took: Duration) -> miette::Result<()> {
    if !rows.rows.is_empty() {
        output::table(rows, SHOWN_ROWS, Strings::Plain)?;
    }
    let total = rows.rows.len();
    let first = if total > SHOWN_ROWS { format!("first {SHOWN_ROWS} of ") } else { String::new() };
    Ok(output::line(output::dim(&format!("{first}{}", output::summary(total, took))))?)
}

/// A string as a value.
fn text(text: &str) -> DataValue {
    DataValue::from(text)
}
