//! How long a script has been running: a line that counts, on a terminal, where it takes more than a second.

use std::io::{IsTerminal, Write, stdout};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the line changes, and how long it waits to appear.
const TICK: Duration = Duration::from_secs(1);

/// Goes to the beginning of the line and erases it.
const ERASE: &str = "\r\u{1b}[K";

/// Counts until it is dropped, which erases the line.
pub struct Waiting {
    /// Dropping it ends the thread.
    ends: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Waiting {
    /// Begins to count.
    pub fn begin() -> Self {
        if !stdout().is_terminal() {
            return Waiting { ends: None, thread: None };
        }
        let (sender, ended) = channel::<()>();
        let count = move || {
            let began = Instant::now();
            let mut is_shown = false;
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                show(&format!("{ERASE}{} s, Ctrl-C stops it", began.elapsed().as_secs()));
                is_shown = true;
            }
            if is_shown {
                show(ERASE);
            }
        };
        // Without a thread nobody counts.
        let thread = thread::Builder::new().name("waiting".to_string()).spawn(count).ok();
        Waiting { ends: Some(sender), thread }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.ends.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A terminal that has gone shows nothing.
fn show(text: &str) {
    let mut terminal = stdout();
    let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
}
