//! The compilation of a query: names are resolved, the program is rewritten, and a plan is made.

use std::collections::BTreeMap;

use super::statistics::{Sampled, Sizes};
use crate::fixed_rule::{FixedRules, RuleSet};
use crate::parse::ast::{Expr, Mutation, MutationOp, Query, QueryOption};
use crate::plan::{
    Form, JoinOrder, MutationPlan, OptionError, Options, Plan, Statistics, Strategy, ValueSource, build, constant,
    plan_mutation, plan_options,
};
use crate::program::{GivenRelation, Parameters, Program, Relations, Resolver, Rewriting, prepare};
use crate::schema::SchemaRef;
use crate::txn::Transaction;
use crate::value::{DataValue, SmallStr};

/// The time limit in seconds of a query without an option for it.
pub const DEFAULT_TIMEOUT_SECONDS: f64 = 300.0;

/// A query ready to run with any parameters, against one state of the catalog.
pub struct CompiledQuery {
    /// The plan; none for `:create` without rules.
    pub plan: Option<Plan>,
    /// The options.
    pub options: Options,
    /// The operation on its rows.
    pub mutation: Option<MutationPlan>,
    /// The parameters that it mentions.
    pub parameters: Parameters,
    /// Whether it gives a single small row that is found quickly, so that a budget would cost more than the query.
    pub is_small: bool,
    /// The versions of the catalog and of the fixed rules that it was compiled against.
    compiled_against: (u64, u64),
    /// The sizes of relations that the plan depends on.
    sizes: Sizes,
}

/// The time limit of a query by its option, which is evaluated before the rest of the query is compiled. An invalid option is
/// ignored here and reported when the options are compiled.
pub fn timeout_of(query: &Query, values: &BTreeMap<String, DataValue>) -> Option<f64> {
    let timeout = query.options.iter().rev().find_map(|option| match option {
        QueryOption::Timeout(expr) => Some(expr),
        _ => None,
    })?;
    let mut resolver = Resolver::standalone(values);
    let closed = constant(timeout, &mut resolver).ok()?;
    closed.eval_closed(&resolver.parameters.bind(values).ok()?).ok()?.get_float()
}

impl CompiledQuery {
    /// Whether it is still valid for what the transaction sees.
    #[inline]
    pub fn still_holds(&self, txn: &Transaction, fixed_rules: &FixedRules) -> bool {
        self.compiled_against == (txn.catalog().version, fixed_rules.version()) && self.sizes.still_hold(txn)
    }

    /// Compiles a query, which may apply the given relations.
    pub fn compile(
        query: &Query,
        txn: &Transaction,
        fixed_rules: &RuleSet,
        values: &BTreeMap<String, DataValue>,
        given: &[GivenRelation],
    ) -> miette::Result<Self> {
        Self::compile_as(query, txn, fixed_rules, values, given, (&Sampled::new(txn), Form::Local))
    }

