//! Programs as data, and how they are printed as CozoScript.

use std::fmt::Write;

use cozo::DataValue;
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// A variable, printed as `v0`, `v1`, ...
pub type Var = usize;

/// A relation, by its position in [`Program::relations`].
pub type Relation = usize;

/// Aggregations that depend on the order of what they aggregate.
pub const ORDERED_AGGREGATIONS: &[&str] = &["collect", "choice"];

/// A program: relations with given rows, derived ones, and their rules by layers.
#[derive(Clone, Debug)]
pub struct Program {
    pub relations: Vec<RelationInfo>,
    /// Rules of a layer read relations of their own and of lower layers; negation and aggregation read lower ones only.
    pub layers: Vec<Vec<Rule>>,
    /// Defines the entry, and is applied by nothing.
    pub entry: Vec<Rule>,
}

#[derive(Clone, Debug)]
pub struct RelationInfo {
    pub arity: usize,
    pub source: Source,
}

/// Where the rows of a relation come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// They are given: stored with this many key columns and these column types, or in a constant rule without.
    Given { rows: Vec<Vec<DataValue>>, stored: Option<Layout> },
    /// They are derived by rules.
    Derived,
}

#[derive(Clone, Debug)]
pub struct Layout {
    pub keys: usize,
    /// One for each column; empty means none is declared.
    pub types: Vec<&'static str>,
}

#[derive(Clone, Debug)]
pub struct Rule {
    /// Ignored in the entry.
    pub relation: Relation,
    pub head: Vec<HeadColumn>,
    /// In an order that binds every variable before it is needed.
    pub body: Vec<Literal>,
}

#[derive(Clone, Debug)]
pub struct HeadColumn {
    pub var: Var,
    pub aggregation: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub enum Literal {
    Apply {
        relation: Relation,
        arguments: Vec<Term>,
        negated: bool,
        named: bool,
    },
    Compare {
        left: Var,
        operator: &'static str,
        right: Term,
    },
    Unify {
        var: Var,
        value: Term,
    },
    In {
        var: Var,
        list: Vec<Term>,
    },
    Or(Vec<Vec<Literal>>),
    /// There are no bindings of the variables that are not bound before with which all of it holds.
    Not(Vec<Literal>),
}

#[derive(Clone, Debug)]
pub enum Term {
    Wildcard,
    Var(Var),
    Constant(DataValue),
    /// `(variable + constant) % modulus`, over integers.
    Sum(Var, i64, i64),
    /// `variable + constant`.
    Plus(Var, i64),
    /// `variable + variable`.
    Total(Var, Var),
    /// `min(variable, variable)`.
    Least(Var, Var),
}

impl Program {
    /// The scripts that make the stored relations.
    pub fn setup(&self) -> Vec<String> {
        self.relations.iter().enumerate().filter_map(|(number, info)| info.setup(number)).collect()
    }

    /// Scripts that make two indices of each stored relation.
    pub fn indices(&self, random: &mut StdRng) -> Vec<String> {
        let mut scripts = vec![];
        for (number, info) in self.relations.iter().enumerate() {
            let Source::Given { stored: Some(_), .. } = info.source else { continue };
            for index in 0..2 {
                let mut listed = columns(info.arity);
                listed.shuffle(random);
                listed.truncate(random.random_range(1..=info.arity));
                scripts.push(format!("::index create r{number}:i{index} {{{}}}", listed.join(", ")));
            }
        }
        scripts
    }

