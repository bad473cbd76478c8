//! From a stratified program to a plan.
//!
//! [`build`] numbers the tables in the order of evaluation and plans each rule. A recursive rule is planned once for each atom of its own
//! component, since that atom reads the delta. For one variant of a rule:
//!
//! 1. `Estimates` orders the atoms that give rows, if an order may be chosen (`order`).
//! 2. [`RuleBuilder`] turns atom after atom into operators over slots. It takes an index (`indices`) or an intersection (`intersect`) if
//!    one serves.
//! 3. `passes::of_operators` narrows scans by filters, and joins by equalities of expressions.
//! 4. `with_kept_slots` drops outputs that no operator reads, and says which slots each operator carries over.
//! 5. `passes::of_rule` adds distinct operators before joins, and sorts a scan for the look-up that follows.
//!
//! At last `passes::of_plan` marks tables and rules, chooses the strategy of the plan, and numbers its operators.
//!
//! **Invariant**: a slot is filled once. If an aggregation depends on the order of solutions (`keeps_order`), steps that change the order
//! are left out: other join orders, intersections, and sorted scans.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::order::{Estimates, Ordered, has_choice};
use super::statistics::Statistics;
use super::{
    ComponentPlan, ConstantPlan, FixedInputPlan, FixedPlan, JoinPlan, MatchOrder, Method, OperatorKind, Plan, RulePlan,
    SemiJoinPlan, Source, Strategy, TableKind, TablePart, TablePlan, passes,
};
use crate::budget::{self, Stop};
use crate::expr::Expr;
use crate::program::{
    AggregationUse, Apply, Arg, Atom, Component, ConstantRows, Definition, ENTRY, FixedApply, FixedInput, Predicate,
    Program, Rule, StoredRead, Target, Variable,
};
use crate::schema::RelationId;
use crate::value::SmallStr;

/// About how many bytes an operator takes.
const ATOM_BYTES: usize = 1 << 8;

/// The order in which atoms run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinOrder {
    /// The written order.
    Written,
    /// The written order, unless another is clearly cheaper.
    ByCost,
}

/// Plans a stratified program.
pub fn build(program: &Program, statistics: &dyn Statistics, join_order: JoinOrder) -> Result<Plan, Stop> {
    let join_order = if has_choice(program) { join_order } else { JoinOrder::Written };
    let names: Vec<&SmallStr> = program.components.iter().flat_map(|component| &component.predicates).collect();
    let numbers: FxHashMap<&SmallStr, usize> = names.iter().enumerate().map(|(i, name)| (*name, i)).collect();
    let mut planner = Planner {
        numbers: &numbers,
        estimates: Estimates::new(statistics),
        join_order,
        keeps_order: false,
        depends_on_sizes: false,
    };
    let mut tables: Vec<TablePlan> = vec![];
    let mut components = vec![];
    for component in &program.components {
        components.push(planner.component(program, component, &mut tables)?);
    }
    let entry = &program.predicates[ENTRY];
    let (reads, times, depends_on_sizes) = (reads(&components), times(&components), planner.depends_on_sizes);
    let (entry_table, headers) = (numbers[&SmallStr::from(ENTRY)], entry.headers());
    let mut plan = Plan {
        tables,
        components,
        entry: entry_table,
        headers,
        reads,
        times,
        depends_on_sizes,
        strategy: Strategy::Batches,
        costly: false,
    };
    passes::of_plan(&mut plan);
    Ok(plan)
}

fn fixed(table: usize, apply: &FixedApply, numbers: &FxHashMap<&SmallStr, usize>) -> FixedPlan {
    let input = |input: &FixedInput| FixedInputPlan {
        source: source(&input.target, numbers),
        bindings: input.bindings.clone(),
        span: input.span,
    };
    FixedPlan {
        table,
        name: apply.name.clone(),
        rule: apply.rule.clone(),
        inputs: apply.inputs.iter().map(input).collect(),
        options: apply.options.clone(),
        span: apply.span,
        text: apply.to_string(),
    }
}

