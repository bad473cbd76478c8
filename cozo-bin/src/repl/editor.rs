//! The line editor of the REPL: history, several lines, completion, colors.
//!
//! | key | what it does |
//! |---|---|
//! | Enter | runs the input if it is complete, and else begins a line; an empty line runs it as it is |
//! | Alt-Enter | begins a line |
//! | Ctrl-C | leaves the input; twice in an empty one exits |
//! | Ctrl-D | exits, in an empty input |

use std::borrow::Cow;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{
    Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Context, Editor, Event, EventContext,
    EventHandler, Helper, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
};

use super::colors::highlight;
use super::complete::complete;
use super::input::is_complete;
use super::session::{Next, Session};
use super::{history, margin};
use crate::connection::Connection;
use crate::error::CliError;
use crate::{output, signals};

const PROMPT: &str = "=> ";

/// The question before relations are lost.
const QUESTION: &str = "Leave? [y/N] ";

/// Reads inputs from the terminal until Ctrl-D, or Ctrl-C twice at an empty line. Where rows would be lost, it asks first.
pub fn read(mut session: Session, description: &str) -> miette::Result<()> {
    let mut lines = Lines::new(&session.connection).map_err(|error| CliError::Terminal(error.to_string()))?;
    output::line(format!("cozo {}, {description}", env!("CARGO_PKG_VERSION")))?;
    output::line("%help lists the commands, Ctrl-D exits")?;
    let mut may_leave = false;
    while !signals::must_end() {
        let (leaves, asked) = match lines.input()? {
            Typed::Input(input) => {
                lines.remember(&session.as_typed(&input));
                (session.handle(&input)? == Next::Leave, false)
            }
            Typed::Nothing => (false, false),
            Typed::Interrupt if may_leave => (true, false),
            Typed::Interrupt => {
                output::line("Ctrl-C again exits")?;
                (false, true)
            }
            Typed::End => (true, false),
        };
        may_leave = asked;
        if leaves && lines.may_leave(&session)? {
            return Ok(());
        }
    }
    Ok(())
}

/// What comes from the terminal.
enum Typed {
    /// An input, complete or ended by an empty line.
    Input(String),
    /// Nothing: what was typed was left.
    Nothing,
    /// Ctrl-C in an empty line.
    Interrupt,
    /// The end of the input.
    End,
}

/// The line editor, and what its keys have noted.
struct Lines {
    editor: Editor<EditorHelper, DefaultHistory>,
    history: Option<PathBuf>,
    /// Whether the input was empty when Ctrl-C came.
    was_empty: Arc<AtomicBool>,
}

impl Lines {
    fn new(connection: &Connection) -> rustyline::Result<Self> {
        let is_terminal = std::io::stdout().is_terminal();
        // Without colors the editor would not ask how to draw a text, and margins are drawn.
        let color_mode = if is_terminal { ColorMode::Forced } else { ColorMode::Disabled };
        let config = Config::builder().completion_type(CompletionType::List).color_mode(color_mode).build();
        let mut editor = Editor::with_config(config)?;
        let colors = output::wants_color(is_terminal);
        editor.set_helper(Some(EditorHelper { connection: connection.clone(), colors }));
        let was_empty = Arc::new(AtomicBool::new(true));
        for (keys, key) in [
            (vec![KeyEvent::ctrl('C')], Key::Interrupt(was_empty.clone())),
            (vec![KeyEvent(KeyCode::Enter, Modifiers::NONE), KeyEvent::ctrl('J'), KeyEvent::ctrl('M')], Key::Enter),
            (vec![KeyEvent(KeyCode::Enter, Modifiers::ALT)], Key::Break),
            (vec![KeyEvent(KeyCode::Backspace, Modifiers::NONE), KeyEvent::ctrl('H')], Key::Backspace),
        ] {
            for event in keys {
                editor.bind_sequence(event, EventHandler::Conditional(Box::new(key.clone())));
            }
        }
        let history = history::file();
        if let Some(file) = &history {
            // A first session has no history yet.
            let _ = editor.load_history(file);
        }
        Ok(Lines { editor, history, was_empty })
    }

    /// The next input, of one line or of several.
    fn input(&mut self) -> Result<Typed, CliError> {
        match self.editor.readline(PROMPT) {
            Ok(input) => Ok(Typed::Input(margin::without(&input).into_owned())),
            Err(ReadlineError::Interrupted) if self.was_empty.load(Ordering::Relaxed) => Ok(Typed::Interrupt),
            Err(ReadlineError::Interrupted) => Ok(Typed::Nothing),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(CliError::Terminal(error.to_string())),
        }
    }

    /// Asks whether to leave, where rows would be lost.
    fn may_leave(&mut self, session: &Session) -> Result<bool, CliError> {
        let Some(at_stake) = session.at_stake() else { return Ok(true) };
        output::line(at_stake)?;
        Ok(match self.editor.readline(QUESTION) {
            Ok(answer) => ["y", "yes"].contains(&margin::without(&answer).trim().to_lowercase().as_str()),
            Err(ReadlineError::Interrupted) => false,
            Err(_) => true,
        })
    }

    /// Keeps the input at once, so that it is not lost if the program is killed; a read-only folder keeps none.
    fn remember(&mut self, input: &str) {
        if !input.trim().is_empty() && self.editor.add_history_entry(input.trim_end()).is_ok_and(|added| added) {
            let _ = self.history.as_ref().map(|file| self.editor.append_history(file));
        }
    }
}

/// A key that does what it does by what was typed.
#[derive(Clone)]
enum Key {
    /// Leaves the input, and notes whether it was empty.
    Interrupt(Arc<AtomicBool>),
    /// Runs the input, or begins a line.
    Enter,
    /// Begins a line.
    Break,
    /// Removes a character, or joins a line with the one before.
    Backspace,
}

impl ConditionalEventHandler for Key {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let (text, before_cursor) = (context.line(), &context.line()[..context.pos()]);
        match self {
            Key::Interrupt(was_empty) => {
                was_empty.store(text.is_empty(), Ordering::Relaxed);
                Some(Cmd::Interrupt)
            }
            Key::Enter if is_complete(&margin::without(text)) => Some(Cmd::AcceptLine),
            Key::Enter | Key::Break => Some(Cmd::Insert(1, margin::line_break())),
            Key::Backspace => {
                margin::to_join(before_cursor).map(|characters| Cmd::Kill(Movement::BackwardChar(characters)))
            }
        }
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

/// Enter finds out whether an input is complete.
impl Validator for EditorHelper {}

impl Completer for EditorHelper {
    type Candidate = String;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete(&self.connection, &line[..position]))
    }
}

impl Highlighter for EditorHelper {
    fn highlight<'l>(&self, line: &'l str, position: usize) -> Cow<'l, str> {
        margin::drawn(if self.colors { Cow::Owned(highlight(line, position)) } else { Cow::Borrowed(line) })
    }

    /// Any character may change the colors of others, and any move the bracket that stands out.
    fn highlight_char(&self, line: &str, _: usize, _: CmdKind) -> bool {
        self.colors || margin::is_in(line)
    }
}
