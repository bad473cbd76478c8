//! The commands of the REPL that are not scripts. All of them are [`COMMANDS`].

use std::fs::{self, OpenOptions};
use std::path::Path;

use cozo::{DataValue, evaluate_expressions};
use serde_json::Value;

use super::session::Session;
use super::{graph, pager};
use crate::error::CliError;
use crate::output;
use crate::run::read_text;

/// A meta command.
pub struct Command {
    /// Its name, with the `%`.
    pub name: &'static str,
    arguments: &'static str,
    doc: &'static str,
    run: Action,
}

type Action = fn(&mut Session, &str) -> miette::Result<()>;

const fn command(name: &'static str, arguments: &'static str, doc: &'static str, run: Action) -> Command {
    Command { name, arguments, doc, run }
}

/// All meta commands. Other words with `%` belong to imperative scripts.
pub const COMMANDS: &[Command] = &[
    command("%set", "KEY JSON", "sets the parameter $KEY", set),
    command("%unset", "KEY", "forgets the parameter $KEY", unset),
    command("%clear", "", "forgets all parameters", clear),
    command("%params", "", "shows the parameters", show_parameters),
    command("%eval", "EXPRESSION", "computes, with the parameters as variables", evaluate),
    command("%run", "FILE", "runs the script in a file", run_file),
    command(
        "%graph",
        "SCRIPT",
        "draws the edges in the first two columns; without SCRIPT, of the last result",
        draw_graph,
    ),
    command("%pager", "", "switches between showing long results by $PAGER and as they are", switch_pager),
    command("%import", "FILE", "imports relations from a JSON file", import),
    command("%save", "FILE", "writes the next result to a JSON file; without FILE, no more", save),
    command("%backup", "FILE", "writes the database to a file", backup),
    command("%restore", "FILE", "reads a backup into this empty database", restore),
    command("%help", "", "shows this list", help),
];

/// A command with its arguments.
pub struct Meta<'a> {
    command: &'static Command,
    arguments: &'a str,
}

impl<'a> Meta<'a> {
    /// The meta command that the input is; none if it is a script.
    pub fn parse(input: &'a str) -> Option<miette::Result<Self>> {
        let (name, arguments) = input.split_once(char::is_whitespace).unwrap_or((input, ""));
        let arguments = arguments.trim();
        let command = COMMANDS.iter().find(|command| command.name == name)?;
        let optional = command.arguments.is_empty() || matches!(command.name, "%save" | "%graph");
        if arguments.is_empty() && !optional {
            let usage = format!("'{name}' needs its arguments: {name} {}", command.arguments);
            return Some(Err(CliError::Usage(usage).into()));
        }
        Some(Ok(Meta { command, arguments }))
    }

    /// Does it.
    pub fn run(self, session: &mut Session) -> miette::Result<()> {
        (self.command.run)(session, self.arguments)
    }
}

fn set(session: &mut Session, arguments: &str) -> miette::Result<()> {
    let (name, json) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    let bad = |reason: String| CliError::SetParameter { given: arguments.to_string(), reason };
    if json.trim().is_empty() {
        return Err(bad("there is no value".to_string()).into());
    }
    let value: Value = serde_json::from_str(json).map_err(|error| bad(error.to_string()))?;
    session.parameters.insert(name.trim_start_matches('$').to_string(), DataValue::from(value));
    Ok(())
}

fn unset(session: &mut Session, name: &str) -> miette::Result<()> {
    match session.parameters.remove(name.trim_start_matches('$')) {
        Some(_) => Ok(()),
        None => Err(CliError::Usage(format!("there is no parameter '{name}'")).into()),
    }
}

fn clear(session: &mut Session, _: &str) -> miette::Result<()> {
    session.parameters.clear();
    Ok(())
}

fn show_parameters(session: &mut Session, _: &str) -> miette::Result<()> {
    let mut parameters = session.parameters.iter();
    Ok(parameters.try_for_each(|(name, value)| output::line(format!("${name} = {value}")))?)
}

fn evaluate(session: &mut Session, expression: &str) -> miette::Result<()> {
    let value = evaluate_expressions(expression, &session.parameters, &session.parameters)?;
    Ok(output::line(value)?)
}

fn run_file(session: &mut Session, file: &str) -> miette::Result<()> {
    let script = read_text(Path::new(file))?;
    session.run_script(&script)
}

fn draw_graph(session: &mut Session, script: &str) -> miette::Result<()> {
    if !script.is_empty() {
        session.last = session.result_of(script)?;
    }
    Ok(pager::show(&graph::draw(&session.last)?, session.pages)?)
}

fn switch_pager(session: &mut Session, _: &str) -> miette::Result<()> {
    session.pages = !session.pages;
    Ok(output::line(format!("the pager is {}", if session.pages { "on" } else { "off" }))?)
}

fn import(session: &mut Session, file: &str) -> miette::Result<()> {
    if file.starts_with("http://") || file.starts_with("https://") {
        let advice = format!("'{file}' is not a file: fetch it first, then %import the file");
        return Err(CliError::Usage(advice).into());
    }
    session.connection.import(&read_text(Path::new(file))?)
}

fn save(session: &mut Session, file: &str) -> miette::Result<()> {
    session.save = None;
    if !file.is_empty() {
        check_writable(Path::new(file))?;
        session.save = Some(file.into());
    }
    Ok(())
}

/// Finds out whether a file can be written, and leaves things as they are: a script that writes shall not run for nothing.
fn check_writable(path: &Path) -> Result<(), CliError> {
    let found = fs::metadata(path);
    if found.as_ref().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        // To open a pipe would wait for who reads it.
        return Ok(());
    }
    OpenOptions::new().append(true).create(true).open(path).map_err(CliError::writing(path))?;
    match found {
        Ok(_) => Ok(()),
        Err(_) => fs::remove_file(path).map_err(CliError::writing(path)),
    }
}

fn backup(session: &mut Session, file: &str) -> miette::Result<()> {
    session.connection.backup(file)
}

fn restore(session: &mut Session, file: &str) -> miette::Result<()> {
    session.connection.restore(file)
}

/// How to type.
const HELP: &str = "\
Type a script and Enter. An empty line ends scripts of several lines: those that begin with a space, with { or with a
word such as %if, or have an open bracket or string. Ctrl-C leaves the line, or stops what runs; Ctrl-D exits.
";

fn help(_: &mut Session, _: &str) -> miette::Result<()> {
    output::line(HELP)?;
    let described = |command: &Command| {
        let usage = format!("{} {}", command.name, command.arguments);
        output::line(format!("{usage:18} {}", command.doc))
    };
    Ok(COMMANDS.iter().try_for_each(described)?)
}