fn source(target: &Target, numbers: &FxHashMap<&SmallStr, usize>) -> Source {
    match target {
        Target::Predicate(name) => Source::Table(numbers[name]),
        Target::Stored(read) => Source::Stored(read.clone()),
    }
}

/// All sources that rules and fixed rules read.
fn sources(components: &[ComponentPlan]) -> impl Iterator<Item = &Source> {
    let operators = components.iter().flat_map(|component| &component.rules).flat_map(|rule| &rule.operators);
    let inputs = components.iter().flat_map(|component| &component.fixed).flat_map(|fixed| &fixed.inputs);
    operators.flat_map(|operator| operator.kind.sources()).chain(inputs.map(|input| &input.source))
}

/// The stored relations that are read.
fn reads(components: &[ComponentPlan]) -> SmallVec<[RelationId; 4]> {
    let mut reads: SmallVec<[RelationId; 4]> = sources(components)
        .filter_map(|source| match source {
            Source::Stored(read) => Some(read.schema.id),
            Source::Table(_) => None,
        })
        .collect();
    reads.sort();
    reads.dedup();
    reads
}

/// The times at which histories are read, each once: copies of an atom share its time.
fn times(components: &[ComponentPlan]) -> Vec<Expr> {
    let mut times: Vec<Expr> = vec![];
    let mut spans = FxHashSet::default();
    for source in sources(components) {
        if let Source::Stored(StoredRead { as_of: Some(time), .. }) = source
            && spans.insert(time.span())
        {
            times.push(time.clone());
        }
    }
    times
}

/// The state that the rules of one plan share.
struct Planner<'a> {
    numbers: &'a FxHashMap<&'a SmallStr, usize>,
    estimates: Estimates<'a>,
    join_order: JoinOrder,
    /// Whether the solutions of the component's rules come in the order of atoms and relations.
    keeps_order: bool,
    depends_on_sizes: bool,
}