    /// The rules as CozoScript; with an order if one is given, with stored relations unless they are to be inline.
    pub fn script(&self, inline: bool, shuffle: Option<&mut StdRng>) -> String {
        let mut rules: Vec<(String, &Rule)> = self.rules().collect();
        let mut shuffled: Vec<Vec<Literal>> = rules.iter().map(|(_, rule)| rule.body.clone()).collect();
        if let Some(random) = shuffle {
            shuffled.iter_mut().for_each(|body| shuffle_body(body, random));
            let mut together: Vec<_> = rules.into_iter().zip(shuffled).collect();
            together.shuffle(random);
            (rules, shuffled) = together.into_iter().unzip();
        }
        let mut script = String::new();
        for ((name, rule), body) in rules.iter().zip(&shuffled) {
            let head: Vec<String> = rule.head.iter().map(HeadColumn::print).collect();
            let _ = writeln!(script, "{name}[{}] := {}", head.join(", "), self.print_body(body, inline));
        }
        for (number, info) in self.relations.iter().enumerate() {
            match &info.source {
                Source::Given { rows, stored } if inline || stored.is_none() => {
                    let _ = writeln!(script, "r{number}[{}] <- {}", columns(info.arity).join(", "), print_rows(rows));
                }
                _ => {}
            }
        }
        script
    }

    /// Whether another order of the atoms means something else: an aggregation depends on the order of what it aggregates; a list, which may
    /// bind its variable or test it, has an element twice; or a sum makes floats that are equal to integers by the `==` of a variable that
    /// an atom binds twice, and different from them where it is bound before.
    pub fn order_matters(&self) -> bool {
        let is_ordered = |column: &HeadColumn| {
            column.aggregation.is_some_and(|name| name == "sum" || ORDERED_AGGREGATIONS.contains(&name))
        };
        let may_repeat = |literal: &Literal| match literal {
            Literal::In { list, .. } => list.len() > 1 && list.iter().any(|term| !matches!(term, Term::Constant(_))),
            _ => false,
        };
        self.rules().any(|(_, rule)| rule.head.iter().any(is_ordered) || rule.body.iter().any(may_repeat))
    }

    /// Whether a negated group is one application of nothing that is bound.
    pub fn negates_what_is_not_bound(&self) -> bool {
        self.rules().any(|(_, rule)| asks_for_nothing(&rule.body, &[]))
    }

    fn rules(&self) -> impl Iterator<Item = (String, &Rule)> {
        let derived = self.layers.iter().flatten().map(|rule| (format!("r{}", rule.relation), rule));
        derived.chain(self.entry.iter().map(|rule| ("?".to_string(), rule)))
    }

    fn print_body(&self, body: &[Literal], inline: bool) -> String {
        let literals: Vec<String> = body.iter().map(|literal| self.print_literal(literal, inline)).collect();
        literals.join(", ")
    }

