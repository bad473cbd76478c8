//! What must hold for every text. A target panics where it does not.
//!
//! cargo-fuzz runs these functions over what it makes up, `cozo-core/tests/fuzz_corpus.rs` over mangled scripts.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use cozo::parse::parse_script;
use cozo::{DbInstance, format_error_as_json};

/// Divides the scripts of a text that [`evaluate`] runs one after another.
pub const SEPARATOR: &str = "\n---\n";

/// After so long a script is interrupted.
const TIME_LIMIT: Duration = Duration::from_millis(300);

/// So long after the interrupt it must have ended.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is in the database before the scripts run.
const SETUP: &[&str] = &[
    "?[fr, to, w] <- [[1, 2, 5], [2, 3, 1], [3, 1, 2], [3, 4, 0.5]] :create edge {fr, to => w}",
    "?[id, name] <- [[1, 'a'], [2, 'b'], [3, 'ß'], [4, '']] :create node {id: Int => name: String?}",
    "?[k, v] <- [[null, [1, 'x']], [true, {'a': 1}], [2.5, vec([1, 2])]] :create r {k => v}",
    "?[a] <- [[1], [2], [3]] :create s {a}",
];

/// A text is parsed, and what is parsed prints as a script that says the same; or it is an error that points into the
/// text.
pub fn parse(text: &str) {
    match parse_script(text) {
        Ok(script) => {
            let printed = script.to_string();
            let again = parse_script(&printed).map(|script| script.to_string());
            assert_eq!(again.as_ref(), Ok(&printed), "{text:?}");
        }
        Err(error) => {
            let span = error.span();
            assert!(text.get(span.0..span.0 + span.1).is_some(), "{text:?} {error:?}");
        }
    }
}

/// Scripts end in answers or errors, soon after they are interrupted at the latest; errors have a code and a help, and
/// point into the script.
pub fn evaluate(text: &str) {
    let db = DbInstance::default();
    SETUP.iter().for_each(|script| drop(db.run_default(script).expect("the setup runs")));
    let (sender, ended) = channel();
    let worker = std::thread::spawn({
        let (db, text) = (db.clone(), text.to_string());
        move || {
            for script in text.split(SEPARATOR) {
                if let Err(error) = db.run_default(script) {
                    check_error(error, script);
                }
                // Nobody listens any more if it took too long.
                let _ = sender.send(());
            }
        }
    });
    interrupt_what_takes_long(&db, &ended, text);
    assert!(worker.join().is_ok(), "a panic: {text}");
}

/// Waits for all scripts to end, of which each says so; interrupts those that take longer than the limit.
fn interrupt_what_takes_long(db: &DbInstance, ended: &Receiver<()>, text: &str) {
    let mut started = Instant::now();
    loop {
        match ended.recv_timeout(Duration::from_millis(5)) {
            Ok(()) => started = Instant::now(),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) if started.elapsed() < TIME_LIMIT => {}
            Err(RecvTimeoutError::Timeout) => {
                db.interrupt_all();
                assert!(started.elapsed() < PATIENCE, "a script does not end: {text}");
            }
        }
    }
}

/// An error says what it is, what to do and where.
fn check_error(error: cozo::Error, script: &str) {
    let error = format_error_as_json(error, Some(script));
    assert!(error["code"].is_string() && error["help"].is_string(), "{script:?} {error}");
    let label = &error["labels"][0]["span"];
    let number = |name: &str| label[name].as_u64().and_then(|number| usize::try_from(number).ok());
    let place = number("offset").zip(number("length"));
    let within = place.is_some_and(|(offset, length)| script.get(offset..offset + length).is_some());
    assert!(within, "{script:?} {error}");
}
