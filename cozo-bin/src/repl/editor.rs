//! The line editor of the REPL: history, several lines, completion, colors.

use std::borrow::Cow;
use std::io::IsTerminal;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::colors::highlight;
use super::complete::complete;
use super::input::is_complete;
use super::session::Session;
use crate::connection::Connection;
use crate::error::CliError;
use crate::output;

const PROMPT: &str = "=> ";
const HISTORY_FILE: &str = ".cozo_repl_history";

/// Reads inputs from the terminal until Ctrl-D, or Ctrl-C twice.
pub fn read(mut session: Session) -> miette::Result<()> {
    let mut editor = editor(&session.connection).map_err(|error| CliError::Terminal(error.to_string()))?;
    // A first session has no history yet.
    let _ = editor.load_history(HISTORY_FILE);
    output::line(format!("cozo {}: %help lists the commands, Ctrl-D exits", env!("CARGO_PKG_VERSION")))?;
    let mut interrupted = false;
    loop {
        match editor.readline(PROMPT) {
            Ok(input) => {
                interrupted = false;
                remember(&mut editor, &input);
                session.handle(&input)?;
            }
            Err(ReadlineError::Interrupted) if !interrupted => {
                interrupted = true;
                output::line("Ctrl-C again exits")?;
            }
            Err(ReadlineError::Interrupted | ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(CliError::Terminal(error.to_string()).into()),
        }
    }
}

fn editor(connection: &Connection) -> rustyline::Result<Editor<EditorHelper, DefaultHistory>> {
    let mut editor = Editor::with_config(Config::builder().completion_type(CompletionType::List).build())?;
    let colors = output::wants_color(std::io::stdout().is_terminal());
    editor.set_helper(Some(EditorHelper { connection: connection.clone(), colors }));
    Ok(editor)
}

/// Keeps the input at once, so that it is not lost if the program is killed; a read-only directory keeps none.
fn remember(editor: &mut Editor<EditorHelper, DefaultHistory>, input: &str) {
    if !input.trim().is_empty() && editor.add_history_entry(input.trim_end()).is_ok_and(|added| added) {
        let _ = editor.append_history(HISTORY_FILE);
    }
}

struct EditorHelper {
    connection: Connection,
    colors: bool,
}

impl Helper for EditorHelper {}

impl Hinter for EditorHelper {
    type Hint = String;
}

impl Validator for EditorHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_complete(context.input()) { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Completer for EditorHelper {
    type Candidate = String;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete(&self.connection, &line[..position]))
    }
}

impl Highlighter for EditorHelper {
    fn highlight<'l>(&self, line: &'l str, position: usize) -> Cow<'l, str> {
        if self.colors { Cow::Owned(highlight(line, position)) } else { Cow::Borrowed(line) }
    }

    /// Any character may change the colors of others, and any move the bracket that stands out.
    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.colors
    }
}
