//! Magic sets: rules that are only applied with bound arguments are restricted to the bindings that are asked for (Bancilhon,
//! Maier, Sagiv and Ullman 1986).
//!
//! ```text
//! t[a, b] := e[a, b]                     magic t|bf[1]
//! t[a, c] := t[a, b], e[b, c]            t|bf[a, b] := magic t|bf[a], e[a, b]
//! ?[b] := t[1, b]                        t|bf[a, c] := magic t|bf[a], t|bf[a, b], e[b, c]
//!                                        ?[b] := t|bf[1, b]
//! ```
//!
//! An *adornment* such as `bf` marks each argument of an application as bound or free. For each predicate and adornment, [`Pass`]
//! makes two predicates: a copy whose rules begin with the magic predicate, and the magic predicate itself, with a rule (`seed`)
//! for each application that asks for bindings. In a restricted rule, atoms with bound arguments come first, so that a binding of
//! any column is passed on.
//!
//! A predicate is not restricted if its complete result is needed: the entry, constant predicates, negated ones, and inputs of
//! fixed rules. If an application without bound arguments turns up, that predicate is excluded as well, and the pass starts anew.
//!
//! An aggregated predicate is restricted by its grouping columns: the rows of other groups do not change a group, and a magic
//! predicate has each binding once, so that it does not multiply the rows of one. To test each row of an aggregation costs as much
//! as to aggregate it. So the bindings must come from a value in the script, not from all rows of a relation.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::safety::{Choice, order_body};
use crate::budget::{self, Stop};
use crate::diag::SourceSpan;
use crate::program::{
    Apply, Arg, Atom, Definition, ENTRY, HeadColumn, Predicate, Program, ProgramError, Rule, Target, Variable,
};
use crate::value::SmallStr;

/// How many rules are followed, one within another, to find out whether a value selects their rows.
const MAX_RULES_SEEN: usize = 4;

/// Which predicates are restricted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Also aggregated ones.
    All,
    /// Sets of rows.
    Sets,
}

/// The program with restricted rules; `None` if no rule can be restricted.
pub fn specialise(program: &Program, scope: Scope) -> Result<Option<Program>, Stop> {
    let mut excluded = ineligible(program, scope);
    let components = program.components.iter().enumerate();
    let component_of =
        components.flat_map(|(number, component)| component.predicates.iter().map(move |name| (name, number)));
    let component_of: FxHashMap<&SmallStr, usize> = component_of.collect();
    loop {
        let mut pass = Pass {
            program,
            component_of: &component_of,
            excluded: &excluded,
            made: FxHashMap::default(),
            waiting: vec![],
            needed_whole: FxHashSet::default(),
        };
        pass.predicate(&SmallStr::from(ENTRY), None)?;
        while let Some((name, adornment)) = pass.waiting.pop() {
            pass.predicate(&name, adornment.as_deref())?;
        }
        // To restrict a predicate that is needed as a whole anyway would repeat work.
        if pass.needed_whole.is_empty() {
            let restricted = pass.made.keys().any(|name| name.contains('|'));
            return Ok(
                restricted.then_some(Program { predicates: pass.made.into_iter().collect(), components: vec![] })
            );
        }
        let needed_whole = pass.needed_whole;
        excluded.extend(needed_whole);
    }
}

/// Predicates that cannot be restricted: their complete result is needed somewhere.
fn ineligible(program: &Program, scope: Scope) -> FxHashSet<SmallStr> {
    let mut names = FxHashSet::from_iter([SmallStr::from(ENTRY)]);
    for (name, predicate) in &program.predicates {
        let is_kept_whole = predicate.is_aggregated() && (scope == Scope::Sets || depends_on_order(predicate));
        if is_kept_whole || !matches!(predicate.definition, Definition::Rules(_)) {
            names.insert(name.clone());
        }
        if let Definition::Fixed(apply) = &predicate.definition {
            names.extend(apply.predicates().cloned());
        }
        for atom in program.rules(name).iter().flat_map(|rule| &rule.body) {
            if let Some(Target::Predicate(target)) = atom.applied().map(|apply| &apply.target)
                && atom.needs_complete().is_some()
            {
                names.insert(target.clone());
            }
        }
    }
    names
}

