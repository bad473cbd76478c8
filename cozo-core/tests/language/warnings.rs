//! Warnings: what a script probably does not mean, said beside its answer.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cozo::{DbInstance, ScriptMutability};

fn warnings(script: &str) -> Vec<String> {
    let db = DbInstance::default();
    let _ = db.run_default(script);
    db.script_warnings(script)
}

#[test]
fn what_is_probably_not_meant_is_said() {
    for (script, part) in [
        ("r[a, b] <- [[1, 2]] ?[a, b] := r[a, b] ?[b, a] := r[a, b]", "differently, [a, b] and [b, a]"),
        ("?[x] <- [[1]] :put _kept {x}", "nobody can see"),
        ("n[x] := x = 0  n[x] := n[y], x = y + 1  ?[x] := n[x] :limit 3 :timeout 0.1", "recursion of 'n'"),
        (
            "n[x] := x = 0  n[x] := m[y], x = y + 1  m[x] := n[x]  ?[x] := n[x] :limit 3 :timeout 0.1",
            "recursion of 'n'",
        ),
        ("e[a, b] <- [[1, 2]] ?[n, r] <~ PageRank(e[], thetta: 0.9)", "did you mean 'theta'?"),
        ("{ e[a, b] <- [[1, 2]] ?[n, r] <~ PageRank(e[], x: 0.9) } { ?[y] <- [[1]] }", "has no option 'x'"),
    ] {
        let said = warnings(script);
        assert!(said.len() == 1 && said[0].contains(part), "{script}: {said:?}");
    }
}

#[test]
fn what_is_meant_is_not_warned_of() {
    for script in [
        "r[a, b] <- [[1, 2]] ?[a, b] := r[a, b] ?[a, b] := r[b, a]",
        "{ ?[x] <- [[1]] :create _kept {x} } { ?[x] := *_kept{x} }",
        "n[x] := x = 0  n[x] := n[y], x = y + 1, x < 10  ?[x] := n[x] :limit 3",
        "n[x] := x = 0  n[x] := n[y], x = y + 1, x in [1, 2, 3], s[x]  s[x] <- [[1], [2]]  ?[x] := n[x] :limit 3",
        "e[a, b] <- [[1, 2], [2, 1]] d[b, min(c)] := e[1, b], c = 1  d[b, min(c)] := d[a, x], e[a, b], c = x + 1  ?[b, c] := d[b, c] :limit 3",
        "e[a, b] <- [[1, 2]] ?[n, r] <~ PageRank(e[], theta: 0.9)",
        "?[x] := x = 1 :limit 3",
    ] {
        assert_eq!(warnings(script), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn json_has_warnings_only_if_there_are_any() {
    let db = DbInstance::default();
    let run = |script: &str| db.run_script_fold_err(script, Default::default(), ScriptMutability::Mutable);
    assert!(run("?[x] <- [[1]]").get("warnings").is_none());
    assert_eq!(run("?[x] <- [[1]] :create _k {x}")["warnings"].as_array().unwrap().len(), 1);
}