impl Planner<'_> {
    /// Plans the predicates of a component, and adds their tables.
    fn component(
        &mut self,
        program: &Program,
        component: &Component,
        tables: &mut Vec<TablePlan>,
    ) -> Result<ComponentPlan, Stop> {
        if self.join_order == JoinOrder::ByCost {
            self.estimates.enter_component(program, &component.predicates, component.recursive)?;
        }
        // The names are in the order of the components.
        let members = tables.len()..tables.len() + component.predicates.len();
        let mut plan = ComponentPlan {
            tables: members.clone().collect(),
            recursive: component.recursive,
            rules: vec![],
            constants: vec![],
            fixed: vec![],
            row_by_row: false,
        };
        let kind = |name| table_kind(&program.predicates[name], component.recursive);
        let kinds: Vec<TableKind> = component.predicates.iter().map(kind).collect();
        self.keeps_order = kinds.iter().any(TableKind::order_matters);
        for (name, kind) in component.predicates.iter().zip(kinds) {
            let (predicate, table) = (&program.predicates[name], self.numbers[name]);
            // Sorted, so that the first of equal numbers is the same one however constants are written.
            let written =
                matches!(&predicate.definition, Definition::Constant(rows) if !matches!(rows, ConstantRows::Given(_)));
            let in_order = written && name != ENTRY;
            match &predicate.definition {
                Definition::Constant(rows) => {
                    plan.constants.push(ConstantPlan { table, rows: rows.clone(), span: predicate.span });
                }
                Definition::Fixed(apply) => plan.fixed.push(fixed(table, apply, self.numbers)),
                Definition::Rules(rules) => {
                    let own = if component.recursive { members.clone() } else { 0..0 };
                    for rule in rules {
                        plan.rules.append(&mut self.rule(table, rule, &own, &kind)?);
                    }
                }
            }
            let arity = predicate.columns.len();
            tables.push(TablePlan { name: name.clone(), arity, kind, in_order, unique: false, read_by_entry: false });
        }
        Ok(plan)
    }

    /// Plans a rule: once, or once for each atom of its own component.
    fn rule(&mut self, table: usize, rule: &Rule, own: &Range<usize>, kind: &TableKind) -> Result<Vec<RulePlan>, Stop> {
        let is_own = |atom: &Atom| match atom {
            Atom::Apply(Apply { target: Target::Predicate(name), negated: false, .. }) => {
                !own.is_empty() && own.contains(&self.numbers[name])
            }
            _ => false,
        };
        let recursive: Vec<usize> = (0..rule.body.len()).filter(|at| is_own(&rule.body[*at])).collect();
        if recursive.is_empty() {
            return Ok(vec![self.variant(table, rule, &[], kind)?]);
        }
        let part = |at: usize, delta: usize| match at.cmp(&delta) {
            std::cmp::Ordering::Less => TablePart::Old,
            std::cmp::Ordering::Equal => TablePart::Delta,
            std::cmp::Ordering::Greater => TablePart::Known,
        };
        let variants = recursive.iter().map(|delta| {
            let parts: Vec<(usize, TablePart)> = recursive.iter().map(|at| (*at, part(*at, *delta))).collect();
            self.variant(table, rule, &parts, kind)
        });
        variants.collect()
    }

    /// Plans a rule whose atoms of its own component read these parts.
    fn variant(
        &mut self,
        table: usize,
        rule: &Rule,
        parts: &[(usize, TablePart)],
        kind: &TableKind,
    ) -> Result<RulePlan, Stop> {
        budget::make_room(rule.body.len() * ATOM_BYTES)?;
        let delta = parts.iter().find(|(_, part)| *part == TablePart::Delta).map(|(position, _)| *position);
        let by_cost = self.join_order == JoinOrder::ByCost;
        let ordered = match delta {
            _ if by_cost && !self.keeps_order => self.estimates.order(rule, delta)?,
            Some(delta) if by_cost => self.estimates.begun_with(rule, delta)?,
            _ => Ordered::as_written(rule),
        };
        self.depends_on_sizes |= ordered.had_choice;
        // Without sizes there are no intersections, which give values in an order of their own.
        let estimates = (by_cost && !self.keeps_order).then_some(&self.estimates);
        let bag = matches!(kind, TableKind::Groups(_));
        Ok(RuleBuilder::new(self.numbers, estimates, parts, bag, self.keeps_order).rule(table, rule, ordered))
    }
}

fn table_kind(predicate: &Predicate, recursive: bool) -> TableKind {
    let aggregation = |column: &crate::program::HeadColumn| column.aggregation.clone();
    if !predicate.is_aggregated() {
        TableKind::Set
    } else if recursive {
        let aggregations: Vec<AggregationUse> = predicate.columns.iter().filter_map(aggregation).collect();
        TableKind::Meet { keys: predicate.columns.len() - aggregations.len(), aggregations }
    } else {
        TableKind::Groups(predicate.columns.iter().map(aggregation).collect())
    }
}

pub(super) struct RuleBuilder<'a> {
    numbers: &'a FxHashMap<&'a SmallStr, usize>,
    /// The sizes, where they may decide.
    pub(super) estimates: Option<&'a Estimates<'a>>,
    /// The atoms (by written position) that read a table of the rule's own component, and which of its rows.
    parts: &'a [(usize, TablePart)],
    /// Whether each solution counts, even if solutions give equal rows.
    bag: bool,
    /// Whether solutions come in the order of atoms and relations.
    pub(super) keeps_order: bool,
    pub(super) slots: BTreeMap<SmallStr, usize>,
    next_slot: usize,
    pub(super) operators: Vec<OperatorKind>,
    /// The operators that read a part of a table.
    reads: Vec<(usize, TablePart)>,
}

