//! The rules of the house, checked: a complaint gives the file, the line and the mend.

mod levels;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The longest file; tables and tests may be longer, and are listed in [`LONG_FILES`].
const MAX_LINES: usize = 450;

/// The files that may be longer: tables, tests, and what is to be divided (with its size as the limit).
const LONG_FILES: &[(&str, usize)] = &[];

/// Words that no code outside of tests has, with what to do instead. Divided, so that this file has none of them.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("todo", "!("), "return an error that says 'not yet supported'"),
    (concat!("unimplemented", "!("), "return an error that says 'not yet supported'"),
    (concat!("dbg", "!("), "strike it"),
    (concat!("thread::", "spawn("), "use `threads::start`, and do without the thread where the system has none"),
    (concat!("rayon::", "current_num_threads()"), "use `threads::count`, which starts the threads"),
    (concat!(".unwrap", "()"), "return the error, or say with `expect` which invariant holds"),
];

/// The longest function, and those that may be longer: tables.
const MAX_FUNCTION_LINES: usize = 50;
const LONG_FUNCTIONS: &[(&str, &str)] = &[("parse/expected.rs", "name_of")];

/// The most types of one name: a name that many types have says little.
const MAX_TYPES_OF_A_NAME: usize = 3;

/// A file of more lines says at its head what it is for, in so many lines at least.
const LONG_FILE: usize = 300;
const MIN_HEAD_LINES: usize = 5;

/// The most lines of documents that are to be read as a whole, from the root of the repository.
const DOCUMENTS: &[(&str, usize)] =
    &[("ARCHITECTURE.md", 250), ("README.md", 150), ("benches/README.md", 150), ("docs/design", 150)];

/// Remarks that nobody comes back to.
const REMARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// A source file below `src/`.
struct Source {
    /// The path from `src/` on, with slashes.
    path: String,
    lines: Vec<String>,
    /// The line where the tests at the end of the file begin, or the end.
    tests_from: usize,
    /// Whether the whole file is tests.
    is_test: bool,
}

impl Source {
    fn read(root: &Path, file: &Path) -> Source {
        let relative = file.strip_prefix(root).expect("the file lies below the root");
        let path = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        let text = std::fs::read_to_string(file).expect("the file can be read");
        let lines: Vec<String> = text.lines().map(str::to_string).collect();
        let is_test_file = path.ends_with("/tests.rs") || path.contains("/tests/");
        let test_module = lines
            .iter()
            .zip(lines.iter().skip(1))
            .position(|(first, second)| first == "#[cfg(test)]" && second.starts_with("mod ") && second.ends_with('{'));
        let tests_from = if is_test_file { 0 } else { test_module.unwrap_or(lines.len()) };
        Source { path, lines, tests_from, is_test: is_test_file }
    }

    /// The lines that are no remarks and not in tests, with their numbers from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.lines[..self.tests_from].iter().enumerate().map(|(i, line)| (i + 1, line.as_str()));
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources() -> Vec<Source> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("the entry can be read").path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    let root = source_root();
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    assert!(files.len() > 50, "the sources are where this test looks for them");
    files.iter().map(|file| Source::read(&root, file)).collect()
}

/// Complaints with the place and the mend, gathered over all files.
#[derive(Default)]
struct Complaints(String);

impl Complaints {
    fn add(&mut self, source: &Source, line: usize, mend: impl std::fmt::Display) {
        writeln!(self.0, "cozo-core/src/{}:{line}: {mend}", source.path).expect("text takes text");
    }
}

impl Drop for Complaints {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.0.is_empty(), "\n{}", self.0);
        }
    }
}

#[test]
fn every_module_says_what_it_owns() {
    let mut complaints = Complaints::default();
    for source in sources() {
        if !source.lines.first().is_some_and(|line| line.starts_with("//! ")) {
            complaints.add(&source, 1, "begin the file with `//!`: what it owns, what comes in and goes out");
        }
    }
}

#[test]
fn code_has_no_loose_ends() {
    let mut complaints = Complaints::default();
    for source in sources() {
        for (line, text) in source.code() {
            for (_, mend) in FORBIDDEN.iter().filter(|(word, _)| text.contains(word)) {
                complaints.add(&source, line, mend);
            }
        }
        for (i, text) in source.lines.iter().enumerate() {
            if let Some(remark) = REMARKS.iter().find(|remark| has_word(text, remark)) {
                complaints.add(&source, i + 1, format!("do what the {remark} says, or file it, and strike the remark"));
            }
        }
    }
}

/// Names of limits say which side they are on.
#[test]
fn limits_are_named_alike() {
    let mut complaints = Complaints::default();
    for source in sources() {
        for (line, text) in source.code() {
            let name = text.split("const ").nth(1).and_then(|rest| rest.split(':').next()).unwrap_or_default();
            if let Some(prefix) = ["MOST_", "WORTH_", "LEAST_"].iter().find(|prefix| name.starts_with(**prefix)) {
                complaints.add(&source, line, format!("name it MAX_... or MIN_..., not {prefix}..."));
            }
        }
    }
}

