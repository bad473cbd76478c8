//! `docs/server.md` has every flag; its commands run with those of the other pages, in the test `book`.

#![cfg(feature = "server")]

mod support;

const PAGE: &str = include_str!("../../docs/server.md");

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
