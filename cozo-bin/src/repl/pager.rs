//! Results that do not fit the terminal, shown by `$PAGER` or `less`.

use std::io::{IsTerminal, Write, stdout};
use std::process::{Command, Stdio};

use console::Term;

use crate::error::CliError;
use crate::output;

/// What is used where `$PAGER` is not set: colors stay, and the screen is left as it was.
const PAGER: &str = "less -R";

/// Whether there is a terminal to turn pages on.
pub fn is_possible() -> bool {
    stdout().is_terminal()
}

/// Shows a text, by the pager if it is wanted and the text is higher than the terminal.
pub fn show(text: &str, wanted: bool) -> Result<(), CliError> {
    let fits = || Term::stdout().size_checked().is_none_or(|(rows, _)| text.lines().count() < usize::from(rows));
    if !wanted || !is_possible() || fits() || !paged(text) {
        output::line(text)?;
    }
    Ok(())
}

/// Has the pager show it; whether there is one.
fn paged(text: &str) -> bool {
    let command = std::env::var("PAGER").ok().filter(|command| !command.trim().is_empty());
    // A pager is a command line, with arguments.
    let mut command_line = Command::new("sh");
    command_line.args(["-c", command.as_deref().unwrap_or(PAGER)]).stdin(Stdio::piped());
    let Ok(mut child) = command_line.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // Who leaves the pager has seen enough.
        let _ = input.write_all(text.as_bytes());
    }
    // The shell has 127 for a command that is not there.
    child.wait().is_ok_and(|status| status.code() != Some(127))
}
