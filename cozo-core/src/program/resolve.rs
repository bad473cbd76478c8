//! From names to what they stand for: functions, aggregations, parameters, predicates, stored relations.
//!
//! A [`Resolver`] turns the syntax tree of one query into a [`Program`] of formulas. [`Resolver::resolve`] goes through the rules by name,
//! with a method for each kind of rule, formula and atom. Constant rules (`constant`), fixed rules (`fixed`) and expressions
//! (`expression`) have files of their own. Constant expressions are folded on the way ([`Folding`]).
//!
//! | name | is found in | result |
//! |---|---|---|
//! | `f(x)` | the functions | a call, with its number of arguments checked |
//! | `count(x)` in a head | the aggregations | [`AggregationUse`] |
//! | `$p` | nothing: it is numbered | `Expr::Parameter`; its value comes when the script runs |
//! | `r[x]` | the rules of the query, and relations that the caller passes in | [`Target::Predicate`] |
//! | `*r[x]`, `*r{a: x}` | the catalog | [`Target::Stored`], one argument a column |
//!
//! Rules that the entry does not reach are checked less: they may apply predicates, and stored relations by position, that do not exist. If
//! the width of a constant rule depends on a parameter, its value is read here, and the program serves these values only
//! (`shape_depends_on_values`).

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::as_of::has_variables;
use super::expression::CallError;
use super::habits::suggested_aggregation;
use super::names::{NoRelations, Relations, check_applications, column_index};
use super::parameters::Parameters;
use super::search::listing;
use super::{
    AggregationUse, Apply, Arg, Atom, ConstantRows, Definition, ENTRY, Formula, GivenRelation, HeadColumn, Predicate,
    Program, ProgramError, Rule, SearchCall, SearchError, Target, Variable, passes,
};
use crate::budget;
use crate::diag::SourceSpan;
use crate::expr::{Folding, aggregations};
use crate::fixed_rule::RuleSet;
use crate::parse::ast;
use crate::schema::{AccessLevel, ColumnDefinition, RelationError, SchemaRef};
use crate::value::{DataValue, SmallStr};

/// About how many bytes a rule and an atom take: in the program, in the plan, and in the tables of the run.
const RULE_BYTES: usize = 1 << 11;
const ATOM_BYTES: usize = 1 << 10;

/// Resolves the parts of one query.
pub struct Resolver<'a> {
    /// Finds a stored or ephemeral relation by name.
    pub relations: &'a dyn Relations,
    /// The fixed rules; `None` without a database.
    pub fixed_rules: Option<&'a RuleSet>,
    /// The values of parameters, for the few places where the program's shape depends on them.
    pub values: &'a BTreeMap<String, DataValue>,
    /// The parameters found so far.
    pub parameters: Parameters,
    /// Whether the entry reaches the rule that is resolved. If not, it may apply a relation that does not exist or has other columns.
    pub(super) is_used: bool,
    /// Whether long lists become parameters, which no plan copies, and not constants.
    pub(super) keeps_data: bool,
    /// Evaluates the constant parts of expressions.
    pub(super) folding: Folding,
    /// The search indices that are read as relations, by the names of their predicates.
    pub(super) listings: BTreeMap<SmallStr, (Arc<SearchCall>, SourceSpan)>,
}

impl<'a> Resolver<'a> {
    /// A resolver without parameters so far.
    pub fn new(
        relations: &'a dyn Relations,
        fixed_rules: Option<&'a RuleSet>,
        values: &'a BTreeMap<String, DataValue>,
    ) -> Self {
        let (parameters, folding) = (Parameters::default(), Folding::default());
        let listings = BTreeMap::new();
        Resolver { relations, fixed_rules, values, parameters, is_used: true, keeps_data: false, folding, listings }
    }

    /// A resolver that knows no stored relations and no fixed rules.
    pub fn standalone(values: &'a BTreeMap<String, DataValue>) -> Self {
        Resolver::new(&NoRelations, None, values)
    }
}

