//! `cozo completions` and `cozo man`: what shells and manuals know of the command line.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Arguments, CompletionsArguments, ManArguments};
use crate::error::CliError;
use crate::output;

/// Writes the completion script of a shell to standard output.
pub fn completions(arguments: &CompletionsArguments) -> miette::Result<ExitCode> {
    let mut script = vec![];
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "cozo", &mut script);
    output::text(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a page for each command into a directory, or the main page to standard output.
pub fn man(arguments: &ManArguments) -> miette::Result<ExitCode> {
    match &arguments.directory {
        Some(directory) => {
            std::fs::create_dir_all(directory).map_err(CliError::writing(directory))?;
            clap_mangen::generate_to(Arguments::command(), directory).map_err(CliError::writing(directory))?;
        }
        None => {
            let mut page = vec![];
            clap_mangen::Man::new(Arguments::command()).render(&mut page).map_err(CliError::Stream)?;
            output::text(&page)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