    fn print_literal(&self, literal: &Literal, inline: bool) -> String {
        match literal {
            Literal::Apply { relation, arguments, negated, named } => {
                let stored =
                    !inline && matches!(&self.relations[*relation].source, Source::Given { stored: Some(_), .. });
                let not = if *negated { "not " } else { "" };
                format!("{not}{}", print_application(*relation, arguments, stored, *named))
            }
            Literal::Compare { left, operator, right } => format!("v{left} {operator} {}", right.print()),
            Literal::Unify { var, value } => format!("v{var} = {}", value.print()),
            Literal::In { var, list } => {
                let list: Vec<String> = list.iter().map(Term::print).collect();
                format!("v{var} in [{}]", list.join(", "))
            }
            Literal::Or(branches) => {
                let branches: Vec<String> =
                    branches.iter().map(|branch| format!("({})", self.print_body(branch, inline))).collect();
                format!("({})", branches.join(" or "))
            }
            Literal::Not(group) => format!("not ({})", self.print_body(group, inline)),
        }
    }
}

fn asks_for_nothing(body: &[Literal], outer: &[Var]) -> bool {
    let mut bound = outer.to_vec();
    body.iter().for_each(|literal| bind(literal, &mut bound));
    body.iter().any(|literal| match literal {
        Literal::Not(group) => is_refused(group, &bound) || asks_for_nothing(group, &bound),
        _ => false,
    })
}

fn is_refused(group: &[Literal], bound: &[Var]) -> bool {
    match group {
        [Literal::Apply { arguments, negated: false, .. }] => arguments.iter().all(|argument| match argument {
            Term::Wildcard => true,
            Term::Var(var) => !bound.contains(var),
            _ => false,
        }),
        [Literal::Or(branches)] => branches.iter().any(|branch| is_refused(branch, bound)),
        _ => false,
    }
}

fn bind(literal: &Literal, bound: &mut Vec<Var>) {
    match literal {
        Literal::Apply { arguments, negated: false, .. } => {
            bound.extend(arguments.iter().filter_map(|term| if let Term::Var(var) = term { Some(*var) } else { None }));
        }
        Literal::Unify { var, .. } | Literal::In { var, .. } => bound.push(*var),
        Literal::Or(branches) => {
            let each = branches.iter().map(|branch| {
                let mut here = vec![];
                branch.iter().for_each(|literal| bind(literal, &mut here));
                here
            });
            let common = each.reduce(|common, here| common.into_iter().filter(|var| here.contains(var)).collect());
            bound.extend(common.unwrap_or_default());
        }
        Literal::Apply { .. } | Literal::Compare { .. } | Literal::Not(_) => {}
    }
}

/// Any order of atoms means the same.
fn shuffle_body(body: &mut [Literal], random: &mut StdRng) {
    body.shuffle(random);
    for literal in body {
        if let Literal::Or(branches) = literal {
            branches.shuffle(random);
            branches.iter_mut().for_each(|branch| shuffle_body(branch, random));
        } else if let Literal::Not(group) = literal {
            shuffle_body(group, random);
        }
    }
}

fn print_application(relation: Relation, arguments: &[Term], stored: bool, named: bool) -> String {
    if stored && named {
        let bound = arguments.iter().enumerate().filter(|(_, term)| !matches!(term, Term::Wildcard));
        let bound: Vec<String> = bound.map(|(column, term)| format!("c{column}: {}", term.print())).collect();
        return format!("*r{relation}{{{}}}", bound.join(", "));
    }
    let arguments: Vec<String> = arguments.iter().map(Term::print).collect();
    format!("{}r{relation}[{}]", if stored { "*" } else { "" }, arguments.join(", "))
}

fn columns(arity: usize) -> Vec<String> {
    (0..arity).map(|column| format!("c{column}")).collect()
}

fn print_rows(rows: &[Vec<DataValue>]) -> String {
    DataValue::List(rows.iter().map(|row| DataValue::List(row.clone())).collect()).to_string()
}

impl RelationInfo {
    fn setup(&self, number: usize) -> Option<String> {
        let Source::Given { rows, stored: Some(layout) } = &self.source else { return None };
        let mut declared = columns(self.arity);
        for (column, name) in declared.iter_mut().zip(&layout.types) {
            column.push_str(name);
        }
        let (keys, values) = declared.split_at(layout.keys);
        let values = if values.is_empty() { String::new() } else { format!(" => {}", values.join(", ")) };
        let head = columns(self.arity).join(", ");
        Some(format!("?[{head}] <- {} :create r{number} {{{}{values}}}", print_rows(rows), keys.join(", ")))
    }
}

impl HeadColumn {
    fn print(&self) -> String {
        match self.aggregation {
            Some(aggregation) => format!("{aggregation}(v{})", self.var),
            None => format!("v{}", self.var),
        }
    }
}

impl Term {
    fn print(&self) -> String {
        match self {
            Term::Wildcard => "_".to_string(),
            Term::Var(var) => format!("v{var}"),
            Term::Constant(value) => value.to_string(),
            Term::Sum(var, constant, modulus) => format!("(v{var} + {constant}) % {modulus}"),
            Term::Plus(var, constant) => format!("v{var} + {constant}"),
            Term::Total(a, b) => format!("v{a} + v{b}"),
            Term::Least(a, b) => format!("min(v{a}, v{b})"),
        }
    }
}
