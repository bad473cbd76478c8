//! What is to be known of a script before it runs: whether it stops others, and whether it may have to wait for them.

use cozo::parse::ast::{Expr, Script, Statement, SystemOp, SystemOpKind};
use cozo::parse::parse_script;

/// How each system operation begins; no query has this outside of its texts.
const SYSTEM: &str = "::";

/// Whether a script can stop others. One that cannot be read fails when it runs.
pub fn kills(script: &str) -> bool {
    script.contains(SYSTEM)
        && parse_script(script).is_ok_and(|script| match script {
            Script::System(op) => is_kill(&op),
            Script::Imperative { statements, .. } => any_kills(&statements),
            Script::Query(_) => false,
        })
}

fn is_kill(op: &SystemOp) -> bool {
    matches!(op.kind, SystemOpKind::Kill(_))
}

fn any_kills(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::System { op, .. } => is_kill(op),
        Statement::If { then, otherwise, .. } => any_kills(then) || any_kills(otherwise),
        Statement::Loop { body, .. } => any_kills(body),
        _ => false,
    })
}

/// Whether a script only lists the scripts that run, or stops one of them: what it does takes no time, and helps a server
/// that is busy. A number that has to be computed may take any time.
pub fn is_control(script: &str) -> bool {
    script.trim_start().starts_with(SYSTEM)
        && parse_script(script).is_ok_and(|script| match script {
            Script::System(op) => match op.kind {
                SystemOpKind::Running => true,
                SystemOpKind::Kill(number) => matches!(number, Expr::Literal(..) | Expr::Parameter(_)),
                _ => false,
            },
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_kill_are_found_wherever_they_do() {
        let kill = [
            "::kill 1",
            " # a comment\n ::kill $id",
            "{?[a] <- [[1]]} {::kill 1}",
            "%if {?[a] <- [[1]]} %then {?[a] <- [[1]]} %else {::kill 1} %end",
            "%loop {::kill 1} as _killed %break %end",
        ];
        for script in kill {
            assert!(parse_script(script).is_ok() && kills(script), "{script}");
        }
        for script in ["?[a] <- [['::kill 1']]", "::running", "# ::kill 1\n?[a] <- [[1]]", "::kill"] {
            assert!(!kills(script), "{script}");
        }
    }

    #[test]
    fn only_what_takes_no_time_is_control() {
        for script in ["::running", "\n::kill 1", "::kill $id"] {
            assert!(is_control(script), "{script}");
        }
        for script in ["::kill length(int_range(1000000000))", "::relations", "{::running}", "?[a] <- [['::running']]"]
        {
            assert!(!is_control(script), "{script}");
        }
    }
}
