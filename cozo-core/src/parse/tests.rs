//! The parser as a whole: what is accepted, what it becomes, and that nothing harms it.

use super::*;
use crate::value::DataValue;

/// Parses, and prints the tree again.
fn printed(source: &str) -> String {
    parse_script(source).unwrap_or_else(|error| panic!("{source}\n{error:?}")).to_string()
}

fn code_of(source: &str) -> String {
    let error = parse_script(source).expect_err(source);
    miette::Diagnostic::code(&error).map(|code| code.to_string()).unwrap_or_default()
}

/// All operators in prefix form, so that precedence shows.
fn functional(expr: &Expr) -> String {
    match expr {
        Expr::Call { function, args, .. } => {
            format!("{function}({})", args.iter().map(functional).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

#[test]
fn operators_bind_as_documented() {
    for (source, tree) in [
        ("-2^2", "pow(minus(2),2)"),
        ("2^3^2", "pow(2,pow(3,2))"),
        ("-[1,2]->0", "minus(maybe_get([1, 2],0))"),
        ("10 % 4 + 1", "mod(10,add(4,1))"),
        ("2*3 % 4", "mod(mul(2,3),4)"),
        ("null ~ 1 ^ 2", "pow(coalesce(null,1),2)"),
        ("1 < 2 == true", "lt(1,eq(2,true))"),
        ("1 == 1 == true", "eq(eq(1,1),true)"),
        ("a || b && c > d", "or(a,and(b,gt(c,d)))"),
        ("--x", "minus(minus(x))"),
        ("!!x", "negate(negate(x))"),
        ("2--2", "sub(2,minus(2))"),
        ("2 ^ -1", "pow(2,minus(1))"),
        ("a -> b -> 'c'", "maybe_get(maybe_get(a,b),\"c\")"),
        ("-a ~ b", "coalesce(minus(a),b)"),
        ("a ++ b - c / d", "sub(concat(a,b),div(c,d))"),
        ("a != !b", "neq(a,negate(b))"),
        ("(1 + 2) * 3", "mul(add(1,2),3)"),
        ("a <= b", "le(a,b)"),
        ("a >= b", "ge(a,b)"),
        ("and(a, or(b), c,)", "and(a,or(b),c)"),
    ] {
        let expr = parse_expr(source).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(functional(&expr), tree, "{source}");
    }
}

#[test]
fn literals_have_their_values() {
    for (source, value) in [
        ("42", DataValue::from(42)),
        ("1_000_000", 1_000_000.into()),
        ("007", 7.into()),
        ("0xFF", 255.into()),
        ("0xdead_beef", 0xdead_beef_i64.into()),
        ("0b1011", 11.into()),
        ("0o17", 15.into()),
        ("9223372036854775807", i64::MAX.into()),
        ("2.", 2.0.into()),
        ("6.02e23", 6.02e23.into()),
        ("1e3", 1000.0.into()),
        ("2_5.5_0", 25.5.into()),
        ("4.0E-2", 0.04.into()),
        ("1e400", f64::INFINITY.into()),
        ("null", DataValue::Null),
        ("true", true.into()),
        (r#""a\tb""#, "a\tb".into()),
        (r#"" a ""#, " a ".into()),
        (r#""q\"q""#, "q\"q".into()),
        (r"'don\'t \u00e9 \/ \\'", "don't é / \\".into()),
        (r#"'\ud83c\udf88'"#, "🎈".into()),
        (r#"_"C:\dir\n"_"#, r"C:\dir\n".into()),
        (r#"__"says "hi"_ ok"__"#, r#"says "hi"_ ok"#.into()),
        (r#"___"a'b"c"___"#, r#"a'b"c"#.into()),
        ("'two\nlines'", "two\nlines".into()),
        ("''", "".into()),
    ] {
        match parse_expr(source) {
            Ok(Expr::Literal(parsed, _)) => assert_eq!(parsed, value, "{source}"),
            other => panic!("{source}: {other:?}"),
        }
    }
}

#[test]
fn bad_literals_are_errors() {
    for (source, code) in [
        ("9223372036854775808", "parser::bad_pos_int"),
        ("0xffffffffffffffff", "parser::bad_pos_int"),
        ("0o7777777777777777777777", "parser::bad_pos_int"),
        ("0b11111111111111111111111111111111111111111111111111111111111111111", "parser::bad_pos_int"),
        (r"'\ud800'", "parser::invalid_utf8_code"),
        (r"'\udc00'", "parser::invalid_utf8_code"),
        (r"'\ud800\ud800'", "parser::invalid_utf8_code"),
        (r#"'a\"b'"#, "parser::pest"),
        (r#""a\'b""#, "parser::pest"),
        (r"'a\qb'", "parser::pest"),
        (r"'\x41'", "parser::pest"),
        (r"'\u12'", "parser::pest"),
        (r"'\u+123'", "parser::pest"),
        (r"'\u12é4'", "parser::pest"),
        ("\"abc", "parser::pest"),
        ("'abc", "parser::pest"),
        ("1.a", "parser::pest"),
        ("1e", "parser::pest"),
        (".5", "parser::pest"),
        ("1a", "parser::pest"),
        ("0x", "parser::pest"),
        ("[1, 2", "parser::pest"),
        ("[,]", "parser::pest"),
        ("[1,,2]", "parser::pest"),
        ("1 ** 2", "parser::pest"),
        ("1 = 2", "parser::pest"),
        ("1 & 2", "parser::pest"),
        ("1 | 2", "parser::pest"),
        ("a ? 1", "parser::pest"),
        ("1 +", "parser::pest"),
        ("* 2", "parser::pest"),
        ("not x", "parser::pest"),
    ] {
        assert_eq!(code_of(&format!("?[r] := r = {source}")), code, "{source}");
    }
}

#[test]
fn names_that_begin_like_keywords_are_names() {
    for source in [
        "?[trueish] := trueish = 1, falsey = trueish, nullable = 2, null.x = 3",
        "not_x[in_y] <- [[1]]\n?[or_z] := not_x[or_z], and_a = or_z, notable",
        "?[in_x] := in_x in inner, not not_x[in_x]",
        "?[a] := android[a] or (orange[a], band[a])",
        "?[a.b, _x, c] := a.b = $1 + $a.b, _x = $_u",
        "größe[ü] <- [[1], [2]]\n?[ü, 变量] := größe[ü], 变量 = ü * 10",
        "?[x] := *t{in, order, default, null: x}",
    ] {
        assert_eq!(printed(source), source);
    }
}

#[test]
fn formulas_keep_their_shape() {
    for (source, shape) in [
        ("a = 1, b = 2 or a = 3", "a = 1, (b = 2 or a = 3)"),
        ("p[a] or q[a] and r[a]", "p[a] or (q[a], r[a])"),
        ("p[a] and q[a]", "p[a], q[a]"),
        ("not not p[a]", "not not p[a]"),
        ("not (p[a], q[a])", "not (p[a], q[a])"),
        ("(a + 1) > 2", "a + 1 > 2"),
        ("((a + 1)) * 2 > 2,", "(a + 1) * 2 > 2"),
        ("p[v], (v == 1 or v == 4)", "p[v], (v == 1 or v == 4)"),
        ("(v == 1) == true", "v == 1 == true"),
        ("!(a && b)", "!(a && b)"),
        ("((((p[a]))))", "p[a]"),
        ("x in [1, 2], not x in [1]", "x in [1, 2], not x in [1]"),
        ("not(p[a]) and not x = 1", "not p[a], not x = 1"),
        ("and(a, b, c), or(a)", "and(a, b, c), or(a)"),
        ("*r{a, b: 1 @ 'NOW'}", "*r{a, b: 1 @ \"NOW\"}"),
        ("*r[a, b, @ 5]", "*r[a, b @ 5]"),
        ("*r{}", "*r{}"),
        ("*_e{a}, *r:i:inv[a]", "*_e{a}, *r:i:inv[a]"),
        ("~a.b:l{ id, t: x | query: 'q', k: 5, }", "~a.b:l{id, t: x | query: \"q\", k: 5}"),
        ("-a -> 'k' == (-a) -> 'k'", "-a -> \"k\" == (-a) -> \"k\""),
        ("a - (b - c) - d ^ (e ^ f) ^ g", "a - (b - c) - d ^ (e ^ f) ^ g"),
        ("(a ^ b) ^ c", "(a ^ b) ^ c"),
        ("x = {'a': 1, $b: c,}", "x = {\"a\": 1, $b: c}"),
    ] {
        assert_eq!(printed(&format!("?[a] := {source}")), format!("?[a] := {shape}"), "{source}");
    }
}

#[test]
fn every_kind_of_script_prints_as_it_was_written() {
    for source in include_str!("../../tests/corpus/parse/canonical.txt").split("\n---\n") {
        assert_eq!(printed(source), source.trim_end());
    }
}

#[test]
fn what_must_not_parse_does_not() {
    for source in include_str!("../../tests/corpus/parse/broken.txt").split("\n---\n") {
        assert_eq!(code_of(source), "parser::pest", "{source}");
    }
    assert_eq!(code_of(""), "parser::pest");
    assert_eq!(code_of("\n # nothing\n"), "parser::pest");
}

#[test]
fn triggers_keep_the_text_between_the_braces() {
    let script = parse_script("::set_triggers r on put {  ?[a] := _new[a] # x\n :put s {a} } on rm {?[] <- [[1]]}");
    let Ok(Script::System(op)) = script else { panic!("{script:?}") };
    let ast::SystemOpKind::SetTriggers(_, triggers) = op.kind else { panic!("{op:?}") };
    let texts: Vec<&str> = triggers.iter().map(|trigger| trigger.source.as_str()).collect();
    assert_eq!(texts, ["?[a] := _new[a] # x\n :put s {a} ", "?[] <- [[1]]"]);
}

#[test]
fn column_types_parse_alone() {
    for text in ["Any?", "[Int;2]?", "(Int,String?)", "<F32;3>", "[[Any?]]", "<F64;0x10>", "()"] {
        let parsed = parse_column_type(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed.to_string(), text.replace("0x10", "16"));
    }
    assert_eq!(parse_column_type(" < Double ; 2 > ? ").map(|it| it.to_string()), Ok("<F64;2>?".into()));
    assert!(parse_column_type("Strng").is_err());
    assert!(parse_column_type("<F16; 2>").is_err());
}

#[test]
fn spans_are_those_of_the_text() {
    let source = "?[a] := /* é */ b = 'é' ++ 'x' , r[b , a ] , not ( *s{a} , a > b ) :limit 5 ";
    let Ok(Script::Query(query)) = parse_script(source) else { panic!() };
    let text = |span: crate::diag::SourceSpan| &source[span.0..span.0 + span.1];
    let ast::RuleBody::Inline(ast::Formula::And(parts)) = &query.rules[0].body else { panic!() };
    let spans: Vec<&str> = parts.iter().map(|part| text(part.span())).collect();
    assert_eq!(spans, ["b = 'é' ++ 'x'", "r[b , a ]", "not ( *s{a} , a > b"]);
    assert_eq!(text(query.rules[0].head.span), "?[a]");
}
