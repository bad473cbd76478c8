//! Scripts ready to run: one query, one system operation, or several statements with control flow.
//!
//! [`CompiledScript::new`] converts a parsed script. Each query in it becomes a [`QueryCache`], so a cached script compiles its
//! queries once.

use super::query_cache::QueryCache;
use crate::diag::SourceSpan;
use crate::parse::ast::{self, Condition, Query, Statement, Symbol, SystemOp, SystemOpKind};

/// A script whose queries can be compiled and cached.
pub enum CompiledScript {
    /// One query.
    Query(QueryCache),
    /// Statements, and the parameters that they mention.
    Steps(Vec<Step>, Vec<Symbol>),
    /// One system operation.
    System(SystemOp),
}

/// A statement.
pub enum Step {
    Query { query: QueryCache, store_as: Option<Symbol> },
    System { op: SystemOp, store_as: Option<Symbol> },
    If { condition: RelationSource, negated: bool, then: Vec<Step>, otherwise: Vec<Step> },
    Loop { label: Option<Symbol>, body: Vec<Step> },
    Break(Option<Symbol>, SourceSpan),
    Continue(Option<Symbol>, SourceSpan),
    Return(Vec<RelationSource>),
    Debug(Symbol),
    IgnoreError(QueryCache),
    Swap(Symbol, Symbol),
}

/// A relation by name, or a query.
pub enum RelationSource {
    Relation(Symbol),
    Query { query: QueryCache, store_as: Option<Symbol> },
}

impl CompiledScript {
    /// Converts a parsed script.
    pub fn new(script: ast::Script) -> Self {
        match script {
            ast::Script::Query(query) => CompiledScript::Query(QueryCache::new(*query)),
            ast::Script::Imperative { statements, parameters } => CompiledScript::Steps(steps(statements), parameters),
            ast::Script::System(op) => CompiledScript::System(op),
        }
    }

    /// Whether it may write stored relations.
    pub fn writes(&self) -> bool {
        match self {
            CompiledScript::Query(query) => query.writes(),
            CompiledScript::Steps(steps, _) => steps.iter().any(Step::writes),
            CompiledScript::System(op) => op_writes(op),
        }
    }

    /// Whether it is known to begin by reading stored relations.
    pub fn begins_by_reading(&self) -> bool {
        matches!(self, CompiledScript::Query(query) if query.is_known_to_read())
    }

    /// Its queries, in the order in which they stand.
    pub fn queries(&self) -> Vec<&Query> {
        let mut queries = vec![];
        match self {
            CompiledScript::Query(query) => queries.push(&query.query),
            CompiledScript::Steps(steps, _) => steps.iter().for_each(|step| step.add_queries(&mut queries)),
            CompiledScript::System(_) => {}
        }
        queries
    }

    /// Whether parsing the script again would make it faster.
    pub fn is_outdated(&self) -> bool {
        matches!(self, CompiledScript::Query(query) if query.is_outdated())
    }

    /// The place of an error about the whole script: the relation that it writes, or its first line.
    pub fn place(&self, source: &str) -> SourceSpan {
        match self {
            CompiledScript::Query(query) => query.written_at().unwrap_or_else(|| query.place()),
            CompiledScript::System(op) => op.span,
            CompiledScript::Steps(..) => first_line(source),
        }
    }
}

/// The first line of a script that is not blank.
pub fn first_line(source: &str) -> SourceSpan {
    let text = source.trim_start();
    SourceSpan(source.len() - text.len(), text.lines().next().unwrap_or_default().trim_end().len())
}

fn steps(statements: Vec<Statement>) -> Vec<Step> {
    statements.into_iter().map(step).collect()
}

fn step(statement: Statement) -> Step {
    match statement {
        Statement::Query { query, store_as } => Step::Query { query: QueryCache::new(*query), store_as },
        Statement::System { op, store_as } => Step::System { op, store_as },
        Statement::If { condition, negated, then, otherwise, .. } => {
            Step::If { condition: source(condition), negated, then: steps(then), otherwise: steps(otherwise) }
        }
        Statement::Loop { label, body, .. } => Step::Loop { label, body: steps(body) },
        Statement::Break(label, span) => Step::Break(label, span),
        Statement::Continue(label, span) => Step::Continue(label, span),
        Statement::Return(values, _) => Step::Return(values.into_iter().map(source).collect()),
        Statement::Debug(name) => Step::Debug(name),
        Statement::IgnoreError(query) => Step::IgnoreError(QueryCache::new(*query)),
        Statement::Swap(a, b) => Step::Swap(a, b),
    }
}

fn source(condition: Condition) -> RelationSource {
    match condition {
        Condition::Relation(name) => RelationSource::Relation(name),
        Condition::Query { query, store_as } => RelationSource::Query { query: QueryCache::new(*query), store_as },
    }
}

impl RelationSource {
    fn writes(&self) -> bool {
        matches!(self, RelationSource::Query { query, .. } if query.writes())
    }
}

impl Step {
    fn add_queries<'s>(&'s self, queries: &mut Vec<&'s Query>) {
        let mut add_source = |source: &'s RelationSource| {
            if let RelationSource::Query { query, .. } = source {
                queries.push(&query.query);
            }
        };
        match self {
            Step::Query { query, .. } | Step::IgnoreError(query) => queries.push(&query.query),
            Step::Return(sources) => sources.iter().for_each(add_source),
            Step::If { condition, then, otherwise, .. } => {
                add_source(condition);
                then.iter().chain(otherwise).for_each(|step| step.add_queries(queries));
            }
            Step::Loop { body, .. } => body.iter().for_each(|step| step.add_queries(queries)),
            Step::System { .. } | Step::Break(..) | Step::Continue(..) | Step::Debug(_) | Step::Swap(..) => {}
        }
    }

    fn writes(&self) -> bool {
        match self {
            Step::Query { query, .. } | Step::IgnoreError(query) => query.writes(),
            Step::System { op, .. } => op_writes(op),
            Step::If { condition, then, otherwise, .. } => {
                condition.writes() || then.iter().chain(otherwise).any(Step::writes)
            }
            Step::Loop { body, .. } => body.iter().any(Step::writes),
            Step::Return(values) => values.iter().any(RelationSource::writes),
            Step::Break(..) | Step::Continue(..) | Step::Debug(_) | Step::Swap(..) => false,
        }
    }
}

/// Whether an operation changes stored data or the catalog.
pub fn op_writes(op: &SystemOp) -> bool {
    !matches!(
        op.kind,
        SystemOpKind::Relations
            | SystemOpKind::Columns(_)
            | SystemOpKind::Indices(_)
            | SystemOpKind::ShowTriggers(_)
            | SystemOpKind::Running
            | SystemOpKind::Kill(_)
            | SystemOpKind::FixedRules
            | SystemOpKind::Replica
            | SystemOpKind::Explain { .. }
    )
}
