//! `/running`: the scripts that requests run, with their texts and who sent them, and how one of them is stopped.
//!
//! `::running` lists what the database runs, by numbers. What a script says and whose it is only the server knows, so it keeps a list of its own,
//! of the requests that wait for a thread or have one. Scripts that end within a moment on the thread of their connection are not in it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Instant;

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use cozo::Interrupt;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::auth::Client;
use super::error::{Failure, ServerError};
use super::json_body::JsonText;
use super::request::Number;
use super::state::App;

/// Of longer texts, the beginning is kept: there may be as many as there are connections.
const MAX_TEXT_BYTES: usize = 8 * 1024;

/// The address of the client at the other end of the connection, among the extensions of a request.
#[derive(Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// Whose a request is, as far as it says.
#[derive(Clone, Default)]
pub struct Sender {
    address: Option<SocketAddr>,
    agent: Option<HeaderValue>,
}

impl Sender {
    /// Whoever sent a request with these headers from there.
    pub fn new(peer: Option<Peer>, headers: &HeaderMap) -> Self {
        Sender { address: peer.map(|Peer(address)| address), agent: headers.get(header::USER_AGENT).cloned() }
    }
}

/// The scripts that requests run.
#[derive(Default)]
pub struct Running(Mutex<Numbered>);

#[derive(Default)]
struct Numbered {
    last: u64,
    by_number: BTreeMap<u64, Script>,
}

/// A script that runs, or waits until it may.
struct Script {
    started: Instant,
    sender: Sender,
    interrupt: Interrupt,
    /// Known once the body of the request has been read.
    text: OnceLock<String>,
}

/// Lists a script until it is dropped.
pub struct Listed {
    app: App,
    number: u64,
}

impl Listed {
    /// Lists a script of a client, which `interrupt` stops.
    pub fn new(client: &Client, interrupt: &Interrupt) -> Self {
        let script = Script {
            started: Instant::now(),
            sender: client.sender().clone(),
            interrupt: interrupt.clone(),
            text: OnceLock::new(),
        };
        let app = client.app().clone();
        let mut scripts = app.running.0.lock();
        scripts.last += 1;
        let number = scripts.last;
        scripts.by_number.insert(number, script);
        drop(scripts);
        Listed { app, number }
    }

    /// Says what the script is.
    pub fn show(&self, text: &str) {
        if let Some(script) = self.app.running.0.lock().by_number.get(&self.number) {
            script.text.get_or_init(|| beginning(text));
        }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.app.running.0.lock().by_number.remove(&self.number);
    }
}

/// A text, or as much of it as is kept.
fn beginning(text: &str) -> String {
    match text.len() <= MAX_TEXT_BYTES {
        true => text.to_string(),
        false => {
            let end = (0..=MAX_TEXT_BYTES).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
            format!("{}…", &text[..end])
        }
    }
}

impl Running {
    /// All scripts, the oldest first; without `details` only that they run.
    fn list(&self, details: bool) -> Value {
        let entry = |(number, script): (&u64, &Script)| {
            let mut entry = json!({"id": number, "seconds": script.started.elapsed().as_secs_f64()});
            let Sender { address, agent } = &script.sender;
            if details {
                entry["script"] = json!(script.text.get());
                entry["client"] = json!(address.map(|address| address.to_string()));
                entry["agent"] = json!(agent.as_ref().and_then(|agent| agent.to_str().ok()));
            }
            entry
        };
        self.0.lock().by_number.iter().map(entry).collect()
    }

    /// Stops a script. It is listed until it has ended.
    fn stop(&self, number: u64) -> Result<(), ServerError> {
        // Under the lock: a script that has ended is no longer listed, and its interrupt may serve another one.
        let scripts = self.0.lock();
        scripts.by_number.get(&number).map(|script| script.interrupt.kill()).ok_or(ServerError::NoScript(number))
    }
}

/// `GET /running`. What others ask may say what the database has, so whoever may only read sees no texts and no clients.
pub async fn list(client: Client) -> Response {
    let scripts = client.app().running.list(client.may_write());
    JsonText::of_json(&json!({"ok": true, "running": scripts})).into_response()
}

/// `DELETE /running/{id}`.
pub async fn stop(client: Client, Number(number): Number) -> Result<Response, Failure> {
    if !client.may_write() {
        return Err(ServerError::Kill.into());
    }
    client.app().running.stop(number)?;
    Ok(JsonText::ok().into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(beginning("?[a] <- [[1]]"), "?[a] <- [[1]]");
        let cut = beginning(&format!("x{}", "é".repeat(MAX_TEXT_BYTES)));
        assert!(cut.len() <= MAX_TEXT_BYTES + '…'.len_utf8() && cut.ends_with("é…"), "{}", cut.len());
    }
}