impl<'a> RuleBuilder<'a> {
    fn new(
        numbers: &'a FxHashMap<&'a SmallStr, usize>,
        estimates: Option<&'a Estimates<'a>>,
        parts: &'a [(usize, TablePart)],
        bag: bool,
        keeps_order: bool,
    ) -> Self {
        let (slots, operators, reads) = (BTreeMap::new(), vec![], vec![]);
        RuleBuilder { numbers, estimates, parts, bag, keeps_order, slots, next_slot: 0, operators, reads }
    }

    /// For each atom of an ordered body the part of a table that it reads, if it reads a part. `origins` are the written positions of the
    /// atoms that apply a relation.
    fn parts_of(&self, body: &[Atom], origins: &[usize]) -> Vec<Option<TablePart>> {
        let parts_at: BTreeMap<usize, TablePart> = self.parts.iter().copied().collect();
        let mut parts = origins.iter().map(|origin| parts_at.get(origin).copied());
        let part_of = |atom: &Atom| match atom {
            Atom::Apply(apply) if !apply.negated => parts.next().flatten(),
            _ => None,
        };
        body.iter().map(part_of).collect()
    }

    fn rule(mut self, table: usize, rule: &Rule, ordered: Ordered) -> RulePlan {
        let body = ordered.body;
        let parts_of = self.parts_of(&body, &ordered.origins);
        let mut done = vec![false; body.len()];
        for (at, atom) in body.iter().enumerate() {
            if std::mem::replace(&mut done[at], true) {
                continue;
            }
            match atom {
                Atom::Apply(apply) if apply.negated => self.absent(apply),
                Atom::Apply(apply) => match self.intersection(&body, &parts_of, at) {
                    Some((intersection, taken)) => {
                        self.operators.push(OperatorKind::Intersect(intersection));
                        taken.into_iter().for_each(|at| done[at] = true);
                    }
                    None => self.apply(apply, parts_of[at]),
                },
                Atom::Filter(expr) => {
                    let expr = self.slotted(expr);
                    self.operators.push(OperatorKind::Filter(expr));
                }
                Atom::Same(variable, expr) => {
                    let expr = self.slotted(expr);
                    self.operators.push(OperatorKind::Same(self.slots[&variable.name], expr));
                }
                Atom::Unify(variable, expr) => self.unify(variable, expr),
                Atom::Unnest(variable, expr) => {
                    let expr = self.slotted(expr);
                    let slot = (variable.name != "_").then(|| self.bind(&variable.name));
                    self.operators.push(OperatorKind::Unnest(slot, expr));
                }
            }
        }
        let head: Vec<usize> = rule.head.iter().map(|variable| self.slots[&variable.name]).collect();
        passes::of_operators(&mut self.operators);
        let mut rule = RulePlan {
            number: 0,
            table,
            operators: passes::with_kept_slots(self.operators, &head),
            head,
            slots: self.next_slot,
            reads: self.reads,
            end: None,
            reason: ordered.reason,
            text: rule.to_string(),
        };
        passes::of_rule(&mut rule, self.bag, self.keeps_order);
        rule
    }

    /// A slot for a variable that becomes bound.
    pub(super) fn bind(&mut self, name: &SmallStr) -> usize {
        let slot = self.fresh_slot();
        self.slots.insert(name.clone(), slot);
        slot
    }

    pub(super) fn fresh_slot(&mut self) -> usize {
        self.next_slot += 1;
        self.next_slot - 1
    }

    /// The expression with slots in place of variables.
    pub(super) fn slotted(&self, expr: &Expr) -> Expr {
        expr.map_leaves(&mut |leaf| match leaf {
            Expr::Variable(name, span) => Expr::Slot(self.slots[name], *span),
            other => other.clone(),
        })
    }

    /// A bound variable as an expression; `None` for a free one.
    pub(super) fn known(&self, variable: &Variable) -> Option<Expr> {
        self.slots.get(&variable.name).map(|slot| Expr::Slot(*slot, variable.span))
    }