impl Resolver<'_> {
    /// Resolves the rules of a query, which may apply the relations `given`.
    pub fn resolve(&mut self, query: &ast::Query, given: &[GivenRelation]) -> Result<Program<Formula>, ProgramError> {
        let mut by_name: BTreeMap<SmallStr, Vec<&ast::Rule>> = BTreeMap::new();
        for rule in &query.rules {
            by_name.entry(rule.head.name.name.clone()).or_default().push(rule);
        }
        if !by_name.contains_key(ENTRY) {
            return Err(ProgramError::NoEntry { span: query.span });
        }
        let reachable = reachable(&by_name);
        let mut predicates = BTreeMap::new();
        self.keeps_data = true;
        for (name, rules) in &by_name {
            budget::make_room(rules.len() * RULE_BYTES)?;
            self.is_used = reachable.contains(name);
            let predicate = self.predicate(name, rules)?;
            if self.is_used {
                predicates.insert(name.clone(), predicate);
            } else {
                passes::check_unused(predicate)?;
            }
        }
        self.keeps_data = false;
        for (number, relation) in given.iter().enumerate().filter(|(_, given)| reachable.contains(&given.name)) {
            predicates.insert(relation.name.clone(), given_predicate(number, relation, query.span));
        }
        predicates.extend(std::mem::take(&mut self.listings).into_iter().map(|(name, (call, span))| {
            let column = |column: &ColumnDefinition| HeadColumn { name: column.name.clone(), aggregation: None };
            let columns = call.index.listing.columns().map(column).collect();
            let definition = Definition::Constant(ConstantRows::Listing(call));
            (name, Predicate { columns, definition, span })
        }));
        check_applications(&predicates, self.relations)?;
        Ok(Program { predicates, components: vec![] })
    }

    fn predicate(&mut self, name: &SmallStr, rules: &[&ast::Rule]) -> Result<Predicate<Formula>, ProgramError> {
        let inline = |rule: &&ast::Rule| matches!(rule.body, ast::RuleBody::Inline(_));
        if rules.len() > 1
            && let Some(position) = rules.iter().position(|rule| !inline(rule))
        {
            let span = rules[position.max(1)].head.span;
            return Err(ProgramError::MultipleDefinitions { name: name.to_string(), span });
        }
        let last = rules[rules.len() - 1];
        match &last.body {
            ast::RuleBody::Constant(data) => self.constant(last, data),
            ast::RuleBody::Fixed(call) => self.fixed(last, call),
            ast::RuleBody::Inline(_) => self.inline(name, rules),
        }
    }

    fn inline(&mut self, name: &SmallStr, rules: &[&ast::Rule]) -> Result<Predicate<Formula>, ProgramError> {
        let mut resolved = vec![];
        let mut columns: Vec<HeadColumn> = vec![];
        for (i, rule) in rules.iter().enumerate() {
            let ast::RuleBody::Inline(body) = &rule.body else { unreachable!("only inline rules have several bodies") };
            let head = self.head(rule)?;
            if head.is_empty() {
                return Err(ProgramError::EmptyHead { name: name.to_string(), span: rule.head.span });
            }
            if i > 0 && !same_aggregations(&columns, &head) {
                return Err(ProgramError::HeadMismatch { name: name.to_string(), span: rule.head.span });
            }
            columns = head;
            let variables = rule.head.args.iter().map(|arg| variable(&arg.variable)).collect();
            resolved.push(Rule { head: variables, body: self.formula(body)?, span: rule.span });
        }
        let span = rules[rules.len() - 1].head.span;
        Ok(Predicate { columns, definition: Definition::Rules(resolved), span })
    }

    pub(super) fn head(&mut self, rule: &ast::Rule) -> Result<Vec<HeadColumn>, ProgramError> {
        let mut columns = vec![];
        for arg in &rule.head.args {
            if arg.variable.name == "_" && self.is_used {
                return Err(ProgramError::WildcardInHead { span: arg.variable.span });
            }
            let aggregation = match &arg.aggregation {
                Some(call) => Some(self.aggregation(call)?),
                None => None,
            };
            columns.push(HeadColumn { name: arg.variable.name.clone(), aggregation });
        }
        Ok(columns)
    }

    fn aggregation(&mut self, call: &ast::AggregationCall) -> Result<AggregationUse, ProgramError> {
        let name = call.name.name.as_str();
        let aggregation = aggregations::find(name).ok_or_else(|| CallError::UnknownAggregation {
            name: name.to_string(),
            hint: suggested_aggregation(name),
            span: call.name.span,
        })?;
        let args = call.args.iter().map(|arg| self.closed(arg)).collect::<Result<_, _>>()?;
        Ok(AggregationUse { aggregation, args, span: call.name.span })
    }

    fn formula(&mut self, formula: &ast::Formula) -> Result<Formula, ProgramError> {
        Ok(match formula {
            ast::Formula::And(parts) => Formula::And(parts.iter().map(|p| self.formula(p)).collect::<Result<_, _>>()?),
            ast::Formula::Or(parts) => Formula::Or(parts.iter().map(|p| self.formula(p)).collect::<Result<_, _>>()?),
            ast::Formula::Not(inner, _) => {
                let inner = self.formula(inner)?;
                for atom in inner.atoms() {
                    match atom {
                        Atom::Search(search) => return Err(SearchError::Negated { span: search.span }.into()),
                        Atom::AsOf(read) => return Err(ProgramError::NegatedAsOf { span: read.span }),
                        _ => {}
                    }
                }
                Formula::Not(Box::new(inner))
            }
            ast::Formula::Atom(ast::Atom::Search(search)) => {
                let (search, tests) = self.search(search)?;
                let tests = tests.into_iter().map(|(variable, expr)| Formula::Atom(Atom::Same(variable, expr)));
                Formula::And(std::iter::once(Formula::Atom(Atom::Search(search))).chain(tests).collect())
            }
            ast::Formula::Atom(ast::Atom::Stored(ast::StoredApply { validity: Some(time), .. }))
                if has_variables(time) =>
            {
                let ast::Formula::Atom(ast::Atom::Stored(apply)) = formula else { unreachable!("just matched") };
                self.as_of(apply, time)?
            }
            ast::Formula::Atom(atom) => Formula::Atom(self.atom(atom)?),
        })
    }

    pub(super) fn atom(&mut self, atom: &ast::Atom) -> Result<Atom, ProgramError> {
        budget::make_room(ATOM_BYTES)?;
        match atom {
            ast::Atom::Rule(apply) => {
                if apply.name.name == ENTRY {
                    return Err(ProgramError::EntryApplied { span: apply.span });
                }
                let args = apply.args.iter().map(|arg| self.arg(arg)).collect::<Result<_, _>>()?;
                let target = Target::Predicate(apply.name.name.clone());
                Ok(Atom::Apply(Apply { target, args, negated: false, span: apply.span }))
            }
            ast::Atom::Stored(apply) => self.stored(apply),
            ast::Atom::Search(search) => unreachable!("a search is a formula: {:?}", search.span),
            ast::Atom::Unify { variable: name, expr, .. } => Ok(Atom::Unify(variable(name), self.expr(expr)?)),
            ast::Atom::Unnest { variable: name, expr, .. } => Ok(Atom::Unnest(variable(name), self.expr(expr)?)),
            ast::Atom::Filter(expr) => Ok(Atom::Filter(self.expr(expr)?)),
        }
    }

    fn stored(&mut self, apply: &ast::StoredApply) -> Result<Atom, ProgramError> {
        if let (false, ast::StoredArgs::Positional(args)) = (self.is_used, &apply.args) {
            let args = args.iter().map(|arg| self.arg(arg)).collect::<Result<_, _>>()?;
            let target = Target::Predicate(apply.name.name.clone());
            return Ok(Atom::Apply(Apply { target, args, negated: false, span: apply.span }));
        }
        let (target, schema) = self.stored_target(&apply.name, apply.validity.as_ref())?;
        let args = match &apply.args {
            ast::StoredArgs::Positional(args) => {
                self.check_arity(&schema, args.len(), apply.span)?;
                args.iter().map(|arg| self.arg(arg)).collect::<Result<_, _>>()?
            }
            ast::StoredArgs::Named(named) => self.named_args(&schema, named)?,
        };
        Ok(Atom::Apply(Apply { target, args, negated: false, span: apply.span }))
    }

    /// Whether a stored relation has so many columns.
    pub(super) fn check_arity(&self, schema: &SchemaRef, found: usize, span: SourceSpan) -> Result<(), ProgramError> {
        if found == schema.arity() {
            return Ok(());
        }
        let (name, expected) = (schema.name.to_string(), schema.arity());
        let hint = format!("{}; '_' stands for one of no interest, and *{name}{{column}} names some", schema.listed());
        Err(ProgramError::ApplicationArity { name, hint, expected, found, span })
    }

    /// A stored relation to read, and its columns. The listing of a search index becomes a predicate.
    pub(super) fn stored_target(
        &mut self,
        name: &ast::Symbol,
        time: Option<&ast::Expr>,
    ) -> Result<(Target, SchemaRef), ProgramError> {
        let read = self.stored_read(name, time)?;
        let schema = read.schema.clone();
        let base =
            name.name.split_once(':').and_then(|(relation, index)| Some((self.relations.find(relation)?, index)));
        let listed = base.as_ref().and_then(|(relation, index)| Some((relation, relation.search(index)?)));
        let Some((relation, index)) = listed.filter(|(_, index)| !index.is_listed_as_stored()) else {
            return Ok((Target::Stored(read), schema));
        };
        let predicate = SmallStr::from(format!("*{}", name.name));
        if !self.listings.contains_key(&predicate) {
            self.listings.insert(predicate.clone(), (listing(relation, index, name.span)?, name.span));
        }
        Ok((Target::Predicate(predicate), schema))
    }

    fn named_args(&mut self, schema: &SchemaRef, named: &[ast::NamedArg]) -> Result<Vec<Arg>, ProgramError> {
        let mut args = vec![Arg::Wildcard; schema.arity()];
        check_once(named.iter().map(|arg| &arg.column), "column")?;
        for arg in named {
            let index = column_index(schema, &arg.column)?;
            args[index] = self.arg(&arg.expr)?;
        }
        Ok(args)
    }

    /// A stored relation that may be read.
    pub(super) fn readable(&self, name: &ast::Symbol) -> Result<SchemaRef, ProgramError> {
        let schema = self.relations.find(&name.name).ok_or_else(|| self.no_relation(name))?;
        schema.require(AccessLevel::ReadOnly, "read", name.span)?;
        Ok(schema)
    }

    /// The error of a name that no relation has.
    pub fn no_relation(&self, name: &ast::Symbol) -> RelationError {
        RelationError::not_found(&name.name, name.span, &self.relations.names())
    }

    fn arg(&mut self, arg: &ast::Expr) -> Result<Arg, ProgramError> {
        Ok(match arg {
            ast::Expr::Variable(symbol) if symbol.name == "_" => Arg::Wildcard,
            ast::Expr::Variable(symbol) => Arg::Variable(variable(symbol)),
            expr => Arg::Expr(self.expr(expr)?),
        })
    }
}

