//! The cache of a query's plan, in its script.
//!
//! A [`QueryCache`] belongs to one query of a parsed script. The first [`CompiledQuery`] stays in `first` for good, so using it
//! counts no reference. It is valid for one version of the catalog and of the fixed rules, and while the relations have about
//! the same sizes. When one of these changes, the query is compiled again into `later`, and the script is marked as outdated.
//! The script cache then replaces the whole script, whose query compiles into `first` again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;

use super::cached_ref::CachedRef;
use super::compile::CompiledQuery;
use crate::diag::SourceSpan;
use crate::fixed_rule::FixedRules;
use crate::parse::ast::{Query, QueryOption};
use crate::program::{ENTRY, GivenRelation};
use crate::txn::Transaction;
use crate::value::DataValue;

/// A query of a script. It is compiled on its first run, and again when the catalog, the fixed rules or the sizes have changed.
pub struct QueryCache {
    /// The query as parsed.
    pub query: Query,
    /// The first compiled query. It is never replaced, so using it counts no reference.
    first: OnceLock<Box<CompiledQuery>>,
    /// The last compiled query after the first.
    later: ArcSwapOption<CompiledQuery>,
    /// Whether `later` has replaced the first.
    is_outdated: AtomicBool,
}

impl QueryCache {
    /// A query that is not compiled yet.
    pub fn new(query: Query) -> Self {
        QueryCache { query, first: OnceLock::new(), later: ArcSwapOption::empty(), is_outdated: AtomicBool::new(false) }
    }

    /// Whether a new cache for the same query would be faster.
    pub fn is_outdated(&self) -> bool {
        self.is_outdated.load(Ordering::Relaxed)
    }

    /// Whether it is known to read stored relations, since it has run before.
    pub fn is_known_to_read(&self) -> bool {
        self.first.get().is_some_and(|compiled| {
            let plan_reads = compiled.plan.as_ref().is_some_and(|plan| !plan.reads.is_empty());
            plan_reads || compiled.mutation.as_ref().is_some_and(|mutation| mutation.op.reads())
        })
    }

    /// Whether it writes a relation that outlives the transaction.
    pub fn writes(&self) -> bool {
        self.written_at().is_some()
    }

    /// The operation on a relation that outlives the transaction.
    pub fn written_at(&self) -> Option<SourceSpan> {
        self.query.options.iter().find_map(|option| match option {
            QueryOption::Mutation(mutation) if !mutation.relation.name.starts_with('_') => Some(mutation.span),
            _ => None,
        })
    }

    /// Where an error shows that concerns the query as a whole: the head of its entry, if it has one.
    pub fn place(&self) -> SourceSpan {
        let entry = self.query.rules.iter().find(|rule| rule.head.name.name == ENTRY);
        entry.map_or(self.query.span, |rule| rule.head.span)
    }

    /// The query as compiled before, if it is still valid for what the transaction sees.
    pub fn reusable(&self, txn: &Transaction, fixed_rules: &FixedRules) -> Option<CachedRef<'_, CompiledQuery>> {
        let first = self.first.get().filter(|_| txn.has_base_catalog())?;
        if first.still_holds(txn, fixed_rules) {
            return Some(CachedRef::Here(first));
        }
        CachedRef::of(&self.later).filter(|later| later.still_holds(txn, fixed_rules))
    }

    /// Compiles the query for what the transaction sees. `given` must be the same every time.
    pub fn compiled(
        &self,
        txn: &Transaction,
        fixed_rules: &FixedRules,
        values: &BTreeMap<String, DataValue>,
        given: &[GivenRelation],
    ) -> miette::Result<CachedRef<'_, CompiledQuery>> {
        let compiled = CompiledQuery::compile(&self.query, txn, &fixed_rules.current(), values, given)?;
        if !txn.has_base_catalog() || compiled.parameters.shape_depends_on_values {
            return Ok(Arc::new(compiled).into());
        }
        let compiled = match self.first.set(Box::new(compiled)) {
            Ok(()) => return Ok(CachedRef::Here(self.first.get().expect("just set"))),
            Err(compiled) => Arc::new(*compiled),
        };
        self.later.store(Some(compiled.clone()));
        self.is_outdated.store(true, Ordering::Relaxed);
        Ok(compiled.into())
    }
}
