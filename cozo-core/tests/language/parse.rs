//! The parser against a corpus: trees print and parse back, and no text does it harm, however mangled or deep.

#![allow(clippy::unwrap_used)] // tests may panic

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use cozo::parse::{ParseError, parse_expr, parse_script};
use regex::Regex;

const CORPUS: &str = include_str!("../corpus/parse/scripts.txt");
const CANONICAL: &str = include_str!("../corpus/parse/canonical.txt");

fn scripts() -> impl Iterator<Item = &'static str> {
    CORPUS.split("\n=====\n").chain(CANONICAL.split("\n---\n"))
}

/// The tree without its spans.
fn shape(source: &str) -> String {
    static SPAN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"SourceSpan\(\d+, \d+\)").unwrap());
    let script = parse_script(source).unwrap_or_else(|error| panic!("{source}\n{error}"));
    SPAN.replace_all(&format!("{script:?}"), "_").into_owned()
}

#[test]
fn trees_print_and_parse_back() {
    for source in scripts() {
        let printed = parse_script(source).unwrap_or_else(|error| panic!("{source}\n{error}")).to_string();
        assert_eq!(shape(&printed), shape(source), "{source}\n{printed}");
    }
}

/// Far more than anything here takes on a slow and busy machine: only what does not grow with its input as it should takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs in a thread with the 2 MB of stack that threads have by default, and demands an answer.
fn in_small_thread<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let started = Instant::now();
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap();
    let result = thread.join().unwrap();
    assert!(started.elapsed() < PATIENCE, "took {:?}", started.elapsed());
    result
}

#[test]
fn a_megabyte_of_nesting_is_an_error() {
    for unit in [
        "[", "(", "{", "-", "!", "not ", "2^", "f(", "[(", "{1:", "1+", "a->", "a~", "-(", "(-", "x,(", "(not ", "1<-",
        "a and (", "[-1-", "!(a||",
    ] {
        let source = format!("?[x] := {}", unit.repeat((1 << 20) / unit.len()));
        let error = in_small_thread(move || parse_script(&source).map(drop).unwrap_err());
        let named = matches!(error, ParseError::NestingTooDeep { .. } | ParseError::Syntax { .. });
        assert!(named, "{unit}: {error:?}");
    }
}

#[test]
fn deep_but_complete_scripts_name_the_nesting() {
    let deep = |open: &str, middle: &str, close: &str| {
        let count = (1 << 20) / (open.len() + close.len());
        format!("?[x] := x = 1, {}{middle}{}", open.repeat(count), close.repeat(count))
    };
    for source in [
        deep("[", "1", "]"),
        deep("(", "1", ")"),
        deep("{1:", "1", "}"),
        deep("f(", "1", ")"),
        deep("-", "1", ""),
        deep("!", "x", ""),
        deep("not ", "x", ""),
        deep("not (", "x", ")"),
        deep("1 - ", "1", ""),
        deep("2^", "1", ""),
        deep("", "x", "->1"),
        deep("(", "1", "+1)"),
        format!("{}{{ ?[a] <- [[1]] }}{}", "%loop ".repeat(100_000), "%end ".repeat(100_000)),
        format!("{}{{ ?[a] <- [[1]] }}{}", "%if _a ".repeat(100_000), "%end ".repeat(100_000)),
        format!(":create r {{a: {}Int{}}}", "[".repeat(100_000), "]".repeat(100_000)),
    ] {
        let start: String = source.chars().take(60).collect();
        let error = in_small_thread(move || parse_script(&source).map(drop).unwrap_err());
        assert!(matches!(error, ParseError::NestingTooDeep { .. }), "{start}: {error:?}");
    }
}

#[test]
fn comments_nest_without_end() {
    for source in [
        format!("{}{} ?[a] <- [[1]]", "/*".repeat(200_000), "*/".repeat(200_000)),
        format!("?[a] <- [[1]] {}", "# x\n".repeat(200_000)),
    ] {
        in_small_thread(move || parse_script(&source).map(drop)).unwrap();
    }
    let open = "/*".repeat(500_000);
    assert!(in_small_thread(move || parse_script(&open).is_err()));
}

#[test]
fn the_nesting_that_is_allowed_fits_a_small_stack() {
    let wrap = |open: &str, middle: &str, close: &str| format!("{}{middle}{}", open.repeat(120), close.repeat(120));
    for source in [
        format!("?[x] := {}", wrap("(", "x == 1", ")")),
        format!("?[x] := {}", wrap("not (", "x == 1", ")")),
        format!("?[x] := {}", wrap("(1 + ", "x", ")")),
        format!("?[x] := x = {}", wrap("[", "1", "]")),
        format!("?[x] := x = {}", wrap("-(", "1", ")")),
        format!("?[x] := x = {}", wrap("f(", "1", ")")),
        format!("?[x] := x = {}", wrap("{1: ", "1", "}")),
        format!("?[x] := x = {}1", "1 + ".repeat(990)),
        format!("?[x] := x = {}1", "2 ^ ".repeat(990)),
        format!("?[x] := x = {}1", "-".repeat(990)),
        format!("?[x] := {}x", "not ".repeat(990)),
        wrap("%loop ", "{ ?[a] <- [[1]] }", " %end"),
        format!(":create r {{a: {}}}", wrap("[", "Int", "]")),
    ] {
        in_small_thread(move || {
            let script = parse_script(&source).unwrap_or_else(|error| panic!("{source}: {error}"));
            let copy = script.clone();
            assert!(!copy.to_string().is_empty() && !format!("{script:?}").is_empty());
            parse_script(&copy.to_string()).unwrap_or_else(|error| panic!("{copy}: {error}"));
        });
    }
}

#[test]
fn sixty_levels_take_no_time() {
    let source = format!("{}1{}", "(".repeat(60), ")".repeat(60));
    let started = Instant::now();
    for _ in 0..100 {
        parse_expr(&source).unwrap();
        parse_script(&format!("?[x] := {source} == x")).unwrap();
        parse_script(&format!("?[x] := {source} == x)")).unwrap_err();
        parse_script(&format!("?[x] := {source} ** x")).unwrap_err();
    }
    assert!(started.elapsed() < PATIENCE, "took {:?}", started.elapsed());
}

#[test]
fn large_scripts_parse_in_linear_time() {
    let rules: String = (0..30_000).map(|i| format!("r{i}[a, b] := s[a, c], *t{{c, b}}, b > {i}\n")).collect();
    let list = format!("?[a] <- [{}]", (0..120_000).map(|i| format!("[{i}, 'x'],")).collect::<String>());
    let atoms = format!("?[a] := a = 1{}", " or a = 1, b[a]".repeat(70_000));
    let text = format!("?[a] <- [['{}']]", "é\\n".repeat(250_000));
    let raw = format!("?[a] <- [[{0}\"{1}\"{0}]]", "_".repeat(1000), "\"_____".repeat(150_000));
    let broken_end = format!("{rules} ?[a] :- b[a]");
    for source in [rules, list, atoms, text, raw, broken_end] {
        let started = Instant::now();
        let broken = source.ends_with(":- b[a]");
        assert_eq!(in_small_thread(move || parse_script(&source).is_err()), broken);
        assert!(started.elapsed() < PATIENCE, "took {:?}", started.elapsed());
    }
}
