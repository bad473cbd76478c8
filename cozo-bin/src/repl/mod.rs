//! `cozo repl`: type scripts, see results.
//!
//! A [`Session`] takes one complete input at a time, from the line editor or, when standard input is no terminal, from
//! its lines. Inputs that begin with a known `%` command are meta commands. What people type who come from other shells, such as
//! `quit` and SQL, is answered by [`habits`]. All others are scripts.

mod colors;
mod complete;
mod editor;
mod explained;
mod files;
mod graph;
mod habits;
mod help;
mod history;
mod input;
mod margin;
mod meta;
mod pager;
mod session;
mod terminal;
mod tokens;
mod waiting;
mod written;

use std::io::{BufRead, IsTerminal, stdin};
use std::process::ExitCode;

use crate::args::ReplArguments;
use crate::connection::Connection;
use crate::error::CliError;
use crate::{output, signals};
use input::is_complete;
use session::{Next, Session};
use terminal::Settings;

/// Where the shell reads and writes.
pub struct Opened {
    /// The database, here or on a server.
    pub connection: Connection,
    /// What it is, for people.
    pub description: String,
    /// Whether what is written is gone when the shell ends, and cannot be had again.
    pub forgets: bool,
}

/// Opens the database and reads scripts until the input ends.
pub fn run(arguments: &ReplArguments) -> miette::Result<ExitCode> {
    start(match arguments.server.connect()? {
        Some(server) => {
            let description = format!("the server at {}", server.url());
            Opened { connection: Connection::Remote(server), description, forgets: false }
        }
        None => {
            let database = arguments.database.find_at(arguments.place.as_deref())?;
            let description = database.describe();
            let opened =
                Opened { connection: Connection::Local(database.open()?), description, forgets: database.forgets() };
            if !opened.forgets && !stdin().is_terminal() {
                output::note(&opened.description);
            }
            opened
        }
    })
}

/// Reads scripts for a database until the input ends.
pub fn start(opened: Opened) -> miette::Result<ExitCode> {
    let terminal = stdin().is_terminal();
    let settings = Settings::now();
    let interrupt = signals::stop_work_on_signals(move || settings.restore());
    let session = Session::new(opened.connection, opened.forgets, interrupt);
    match terminal {
        true => editor::read(session, &opened.description)?,
        false => read_lines(session)?,
    }
    Ok(match signals::must_end() {
        true => signals::exit_code().map_or(ExitCode::SUCCESS, ExitCode::from),
        false => ExitCode::SUCCESS,
    })
}

/// Inputs from a pipe or a file.
fn read_lines(mut session: Session) -> miette::Result<()> {
    let mut input = String::new();
    for line in stdin().lock().lines() {
        if !input.is_empty() {
            input.push('\n');
        }
        input.push_str(&line.map_err(CliError::Stream)?);
        if is_complete(&input) && session.handle(&std::mem::take(&mut input))? == Next::Leave {
            return Ok(());
        }
        if signals::must_end() {
            return Ok(());
        }
    }
    session.handle(&input).map(drop)
}