/// Whether the groups of a predicate depend on the order in which the atoms of its rules stand: by an aggregation, or by a list that
/// gives a row for each element before its variable is bound, and one row at most after that.
fn depends_on_order(predicate: &Predicate) -> bool {
    let by_order = |column: &HeadColumn| column.aggregation.as_ref().is_some_and(|used| used.aggregation.order_matters);
    let has_list = |rule: &Rule| rule.body.iter().any(|atom| matches!(atom, Atom::Unnest(..)));
    match &predicate.definition {
        Definition::Rules(rules) => predicate.columns.iter().any(by_order) || rules.iter().any(has_list),
        _ => false,
    }
}

struct Pass<'a> {
    program: &'a Program,
    /// The number of the component of each predicate.
    component_of: &'a FxHashMap<&'a SmallStr, usize>,
    excluded: &'a FxHashSet<SmallStr>,
    /// The predicates of the new program.
    made: FxHashMap<SmallStr, Predicate>,
    /// Predicates still to be made, with their adornments: columns are bound (`b`) or free (`f`).
    waiting: Vec<(SmallStr, Option<String>)>,
    /// Predicates that are applied without bound arguments.
    needed_whole: FxHashSet<SmallStr>,
}

impl Pass<'_> {
    /// Makes a predicate, restricted to bindings of the adornment's bound columns.
    fn predicate(&mut self, name: &SmallStr, adornment: Option<&str>) -> Result<(), Stop> {
        let new_name = adornment.map_or_else(|| name.clone(), |adornment| restricted_name(name, adornment));
        if self.made.contains_key(&new_name) {
            return Ok(());
        }
        let Predicate { columns, definition, span } = self.program.predicates[name].clone();
        // Entered before its rules are made, since they may apply it.
        let in_the_making = Definition::Rules(vec![]);
        self.made.insert(new_name.clone(), Predicate { columns, definition: in_the_making, span });
        let definition = match definition {
            Definition::Rules(rules) => {
                let rules = rules.into_iter().map(|rule| self.rule(rule, name, adornment));
                Definition::Rules(rules.collect::<Result<_, _>>()?)
            }
            Definition::Fixed(apply) => {
                self.waiting.extend(apply.predicates().map(|input| (input.clone(), None)));
                Definition::Fixed(apply)
            }
            constant => constant,
        };
        self.made.get_mut(&new_name).expect("just entered").definition = definition;
        Ok(())
    }

    fn rule(&mut self, rule: Rule, name: &SmallStr, adornment: Option<&str>) -> Result<Rule, Stop> {
        budget::step(rule.body.len())?;
        let body = match adornment {
            None => rule.body,
            Some(adornment) => {
                let mut atoms = vec![magic_atom(name, adornment, &rule)];
                atoms.extend(rule.body);
                match order_body(&rule.head, atoms, Choice::BoundFirst) {
                    Err(ProgramError::Stopped(stop)) => return Err(stop),
                    body => body.expect("a safe body with one more atom is safe"),
                }
            }
        };
        let mut bound = BTreeSet::new();
        let mut rewritten: Vec<Atom> = vec![];
        for atom in body {
            let atom = match atom {
                Atom::Apply(apply) => Atom::Apply(self.apply(apply, &bound, &rewritten)?),
                other => {
                    if let Some(Target::Predicate(name)) = other.applied().map(|apply| &apply.target) {
                        self.waiting.push((name.clone(), None));
                    }
                    other
                }
            };
            if !matches!(&atom, Atom::Apply(apply) if apply.negated) {
                bound.extend(atom.variables().into_iter().cloned());
            }
            rewritten.push(atom);
        }
        Ok(Rule { body: rewritten, ..rule })
    }

    /// Points an application at the restricted predicate, and records the bindings that it asks for.
    fn apply(&mut self, apply: Apply, bound: &BTreeSet<SmallStr>, before: &[Atom]) -> Result<Apply, Stop> {
        let Target::Predicate(name) = &apply.target else { return Ok(apply) };
        if !self.program.predicates.contains_key(name) {
            return Ok(apply);
        }
        if self.excluded.contains(name) {
            self.waiting.push((name.clone(), None));
            return Ok(apply);
        }
        let is_bound = |arg: &Arg| match arg {
            Arg::Wildcard => false,
            Arg::Variable(variable) => bound.contains(&variable.name),
            Arg::Expr(_) => true,
        };
        let marks =
            apply.args.iter().enumerate().map(|(column, arg)| match is_bound(arg) && self.restricts(name, column) {
                true => 'b',
                false => 'f',
            });
        let adornment: String = marks.collect();
        let is_restricted = adornment.contains('b')
            && !self.follows_the_whole(name, &adornment)
            && (!self.program.predicates[name].is_aggregated() || self.comes_from_a_value(&apply, &adornment, before));
        if !is_restricted {
            self.needed_whole.insert(name.clone());
            self.waiting.push((name.clone(), None));
            return Ok(apply);
        }
        self.seed(name, &adornment, &apply, before)?;
        self.waiting.push((name.clone(), Some(adornment.clone())));
        Ok(Apply { target: Target::Predicate(restricted_name(name, &adornment)), ..apply })
    }

    /// Whether a binding of a column restricts what the rules of a predicate read: it reaches an atom of each rule, as an
    /// argument or within one. A column that a rule computes would be compared with every binding for every row.
    fn restricts(&self, name: &SmallStr, column: usize) -> bool {
        if self.program.predicates[name].columns[column].aggregation.is_some() {
            return false;
        }
        let reaches = |rule: &Rule| {
            let variable = &rule.head[column].name;
            let reads = |atom: &Atom| {
                matches!(
                    atom,
                    Atom::Apply(Apply { negated: false, .. }) | Atom::Unnest(..) | Atom::Search(_) | Atom::AsOf(_)
                )
            };
            let is_reached = |atom: &Atom| match atom {
                Atom::Apply(apply) => {
                    !apply.negated && apply.args.iter().any(|arg| arg.variables().contains(&variable))
                }
                _ => false,
            };
            rule.body.iter().any(is_reached) || !rule.body.iter().any(reads)
        };
        self.program.rules(name).iter().all(reaches)
    }

    /// Whether every rule of a predicate takes a bound column from a predicate of its own component that is derived as a whole.
    /// Such rules derive little that is not asked for, and the restriction would cost another join in every round.
    fn follows_the_whole(&self, name: &SmallStr, adornment: &str) -> bool {
        let Some(component) = self.component_of.get(name) else { return false };
        let is_whole =
            |target: &SmallStr| self.excluded.contains(target) && self.component_of.get(target) == Some(component);
        let binds = |atom: &Atom, column: usize, rule: &Rule| match atom {
            Atom::Apply(Apply { target: Target::Predicate(target), negated: false, .. }) => {
                is_whole(target) && atom.variables().contains(&&rule.head[column].name)
            }
            _ => false,
        };
        let rules = self.program.rules(name);
        let follows =
            |rule: &Rule| bound_columns(adornment).any(|column| rule.body.iter().any(|atom| binds(atom, column, rule)));
        !rules.is_empty() && rules.iter().all(follows)
    }

    /// Whether the bound arguments of an application depend on a value in the script, directly or through the atoms before it.
    fn comes_from_a_value(&self, apply: &Apply, adornment: &str, before: &[Atom]) -> bool {
        let bound: Vec<&Arg> = bound_columns(adornment).map(|column| &apply.args[column]).collect();
        let variable = |name: &SmallStr| Variable { name: name.clone(), span: apply.span };
        let variables: Vec<Variable> = bound.iter().flat_map(|arg| arg.variables()).map(variable).collect();
        bound.iter().any(|arg| matches!(arg, Arg::Expr(expr) if expr.is_given()))
            || relevant(before, &variables, &[]).iter().any(|atom| self.selects(atom, MAX_RULES_SEEN))
    }

    /// Whether an atom gives few rows, because of a value in it or in the rules that it applies, `depth` rules deep.
    fn selects(&self, atom: &Atom, depth: usize) -> bool {
        let predicate = |name: &SmallStr| match &self.program.predicates.get(name)?.definition {
            Definition::Constant(_) => Some(true),
            Definition::Rules(rules) if depth > 0 && !rules.is_empty() => {
                Some(rules.iter().all(|rule| rule.body.iter().any(|atom| self.selects(atom, depth - 1))))
            }
            _ => Some(false),
        };
        match atom {
            Atom::Apply(Apply { negated: true, .. }) => false,
            Atom::Apply(apply) if apply.args.iter().any(|arg| matches!(arg, Arg::Expr(expr) if expr.is_given())) => {
                true
            }
            // A predicate that is not the program's own is a magic or a restricted one.
            Atom::Apply(Apply { target: Target::Predicate(name), .. }) => predicate(name).unwrap_or(true),
            Atom::Unify(_, expr) => expr.is_given(),
            Atom::Unnest(_, expr) => expr.variables().is_empty(),
            Atom::Apply(_) | Atom::Search(_) | Atom::AsOf(_) | Atom::Filter(_) | Atom::Same(..) => false,
        }
    }

    /// Adds the rule that derives the bindings that an application asks for.
    fn seed(&mut self, name: &SmallStr, adornment: &str, apply: &Apply, before: &[Atom]) -> Result<(), Stop> {
        let magic = magic_name(name, adornment);
        let mut head = vec![];
        let mut computed = vec![];
        for (i, arg) in bound_columns(adornment).map(|i| (i, &apply.args[i])) {
            let variable = match arg {
                Arg::Variable(variable) => variable.clone(),
                Arg::Expr(expr) => {
                    let variable = Variable { name: SmallStr::from(format!("#m{i}")), span: expr.span() };
                    computed.push(Atom::Unify(variable.clone(), expr.clone()));
                    variable
                }
                Arg::Wildcard => unreachable!("a wildcard is not bound"),
            };
            head.push(variable);
        }
        let mut body = relevant(before, &head, &computed);
        budget::make_room(body.len() * size_of::<Atom>())?;
        body.extend(computed);
        if asks_for_itself(&magic, &head, &body) {
            return Ok(());
        }
        let width = head.len();
        let rule = Rule { head, body, span: apply.span };
        let predicate = self.made.entry(magic).or_insert_with(|| Predicate {
            columns: (0..width).map(|i| HeadColumn { name: format!("_{i}").into(), aggregation: None }).collect(),
            definition: Definition::Rules(vec![]),
            span: SourceSpan::default(),
        });
        if let Definition::Rules(rules) = &mut predicate.definition {
            rules.push(rule);
        }
        Ok(())
    }
}

