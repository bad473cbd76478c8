//! Random programs that are valid by construction.

use cozo::DataValue;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::program::{
    HeadColumn, Layout, Literal, ORDERED_AGGREGATIONS, Program, Relation, RelationInfo, Rule, Source, Term, Var,
};

/// Which values a program is about.
#[derive(Clone, Copy, PartialEq)]
enum Domain {
    /// Small integers: comparisons, sums, every aggregation.
    Integers,
    /// Integers, fractions, strings, null: no function takes all of them.
    Mixed,
    /// Also pairs such as 1 and 1.0, that are equal to `==` and distinct otherwise. Nothing is unified, and no variable
    /// repeats in an atom, since these test by `==`.
    Twins,
}

const MODULUS: i64 = 5;

/// The variables that negated groups may have for themselves.
const OWN: std::ops::Range<Var> = 1000..1003;

/// The variables that equalities are spelt with.
const FIRST_RESPELT: Var = 2000;

/// How many relations with given rows come first.
const GIVEN: usize = 3;

impl Domain {
    fn values(self) -> Vec<DataValue> {
        let mixed = || vec![DataValue::Null, 0.into(), 1.into(), 0.5.into(), "a".into()];
        match self {
            Domain::Integers => (0..MODULUS).map(DataValue::from).collect(),
            Domain::Mixed => mixed(),
            Domain::Twins => mixed().into_iter().chain([1.0.into()]).collect(),
        }
    }

    fn operators(self) -> &'static [&'static str] {
        match self {
            Domain::Integers => &["==", "!=", "<", "<=", ">", ">="],
            _ => &["==", "!="],
        }
    }

    fn aggregations(self) -> &'static [&'static str] {
        match self {
            Domain::Integers => &["count", "count_unique", "unique", "min", "max", "sum", "collect", "choice"],
            _ => &["count", "count_unique", "unique", "collect", "choice"],
        }
    }
}

/// A random program of this seed.
pub fn program(seed: u64) -> Program {
    let mut generator = Generator::new(seed);
    (0..GIVEN).for_each(|_| generator.given());
    for _ in 0..generator.random.random_range(1..=3) {
        generator.layer();
    }
    generator.entry();
    if generator.chance(40) {
        generator.respell();
    }
    generator.program
}

/// A random program that asks for an aggregation that depends on the order of what it aggregates.
pub fn ordered_program(seed: u64) -> Program {
    let mut generator = Generator::new(seed);
    (0..GIVEN).for_each(|_| generator.given());
    let rules = generator.ordered_layer();
    let (relation, arity) = (rules[0].relation, rules[0].head.len());
    generator.program.layers.push(rules);
    let variables: Vec<Var> = (0..arity).map(|_| generator.fresh()).collect();
    let arguments = variables.iter().copied().map(Term::Var).collect();
    let body = vec![Literal::Apply { relation, arguments, negated: false, named: false }];
    let head = variables.into_iter().map(|var| HeadColumn { var, aggregation: None }).collect();
    generator.program.entry = vec![Rule { relation: usize::MAX, head, body }];
    if generator.chance(40) {
        generator.respell();
    }
    generator.program
}

struct Generator {
    random: StdRng,
    domain: Domain,
    program: Program,
    next_var: Var,
}

impl Generator {
    fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let domain = *[Domain::Integers, Domain::Mixed, Domain::Twins].choose(&mut random).expect("there are three");
        let program = Program { relations: vec![], layers: vec![], entry: vec![] };
        Generator { random, domain, program, next_var: 0 }
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    fn value(&mut self) -> DataValue {
        self.domain.values().choose(&mut self.random).expect("a domain has values").clone()
    }

    fn fresh(&mut self) -> Var {
        self.next_var += 1;
        self.next_var - 1
    }

    fn pick(&mut self, bound: &[Var]) -> Var {
        *bound.choose(&mut self.random).expect("the first literal of a body binds a variable")
    }

