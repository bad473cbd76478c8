//! The commands of the REPL that are not scripts. All of them are [`COMMANDS`].

use std::path::Path;

use cozo::{DataValue, evaluate_expressions};
use serde_json::Value;

use super::input::without_end;
use super::session::Session;
use super::{files, graph, help, pager};
use crate::error::CliError;
use crate::output;
use crate::run::{in_file, read_text};
use crate::table::Expand;

/// A meta command.
pub struct Command {
    /// Its name, with the `%`.
    pub name: &'static str,
    /// What follows it; what is in brackets may be left out.
    pub arguments: &'static str,
    /// What it does.
    pub doc: &'static str,
    run: Action,
}

type Action = fn(&mut Session, Arguments<'_>) -> miette::Result<()>;

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
        "[SCRIPT]",
        "draws the edges in the first two columns; without SCRIPT, of the last result",
        draw_graph,
    ),
    command("%expand", "[on|off|auto]", "shows one column a line: always, never, or where columns do not fit", expand),
    command("%pager", "", "switches between showing long results by $PAGER and as they are", switch_pager),
    command(
        "%import",
        "FILE [RELATION]",
        "loads CSV, JSON Lines, JSON, Parquet or Arrow into a relation, or JSON of whole relations",
        files::import_command,
    ),
    command(
        "%save",
        "[FILE [RELATION|SCRIPT]]",
        "writes a relation, a result, or else the next result to a file; without FILE, no more",
        files::save_command,
    ),
    command("%backup", "FILE", "writes the database to a file", backup),
    command("%restore", "FILE", "reads a backup into this empty database", restore),
    command(
        "%help",
        "[NAME]",
        "shows this list, or explains a command, function, algorithm, option or operation",
        help::help,
    ),
];

/// Whether a word is a meta command.
pub fn is_command(word: &str) -> bool {
    COMMANDS.iter().any(|command| command.name == word)
}

/// What follows a command.
#[derive(Clone, Copy)]
pub struct Arguments<'a> {
    /// The whole input.
    input: &'a str,
    /// The arguments, without spaces around them.
    pub text: &'a str,
}

impl Arguments<'_> {
    /// The script at the end of the arguments, at its place in the input: errors tell the place where it was typed.
    pub fn script_at(&self, script: &str) -> String {
        let before = self.input.trim_end().len() - script.len();
        format!("{}{}", " ".repeat(before), without_end(script))
    }
}

/// A command with its arguments.
pub struct Meta<'a> {
    command: &'static Command,
    arguments: Arguments<'a>,
}

impl<'a> Meta<'a> {
    /// The meta command that the input is; none if it is a script.
    pub fn parse(input: &'a str) -> Option<miette::Result<Self>> {
        let typed = input.trim();
        let (name, text) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let text = text.trim();
        let command = COMMANDS.iter().find(|command| command.name == name)?;
        let optional = command.arguments.is_empty() || command.arguments.starts_with('[');
        if text.is_empty() && !optional {
            let usage = format!("'{name}' needs its arguments: {name} {}", command.arguments);
            return Some(Err(CliError::Usage(usage).into()));
        }
        Some(Ok(Meta { command, arguments: Arguments { input, text } }))
    }

    /// Does it.
    pub fn run(self, session: &mut Session) -> miette::Result<()> {
        (self.command.run)(session, self.arguments)
    }
}

fn set(session: &mut Session, arguments: Arguments<'_>) -> miette::Result<()> {
    let arguments = arguments.text;
    let (name, json) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    let bad = |reason: String| CliError::SetParameter { given: arguments.to_string(), reason };
    if json.trim().is_empty() {
        return Err(bad("there is no value".to_string()).into());
    }
    let value: Value = serde_json::from_str(json).map_err(|error| bad(error.to_string()))?;
    session.parameters.insert(name.trim_start_matches('$').to_string(), DataValue::from(value));
    Ok(())
}

fn unset(session: &mut Session, name: Arguments<'_>) -> miette::Result<()> {
    let name = name.text;
    match session.parameters.remove(name.trim_start_matches('$')) {
        Some(_) => Ok(()),
        None => Err(CliError::Usage(format!("there is no parameter '{name}'")).into()),
    }
}

fn clear(session: &mut Session, _: Arguments<'_>) -> miette::Result<()> {
    session.parameters.clear();
    Ok(())
}

fn show_parameters(session: &mut Session, _: Arguments<'_>) -> miette::Result<()> {
    let mut parameters = session.parameters.iter();
    Ok(parameters.try_for_each(|(name, value)| output::line(format!("${name} = {value}")))?)
}

fn evaluate(session: &mut Session, expression: Arguments<'_>) -> miette::Result<()> {
    let expression = expression.script_at(expression.text);
    let value = evaluate_expressions(&expression, &session.parameters, &session.parameters)?;
    Ok(output::line(value)?)
}

fn run_file(session: &mut Session, file: Arguments<'_>) -> miette::Result<()> {
    let script = read_text(Path::new(file.text))?;
    session.run_script(&script).map_err(|report| in_file(report, Path::new(file.text), &script))
}

fn draw_graph(session: &mut Session, script: Arguments<'_>) -> miette::Result<()> {
    if !script.text.is_empty() {
        session.last = session.result_of(&script.script_at(script.text))?.0;
    }
    Ok(pager::show(&graph::draw(&session.last)?, session.pages)?)
}

fn switch_pager(session: &mut Session, _: Arguments<'_>) -> miette::Result<()> {
    session.pages = !session.pages;
    Ok(output::line(format!("the pager is {}", if session.pages { "on" } else { "off" }))?)
}

fn expand(session: &mut Session, mode: Arguments<'_>) -> miette::Result<()> {
    session.expand = match (mode.text, session.expand) {
        ("on", _) | ("", Expand::Off | Expand::Auto) => Expand::On,
        ("off", _) | ("", Expand::On) => Expand::Off,
        ("auto", _) => Expand::Auto,
        (other, _) => return Err(CliError::Usage(format!("'{other}' is none of on, off and auto")).into()),
    };
    Ok(output::line(match session.expand {
        Expand::On => "one column a line",
        Expand::Off => "columns beside each other",
        Expand::Auto => "one column a line where columns do not fit",
    })?)
}

fn backup(session: &mut Session, file: Arguments<'_>) -> miette::Result<()> {
    session.connection.backup(file.text)
}

fn restore(session: &mut Session, file: Arguments<'_>) -> miette::Result<()> {
    session.connection.restore(file.text)
}
