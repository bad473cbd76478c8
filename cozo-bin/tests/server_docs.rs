//! The commands in `docs/server.md` do what it says.

#![cfg(feature = "server")]

mod support;

use serde_json::Value;
use support::scratch;
use support::server::{Reply, Server, start};

const PAGE: &str = include_str!("../../docs/server.md");

/// The blocks of code with their languages, in order.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect()
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

/// Does what `curl` would.
fn curl(server: &Server, command: &str) -> Reply {
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
    let path = url.expect("there is an address").replace("http://localhost:9070", "");
    let method = method.unwrap_or_else(|| if body.is_some() { "POST" } else { "GET" }.to_string());
    server.send(&method, &path, &[], body.unwrap_or_default())
}

fn without_time(mut json: Value) -> Value {
    if let Some(took) = json.get_mut("took") {
        *took = 0.into();
    }
    json
}

#[test]
fn commands_give_what_the_page_says() {
    let directory = scratch("server_docs");
    let server = start(&["--files", &directory.path("")]);
    let blocks = blocks(PAGE);
    let mut checked = 0;
    for (i, (language, command)) in blocks.iter().enumerate() {
        if *language != "sh" {
            continue;
        }
        let reply = curl(&server, command);
        match blocks.get(i + 1) {
            Some(("json", expected)) => {
                let expected = serde_json::from_str(expected).expect("the page has JSON");
                assert_eq!(without_time(reply.ok()), without_time(expected), "{command}");
            }
            _ => assert_eq!(reply.status, 400, "{command}"),
        }
        checked += 1;
    }
    assert!(checked >= 10, "{checked}");
}

#[test]
fn the_page_has_every_flag() {
    let help = support::cozo(&["server", "--help"]).succeeded();
    let is_flag = |word: &&str| word.starts_with("--") && word.len() > 2;
    let flags =
        help.split_whitespace().filter(is_flag).map(|flag| flag.trim_matches(|c: char| c != '-' && !c.is_alphabetic()));
    let short = ["--engine", "--path", "--config", "--bind", "--port", "--help"];
    for flag in flags.filter(|flag| !short.contains(flag)) {
        assert!(PAGE.contains(flag), "{flag}");
    }
}
