//! From a stratified program to a plan.
//!
//! [`build`] numbers the tables in the order of evaluation and plans each rule. A recursive rule is planned once for each atom of its own
//! component, since that atom reads the delta. For one variant of a rule, [`Estimates`] orders the atoms that give rows, if an order may
//! be chosen (`order`), and a [`RuleBuilder`] turns them into operators. At last `passes::of_plan` marks tables and rules, chooses the
//! strategy of the plan, and numbers its operators.
//!
//! A plan of the form [`Form::Plain`] is for another engine: its operators are joins, tests and assignments.
//!
//! If an aggregation depends on the order of solutions (`keeps_order`), steps that change the order are left out: other join orders,
//! intersections, and sorted scans.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::early::{Early, aggregate_early};
use super::estimates::Estimates;
use super::order::{Ordered, has_choice};
use super::rule_builder::RuleBuilder;
use super::statistics::Statistics;
use super::{
    ComponentPlan, ConstantPlan, FixedInputPlan, FixedPlan, Plan, RulePlan, Source, Strategy, TableKind, TablePart,
    TablePlan, passes,
};
use crate::budget::{self, Stop};
use crate::expr::Expr;
use crate::program::{
    AggregationUse, Apply, Atom, Component, ConstantRows, Definition, ENTRY, FixedApply, FixedInput, HeadColumn,
    Predicate, Program, Rule, StoredRead, Target,
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

/// Which operators a plan may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All that this engine runs.
    Local,
    /// Those that any engine with joins runs: no way of reading an index, no intersections, no early aggregation.
    Plain,
}

/// Plans a stratified program.
pub fn build(program: &Program, statistics: &dyn Statistics, join_order: JoinOrder, form: Form) -> Result<Plan, Stop> {
    let join_order = if has_choice(program) { join_order } else { JoinOrder::Written };
    let headers = program.predicates[ENTRY].headers();
    let Early { program, rewritten, estimates } = match (join_order, form) {
        (JoinOrder::Written, _) | (_, Form::Plain) => Early::unchanged(program),
        (JoinOrder::ByCost, Form::Local) => aggregate_early(program, statistics)?,
    };
    let program = &*program;
    let names: Vec<&SmallStr> = program.components.iter().flat_map(|component| &component.predicates).collect();
    let numbers: FxHashMap<&SmallStr, usize> = names.iter().enumerate().map(|(i, name)| (*name, i)).collect();
    let mut planner = Planner {
        numbers: &numbers,
        has_estimates: estimates.is_some(),
        estimates: estimates.unwrap_or_else(|| Estimates::new(statistics)),
        join_order,
        form,
        rewritten: rewritten.iter().map(|name| numbers[name]).collect(),
        keeps_order: false,
        depends_on_sizes: false,
    };
    let mut tables: Vec<TablePlan> = vec![];
    let mut components = vec![];
    for component in &program.components {
        components.push(planner.component(program, component, &mut tables)?);
    }
    let (reads, times, depends_on_sizes) = (reads(&components), times(&components), planner.depends_on_sizes);
    let entry_table = numbers[&SmallStr::from(ENTRY)];
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
        source: Source::of(&input.target, numbers),
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

/// All sources that rules and fixed rules read.
fn sources(components: &[ComponentPlan]) -> impl Iterator<Item = &Source> {
    let operators = components.iter().flat_map(|component| &component.rules).flat_map(|rule| &rule.operators);
    let inputs = components.iter().flat_map(|component| &component.fixed).flat_map(|fixed| &fixed.inputs);
    operators.flat_map(|operator| operator.kind.sources()).chain(inputs.map(|input| &input.source))
}

/// The stored relations that are read.
fn reads(components: &[ComponentPlan]) -> SmallVec<[RelationId; 4]> {
    let of_sources = sources(components).filter_map(|source| match source {
        Source::Stored(read) => Some(read.schema.id),
        Source::Table(_) => None,
    });
    let constants = components.iter().flat_map(|component| &component.constants);
    let of_listings = constants.filter_map(|constant| match &constant.rows {
        ConstantRows::Listing(call) => Some(call.schema.id),
        _ => None,
    });
    let mut reads: SmallVec<[RelationId; 4]> = of_sources.chain(of_listings).collect();
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
    /// Whether all components were estimated before.
    has_estimates: bool,
    join_order: JoinOrder,
    form: Form,
    /// The tables whose rules are not as they were written.
    rewritten: BTreeSet<usize>,
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
        if self.join_order == JoinOrder::ByCost && !self.has_estimates {
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
            _ if by_cost && !self.keeps_order => self.estimates.order(rule, delta, !self.rewritten.contains(&table))?,
            Some(delta) if by_cost => self.estimates.begun_with(rule, delta)?,
            _ => Ordered::as_written(rule),
        };
        self.depends_on_sizes |= ordered.had_choice;
        // Without sizes there are no intersections, which give values in an order of their own.
        let estimates = (by_cost && !self.keeps_order && self.form == Form::Local).then_some(&self.estimates);
        let bag = matches!(kind, TableKind::Groups(_));
        let order = (self.form, self.keeps_order);
        Ok(RuleBuilder::new(self.numbers, estimates, parts, bag, order).rule(table, rule, ordered))
    }
}

fn table_kind(predicate: &Predicate, recursive: bool) -> TableKind {
    let aggregation = |column: &HeadColumn| column.aggregation.clone();
    if !predicate.is_aggregated() {
        TableKind::Set
    } else if recursive {
        let aggregations: Vec<AggregationUse> = predicate.columns.iter().filter_map(aggregation).collect();
        TableKind::Meet { keys: predicate.columns.len() - aggregations.len(), aggregations }
    } else {
        TableKind::Groups(predicate.columns.iter().map(aggregation).collect())
    }
}
