//! Queries and what they mean.

#![allow(clippy::unwrap_used)]

use miette::Diagnostic;

use super::*;
use crate::diag::SourceSpan;
use crate::text::Analyzer;
use crate::value::DataValue;

fn shown(text: &str) -> String {
    match TextQuery::parse(text) {
        Ok(Some(query)) => query.to_string(),
        Ok(None) => "nothing".to_string(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn queries() {
    let table = [
        ("", "nothing"),
        (" \t\n", "nothing"),
        ("red", "red"),
        ("  red  ", "red"),
        ("red apple", "red apple"),
        ("red AND apple", "(red AND apple)"),
        ("a OR b", "(a OR b)"),
        ("a, b; c", "(a OR b OR c)"),
        ("a,b;c", "(a OR b OR c)"),
        ("p OR q AND r", "((p OR q) AND r)"),
        ("p AND q OR r", "(p AND (q OR r))"),
        ("p AND q NOT r", "((p AND q) NOT r)"),
        ("p NOT q AND r", "(p NOT (q AND r))"),
        ("p NOT q OR r", "(p NOT (q OR r))"),
        ("a NOT b NOT c", "(a NOT b NOT c)"),
        ("a b OR c d", "(a b OR c d)"),
        ("a (b OR c)", "(a AND (b OR c))"),
        ("(a)", "a"),
        ("((a) b)", "(a AND b)"),
        ("(a OR b) (c NOT d)", "((a OR b) AND (c NOT d))"),
        ("hel* wor*", "(hel* AND wor*)"),
        ("a b* c", "(a b* AND c)"),
        ("a NOT b \"c\"", "((a NOT b) AND \"c\")"),
        ("\"a\" \"b\" OR \"c\"", "(\"a\" AND (\"b\" OR \"c\"))"),
        ("a^2", "a^2"),
        ("a^2.5 b^0", "(a^2.5 AND b^0)"),
        ("a* ^3", "a*^3"),
        ("a ^ 1", "a"),
        ("a^2.", "error: unexpected . in the full-text query"),
        ("\"red, apple\"*^2", "\"red, apple\"*^2"),
        ("'red (apple'", "\"red (apple\""),
        (r#""a\"b\\c\n""#, r#""a\"b\\c\n""#),
        (r"'it\'s'", "\"it's\""),
        (r#""\u00e9\ud83c\udf89""#, "\"é🎉\""),
        ("and or not near", "and or not near"),
        ("ORanges ANDes NOTe NEARest", "ORanges ANDes NOTe NEARest"),
        ("aOR b", "aOR b"),
        ("OR_x OR y", "(OR_x OR y)"),
        ("a OR(b)", "(a OR b)"),
        ("NEAR", "NEAR"),
        ("a NEAR b", "a NEAR b"),
        ("NEAR(a b)", "NEAR/10(a b)"),
        ("NEAR/3(a b)", "NEAR/3(a b)"),
        ("NEAR / 0 ( a \"b c\" d* e^2 )", "NEAR/0(a \"b c\" d* e^2)"),
        ("x NEAR/3(a b) y", "(x AND NEAR/3(a b) AND y)"),
        ("x OR NEAR(a b)", "(x OR NEAR/10(a b))"),
        ("NEAR(NEAR b)", "NEAR/10(NEAR b)"),
        ("größe 日本 a_1 हिन्दी", "größe 日本 a_1 हिन्दी"),
    ];
    for (text, expected) in table {
        assert_eq!(shown(text), expected, "{text:?}");
    }
}

#[test]
fn errors_have_a_place_and_a_help() {
    let table = [
        ("x AND", "nothing follows AND", 2, 3, "write something after it"),
        ("(x OR) y", "nothing follows OR", 3, 2, "write something after it"),
        ("x,", "nothing follows ,", 1, 1, "write something after it"),
        ("NOT a", "nothing stands before NOT", 0, 3, "write a NOT b"),
        ("a (NOT b)", "nothing stands before NOT", 3, 3, "write a NOT b"),
        ("OR a", "nothing stands before OR", 0, 2, "write something before it"),
        ("a AND NOT b", "AND and NOT follow each other", 2, 7, "NOT means 'and not': write a NOT b"),
        ("a OR AND b", "OR and AND follow each other", 2, 6, "write something between them"),
        ("foo-bar", "unexpected - in", 3, 1, "in quotes: \"a-b\""),
        ("é ü€", "unexpected € in", 5, 3, "in quotes"),
        ("a )", "unexpected ) in", 2, 1, "no parenthesis is open here"),
        ("*", "unexpected * in", 0, 1, "stand after a word"),
        ("a^2*", "unexpected * in", 3, 1, "stand after a word"),
        ("^2", "unexpected ^ in", 0, 1, "stand after a word"),
        ("a^", "^ in the full-text query needs a number", 1, 1, "word^2"),
        ("a^-1", "^ in the full-text query needs a number", 1, 1, "word^2"),
        ("(a", "a parenthesis in the full-text query is not closed", 0, 1, "close it with )"),
        ("a (b (c)", "a parenthesis in the full-text query is not closed", 2, 1, "close it with )"),
        ("(", "a parenthesis in the full-text query is not closed", 0, 1, "close it with )"),
        ("a ()", "nothing stands in the parentheses", 2, 2, "leave them out"),
        ("\"abc", "a quote \" in the full-text query is not closed", 0, 1, "end it with \""),
        ("don't", "a quote ' in the full-text query is not closed", 3, 1, "double quotes"),
        ("\"a\\", "a quote \" in the full-text query is not closed", 0, 1, "end it with \""),
        (r#""a\qb""#, r"unknown escape \q", 2, 2, r"the escapes are"),
        (r#""\u00g0""#, r"a \u escape", 1, 2, "four hexadecimal digits"),
        (r#""\ud800x""#, r"a \u escape", 1, 2, "four hexadecimal digits"),
        ("NEAR()", "nothing stands in the parentheses of NEAR", 0, 6, "NEAR/3(a b)"),
        ("NEAR/(a b)", "NEAR/ needs a number", 0, 5, "NEAR/3(a b)"),
        ("NEAR/99999999999(a b)", "NEAR/ needs a number", 0, 16, "NEAR/3(a b)"),
        ("NEAR/3 a", "NEAR needs phrases in parentheses", 0, 6, "NEAR/3(a b)"),
        ("NEAR(a OR b)", "OR stands in the parentheses of NEAR", 7, 2, "no operators"),
        ("NEAR(a (b))", "unexpected ( in", 7, 1, "in quotes"),
        ("NEAR(a b", "a parenthesis in the full-text query is not closed", 4, 1, "close it with )"),
    ];
    for (text, message, from, len, help) in table {
        let error = TextQuery::parse(text).unwrap_err();
        assert!(error.message.contains(message), "{text:?}: {error}");
        assert_eq!(error.span, SourceSpan(from, len), "{text:?}");
        assert!(error.help.contains(help), "{text:?}: {}", error.help);
        assert_eq!(error.code().unwrap().to_string(), "text::bad_query");
    }
}

#[test]
fn depth_is_bounded_and_length_is_not() {
    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(shown(&nested(64)), "a");
    for text in [nested(65), nested(100_000), "(".repeat(100_000)] {
        let error = TextQuery::parse(&text).unwrap_err();
        assert!(error.message.contains("more than 64 parentheses"), "{error}");
        assert_eq!(error.span, SourceSpan(64, 1));
    }
    let analyzer = Analyzer::new(("Simple", &[]), &[]).unwrap();
    for separator in [" NOT ", " OR ", " AND ", " ", "* "] {
        let query = TextQuery::parse(&vec!["a"; 100_000].join(separator)).unwrap().unwrap();
        assert!(query.analyze(&analyzer, AnalyzeOptions::default()).unwrap().is_some());
    }
}

#[test]
fn no_text_is_too_odd_to_be_read() {
    let pieces =
        ["a", "é", "中", " ", "AND", "OR", "NOT", "NEAR", "/", "3", "(", ")", "\"", "'", "\\", "u", "*", "^", "."];
    let mut state = 1_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..state % 12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match TextQuery::parse(&text) {
            // What is printed means the same.
            Ok(Some(query)) => assert_eq!(shown(&query.to_string()), query.to_string(), "{text:?}"),
            Ok(None) => assert!(text.trim().is_empty()),
            Err(error) => {
                let SourceSpan(from, len) = error.span;
                assert!(text.get(from..from + len).is_some(), "{text:?}: {error} at {from} {len}");
            }
        }
    }
}

#[test]
fn analyzed_queries() {
    let plain = AnalyzeOptions::default();
    let exact = AnalyzeOptions { exact: true, ..plain };
    let prefix = AnalyzeOptions { prefix_analyzed: true, ..plain };
    let both = AnalyzeOptions { exact: true, prefix_analyzed: true };
    let table = [
        ("Red APPLE", plain, r#"("red" AND "apple")"#),
        ("a OR the", plain, r#""a""#),
        ("the", plain, "nothing"),
        ("the OR of", plain, "nothing"),
        ("x AND the", plain, r#""x""#),
        ("the NOT x", plain, "nothing"),
        ("x NOT the", plain, r#""x""#),
        ("x NOT y NOT z w", plain, r#"("x" NOT "y" NOT ("z" AND "w"))"#),
        ("a b AND (c d)", plain, r#"("a" AND "b" AND "c" AND "d")"#),
        ("a b OR c", plain, r#"(("a" AND "b") OR "c")"#),
        ("\"state of the art\"", plain, r#"("state" AND "art")"#),
        ("\"state of the art\"^2", exact, r#"[0:"state"^2 3:"art"^2]"#),
        ("\"the art of x\"", exact, r#"[0:"art" 2:"x"]"#),
        ("\"art\"", exact, r#""art""#),
        ("red apple", exact, r#"("red" AND "apple")"#),
        ("Appl*", plain, r#""Appl"*"#),
        ("Appl*^2", prefix, r#""appl"*^2"#),
        ("red the*", prefix, r#"("red" AND "the"*)"#),
        ("\"Red App\"*", plain, r#""Red App"*"#),
        ("\"Red App\"*", both, r#"[0:"red" 1:"app"*]"#),
        ("\"\"* OR \"...\"", plain, "nothing"),
        ("NEAR/2(Red the Apple)", plain, r#"NEAR/2("red" "apple")"#),
        ("NEAR/2(Red \"a-b\"^3 App*)", plain, r#"NEAR/2("red" "a"^3 "b"^3 "App"*)"#),
        ("NEAR(the red)", plain, r#""red""#),
        ("NEAR(the of)", plain, "nothing"),
    ];
    let stop_words = [DataValue::List(vec!["the".into(), "of".into()])];
    let analyzer = Analyzer::new(("Simple", &[]), &[("Lowercase", &[]), ("Stopwords", &stop_words)]).unwrap();
    for (text, options, expected) in table {
        let query = TextQuery::parse(text).unwrap().unwrap();
        let analyzed = query.analyze(&analyzer, options).unwrap();
        let found = analyzed.map_or("nothing".to_string(), |analyzed| analyzed.to_string());
        assert_eq!(found, expected, "{text:?} {options:?}");
    }
}