    /// A relation with given rows, stored or not.
    fn given(&mut self) {
        let arity: usize = self.random.random_range(1..=3);
        let keys = self.random.random_range(arity.div_ceil(2)..=arity);
        let mut rows: Vec<Vec<DataValue>> = vec![];
        let most = [4, 12, 20][arity - 1];
        for _ in 0..self.random.random_range(2..=most) {
            let row: Vec<DataValue> = (0..arity).map(|_| self.value()).collect();
            if rows.iter().all(|other| other[..keys] != row[..keys]) {
                rows.push(row);
            }
        }
        let types: &[&'static str] =
            if self.domain == Domain::Integers { &["", ": Int", ": Int?"] } else { &["", ": Any?"] };
        let types = (0..arity).map(|_| *types.choose(&mut self.random).expect("not empty")).collect();
        let stored = self.chance(70).then_some(Layout { keys, types });
        self.program.relations.push(RelationInfo { arity, source: Source::Given { rows, stored } });
    }

    fn derived(&mut self, arity: usize) -> Relation {
        self.program.relations.push(RelationInfo { arity, source: Source::Derived });
        self.program.relations.len() - 1
    }

    /// A layer: rules that recur through each other, or an aggregation of what lies below.
    fn layer(&mut self) {
        let below = self.program.relations.len();
        let rules = match self.random.random_range(0..10) {
            0..=5 => self.recursive_layer(below),
            6..=7 => self.aggregating_layer(below),
            _ if self.domain == Domain::Integers => self.meet_layer(below),
            _ => self.aggregating_layer(below),
        };
        self.program.layers.push(rules);
    }

    fn recursive_layer(&mut self, below: usize) -> Vec<Rule> {
        let count = self.random.random_range(1..=3);
        let relations: Vec<Relation> = (0..count)
            .map(|_| {
                let arity = self.random.random_range(1..=2);
                self.derived(arity)
            })
            .collect();
        let mut rules = vec![];
        for relation in relations {
            let (arity, all) = (self.program.relations[relation].arity, self.program.relations.len());
            // The first definition reads what is below, so that there is something to recur on.
            for readable in std::iter::once(below).chain((0..self.random.random_range(0..=2)).map(|_| all)) {
                let (body, bound) = self.body(readable, below);
                let head = (0..arity).map(|_| HeadColumn { var: self.pick(&bound), aggregation: None }).collect();
                rules.push(Rule { relation, head, body });
            }
        }
        rules
    }

    fn aggregating_layer(&mut self, below: usize) -> Vec<Rule> {
        let shape: Vec<Option<&'static str>> = self.aggregated_shape();
        let relation = self.derived(shape.len());
        let definitions = self.random.random_range(1..=2);
        (0..definitions).map(|_| self.aggregated(relation, &shape, below)).collect()
    }

    /// An aggregation that depends on the order, over joins of given relations that ask for constants, as indices serve them.
    fn ordered_layer(&mut self) -> Vec<Rule> {
        let (mut bound, mut body) = (vec![], vec![]);
        for _ in 0..self.random.random_range(1..=3) {
            let relation = self.random.random_range(0..GIVEN);
            body.push(self.application(relation, &mut bound, 30));
        }
        if bound.is_empty() {
            bound.push(self.fresh());
            body.push(Literal::In { var: bound[0], list: self.distinct_values() });
        }
        let name = *ORDERED_AGGREGATIONS.choose(&mut self.random).expect("there are some");
        let mut head = vec![HeadColumn { var: self.pick(&bound), aggregation: Some(name) }];
        if self.chance(40) {
            head.insert(0, HeadColumn { var: self.pick(&bound), aggregation: None });
        }
        let relation = self.derived(head.len());
        vec![Rule { relation, head, body }]
    }

    /// Which columns of a head are aggregated, and how.
    fn aggregated_shape(&mut self) -> Vec<Option<&'static str>> {
        let width = self.random.random_range(1..=2);
        let mut shape: Vec<Option<&'static str>> = (0..width)
            .map(|_| self.chance(50).then(|| *self.domain.aggregations().choose(&mut self.random).expect("not empty")))
            .collect();
        if shape.iter().all(Option::is_none) {
            shape.push(Some("count"));
        }
        shape
    }