fn restricted_name(name: &str, adornment: &str) -> SmallStr {
    SmallStr::from(format!("{name}|{adornment}"))
}

fn magic_name(name: &str, adornment: &str) -> SmallStr {
    SmallStr::from(format!("magic {name}|{adornment}"))
}

fn bound_columns(adornment: &str) -> impl Iterator<Item = usize> + '_ {
    adornment.char_indices().filter(|(_, mark)| *mark == 'b').map(|(i, _)| i)
}

/// The application of the magic predicate that restricts a rule.
fn magic_atom(name: &SmallStr, adornment: &str, rule: &Rule) -> Atom {
    let args = bound_columns(adornment).map(|i| Arg::Variable(rule.head[i].clone())).collect();
    let target = Target::Predicate(magic_name(name, adornment));
    Atom::Apply(Apply { target, args, negated: false, span: rule.span })
}

/// The atoms that are connected with the variables of the head. Too many bindings are sound, and a product with unconnected atoms
/// would cost more than it restricts.
fn relevant(before: &[Atom], head: &[Variable], computed: &[Atom]) -> Vec<Atom> {
    let binds = |atom: &Atom| match atom {
        Atom::Apply(apply) => !apply.negated,
        Atom::Unify(..) | Atom::Unnest(..) | Atom::Search(_) | Atom::AsOf(_) => true,
        Atom::Filter(_) | Atom::Same(..) => false,
    };
    let variables: Vec<Vec<&SmallStr>> = before.iter().map(Atom::variables).collect();
    let mut atoms_of: BTreeMap<&SmallStr, Vec<usize>> = BTreeMap::new();
    for at in (0..before.len()).filter(|at| binds(&before[*at])) {
        variables[at].iter().for_each(|name| atoms_of.entry(name).or_default().push(at));
    }
    let asked_for = head.iter().map(|variable| &variable.name).chain(computed.iter().flat_map(Atom::variables));
    let mut wanted: BTreeSet<&SmallStr> = asked_for.collect();
    let mut waiting: Vec<&SmallStr> = wanted.iter().copied().collect();
    while let Some(name) = waiting.pop() {
        for at in atoms_of.remove(name).into_iter().flatten() {
            waiting.extend(variables[at].iter().copied().filter(|name| wanted.insert(name)));
        }
    }
    let is_kept = |at: &usize| {
        let variables = &variables[*at];
        !variables.is_empty() && variables.iter().all(|name| wanted.contains(name))
    };
    (0..before.len()).filter(is_kept).map(|at| before[at].clone()).collect()
}

/// Whether a rule derives only its own input: `magic t|bf[a] := magic t|bf[a]`.
fn asks_for_itself(magic: &SmallStr, head: &[Variable], body: &[Atom]) -> bool {
    body.iter().any(|atom| match atom {
        Atom::Apply(Apply { target: Target::Predicate(name), args, .. }) if name == magic => {
            let same = |(arg, variable): (&Arg, &Variable)| matches!(arg, Arg::Variable(v) if v.name == variable.name);
            args.iter().zip(head).all(same)
        }
        _ => false,
    })
}
