//! Early aggregation: an aggregation over a join is computed from counts for each value that is joined on, where that is cheaper
//! than to enumerate the rows of the join.
//!
//! ```text
//! ?[count(a)] := *e[a, b], *e[b, c], *e[c, d]      as many rows as there are paths of three edges
//!
//! ? part 1[c, count(c)] := *e[c, d]                        how many edges begin at c
//! ? part 2[b, int_sum(n1)] := *e[b, c], ? part 1[c, n1]    how many paths of two edges begin at b
//! ?[int_sum(n2)] := *e[a, b], ? part 2[b, n2]              as many rows as there are edges
//! ```
//!
//! [`aggregate_early`] rewrites the rules of a predicate with aggregations. A step (`part`) eliminates a variable that the head does not
//! have: all atoms with the variable become a predicate of their own, a *part*. Its columns are the variables that the atoms share with
//! the rest of the rule, and a count, a *weight*, of the rows for each of their values. The solutions of the rule then count as often as the
//! product of their weights says. This is the elimination of variables of Abo Khamis, Ngo and Rudra (FAQ, 2016); for a rule with one
//! aggregation at its end it is eager aggregation (Yan and Larson 1995), and for a test the semi-joins of Yannakakis (1981).
//!
//! A test that spans the rule keeps the atoms at its ends together. A count without groups is therefore counted twice, without the test and
//! for what fails it, if that is cheaper (`exclusion`).
//!
//! The steps are chosen by cost (`search`). A cycle stays as it is, since no step makes it smaller, and what hangs on it is multiplied.

mod exclusion;
mod part;
mod search;

use std::borrow::Cow;
use std::collections::BTreeSet;

use self::part::Weighted;
use super::cost::is_application;
use super::estimates::Estimates;
use super::statistics::Statistics;
use crate::budget::Stop;
use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::expr::aggregations::{self, Aggregation};
use crate::expr::functions;
use crate::program::{AggregationUse, Arg, Atom, Component, Definition, HeadColumn, Predicate, Program, Rule, Target};
use crate::schema::{BaseType, ColumnType};
use crate::value::{DataValue, SmallStr};

/// How an aggregation takes rows that count several times.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    /// It counts them: the weights are added up.
    Counts,
    /// It adds the values: each is multiplied by its weight.
    Adds,
    /// Equal rows do not change it.
    Ignores,
}

/// How an aggregation takes weights; `None` if it cannot.
fn repeats(aggregation: &Aggregation) -> Option<Repeats> {
    match aggregation.name {
        "count" => Some(Repeats::Counts),
        "sum" | "int_sum" => Some(Repeats::Adds),
        "count_unique" | "unique" => Some(Repeats::Ignores),
        _ if aggregation.order_matters => None,
        _ => aggregation.meet.as_ref().map(|_| Repeats::Ignores),
    }
}

/// A program whose rules aggregate early where they gain by it.
pub(super) struct Early<'p, 's> {
    /// The program.
    pub(super) program: Cow<'p, Program>,
    /// Its new and changed predicates.
    pub(super) rewritten: BTreeSet<SmallStr>,
    /// The sizes of all its relations, if any rule might have gained.
    pub(super) estimates: Option<Estimates<'s>>,
}

impl<'p> Early<'p, '_> {
    /// A program as it is.
    pub(super) fn unchanged(program: &'p Program) -> Self {
        Early { program: Cow::Borrowed(program), rewritten: BTreeSet::new(), estimates: None }
    }
}

/// Lets the rules of a program aggregate early where they gain by it.
pub(super) fn aggregate_early<'p, 's>(
    program: &'p Program,
    statistics: &'s dyn Statistics,
) -> Result<Early<'p, 's>, Stop> {
    let mut names = BTreeSet::new();
    if !program.predicates.values().any(may_gain) {
        return Ok(Early::unchanged(program));
    }
    let mut estimates = Estimates::new(statistics);
    let mut rewritten = Cow::Borrowed(program);
    let mut components = vec![];
    for component in &program.components {
        if let ([name], false) = (&component.predicates[..], component.recursive)
            && may_gain(&program.predicates[name])
            && let Some((predicate, parts)) = search::rewrite(name, &program.predicates[name], &mut estimates)?
        {
            let predicates = &mut rewritten.to_mut().predicates;
            names.extend(parts.iter().map(|(part, _)| part.clone()).chain([name.clone()]));
            for (part, definition) in parts {
                components.push(Component { predicates: vec![part.clone()], recursive: false });
                predicates.insert(part, definition);
            }
            predicates.insert(name.clone(), predicate);
        }
        components.push(component.clone());
        estimates.enter_component(&rewritten, &component.predicates, component.recursive)?;
    }
    if let Cow::Owned(program) = &mut rewritten {
        program.components = components;
    }
    Ok(Early { program: rewritten, rewritten: names, estimates: Some(estimates) })
}

/// Whether a predicate has aggregations that take weights, and a rule that joins.
fn may_gain(predicate: &Predicate) -> bool {
    let Definition::Rules(rules) = &predicate.definition else { return false };
    let aggregations = || predicate.columns.iter().filter_map(|column| column.aggregation.as_ref());
    let joins = |rule: &Rule| rule.body.iter().filter(|atom| is_application(atom)).count();
    predicate.is_aggregated()
        && aggregations().all(|used| repeats(used.aggregation).is_some())
        && rules.iter().any(|rule| joins(rule) > 1)
        && rules.iter().all(|rule| rule.body.iter().all(takes_part))
}

