//! The command line of the cozo database.
//!
//! `cozo run` runs scripts, `cozo plan` shows their plans, `cozo repl` reads them from the terminal, `cozo import` and `cozo export` move
//! files in and out, `cozo backup`, `restore`, `check` and `compact` look after databases, `cozo server` serves one over HTTP, and `cozo demo` shows what the language can
//! do on the dependency graph of a Rust workspace.
//!
//! **Nothing here knows how a query runs**: all goes through the public interface of the library.

mod args;
mod connection;
mod database;
mod decode;
mod demo;
mod error;
mod export;
mod format;
mod import;
mod load;
mod maintain;
mod output;
#[cfg(feature = "arrow")]
mod partition;
mod plan;
mod repl;
mod run;
#[cfg(feature = "server")]
mod server;
mod shared;
mod shell;
mod signals;
mod table;
mod threads;

use std::process::ExitCode;

use args::{Arguments, Command};

/// Results are many small allocations, which this allocator makes faster than that of glibc (`benches/README.md`).
#[global_allocator]
static ALLOCATOR: cozo::Mimalloc = cozo::Mimalloc;

fn main() -> ExitCode {
    cozo::Mimalloc::spare_addresses();
    let arguments = Arguments::read();
    let outcome = match arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Repl(arguments) => repl::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Backup(arguments) => maintain::backup(&arguments),
        Command::Restore(arguments) => maintain::restore(&arguments),
        Command::Check(arguments) => maintain::check(&arguments),
        Command::Compact(arguments) => maintain::compact(&arguments),
        Command::Log(arguments) => shared::log(&arguments),
        Command::Checkpoint(arguments) => shared::checkpoint(&arguments),
        #[cfg(feature = "server")]
        Command::Server(arguments) => server::run(&arguments),
        #[cfg(not(feature = "server"))]
        Command::Server(_) => Err(error::CliError::WithoutServer.into()),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments),
        Command::Man(arguments) => shell::man(&arguments),
    };
    match outcome {
        Ok(code) => code,
        // A reader such as `head` has seen enough.
        Err(report) if error::is_broken_pipe(&report) => ExitCode::SUCCESS,
        Err(report) => {
            output::report(&report);
            signals::exit_code().map_or(ExitCode::FAILURE, ExitCode::from)
        }
    }
}