    /// [`CompiledQuery::compile`] by other statistics, or into a plan of another form.
    pub fn compile_as(
        query: &Query,
        txn: &Transaction,
        fixed_rules: &RuleSet,
        values: &BTreeMap<String, DataValue>,
        given: &[GivenRelation],
        (statistics, form): (&dyn Statistics, Form),
    ) -> miette::Result<Self> {
        let relations = Visible(txn);
        let (fixed_rules_version, fixed_rules) = (fixed_rules.version, Some(fixed_rules));
        let mut resolver = Resolver::new(&relations, fixed_rules, values);
        let mut mutations = query.options.iter().filter_map(|option| match option {
            QueryOption::Mutation(mutation) => Some(mutation),
            _ => None,
        });
        let mutation = mutations.next();
        if let Some(second) = mutations.next() {
            return Err(OptionError::MultipleMutations { span: second.span }.into());
        }
        let mut plan = None;
        if !mutation.is_some_and(|mutation| needs_no_rows(mutation, query, txn)) {
            let (program, join_order) = rewritten(query, given, &mut resolver)?;
            plan = Some(build(&program, statistics, join_order, form)?);
        }
        let headers = plan.as_ref().map(|plan| plan.headers.as_slice());
        let options = plan_options(&query.options, headers.unwrap_or_default(), &mut resolver)?;
        let mut mutation = match mutation {
            Some(mutation) => {
                let existing = txn.relation(&mutation.relation.name);
                Some(plan_mutation(mutation, headers, existing, &mut resolver)?)
            }
            None => None,
        };
        if let Some(plan) = &mut plan {
            plan.follow(&options);
        }
        // The order names columns of the rule, whose positions must not change.
        let names_columns = !options.order.is_empty();
        if let (Some(plan), Some(mutation), false, Form::Local) = (&mut plan, &mut mutation, names_columns, form) {
            plan.give_in_order_of(mutation);
        }
        let parameters = std::mem::take(&mut resolver.parameters);
        let compiled_against = (txn.catalog().version, fixed_rules_version);
        let sizes = plan.as_ref().filter(|plan| plan.depends_on_sizes).map(|plan| Sizes::now(&plan.reads, txn));
        let sizes = sizes.unwrap_or_default();
        let is_small = plan.as_ref().is_some_and(|plan| is_small(plan, mutation.as_ref()));
        Ok(CompiledQuery { plan, options, mutation, parameters, is_small, compiled_against, sizes })
    }
}

/// The relations that a transaction sees.
struct Visible<'t>(&'t Transaction);

impl Relations for Visible<'_> {
    fn find(&self, name: &str) -> Option<SchemaRef> {
        self.0.relation(name).cloned()
    }

    fn names(&self) -> Vec<SmallStr> {
        self.0.relation_names()
    }
}

/// See [`CompiledQuery::is_small`].
fn is_small(plan: &Plan, mutation: Option<&MutationPlan>) -> bool {
    let mut defaults = mutation.iter().flat_map(|mutation| &mutation.sources).filter_map(|source| match source {
        ValueSource::Default(expr) => Some(expr),
        _ => None,
    });
    plan.strategy != Strategy::Batches && !plan.costly && !defaults.any(|expr| expr.copies(1) > 1)
}

/// Whether an operation needs no rows: it creates an empty relation, or does nothing since the relation is there.
fn needs_no_rows(mutation: &Mutation, query: &Query, txn: &Transaction) -> bool {
    let is_idle = mutation.if_absent.is_some() && txn.relation(&mutation.relation.name).is_some();
    is_idle || query.rules.is_empty() && mutation.op == MutationOp::Create
}

/// The program of a query after all passes, and the order of its joins.
fn rewritten(
    query: &Query,
    given: &[GivenRelation],
    resolver: &mut Resolver<'_>,
) -> miette::Result<(Program, JoinOrder)> {
    let program = resolver.resolve(query, given)?;
    let mut rewriting = Rewriting { magic_sets: true };
    let mut join_order = JoinOrder::ByCost;
    for option in &query.options {
        match option {
            QueryOption::DisableMagicRewrite(expr) => rewriting.magic_sets = !disables(expr, resolver)?,
            QueryOption::DisableJoinReorder(expr) if disables(expr, resolver)? => join_order = JoinOrder::Written,
            _ => {}
        }
    }
    Ok((prepare(program, rewriting)?, join_order))
}

/// The value of `:disable_magic_rewrite` or `:disable_join_reorder`.
fn disables(expr: &Expr, resolver: &mut Resolver<'_>) -> miette::Result<bool> {
    let closed = constant(expr, resolver)?;
    resolver.parameters.shape_depends_on_values |= closed.as_constant().is_none();
    let values = resolver.parameters.bind(resolver.values)?;
    match closed.eval_closed(&values)? {
        DataValue::Bool(disable) => Ok(disable),
        _ => Err(OptionError::NotBoolean { span: closed.span() }.into()),
    }
}