/// Whether an atom may stand in a rule that is rewritten: it gives the same rows whenever it runs.
fn takes_part(atom: &Atom) -> bool {
    match atom {
        Atom::Apply(apply) => apply.args.iter().all(|arg| match arg {
            Arg::Expr(expr) => expr.is_deterministic(),
            _ => true,
        }),
        Atom::Filter(expr) | Atom::Same(_, expr) | Atom::Unify(_, expr) => expr.is_deterministic(),
        Atom::Unnest(..) | Atom::Search(_) | Atom::AsOf(_) => false,
    }
}

/// The predicate whose rules are these, which count as often as their weights say. `None` if an aggregation cannot take the weights.
fn weighted_predicate(predicate: &Predicate, rules: Vec<Weighted>) -> Option<Predicate> {
    if rules.iter().all(|rule| rule.weights.is_empty() && !rule.is_negative) {
        let rules = rules.into_iter().map(|rule| with_counted_variables(rule.rule)).collect();
        return Some(Predicate { definition: Definition::Rules(rules), ..predicate.clone() });
    }
    let mut columns = predicate.columns.clone();
    for column in &mut columns {
        if let Some(used) = &mut column.aggregation
            && repeats(used.aggregation) == Some(Repeats::Counts)
        {
            used.aggregation = aggregation("int_sum");
        }
    }
    let weighted = |rule: Weighted| weighted_rule(&predicate.columns, rule);
    let rules = rules.into_iter().map(weighted).collect::<Option<_>>()?;
    Some(Predicate { columns, definition: Definition::Rules(rules), span: predicate.span })
}

/// The rule with another variable to count where the counted one is in a part.
fn with_counted_variables(mut rule: Rule) -> Rule {
    let given: BTreeSet<SmallStr> = rule.body.iter().flat_map(Atom::bindings).cloned().collect();
    for variable in &mut rule.head {
        if let (false, Some(first)) = (given.contains(&variable.name), given.first()) {
            variable.name = first.clone();
        }
    }
    rule
}

/// A rule whose counts and sums are multiplied by its weights.
fn weighted_rule(columns: &[HeadColumn], weighted: Weighted) -> Option<Rule> {
    let Weighted { mut rule, weights, is_negative } = weighted;
    let span = rule.span;
    let mut factors: Vec<Expr> = weights.iter().map(|weight| Expr::Variable(weight.clone(), span)).collect();
    if is_negative {
        factors.push(Expr::Constant(DataValue::from(-1), span));
    }
    for (nth, (column, variable)) in columns.iter().zip(&mut rule.head).enumerate() {
        let Some(used) = &column.aggregation else { continue };
        let value = Expr::Variable(variable.name.clone(), variable.span);
        let product = match repeats(used.aggregation) {
            Some(Repeats::Counts) if factors.is_empty() => vec![Expr::Constant(DataValue::from(1), span)],
            Some(Repeats::Counts) => factors.clone(),
            Some(Repeats::Adds) if factors.is_empty() => continue,
            // The sum is a Float. The product of two Ints might be too large for one.
            Some(Repeats::Adds) if used.aggregation.name == "sum" => {
                let weight = call("to_float", vec![multiplied(factors.clone(), span)?], span);
                vec![value, weight]
            }
            Some(Repeats::Adds) => [vec![value], factors.clone()].concat(),
            Some(Repeats::Ignores) | None => continue,
        };
        variable.name = SmallStr::from(format!("#w{nth}"));
        rule.body.push(Atom::Unify(variable.clone(), multiplied(product, span)?));
    }
    Some(rule)
}

/// The product of expressions; none for no expression.
fn multiplied(factors: Vec<Expr>, span: SourceSpan) -> Option<Expr> {
    factors.into_iter().reduce(|a, b| call("mul", vec![a, b], span))
}

fn call(function: &str, args: Vec<Expr>, span: SourceSpan) -> Expr {
    Expr::Call { function: functions::find(function).expect("a function"), args, span }
}

fn aggregation(name: &str) -> &'static Aggregation {
    aggregations::find(name).expect("an aggregation")
}

/// Whether all variables that are added up are numbers whatever the relations hold, so that a product with one does not fail.
fn sums_are_of_numbers(predicate: &Predicate, rule: &Rule) -> bool {
    predicate.columns.iter().zip(&rule.head).all(|(column, variable)| {
        let Some(used) = column.aggregation.as_ref().filter(|used| repeats(used.aggregation) == Some(Repeats::Adds))
        else {
            return true;
        };
        let is_number = |found: ColumnType| match found.base {
            BaseType::Int => !found.nullable,
            BaseType::Float => !found.nullable && used.aggregation.name == "sum",
            _ => false,
        };
        column_type(&rule.body, &variable.name).is_some_and(is_number)
    })
}

/// The type of a variable, if a column of a stored relation gives it.
fn column_type(body: &[Atom], name: &SmallStr) -> Option<ColumnType> {
    body.iter().find_map(|atom| {
        let Atom::Apply(apply) = atom else { return None };
        let Target::Stored(read) = &apply.target else { return None };
        let column = apply.column_of(name).filter(|_| !apply.negated)?;
        read.schema.columns().nth(column).map(|column| column.column_type.clone())
    })
}

/// The variables of the head that must have a value of their own: all but those that are only counted.
fn needed(predicate: &Predicate, rule: &Rule) -> BTreeSet<SmallStr> {
    let is_counted = |column: &HeadColumn| {
        column.aggregation.as_ref().is_some_and(|used| repeats(used.aggregation) == Some(Repeats::Counts))
    };
    let columns = predicate.columns.iter().zip(&rule.head).filter(|(column, _)| !is_counted(column));
    columns.map(|(_, variable)| variable.name.clone()).collect()
}

/// An aggregation of a part.
fn used(aggregation: &'static Aggregation, span: SourceSpan) -> AggregationUse {
    AggregationUse { aggregation, args: vec![], span }
}
