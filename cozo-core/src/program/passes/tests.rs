//! What each pass makes of a program. `cargo insta review` shows what changed.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Rewriting, prepare_watched};
use crate::parse::{ast::Script, parse_script};
use crate::program::{Program, Resolver};

/// The program as resolved, and after each pass that changed it.
fn stages(source: &str) -> String {
    let Script::Query(query) = parse_script(source).unwrap_or_else(|error| panic!("{error}\n{source}")) else {
        panic!("not a query: {source}")
    };
    let values = BTreeMap::new();
    let mut resolver = Resolver::standalone(&values);
    let program = resolver.resolve(&query, &[]).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let mut last = program.to_string();
    let mut text = format!("--- resolved\n{last}");
    let mut watch = |pass: &'static str, program: &Program| {
        let now = format!("{program}{}", strata(program));
        if now != last {
            let _ = write!(text, "--- {pass}\n{now}");
            last = now;
        }
    };
    prepare_watched(program, Rewriting { magic_sets: true }, &mut watch)
        .unwrap_or_else(|error| panic!("{error}\n{source}"));
    text
}

/// The components in the order in which they are evaluated.
fn strata(program: &Program) -> String {
    let lines = program.components.iter().map(|component| {
        let recursive = if component.recursive { " until nothing is new" } else { "" };
        format!("evaluate {}{recursive}\n", component.predicates.join(", "))
    });
    lines.collect()
}

#[test]
fn disjunction_and_negation_move_to_the_atoms() {
    insta::assert_snapshot!(stages(
        "n[v] <- [[1], [2]]
         e[a, b] <- [[1, 5]]
         ?[v] := n[v], (v > 1 or not (e[v, w], w > 10)), not v in [7]"
    ));
}

#[test]
fn atoms_are_ordered_so_that_variables_are_bound() {
    insta::assert_snapshot!(stages(
        "n[v] <- [[1], [2]] ?[v, x] := not n[x], x == v + 1, y > 1, y = x * 2, x = w, w = v + 1, n[v]"
    ));
}

#[test]
fn strata_follow_negation_and_aggregation() {
    insta::assert_snapshot!(stages(
        "e[a, b] <- [[1, 2], [2, 3]]
         reach[b] := e[1, b]
         reach[c] := reach[b], e[b, c]
         far[a] := e[a, _], not reach[a]
         ?[count(a)] := far[a]"
    ));
}

#[test]
fn magic_sets_restrict_a_recursion_to_what_is_asked_for() {
    insta::assert_snapshot!(stages(
        "e[a, b] <- [[1, 2], [2, 3]]
         path[a, b] := e[a, b]
         path[a, c] := path[a, b], e[b, c]
         ?[b] := path[1, b]"
    ));
}

#[test]
fn magic_sets_pass_bindings_through_rules_and_strata() {
    insta::assert_snapshot!(stages(
        "e[a, b] <- [[1, 2], [2, 3]]
         degree[a, count(b)] := e[a, b]
         busy[a, n] := degree[a, n], n > 1
         start[x] <- [[1]]
         ?[a, n] := start[a], busy[a, n]"
    ));
}

#[test]
fn magic_sets_leave_alone_what_follows_from_a_whole_predicate() {
    insta::assert_snapshot!(stages(
        "new[v, o] <- [[1, 2]]
         set[v, w] <- [[1, 2]]
         get[v, w] <- [[2, 1]]
         points[v, o] := new[v, o]
         points[v, o] := get[v, w], points[w, p], holds[p, o]
         holds[p, o] := set[v, w], points[v, p], points[w, o]
         ?[v, o] := points[v, o]"
    ));
}
