//! The settings of the terminal: the line editor changes them while it reads, and a signal must not leave them so.

/// The settings at some moment; nothing where standard input is no terminal.
pub struct Settings {
    #[cfg(unix)]
    settings: Option<rustix::termios::Termios>,
}

#[cfg(unix)]
impl Settings {
    /// The present settings.
    pub fn now() -> Self {
        Settings { settings: rustix::termios::tcgetattr(std::io::stdin()).ok() }
    }

    /// Has the terminal use them again.
    pub fn restore(&self) {
        if let Some(settings) = &self.settings {
            // A terminal that has gone needs none.
            let _ = rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Now, settings);
        }
    }
}

#[cfg(not(unix))]
impl Settings {
    /// Nothing: there are no signals that end the program while it reads.
    pub fn now() -> Self {
        Settings {}
    }

    /// Does nothing.
    pub fn restore(&self) {}
}
