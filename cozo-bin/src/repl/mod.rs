//! `cozo repl`: type scripts, see results.
//!
//! A [`Session`] takes one complete input at a time, from the line editor or, when standard input is no terminal, from
//! its lines. Inputs that begin with a known `%` command are meta commands; all others are scripts.

mod colors;
mod complete;
mod editor;
mod graph;
mod input;
mod meta;
mod pager;
mod session;
mod tokens;

use std::io::{BufRead, IsTerminal, stdin};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cozo::Interrupt;

use crate::args::ReplArguments;
use crate::connection::Connection;
use crate::error::CliError;
use input::is_complete;
use session::Session;

/// Opens the database and reads scripts until the input ends.
pub fn run(arguments: &ReplArguments) -> miette::Result<ExitCode> {
    start(match arguments.server.connect()? {
        Some(server) => Connection::Remote(server),
        None => Connection::Local(arguments.engine.open()?),
    })
}

/// Reads scripts for a database until the input ends.
pub fn start(connection: Connection) -> miette::Result<ExitCode> {
    let busy = Arc::new(AtomicBool::new(false));
    let interrupt = Interrupt::default();
    stop_queries_on_interrupt(&interrupt, &busy)?;
    let session = Session::new(connection, busy, interrupt);
    if stdin().is_terminal() {
        editor::read(session)?
    } else {
        read_lines(session)?
    }
    Ok(ExitCode::SUCCESS)
}

/// Ctrl-C stops what runs; when nothing does, it ends the program as usual. The line editor sees its own Ctrl-C.
fn stop_queries_on_interrupt(interrupt: &Interrupt, busy: &Arc<AtomicBool>) -> Result<(), CliError> {
    let (interrupt, busy) = (interrupt.clone(), busy.clone());
    let handle = move || {
        if busy.load(Ordering::Relaxed) {
            interrupt.kill();
        } else {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handle).map_err(|error| CliError::Terminal(error.to_string()))
}

/// Inputs from a pipe or a file.
fn read_lines(mut session: Session) -> miette::Result<()> {
    let mut input = String::new();
    for line in stdin().lock().lines() {
        if !input.is_empty() {
            input.push('\n');
        }
        input.push_str(&line.map_err(CliError::Stream)?);
        if is_complete(&input) {
            session.handle(&std::mem::take(&mut input))?;
        }
    }
    session.handle(&input)
}
