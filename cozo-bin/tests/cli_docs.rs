//! The commands in `docs/cli.md` do what it says.

#![cfg(all(unix, feature = "arrow"))]

mod support;

use std::path::Path;
use std::process::Command;

use support::scratch;

const PAGE: &str = include_str!("../../docs/cli.md");

/// The lines that are the same each time: times are not.
fn lasting(text: &str) -> Vec<&str> {
    let is_summary = |line: &&str| line.contains(" rows in ") || line.contains(" row in ");
    text.lines().filter(|line| !is_summary(line)).collect()
}

#[test]
fn commands_give_what_the_page_says() {
    let directory = scratch("cli_docs");
    let binaries = Path::new(env!("CARGO_BIN_EXE_cozo")).parent().expect("it is in a folder");
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    let blocks: Vec<(&str, &str)> =
        PAGE.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect();
    let mut checked = 0;
    for (i, (language, script)) in blocks.iter().enumerate().filter(|(_, (language, _))| *language == "sh") {
        let mut command = Command::new("sh");
        command.args(["-eu", "-c", script]).current_dir(directory.path("")).env("PATH", &path).env("LC_ALL", "C");
        let output = command.output().expect("there is a shell");
        assert!(output.status.success(), "{language} {script}: {}", String::from_utf8_lossy(&output.stderr));
        if let Some(("text", expected)) = blocks.get(i + 1) {
            assert_eq!(lasting(&String::from_utf8_lossy(&output.stdout)), lasting(expected), "{script}");
            checked += 1;
        }
    }
    assert!(checked >= 7, "{checked}");
}

#[test]
fn the_page_has_every_command() {
    let help = support::cozo(&["--help"]).succeeded();
    let commands =
        help.split("Commands:").nth(1).and_then(|rest| rest.split("Options:").next()).expect("it lists them");
    let names: Vec<&str> = commands.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 10, "{help}");
    for name in names.iter().filter(|name| **name != "help") {
        assert!(PAGE.contains(&format!("`cozo {name}`")), "{name}");
    }
}
