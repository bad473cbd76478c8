//! Syntax errors as people see them. `cargo insta review` shows what changed.

#![allow(clippy::unwrap_used)] // tests may panic

use cozo::diag::render_report;
use cozo::parse::parse_script;

/// The rendered errors of some scripts, one after another.
fn rendered(scripts: &[&str]) -> String {
    let render = |script: &&str| {
        let error = parse_script(script).map(drop).expect_err(script);
        render_report(&miette::Report::new(error).with_source_code(script.to_string()), false)
    };
    scripts.iter().map(render).collect::<Vec<_>>().join("\n")
}

#[test]
fn wrong_signs() {
    insta::assert_snapshot!(rendered(&[
        "?[a] :- r[a]",
        "?[a] = r[a]",
        "?[a] <= [[1]]",
        "?[a] := r[a], 1 = a",
        "?[a] := r[a] && s[a]",
        "?[a] := a = 1 & 2",
        "?[a] := a = 2 ** 3",
        "?[a] := a = .5",
    ]));
}

#[test]
fn words_that_do_not_exist() {
    insta::assert_snapshot!(rendered(&[
        "?[a] <- [[1]]\n:limt 5",
        "?[a] <- [[1]]\n:group a",
        "::relation",
        "::tables",
        "%if _a %them { ?[a] <- [[1]] } %end",
        ":create r {a: Strng}",
        ":create r {a: <Flat; 3>}",
        "::access_level private r",
    ]));
}

#[test]
fn brackets_and_strings() {
    insta::assert_snapshot!(rendered(&[
        "?[a] := r[a\n:limit 3",
        "?[a] <- [[1, (2], 3]]",
        "?[a] := r[a])",
        "?[a] <- [['ö\\q']]",
        "?[a] <- [[\"never closed]]",
        "?[a] <- [[1]] /* /* */",
        "?[a] <- [['\\ud800']]",
    ]));
}

#[test]
fn what_is_missing_or_misplaced() {
    insta::assert_snapshot!(rendered(&[
        "",
        "?[a] :=",
        "?[ä] := ä = 'ö' +",
        "?[1a] <- [[1]]",
        "_r[a] <- [[1]]",
        "?[a] := ?[a]",
        "?[a] := (r[a], s[a]) > 1",
        "?[a] <- [[1]] ::relations",
        "%loop %end",
    ]));
}

#[test]
fn numbers_and_nesting() {
    let deep = format!("?[a] := a = {}1{}", "[".repeat(200), "]".repeat(200));
    let long = format!("?[a] := a = {}1", "1-".repeat(1100));
    insta::assert_snapshot!(rendered(&["?[a] <- [[0xffffffffffffffff]]", &deep, &long]));
}

/// Message and help alone, where no common mistake explains the error.
#[test]
fn what_to_write_instead() {
    let scripts = [
        "?[r] := r = a ? 1",
        "?[a + b] := a = 1, b = 2",
        "r <- [[1]]",
        "?[a]",
        "?[a] <~",
        "?[a] <~ Constant data: [[1]]",
        "?[a] <~ Constant(data = [[1]])",
        "?[r] := r = * 2",
        "?[r] := r = [1,,2]",
        "?[a] := a = {'x' 1}",
        "?[x] := [1] in x",
        "?[x] := x = 1 or",
        "?[a] := *t(a)",
        "?[a] := *t{a: b: c}",
        "?[a] := *t{1}",
        "?[a] := ~r:i{a}",
        "?[a] := r[a] :order",
        "?[a] := r[a] :assert",
        "?[a] <- [[1]] :put *t {a}",
        ":create x a, b",
        ":create x {1}",
        ":create x {a: }",
        ":create x {a => b => c}",
        "::columns",
        "::rename a b",
        "::index create a {b}",
        "::index make a:b {c}",
        "::explain ?[a] <- [[1]]",
        "::set_triggers r put {}",
        "%if {?[a] <- [[1]]} {?[b] <- [[2]]}",
        "{?[a] <- [[1]]} as kept",
        "%mark 1 %loop %end",
    ];
    let tell = |script: &&str| {
        let error = parse_script(script).map(drop).expect_err(script);
        let help = miette::Diagnostic::help(&error).map(|help| help.to_string()).unwrap_or_default();
        format!("{script}\n    {error}\n    {help}\n")
    };
    insta::assert_snapshot!(scripts.iter().map(tell).collect::<String>());
}