    /// The arguments that are bound before the atom, by column.
    fn bound_args(&self, apply: &Apply) -> Vec<(usize, Expr)> {
        let bound = |(column, arg): (usize, &Arg)| match arg {
            Arg::Variable(variable) => Some((column, self.known(variable)?)),
            Arg::Expr(expr) => Some((column, self.slotted(expr))),
            Arg::Wildcard => None,
        };
        apply.args.iter().enumerate().filter_map(bound).collect()
    }

    pub(super) fn source(&self, target: &Target) -> Source {
        source(target, self.numbers)
    }

    /// How rows with these columns bound are found, and how many of the columns (from the first) the method uses.
    fn method(&self, source: &Source, bound: &[(usize, Expr)]) -> (Method, usize) {
        let Source::Stored(stored) = source else {
            return if bound.is_empty() { (Method::Scan, 0) } else { (Method::Hash, bound.len()) };
        };
        let is_prefix =
            |(i, (column, _)): &(usize, &(usize, Expr))| column == i && *column < stored.identifying_columns();
        match bound.iter().enumerate().take_while(is_prefix).count() {
            0 if bound.is_empty() => (Method::Scan, 0),
            // For a single input row, a scan is cheaper than an index.
            0 if self.single_row_input() => (Method::Scan, 0),
            0 => (Method::Hash, bound.len()),
            leading => (Method::Prefix, leading),
        }
    }

    /// Whether the operators so far give one row at most.
    fn single_row_input(&self) -> bool {
        self.operators.iter().all(OperatorKind::gives_a_row_for_each)
    }

    pub(super) fn unify(&mut self, variable: &Variable, expr: &Expr) {
        let expr = self.slotted(expr);
        let slot = self.bind(&variable.name);
        self.operators.push(OperatorKind::Unify(slot, expr));
    }

    pub(super) fn bound_columns(&self, apply: &Apply) -> Vec<usize> {
        self.bound_args(apply).into_iter().map(|(column, _)| column).collect()
    }

    pub(super) fn join(&mut self, apply: &Apply, part: Option<TablePart>) {
        let source = self.source(&apply.target);
        let bound = self.bound_args(apply);
        let gives_nothing = bound.len() == apply.args.iter().filter(|arg| !matches!(arg, Arg::Wildcard)).count();
        let (method, used) = self.method(&source, &bound);
        let whole_key = match &source {
            Source::Stored(read) => {
                (0..read.identifying_columns()).all(|key| bound.iter().any(|(column, _)| *column == key))
            }
            Source::Table(_) => false,
        };
        // An atom that binds nothing new is a test, if equal rows count once or there is one match at most.
        let once = !self.bag || whole_key;
        if gives_nothing && once && part.is_none() && !bound.is_empty() && used == bound.len() {
            return self.exists(apply, false);
        }
        let mut outputs = vec![];
        let mut tests = vec![];
        let mut keys = bound;
        for (column, expr) in keys.split_off(used) {
            let slot = self.fresh_slot();
            outputs.push((column, slot));
            tests.push(OperatorKind::Same(slot, expr));
        }
        for (column, arg) in apply.args.iter().enumerate() {
            if let Arg::Variable(variable) = arg
                && !self.slots.contains_key(&variable.name)
            {
                outputs.push((column, self.bind(&variable.name)));
            }
        }
        if let Some(part) = part {
            self.reads.push((self.operators.len(), part));
        }
        self.operators.push(OperatorKind::Join(JoinPlan {
            source,
            method,
            keys,
            outputs,
            bounds: vec![],
            sort_by: None,
            order: if self.keeps_order { MatchOrder::Input } else { MatchOrder::Any },
            equal: None,
        }));
        self.operators.extend(tests);
    }

    pub(super) fn exists(&mut self, apply: &Apply, negated: bool) {
        let source = source(&apply.target, self.numbers);
        let keys = self.bound_args(apply);
        let method = match self.method(&source, &keys) {
            (Method::Prefix, used) if used == keys.len() => Method::Prefix,
            _ => Method::Hash,
        };
        self.operators.push(OperatorKind::SemiJoin(SemiJoinPlan { source, method, keys, negated }));
    }
}
