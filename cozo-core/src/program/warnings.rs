//! What a query probably does not mean, though it is right: warnings beside its answer.
//!
//! | warning | example |
//! |---|---|
//! | the rules of the entry name their columns differently | `?[a, b] := r[a, b]  ?[b, a] := s[a, b]` |
//! | a write that nobody can see | `?[x] <- [[1]] :put _kept {x}` as a script by itself |
//! | a recursion that does not end, with a limit of its rows | `n[x] := x = 0  n[x] := n[y], x = y + 1  ?[x] := n[x] :limit 9` |
//! | an option that a fixed rule does not have | `PageRank(*e[], thetta: 0.9)` |
//!
//! They look at the syntax tree alone, so each script is looked at once, when it is parsed.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ENTRY;
use crate::diag::nearest;
use crate::parse::ast::{Atom, Expr, FixedCall, Formula, Query, QueryOption, Rule, RuleBody};

/// The names of the options of a built-in fixed rule.
pub type OptionsOf<'a> = &'a dyn Fn(&str) -> Option<Vec<&'static str>>;

/// Queries with more rules come from programs, and are not looked at for recursion without an end.
const RULES_LOOKED_AT: usize = 200;

/// The warnings about a query. `is_alone` says that it is the whole script.
pub fn warnings(query: &Query, is_alone: bool, options_of: OptionsOf<'_>) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    found.extend(heads(query));
    found.extend(if is_alone { unseen(query) } else { None });
    found.extend(endless(query));
    let calls = query.rules.iter().filter_map(|rule| match &rule.body {
        RuleBody::Fixed(call) => Some(call),
        _ => None,
    });
    found.extend(calls.flat_map(|call| unknown_options(call, options_of)));
    found
}

/// Definitions of the entry whose columns have the same names in another order, or other names.
fn heads(query: &Query) -> Option<String> {
    let names = |rule: &Rule| -> Vec<String> { rule.head.args.iter().map(|arg| arg.variable.to_string()).collect() };
    let mut entries = query.rules.iter().filter(|rule| rule.head.name.name == ENTRY).map(names);
    let first = entries.next()?;
    let other = entries.find(|other| *other != first)?;
    Some(format!(
        "the rules for '?' name their columns differently, [{}] and [{}]: columns are joined by position, and the last rule names them",
        first.join(", "),
        other.join(", ")
    ))
}

/// A write to a relation that ends with the script.
fn unseen(query: &Query) -> Option<String> {
    query.options.iter().find_map(|option| match option {
        QueryOption::Mutation(mutation) if mutation.relation.name.starts_with('_') => Some(format!(
            "'{0}' ends with this script, so nobody can see what is written: put the query in braces with others that read it, or \
             choose a name without '_'",
            mutation.relation
        )),
        _ => None,
    })
}

/// A limit of the rows, where a recursion makes new values for ever.
fn endless(query: &Query) -> Option<String> {
    let has_limit = query.options.iter().any(|option| matches!(option, QueryOption::Limit(_)));
    if !has_limit || query.rules.len() > RULES_LOOKED_AT {
        return None;
    }
    let mut applied: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for rule in &query.rules {
        let mut names = vec![];
        if let RuleBody::Inline(body) = &rule.body {
            atoms(body, &mut |atom| {
                if let Atom::Rule(apply) = atom {
                    names.push(apply.name.as_str());
                }
            });
        }
        applied.entry(rule.head.name.as_str()).or_default().append(&mut names);
    }
    let endless = query.rules.iter().find(|rule| makes_new_values(rule, &applied))?;
    Some(format!(
        "the recursion of '{}' makes new values in each round, and nothing ends it; ':limit' cuts the answer, not the recursion: add a \
         condition, such as x < 100",
        endless.head.name
    ))
}

/// Whether a recursive rule computes a value of its head from its own rows, without any condition.
fn makes_new_values(rule: &Rule, applied: &FxHashMap<&str, Vec<&str>>) -> bool {
    let RuleBody::Inline(body) = &rule.body else { return false };
    let name = rule.head.name.as_str();
    let (mut own, mut is_bounded) = (FxHashSet::default(), false);
    let mut computed: Vec<(&str, &Expr)> = vec![];
    let mut elsewhere = FxHashSet::default();
    atoms(body, &mut |atom| match atom {
        Atom::Rule(apply) if apply.name.as_str() == name || reaches(apply.name.as_str(), name, applied) => {
            apply.args.iter().for_each(|arg| variables(arg, &mut own));
        }
        Atom::Unify { variable, expr, .. } if !matches!(expr, Expr::Variable(_)) => {
            computed.push((variable.as_str(), expr));
        }
        Atom::Filter(_) | Atom::Search(_) | Atom::Stored(_) => is_bounded = true,
        Atom::Rule(apply) => apply.args.iter().for_each(|arg| variables(arg, &mut elsewhere)),
        Atom::Unify { .. } | Atom::Unnest { .. } => {}
    });
    let depends = |expr: &Expr| {
        let mut used = FxHashSet::default();
        variables(expr, &mut used);
        used.iter().any(|variable| own.contains(variable))
    };
    let in_head =
        |name: &str| rule.head.args.iter().any(|arg| arg.aggregation.is_none() && arg.variable.as_str() == name);
    let is_new = |(name, expr): &(&str, &Expr)| in_head(name) && depends(expr) && !elsewhere.contains(name);
    !is_bounded && computed.iter().any(is_new)
}

/// Whether a rule applies another, perhaps through further rules.
fn reaches(from: &str, to: &str, applied: &FxHashMap<&str, Vec<&str>>) -> bool {
    let (mut waiting, mut seen) = (vec![from], FxHashSet::default());
    while let Some(name) = waiting.pop() {
        if !seen.insert(name) {
            continue;
        }
        let next = applied.get(name).map_or(&[][..], Vec::as_slice);
        if next.contains(&to) {
            return true;
        }
        waiting.extend(next);
    }
    false
}

fn atoms<'f>(formula: &'f Formula, visit: &mut dyn FnMut(&'f Atom)) {
    match formula {
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| atoms(part, visit)),
        Formula::Not(inner, _) => atoms(inner, visit),
        Formula::Atom(atom) => visit(atom),
    }
}

fn variables<'e>(expr: &'e Expr, into: &mut FxHashSet<&'e str>) {
    match expr {
        Expr::Variable(variable) => {
            into.insert(variable.as_str());
        }
        Expr::List(items, _) | Expr::Call { args: items, .. } => items.iter().for_each(|item| variables(item, into)),
        Expr::Object(pairs, _) => pairs.iter().for_each(|(key, value)| {
            variables(key, into);
            variables(value, into);
        }),
        Expr::Literal(..) | Expr::Parameter(_) | Expr::Data(..) | Expr::Rows(..) => {}
    }
}

fn unknown_options(call: &FixedCall, options_of: OptionsOf<'_>) -> Vec<String> {
    let Some(known) = options_of(&call.name.name) else { return vec![] };
    let unknown = call.options.iter().filter(|(name, _)| !known.contains(&name.as_str()));
    let warning = |(name, _): &(crate::parse::ast::Symbol, Expr)| {
        let hint = match nearest(&name.name, &known) {
            Some(near) => format!("did you mean '{near}'?"),
            None if known.is_empty() => "it has no options".to_string(),
            None => format!("it has {}", known.join(", ")),
        };
        format!("{} has no option '{name}', which is ignored: {hint}", call.name)
    };
    unknown.map(warning).collect()
}
