//! The pages name every command and every flag.

use crate::support::cozo;

#[test]
fn the_page_of_the_command_line_has_every_command() {
    let page = include_str!("../../../docs/cli.md");
    let help = cozo(&["--help"]).succeeded();
    let commands =
        help.split("Commands:").nth(1).and_then(|rest| rest.split("Options:").next()).expect("it lists them");
    let names: Vec<&str> = commands.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 10, "{help}");
    for name in names.iter().filter(|name| **name != "help") {
        assert!(page.contains(&format!("`cozo {name}`")), "{name}");
    }
}

#[test]
fn the_page_of_the_server_has_every_flag() {
    let page = include_str!("../../../docs/server.md");
    let help = cozo(&["server", "--help"]).succeeded();
    let is_flag = |word: &&str| word.starts_with("--") && word.len() > 2;
    let flags =
        help.split_whitespace().filter(is_flag).map(|flag| flag.trim_matches(|c: char| c != '-' && !c.is_alphabetic()));
    let short = ["--engine", "--path", "--config", "--bind", "--port", "--help"];
    for flag in flags.filter(|flag| !short.contains(flag)) {
        assert!(page.contains(flag), "{flag}");
    }
}