    fn aggregated(&mut self, relation: Relation, shape: &[Option<&'static str>], readable: usize) -> Rule {
        // Numbers are aggregated only: the given relations hold nothing else.
        let readable = if self.domain != Domain::Integers || self.all_integers() { readable } else { GIVEN };
        let (mut body, mut bound) = self.body(readable, readable);
        if shape.iter().flatten().any(|name| ORDERED_AGGREGATIONS.contains(name)) {
            // What a disjunction binds comes branch by branch; without it, less is bound.
            body.retain(|literal| matches!(literal, Literal::Apply { negated: false, arguments, .. } if !arguments.iter().any(is_sum)));
            bound = bound_by_applications(&body);
            if bound.is_empty() {
                let var = self.fresh();
                body.insert(0, Literal::In { var, list: self.distinct_values() });
                bound.push(var);
            }
        }
        let head =
            shape.iter().map(|aggregation| HeadColumn { var: self.pick(&bound), aggregation: *aggregation }).collect();
        Rule { relation, head, body }
    }

    /// Least cost or widest way over random weights, with a meet aggregation inside the recursion.
    fn meet_layer(&mut self, below: usize) -> Vec<Rule> {
        let relation = self.derived(2);
        let aggregation = if self.chance(50) { "min" } else { "max" };
        let (from, to, before, weight, after) = (self.fresh(), self.fresh(), self.fresh(), self.fresh(), self.fresh());
        let combined = match aggregation {
            "min" if self.chance(50) => Term::Total(before, weight),
            "min" => Term::Plus(before, 1),
            _ => Term::Least(before, weight),
        };
        let head = |node: Var, value: Var| {
            vec![HeadColumn { var: node, aggregation: None }, HeadColumn { var: value, aggregation: Some(aggregation) }]
        };
        let apply = |relation: Relation, arguments: Vec<Term>| Literal::Apply {
            relation,
            arguments,
            negated: false,
            named: false,
        };
        let edges = self.weighted_edges();
        let (base, bound) = self.body(below.min(GIVEN), below.min(GIVEN));
        let first = Rule { relation, head: head(self.pick(&bound), self.pick(&bound)), body: base };
        let step = Rule {
            relation,
            head: head(to, after),
            body: vec![
                apply(relation, vec![Term::Var(from), Term::Var(before)]),
                apply(edges, vec![Term::Var(from), Term::Var(to), Term::Var(weight)]),
                Literal::Unify { var: after, value: combined },
            ],
        };
        vec![first, step]
    }

    fn weighted_edges(&mut self) -> Relation {
        let mut rows: Vec<Vec<DataValue>> = vec![];
        for _ in 0..12 {
            let row = vec![self.value(), self.value(), self.random.random_range(0..9).into()];
            if rows.iter().all(|other| other[..2] != row[..2]) {
                rows.push(row);
            }
        }
        let stored = self.chance(70).then_some(Layout { keys: 2, types: vec![] });
        self.program.relations.push(RelationInfo { arity: 3, source: Source::Given { rows, stored } });
        self.program.relations.len() - 1
    }

    /// The entry asks for some bindings of a relation of the last layer, among others.
    fn entry(&mut self) {
        let all = self.program.relations.len();
        let last = self.program.layers.last().and_then(|layer| layer.first()).expect("there are layers").relation;
        let mut bound = vec![];
        let first = self.application(last, &mut bound, 12);
        let mut body = vec![first];
        if bound.is_empty() {
            bound.push(self.fresh());
            body.push(Literal::In { var: bound[0], list: vec![Term::Constant(0.into()), Term::Constant(1.into())] });
        }
        if self.chance(40) {
            let relation = self.random.random_range(0..all);
            body.push(self.application(relation, &mut bound, 10));
        }
        self.decorate(&mut body, &mut bound, all);
        let head =
            (0..self.random.random_range(1..=3)).map(|_| HeadColumn { var: self.pick(&bound), aggregation: None });
        self.program.entry = vec![Rule { relation: usize::MAX, head: head.collect(), body }];
    }

    /// A body over the relations below `readable`, that negates only those below `negatable`; and what it binds.
    fn body(&mut self, readable: usize, negatable: usize) -> (Vec<Literal>, Vec<Var>) {
        let mut bound = vec![];
        let mut body = vec![];
        for _ in 0..*[1, 2, 2, 3].choose(&mut self.random).expect("not empty") {
            // Of the readable relations the youngest are the interesting ones.
            let youngest = readable.saturating_sub(3);
            let relation = if self.chance(50) {
                self.random.random_range(youngest..readable)
            } else {
                self.random.random_range(0..readable)
            };
            body.push(self.application(relation, &mut bound, 8));
        }
        if bound.is_empty() {
            let var = self.fresh();
            body.push(Literal::In { var, list: self.distinct_values() });
            bound.push(var);
        }
        self.decorate(&mut body, &mut bound, negatable);
        (body, bound)
    }

    /// Whether every value is an integer: what aggregations give may be a list, a float or null.
    fn all_integers(&self) -> bool {
        let others =
            |column: &HeadColumn| column.aggregation.is_some_and(|name| name != "count" && name != "count_unique");
        self.domain == Domain::Integers
            && !self.program.layers.iter().flatten().any(|rule| rule.head.iter().any(others))
    }

    /// Adds tests, unifications, lists, disjunctions and negations.
    fn decorate(&mut self, body: &mut Vec<Literal>, bound: &mut Vec<Var>, negatable: usize) {
        if self.chance(55) {
            return;
        }
        let integers = self.all_integers();
        if self.chance(25) {
            let disjunction = self.disjunction(bound, negatable.min(GIVEN));
            body.push(disjunction);
        }
        if integers && self.chance(35) {
            let (fresh, of) = (self.fresh(), self.pick(bound));
            let constant = self.random.random_range(0..MODULUS);
            body.push(Literal::Unify { var: fresh, value: Term::Sum(of, constant, MODULUS) });
            bound.push(fresh);
        } else if self.domain == Domain::Mixed && self.chance(25) {
            let unification = self.unification(bound);
            body.push(unification);
        }
        if self.chance(15) {
            let var = if self.chance(50) { self.fresh() } else { self.pick(bound) };
            body.push(Literal::In { var, list: self.distinct_values() });
            bound.push(var);
        }
        if self.chance(25) {
            let comparison = self.comparison(bound, integers);
            body.push(comparison);
        }
        if self.chance(20) {
            let negation = self.negation(bound, negatable);
            body.push(negation);
        }
        // Two groups may give their own variables the same names.
        while self.chance(12) {
            let group = self.negated_group(bound, negatable, 0);
            body.push(group);
        }
    }

    /// A negated group, most likely with variables of its own; groups within groups know those of the outer ones.
    fn negated_group(&mut self, outer: &[Var], negatable: usize, depth: usize) -> Literal {
        let mut bound = outer.to_vec();
        let mut group = vec![];
        for _ in 0..self.random.random_range(1..=2) {
            let application = self.application_in_group(&mut bound, negatable);
            group.push(application);
        }
        if self.chance(40) {
            let integers = self.all_integers();
            let comparison = self.comparison(&bound, integers);
            group.push(comparison);
        }
        if self.chance(25) && self.domain != Domain::Twins {
            let (var, other) = (self.pick(&bound), self.pick(&bound));
            let var = if self.chance(30) { self.random.random_range(OWN) } else { var };
            group.push(Literal::Unify { var, value: Term::Var(other) });
            bound.push(var);
        }
        if self.chance(15) {
            group.push(Literal::In { var: self.pick(&bound), list: self.distinct_values() });
        }
        if self.chance(15) {
            let branch = |generator: &mut Self| {
                let mut mine = bound.clone();
                vec![match generator.chance(50) {
                    true => generator.application_in_group(&mut mine, negatable),
                    false => generator.comparison(&bound, false),
                }]
            };
            group.push(Literal::Or(vec![branch(self), branch(self)]));
        }
        if depth < 2 && self.chance(35) {
            let inner = self.negated_group(&bound, negatable, depth + 1);
            group.push(inner);
        }
        if self.chance(20) {
            let negation = self.negation(&bound, negatable);
            group.push(negation);
        }
        Literal::Not(group)
    }

    /// Applies a relation to variables of the group and of what is around it.
    fn application_in_group(&mut self, bound: &mut Vec<Var>, negatable: usize) -> Literal {
        let relation = self.random.random_range(0..negatable);
        let mut used: Vec<Var> = vec![];
        let mut arguments = vec![];
        for _ in 0..self.program.relations[relation].arity {
            let term = match self.random.random_range(0..100) {
                0..8 => Term::Constant(self.value()),
                8..18 => Term::Wildcard,
                18..55 => Term::Var(self.pick(bound)),
                _ => Term::Var(self.random.random_range(OWN)),
            };
            match term {
                Term::Var(var) if self.domain == Domain::Twins && used.contains(&var) => arguments.push(Term::Wildcard),
                Term::Var(var) => {
                    used.push(var);
                    arguments.push(term);
                }
                _ => arguments.push(term),
            }
        }
        bound.extend(used);
        bound.sort_unstable();
        bound.dedup();
        let named = self.chance(50);
        Literal::Apply { relation, arguments, negated: false, named }
    }

    fn distinct_values(&mut self) -> Vec<Term> {
        let mut values = vec![self.value(), self.value(), self.value()];
        values.sort();
        values.dedup();
        values.into_iter().map(Term::Constant).collect()
    }

    /// Applies a relation; its new variables become bound.
    fn application(&mut self, relation: Relation, bound: &mut Vec<Var>, constants: u32) -> Literal {
        let mut fresh: Vec<Var> = vec![];
        let mut used: Vec<Var> = vec![];
        let mut arguments = vec![];
        for _ in 0..self.program.relations[relation].arity {
            let term = match self.random.random_range(0..100) {
                n if n < constants => Term::Constant(self.value()),
                n if n < constants + 12 => Term::Wildcard,
                n if n < constants + 18 && !bound.is_empty() && self.all_integers() => {
                    Term::Sum(self.pick(bound), self.random.random_range(0..MODULUS), MODULUS)
                }
                n if n < constants + 40 && !bound.is_empty() => Term::Var(self.pick(bound)),
                n if n < constants + 43 && !fresh.is_empty() && self.domain != Domain::Twins => {
                    Term::Var(self.pick(&fresh))
                }
                _ => Term::Var(self.fresh()),
            };
            if let Term::Var(var) = term {
                if self.domain == Domain::Twins && used.contains(&var) {
                    arguments.push(Term::Wildcard);
                    continue;
                }
                used.push(var);
                fresh.push(var);
            }
            arguments.push(term);
        }
        bound.extend(fresh);
        bound.sort_unstable();
        bound.dedup();
        let named = self.chance(50);
        Literal::Apply { relation, arguments, negated: false, named }
    }

    fn negation(&mut self, bound: &[Var], negatable: usize) -> Literal {
        let relation = self.random.random_range(0..negatable);
        let arity = self.program.relations[relation].arity;
        let mut used: Vec<Var> = vec![];
        let mut arguments = vec![];
        for column in 0..arity {
            let var = self.pick(bound);
            arguments.push(match self.random.random_range(0..100) {
                0..20 if column > 0 => Term::Wildcard,
                0..30 => Term::Constant(self.value()),
                _ if used.contains(&var) && self.domain == Domain::Twins => Term::Wildcard,
                _ => {
                    used.push(var);
                    Term::Var(var)
                }
            });
        }
        let named = self.chance(50);
        Literal::Apply { relation, arguments, negated: true, named }
    }

    fn comparison(&mut self, bound: &[Var], integers: bool) -> Literal {
        let operators = if integers { self.domain.operators() } else { &["==", "!="] };
        let operator = operators.choose(&mut self.random).expect("not empty");
        let right = if self.chance(50) { Term::Var(self.pick(bound)) } else { Term::Constant(self.value()) };
        Literal::Compare { left: self.pick(bound), operator, right }
    }

    fn unification(&mut self, bound: &mut Vec<Var>) -> Literal {
        let value = if self.chance(50) { Term::Constant(self.value()) } else { Term::Var(self.pick(bound)) };
        let var = if self.chance(60) { self.fresh() } else { self.pick(bound) };
        bound.push(var);
        Literal::Unify { var, value }
    }

    /// Branches that all bind the same new variable, or that all test a bound one.
    fn disjunction(&mut self, bound: &mut Vec<Var>, readable: usize) -> Literal {
        let var = if self.chance(50) { self.fresh() } else { self.pick(bound) };
        let count = self.random.random_range(2..=3);
        let branches = (0..count).map(|_| self.branch(var, bound, readable)).collect();
        bound.push(var);
        Literal::Or(branches)
    }

    fn branch(&mut self, var: Var, bound: &[Var], readable: usize) -> Vec<Literal> {
        if self.chance(30) {
            return vec![Literal::In { var, list: self.distinct_values() }];
        }
        let relation = self.random.random_range(0..readable);
        let mut mine = bound.to_vec();
        let Literal::Apply { mut arguments, .. } = self.application(relation, &mut mine, 10) else { return vec![] };
        let repeats = arguments.iter().any(|term| matches!(term, Term::Var(other) if *other == var));
        if !repeats {
            arguments[0] = Term::Var(var);
        }
        let apply = Literal::Apply { relation, arguments, negated: false, named: false };
        if self.chance(30) && self.domain != Domain::Twins {
            let value = Term::Constant(self.value());
            return vec![apply, Literal::Compare { left: var, operator: "!=", right: value }];
        }
        vec![apply]
    }

    /// Spells what shared variables say as equalities.
    fn respell(&mut self) {
        let mut program =
            std::mem::replace(&mut self.program, Program { relations: vec![], layers: vec![], entry: vec![] });
        let mut next = FIRST_RESPELT;
        for rule in program.layers.iter_mut().flatten().chain(&mut program.entry) {
            rule.body = self.respelt(std::mem::take(&mut rule.body), &mut vec![], &mut next);
        }
        self.program = program;
    }

    fn respelt(&mut self, body: Vec<Literal>, bound: &mut Vec<Var>, next: &mut Var) -> Vec<Literal> {
        let mut all = vec![];
        for mut literal in body {
            let mut equalities = vec![];
            match &mut literal {
                Literal::Apply { arguments, negated: false, .. } => {
                    let before = bound.clone();
                    for argument in arguments {
                        let is_known = match argument {
                            Term::Var(var) => before.contains(var),
                            Term::Sum(..) => true,
                            _ => false,
                        };
                        if let Term::Var(var) = argument {
                            bound.push(*var);
                        }
                        if is_known && self.chance(60) {
                            let var = *next;
                            *next += 1;
                            let value = std::mem::replace(argument, Term::Var(var));
                            equalities.push(self.equality(var, value));
                        }
                    }
                }
                Literal::Unify { var, .. } | Literal::In { var, .. } => bound.push(*var),
                Literal::Not(group) => *group = self.respelt(std::mem::take(group), &mut bound.clone(), next),
                Literal::Apply { .. } | Literal::Compare { .. } | Literal::Or(_) => {}
            }
            all.push(literal);
            all.append(&mut equalities);
        }
        all
    }

    fn equality(&mut self, var: Var, value: Term) -> Literal {
        match (self.random.random_range(0..5), value) {
            (0, Term::Var(other)) => Literal::Compare { left: other, operator: "==", right: Term::Var(var) },
            (1, Term::Var(other)) if self.domain != Domain::Twins => {
                Literal::Unify { var: other, value: Term::Var(var) }
            }
            (2, value) if self.domain != Domain::Twins => Literal::Unify { var, value },
            (3, value) => Literal::In { var, list: vec![value] },
            (4, value) => {
                // An element twice is there once.
                let list = vec![value.clone(), Term::Constant(self.value()), value];
                Literal::In { var, list }
            }
            (_, value) => Literal::Compare { left: var, operator: "==", right: value },
        }
    }
}

fn is_sum(term: &Term) -> bool {
    matches!(term, Term::Sum(..))
}

/// The variables that applications bind.
fn bound_by_applications(body: &[Literal]) -> Vec<Var> {
    let arguments = body.iter().flat_map(|literal| match literal {
        Literal::Apply { arguments, .. } => arguments.as_slice(),
        _ => &[],
    });
    arguments.filter_map(|term| if let Term::Var(var) = term { Some(*var) } else { None }).collect()
}
