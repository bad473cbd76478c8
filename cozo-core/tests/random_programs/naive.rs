//! The answer of a program by its definition: every rule over all rows, again and again until nothing is new.

use std::collections::{BTreeMap, BTreeSet};

use cozo::DataValue;

use super::program::{HeadColumn, Literal, Program, Rule, Source, Term, Var};

pub type Rows = BTreeSet<Vec<DataValue>>;

type Bindings = BTreeMap<Var, DataValue>;

/// The rows of the entry; `None` for a program that uses a variable before it is bound, or that the language refuses.
pub fn answer(program: &Program) -> Option<Rows> {
    if program.negates_what_is_not_bound() {
        return None;
    }
    let mut database: Vec<Rows> = program.relations.iter().map(given).collect();
    for layer in &program.layers {
        while round(program, layer, &mut database)? {}
    }
    let entry: Vec<&Rule> = program.entry.iter().collect();
    consequences(&entry, &database)
}

fn given(info: &super::program::RelationInfo) -> Rows {
    match &info.source {
        Source::Given { rows, .. } => rows.iter().cloned().collect(),
        Source::Derived => Rows::new(),
    }
}

/// Replaces each relation of a layer by what its rules derive; whether any changed.
///
/// What a rule without aggregation derives only grows. An aggregated value may replace another.
fn round(program: &Program, layer: &[Rule], database: &mut [Rows]) -> Option<bool> {
    let mut changed = false;
    for relation in 0..program.relations.len() {
        let rules: Vec<&Rule> = layer.iter().filter(|rule| rule.relation == relation).collect();
        if rules.is_empty() {
            continue;
        }
        let derived = consequences(&rules, database)?;
        changed |= derived != database[relation];
        database[relation] = derived;
    }
    Some(changed)
}

/// What all definitions of one relation derive from the rows at hand.
fn consequences(rules: &[&Rule], database: &[Rows]) -> Option<Rows> {
    let mut bag = vec![];
    for rule in rules {
        for bindings in solutions(&rule.body, Bindings::new(), database)? {
            let row: Option<Vec<DataValue>> =
                rule.head.iter().map(|column| bindings.get(&column.var).cloned()).collect();
            bag.push(row?);
        }
    }
    Some(match rules.first() {
        Some(rule) if rule.head.iter().any(|column| column.aggregation.is_some()) => aggregate(&rule.head, bag),
        _ => bag.into_iter().collect(),
    })
}

/// One set of bindings for each way to satisfy the body.
fn solutions(body: &[Literal], bindings: Bindings, database: &[Rows]) -> Option<Vec<Bindings>> {
    let Some((first, rest)) = body.split_first() else { return Some(vec![bindings]) };
    let mut all = vec![];
    for extended in satisfy(first, &bindings, database)? {
        all.extend(solutions(rest, extended, database)?);
    }
    Some(all)
}

fn satisfy(literal: &Literal, bindings: &Bindings, database: &[Rows]) -> Option<Vec<Bindings>> {
    let keep = |holds: bool| if holds { vec![bindings.clone()] } else { vec![] };
    Some(match literal {
        Literal::Apply { relation, arguments, negated: false, .. } => {
            let mut matches = vec![];
            for row in &database[*relation] {
                matches.extend(match_row(arguments, row, bindings)?);
            }
            matches
        }
        Literal::Apply { relation, arguments, negated: true, .. } => {
            let mut found = false;
            for row in &database[*relation] {
                found |= match_row(arguments, row, bindings)?.is_some();
            }
            keep(!found)
        }
        Literal::Compare { left, operator, right } => {
            keep(compare(bindings.get(left)?, operator, &evaluate(right, bindings)?))
        }
        Literal::Unify { var, value } => {
            let value = evaluate(value, bindings)?;
            match bindings.get(var) {
                Some(bound) => keep(loosely_equal(bound, &value)),
                None => vec![bind(bindings, *var, value)],
            }
        }
        Literal::In { var, list } => {
            let list = list.iter().map(|term| evaluate(term, bindings)).collect::<Option<Vec<DataValue>>>()?;
            match bindings.get(var) {
                Some(bound) => keep(list.contains(bound)),
                None => list.into_iter().map(|value| bind(bindings, *var, value)).collect(),
            }
        }
        Literal::Not(group) => keep(solutions(group, bindings.clone(), database)?.is_empty()),
        Literal::Or(branches) => {
            let mut all = vec![];
            for branch in branches {
                all.extend(solutions(branch, bindings.clone(), database)?);
            }
            all
        }
    })
}

