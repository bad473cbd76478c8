//! The line editor of the REPL: history, several lines, completion, colors.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Context, Editor, Event, EventContext, EventHandler, Helper,
    KeyEvent, RepeatCount,
};

use super::colors::highlight;
use super::complete::complete;
use super::input::is_complete;
use super::session::Session;
use crate::connection::Connection;
use crate::error::CliError;
use crate::{output, signals};

const PROMPT: &str = "=> ";
const HISTORY_FILE: &str = ".cozo_repl_history";

/// Reads inputs from the terminal until Ctrl-D, or Ctrl-C twice at an empty line. Where relations would be lost, Ctrl-D has to
/// come twice as well. Ctrl-C at a line with text leaves the text and begins a new line.
pub fn read(mut session: Session, description: &str) -> miette::Result<()> {
    let mut editor = editor(&session.connection).map_err(|error| CliError::Terminal(error.to_string()))?;
    let line_was_empty = Arc::new(AtomicBool::new(true));
    let note_line = EventHandler::Conditional(Box::new(NoteLine(line_was_empty.clone())));
    editor.bind_sequence(KeyEvent::ctrl('C'), note_line);
    // A first session has no history yet.
    let _ = editor.load_history(HISTORY_FILE);
    output::line(format!("cozo {}, {description}", env!("CARGO_PKG_VERSION")))?;
    output::line("%help lists the commands, Ctrl-D exits")?;
    let mut was_asked = false;
    while !signals::must_end() {
        let read = editor.readline(PROMPT);
        let (key, may_be_lost) = match &read {
            Err(ReadlineError::Interrupted) => ("Ctrl-C", true),
            _ => ("Ctrl-D", false),
        };
        match read {
            Ok(input) => {
                was_asked = false;
                remember(&mut editor, &input);
                session.handle(&input)?;
            }
            Err(ReadlineError::Interrupted) if !line_was_empty.load(Ordering::Relaxed) => was_asked = false,
            Err(ReadlineError::Interrupted | ReadlineError::Eof) if was_asked => return Ok(()),
            Err(ReadlineError::Interrupted | ReadlineError::Eof) => {
                let at_stake = session.at_stake();
                if at_stake.is_none() && !may_be_lost {
                    return Ok(());
                }
                was_asked = true;
                at_stake.map_or(Ok(()), output::line)?;
                output::line(format!("{key} again exits"))?;
            }
            Err(error) => return Err(CliError::Terminal(error.to_string()).into()),
        }
    }
    Ok(())
}

/// Notes whether the line was empty when Ctrl-C came.
struct NoteLine(Arc<AtomicBool>);

impl ConditionalEventHandler for NoteLine {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        self.0.store(context.line().is_empty(), Ordering::Relaxed);
        Some(Cmd::Interrupt)
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
