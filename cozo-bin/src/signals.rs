//! Signals that ask the program to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP.
//!
//! | when | what happens |
//! |---|---|
//! | work is going on, see [`work`] | the first signal throws the switch that stops the work, which then cleans up and says so; a second one ends the program |
//! | otherwise | the program ends, as it would without this module |
//!
//! A signal that was ignored when the program started stays ignored: `nohup` relies on that for SIGHUP.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use cozo::Interrupt;

use crate::error::CliError;

/// Whether work is going on that a signal is to stop.
static WORKING: AtomicBool = AtomicBool::new(false);

/// The last signal that stopped work, or [`NONE`].
static CAUGHT: AtomicI32 = AtomicI32::new(NONE);

const NONE: i32 = 0;

/// The number of SIGINT, which is the same everywhere.
const INTERRUPT: i32 = 2;

/// Work that a signal stops, until this is dropped.
pub struct Work(());

/// Begins work that a signal stops by the switch of [`stop_work_on_signals`].
pub fn work() -> Work {
    WORKING.store(true, Ordering::SeqCst);
    Work(())
}

impl Drop for Work {
    fn drop(&mut self) {
        WORKING.store(false, Ordering::SeqCst);
    }
}

/// The name of the signal that has stopped work, if any has.
pub fn caught() -> Option<&'static str> {
    match CAUGHT.load(Ordering::SeqCst) {
        NONE => None,
        INTERRUPT => Some("SIGINT"),
        1 => Some("SIGHUP"),
        _ => Some("SIGTERM"),
    }
}

/// Whether the program is to end, and not only what runs in it.
pub fn must_end() -> bool {
    ![NONE, INTERRUPT].contains(&CAUGHT.load(Ordering::SeqCst))
}

/// The exit code of a program that a signal has stopped, as shells count.
pub fn exit_code() -> Option<u8> {
    let signal = CAUGHT.load(Ordering::SeqCst);
    (signal != NONE).then(|| 128 + signal as u8)
}

/// The outcome of work, or how things are left where a signal has stopped it.
pub fn explain<T>(outcome: miette::Result<T>, if_stopped: &'static str) -> miette::Result<T> {
    match (outcome, caught()) {
        (Err(_), Some(signal)) => Err(CliError::Stopped { signal, outcome: if_stopped }.into()),
        (outcome, _) => outcome,
    }
}

/// Fails if a signal has thrown the switch.
pub fn check(interrupt: &Interrupt, if_stopped: &'static str) -> Result<(), CliError> {
    match (interrupt.check(), caught()) {
        (Err(_), Some(signal)) => Err(CliError::Stopped { signal, outcome: if_stopped }),
        _ => Ok(()),
    }
}

/// A switch that signals throw while there is [`work`]. Where no thread can be had to wait for signals, they end the program
/// at once. `before_end` is called before a signal ends the program.
pub fn stop_work_on_signals(before_end: impl Fn() + Send + 'static) -> Interrupt {
    let interrupt = Interrupt::default();
    let switch = interrupt.clone();
    system::watch(move |signal| {
        // A Ctrl-C stops one script of the shell after the other; the second one during the same work ends the program.
        let is_first = WORKING.load(Ordering::SeqCst) && switch.check().is_ok();
        if is_first {
            CAUGHT.store(signal, Ordering::SeqCst);
            switch.kill();
        } else {
            before_end();
            system::end(signal);
        }
    });
    interrupt
}

#[cfg(all(unix, feature = "server"))]
pub use system::to_handle;

/// Ends the program at once, while threads still use what it has, which the usual end would take away from them.
#[cfg(feature = "server")]
pub fn end_at_once() {
    system::end(15);
}

#[cfg(unix)]
mod system {
    use std::sync::mpsc::{RecvError, channel};
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// Calls `on_signal` for each signal, on a thread of its own, if there is one. From the return on signals are handled: the
    /// line editor, which handles them while it reads, gives back to whoever had them when it began.
    pub fn watch(mut on_signal: impl FnMut(i32) + Send + 'static) {
        let (begun, has_begun) = channel();
        let wait = move || {
            let signals = Signals::new(to_handle());
            drop(begun);
            if let Ok(mut signals) = signals {
                signals.forever().for_each(&mut on_signal);
            }
        };
        // The signals are taken over by the thread: without it they do what they do by default.
        if thread::Builder::new().name("signals".to_string()).spawn(wait).is_ok() {
            let _: Result<(), RecvError> = has_begun.recv();
        }
    }

    /// Ends the program by a signal, as if it was not handled.
    pub fn end(signal: i32) {
        if emulate_default_handler(signal).is_err() {
            std::process::abort();
        }
    }

    /// The signals that were not ignored when the program started.
    pub fn to_handle() -> Vec<i32> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        match ignored {
            Some(ignored) => {
                [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect()
            }
            // Where it cannot be known, that of nohup is left as it is.
            None => vec![SIGINT, SIGTERM],
        }
    }
}

#[cfg(not(unix))]
mod system {
    /// Calls `on_signal` for each Ctrl-C.
    pub fn watch(mut on_signal: impl FnMut(i32) + Send + 'static) {
        // Without a handler a Ctrl-C ends the program.
        drop(ctrlc::set_handler(move || on_signal(super::INTERRUPT)));
    }

    /// Ends the program.
    pub fn end(signal: i32) {
        std::process::exit(128 + signal);
    }
}