/// Refuses a name that occurs twice, since it is unknown which occurrence is meant.
pub(super) fn check_once<'s>(
    names: impl Iterator<Item = &'s ast::Symbol>,
    what: &'static str,
) -> Result<(), ProgramError> {
    let mut seen = BTreeMap::new();
    for symbol in names {
        if let Some(first) = seen.insert(&symbol.name, symbol.span) {
            return Err(ProgramError::GivenTwice { what, name: symbol.to_string(), first, span: symbol.span });
        }
    }
    Ok(())
}

pub(super) fn variable(symbol: &ast::Symbol) -> Variable {
    Variable { name: symbol.name.clone(), span: symbol.span }
}

fn same_aggregations(a: &[HeadColumn], b: &[HeadColumn]) -> bool {
    let same = |x: &HeadColumn, y: &HeadColumn| match (&x.aggregation, &y.aggregation) {
        (None, None) => true,
        (Some(x), Some(y)) => {
            x.aggregation.name == y.aggregation.name
                && x.args.len() == y.args.len()
                && x.args.iter().zip(&y.args).all(|(x, y)| x.to_string() == y.to_string())
        }
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x, y))
}

/// The predicate of a relation that the caller passes in.
fn given_predicate(number: usize, relation: &GivenRelation, span: SourceSpan) -> Predicate<Formula> {
    let column = |name: &SmallStr| HeadColumn { name: name.clone(), aggregation: None };
    let columns = relation.columns.iter().map(column).collect();
    Predicate { columns, definition: Definition::Constant(ConstantRows::Given(number)), span }
}