fn bind(bindings: &Bindings, var: Var, value: DataValue) -> Bindings {
    let mut extended = bindings.clone();
    extended.insert(var, value);
    extended
}

/// The bindings with which a row fits the arguments, if it does.
fn match_row(arguments: &[Term], row: &[DataValue], bindings: &Bindings) -> Option<Option<Bindings>> {
    let mut extended = bindings.clone();
    for (column, (argument, value)) in arguments.iter().zip(row).enumerate() {
        let repeats =
            |var: &Var| arguments[..column].iter().any(|term| matches!(term, Term::Var(other) if other == var));
        let fits = match argument {
            Term::Wildcard => true,
            // A variable that repeats in one application tests its columns by `==`.
            Term::Var(var) if repeats(var) => loosely_equal(extended.get(var)?, value),
            Term::Var(var) => extended.entry(*var).or_insert_with(|| value.clone()) == value,
            other => evaluate(other, bindings)? == *value,
        };
        if !fits {
            return Some(None);
        }
    }
    Some(Some(extended))
}

fn evaluate(term: &Term, bindings: &Bindings) -> Option<DataValue> {
    let integer = |var: &Var| bindings.get(var)?.get_int();
    Some(match term {
        Term::Wildcard => return None,
        Term::Var(var) => bindings.get(var)?.clone(),
        Term::Constant(value) => value.clone(),
        Term::Sum(var, constant, modulus) => DataValue::from((integer(var)? + constant) % modulus),
        Term::Plus(var, constant) => DataValue::from(integer(var)? + constant),
        Term::Total(a, b) => DataValue::from(integer(a)? + integer(b)?),
        Term::Least(a, b) => DataValue::from(integer(a)?.min(integer(b)?)),
    })
}

fn compare(left: &DataValue, operator: &str, right: &DataValue) -> bool {
    match operator {
        "==" => loosely_equal(left, right),
        "!=" => !loosely_equal(left, right),
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        ">=" => left >= right,
        other => panic!("the generator makes no '{other}'"),
    }
}

/// `==`: an Int and a Float are equal as numbers; all else by identity.
fn loosely_equal(left: &DataValue, right: &DataValue) -> bool {
    let is_number = |value: &DataValue| matches!(value, DataValue::Num(_));
    match (left, right) {
        (a, b) if is_number(a) && is_number(b) => left.get_float() == right.get_float(),
        _ => left == right,
    }
}

fn aggregate(head: &[HeadColumn], bag: Vec<Vec<DataValue>>) -> Rows {
    let is_key = |column: &HeadColumn| column.aggregation.is_none();
    let mut groups: BTreeMap<Vec<DataValue>, Vec<Vec<DataValue>>> = BTreeMap::new();
    if !head.iter().any(is_key) {
        groups.insert(vec![], vec![]);
    }
    for row in bag {
        let key = head.iter().zip(&row).filter(|(column, _)| is_key(column)).map(|(_, value)| value.clone()).collect();
        groups.entry(key).or_default().push(row);
    }
    let fold = |(key, rows): (Vec<DataValue>, Vec<Vec<DataValue>>)| {
        let mut key = key.into_iter();
        let column = |(position, column): (usize, &HeadColumn)| match column.aggregation {
            None => key.next().expect("a key has a value for each column that is not aggregated"),
            Some(name) => fold(name, rows.iter().map(|row| row[position].clone()).collect()),
        };
        head.iter().enumerate().map(column).collect()
    };
    groups.into_iter().map(fold).collect()
}

fn fold(name: &str, values: Vec<DataValue>) -> DataValue {
    let distinct = || values.iter().cloned().collect::<BTreeSet<_>>();
    match name {
        "count" => DataValue::from(values.len() as i64),
        "count_unique" => DataValue::from(distinct().len() as i64),
        "unique" => DataValue::List(distinct().into_iter().collect()),
        "collect" => DataValue::List(values),
        "choice" => values.into_iter().find(|value| *value != DataValue::Null).unwrap_or(DataValue::Null),
        "min" => values.into_iter().min().unwrap_or(DataValue::Null),
        "max" => values.into_iter().max().unwrap_or(DataValue::Null),
        "sum" => DataValue::from(values.iter().filter_map(DataValue::get_float).fold(0.0, |sum, value| sum + value)),
        other => panic!("the generator makes no '{other}'"),
    }
}