#[test]
fn names_of_types_are_not_used_again_and_again() {
    let sources = sources();
    let mut types: BTreeMap<&str, Vec<(&Source, usize)>> = BTreeMap::new();
    for source in &sources {
        for (line, text) in source.code() {
            let words = text.trim_start().trim_start_matches("pub").trim_start_matches(|c| c != ' ').trim_start();
            let text = if text.trim_start().starts_with("pub") { words } else { text.trim_start() };
            let rest = ["struct ", "enum ", "trait "].iter().find_map(|word| text.strip_prefix(word));
            let Some(rest) = rest else { continue };
            let end = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
            types.entry(&rest[..end]).or_default().push((source, line));
        }
    }
    assert!(types.len() > 300, "the types are where this test looks for them");
    let mut complaints = Complaints::default();
    for (name, places) in types.iter().filter(|(_, places)| places.len() > MAX_TYPES_OF_A_NAME) {
        for (source, line) in places {
            complaints.add(source, *line, format!("{} types are named '{name}': say what sets it apart", places.len()));
        }
    }
}

#[test]
fn long_files_say_what_they_are_for() {
    let mut complaints = Complaints::default();
    for source in sources().iter().filter(|source| source.tests_from > LONG_FILE) {
        let head = source.lines.iter().take_while(|line| line.starts_with("//!")).count();
        if head < MIN_HEAD_LINES {
            let mend = format!("say in {MIN_HEAD_LINES} lines or more what it is for and how its types work together");
            complaints.add(source, 1, mend);
        }
    }
}

#[test]
fn documents_are_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (name, limit) in DOCUMENTS {
        let path = root.join(name);
        let files = match path.is_dir() {
            true => std::fs::read_dir(path)
                .expect("the folder can be read")
                .map(|file| file.expect("it can").path())
                .collect(),
            false => vec![path],
        };
        for file in files {
            let lines = std::fs::read_to_string(&file).expect("the document can be read").lines().count();
            assert!(lines <= *limit, "{}: {lines} lines, {limit} at most", file.display());
        }
    }
}

/// The functions of a file outside of tests: the line where each begins, its name, and how many lines it has. The code is formatted, so
/// that a function ends with the first brace as far to the left as its `fn`.
fn functions(source: &Source) -> Vec<(usize, &str, usize)> {
    let lines = &source.lines[..source.tests_from];
    let mut found = vec![];
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let Some((before, rest)) = text.split_once("fn ") else { continue };
        let is_head = before.split_whitespace().all(|word| {
            word.starts_with("pub")
                || word.starts_with('"')
                || ["const", "async", "unsafe", "extern", "in"].contains(&word)
        });
        if text.starts_with("//") || !is_head || text.ends_with(';') || text.ends_with('}') {
            continue;
        }
        let end = format!("{}}}", &line[..line.len() - text.len()]);
        let len = lines[at..].iter().position(|line| *line == end).map_or(0, |len| len + 1);
        let name = &rest[..rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len())];
        found.push((at + 1, name, len));
    }
    found
}

#[test]
fn functions_are_short() {
    let (mut complaints, mut count) = (Complaints::default(), 0);
    for source in sources() {
        for (line, name, lines) in functions(&source) {
            count += 1;
            if lines > MAX_FUNCTION_LINES && !LONG_FUNCTIONS.contains(&(&source.path, name)) {
                complaints.add(
                    &source,
                    line,
                    format!("'{name}' has {lines} lines: name its parts (limit {MAX_FUNCTION_LINES})"),
                );
            }
        }
    }
    assert!(count > 2000, "the functions are where this test looks for them");
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c == '_' || c.is_alphanumeric());
    text.match_indices(word)
        .any(|(at, _)| !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next()))
}

#[test]
fn files_are_short() {
    let mut complaints = Complaints::default();
    for source in sources() {
        let exception = LONG_FILES.iter().find(|(path, _)| *path == source.path);
        let limit = exception.map_or(MAX_LINES, |(_, limit)| *limit);
        let lines = if exception.is_some() { source.lines.len() } else { source.tests_from };
        if lines > limit {
            complaints.add(
                &source,
                limit + 1,
                format!("{lines} lines: two things live here, divide them (limit {limit})"),
            );
        }
        if exception.is_some() && lines <= MAX_LINES {
            complaints.add(&source, 1, "it is short now: strike it from LONG_FILES of tests/tidy/main.rs");
        }
    }
}

/// Complains about the first name that is not greater than the one before.
fn assert_sorted<'a>(registry: &str, names: impl Iterator<Item = &'a str>) {
    let names: Vec<&str> = names.collect();
    for pair in names.windows(2) {
        assert!(pair[0] < pair[1], "{registry}: put '{}' before '{}'", pair[1], pair[0]);
    }
}

#[test]
fn registries_are_sorted() {
    for family in cozo::expr::functions::FAMILIES {
        assert_sorted(family.title, family.functions.iter().map(|function| function.name));
    }
    let aggregations = cozo::expr::aggregations::AGGREGATIONS.iter().map(|aggregation| aggregation.name);
    assert_sorted("expr/aggregations/mod.rs: AGGREGATIONS", aggregations);
    let fixed_rules = cozo::fixed_rule::FIXED_RULES.iter().map(|rule| rule.name);
    assert_sorted("fixed_rule/registry.rs: FIXED_RULES", fixed_rules);
    assert_sorted("session/sys/mod.rs: SYSTEM_OPS", cozo::session::SYSTEM_OPS.iter().map(|(name, _)| *name));
}
