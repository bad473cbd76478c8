//! The commands of `curl` that the book has.

use serde_json::Value;

use super::server::{Reply, Server};

/// Where the book's server listens.
pub const ADDRESS: &str = "http://localhost:9070";

/// Does what `curl` would.
pub fn curl(server: &Server, command: &str) -> Reply {
    let mut words = words(command).into_iter();
    assert_eq!(words.next().as_deref(), Some("curl"), "{command}");
    let (mut method, mut url, mut body) = (None, None, None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-X" => method = words.next(),
            "-d" => body = words.next(),
            _ => url = Some(word),
        }
    }
    let path = url.expect("there is an address").replace(ADDRESS, "");
    let method = method.unwrap_or_else(|| if body.is_some() { "POST" } else { "GET" }.to_string());
    server.send(&method, &path, &[], body.unwrap_or_default())
}

/// The words of a command as a shell divides it, single quotes considered.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (vec![], String::new(), false);
    for c in command.trim().chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}

/// The JSON of a response without the time that it took.
pub fn without_time(mut json: Value) -> Value {
    if let Some(took) = json.get_mut("took") {
        *took = 0.into();
    }
    json
}
