//! `cozo completions` and `cozo man`.

mod support;

use std::process::Command;

use support::{cozo, scratch};

#[test]
fn each_shell_has_its_completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = cozo(&["completions", shell]).succeeded();
        for word in ["export", "import", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(cozo(&["completions", "dos"]).code, 2);
}

#[test]
fn bash_completes_commands_and_files_of_formats() {
    let directory = scratch("completions");
    let script = directory.file("cozo.bash", &cozo(&["completions", "bash"]).succeeded());
    let complete = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let last = words[words.len() - 1];
        let command = format!(
            "source {script}; COMP_WORDS=({line}); COMP_CWORD={}; _cozo cozo '{last}' ''; echo \"${{COMPREPLY[@]}}\"",
            words.len() - 1
        );
        let output = Command::new("bash").args(["-c", &command]).output().expect("there is bash");
        String::from_utf8(output.stdout).expect("it is text").trim().to_string()
    };
    assert_eq!(complete("cozo exp"), "export");
    assert_eq!(complete("cozo export --for"), "--format");
}

#[test]
fn pages_are_written_for_each_command() {
    let directory = scratch("man");
    let page = cozo(&["man"]).succeeded();
    assert!(page.contains(".TH cozo 1") && page.contains("cozo\\-export(1)"), "{page}");
    cozo(&["man", &directory.path("pages")]).succeeded();
    let export = std::fs::read_to_string(directory.path("pages/cozo-export.1")).expect("the page is there");
    assert!(export.contains("\\-\\-script"), "{export}");
    cozo(&["man", &directory.file("file", "")]).failed("cli::file");
}