/// The names of the predicates that the entry reaches, also of undefined ones.
fn reachable(rules: &BTreeMap<SmallStr, Vec<&ast::Rule>>) -> FxHashSet<SmallStr> {
    let mut reached = FxHashSet::default();
    let mut waiting = vec![SmallStr::from(ENTRY)];
    while let Some(name) = waiting.pop() {
        if !reached.insert(name.clone()) {
            continue;
        }
        for rule in rules.get(&name).into_iter().flatten() {
            match &rule.body {
                ast::RuleBody::Inline(formula) => applied(formula, &mut waiting, &reached),
                ast::RuleBody::Fixed(call) => {
                    for input in &call.inputs {
                        if let ast::FixedInput::Rule { name, .. } = input
                            && !reached.contains(&name.name)
                        {
                            waiting.push(name.name.clone());
                        }
                    }
                }
                ast::RuleBody::Constant(_) => {}
            }
        }
    }
    reached
}

fn applied(formula: &ast::Formula, waiting: &mut Vec<SmallStr>, reached: &FxHashSet<SmallStr>) {
    match formula {
        ast::Formula::And(parts) | ast::Formula::Or(parts) => {
            parts.iter().for_each(|part| applied(part, waiting, reached));
        }
        ast::Formula::Not(inner, _) => applied(inner, waiting, reached),
        ast::Formula::Atom(atom) => {
            let atom = match atom {
                ast::Atom::Search(search) => search.within.as_deref(),
                atom => Some(atom),
            };
            if let Some(ast::Atom::Rule(apply)) = atom
                && !reached.contains(&apply.name.name)
            {
                waiting.push(apply.name.name.clone());
            }
        }
    }
}
