//! Operations on stored relations: the relation, and the source of each of its columns.
//!
//! [`plan_mutation`] resolves an operation (`:put`, `:create`, ...) against the headers of the answer and the relation as it
//! exists. Each column of the relation gets a [`Source`]:
//!
//! | source | when |
//! |---|---|
//! | `Output` | an output column has its name, or is bound to it in braces |
//! | `Kept` | `:update`, for a value column that the query does not give |
//! | `Default` | it has a default, and the query does not give it |
//! | `Null` | it is a nullable value column; or `:create` without a query |
//!
//! A column with none of these is an error. `:rm`, `:delete` and `:ensure_not` have sources for key columns only. `:create` and
//! `:replace` make a new schema from the braces; without braces, all output columns are keys. Operations need access rights,
//! which are checked here. **Nothing is written here**: `exec/write/batch.rs` applies the plan.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::index::search::Extractor;
use crate::parse::ast::{ColumnSource, ColumnSpec, ColumnSpecs, Mutation, MutationOp};
use crate::parse::{ParseError, parse_expr};
use crate::program::{Mention, ProgramError, Resolver, extractors, resolve_column_type};
use crate::schema::{AccessLevel, ColumnDefinition, ColumnType, RelationId, RelationSchema, SchemaRef, Triggers};
use crate::value::SmallStr;

/// An operation on a stored relation, ready to run.
#[derive(Clone, Debug)]
pub struct MutationPlan {
    /// Which operation.
    pub op: MutationOp,
    /// The relation; for `:create` and `:replace` its new definition, which has no identity yet.
    pub schema: SchemaRef,
    /// The source of each column of the relation, keys first; operations on keys have sources for key columns only.
    pub sources: Vec<Source>,
    /// What the search indices of the relation take of its rows, in order.
    pub extractors: Vec<Extractor>,
    /// Whether it does nothing: `:create ... if absent` of a relation that exists.
    pub is_idle: bool,
    /// The operation in the script.
    pub span: SourceSpan,
}

impl MutationPlan {
    /// How many columns of the answer it reads, at least.
    pub fn outputs(&self) -> usize {
        let read = |source: &Source| if let Source::Output(output) = source { output + 1 } else { 0 };
        self.sources.iter().map(read).max().unwrap_or(0)
    }
}

/// Where the values of a relation's column come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// An output column.
    Output(usize),
    /// An expression, evaluated for every row.
    Default(Expr),
    /// Nulls.
    Null,
    /// The stored row (`:update`).
    Kept,
}

/// An operation on a stored relation that does not fit the relation or the query.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum MutationError {
    /// `:create` of a relation that exists.
    #[error("the relation '{name}' exists already")]
    #[diagnostic(
        code(eval::stored_relation_conflict),
        help("':put' writes into it, ':replace' makes it anew, ':create ... if absent' does nothing then")
    )]
    Exists {
        /// The relation.
        name: String,
        /// The operation.
        #[label("cannot be created")]
        span: SourceSpan,
    },
    /// A relation without key columns.
    #[error("the relation '{name}' has no key column")]
    #[diagnostic(code(parser::relation_has_no_keys), help("put at least one column before '=>'"))]
    NoKeys {
        /// The relation.
        name: String,
        /// The specification.
        #[label("no keys")]
        span: SourceSpan,
    },
    /// A column name twice in a specification.
    #[error("the column '{name}' occurs twice")]
    #[diagnostic(code(parser::dup_name_in_cols), help("give every column its own name"))]
    DuplicateColumn {
        /// The column.
        name: String,
        /// The second.
        #[label("again here")]
        span: SourceSpan,
    },
    /// An aggregated output column cannot name a column of a relation.
    #[error("'{name}' cannot be the name of a column")]
    #[diagnostic(code(parser::symbol_invalid_as_field), help("name the column in braces: {{n = {name}}}"))]
    InvalidColumnName {
        /// The header.
        name: String,
        /// The operation.
        #[label("would take it as a column")]
        span: SourceSpan,
    },
    /// A column in braces is not an output column of the query.
    #[error("the query gives no column '{name}'")]
    #[diagnostic(
        code(eval::unable_to_make_extractor),
        help("add it to the head of '?', or name the output column it comes from: {{{name} = x}}")
    )]
    NotAnOutput {
        /// The column.
        name: String,
        /// Where it stands.
        #[label("not an output column")]
        span: SourceSpan,
    },
    /// A column in braces, or an output column, that the relation does not have.
    #[error("the relation '{relation}' has no column '{name}'")]
    #[diagnostic(code(eval::required_col_not_found))]
    NoSuchColumn {
        /// A column of a similar name, or all of them.
        #[help]
        hint: String,
        /// The relation.
        relation: String,
        /// The column.
        name: String,
        /// Where it stands.
        #[label("no such column")]
        span: SourceSpan,
    },
    /// A column of the relation gets no value.
    #[error("no value is given for the column '{name}' of '{relation}'")]
    #[diagnostic(
        code(eval::required_col_not_provided),
        help("add it to the operation; only columns with a default or a nullable type may be left out")
    )]
    ColumnNotProvided {
        /// The relation.
        relation: String,
        /// The column.
        name: String,
        /// The operation.
        #[label("lacks the column")]
        span: SourceSpan,
    },
    /// The type in braces is not that of the relation.
    #[error("the column '{name}' has the type {actual}, not {given}")]
    #[diagnostic(code(eval::col_type_mismatch), help("leave the type out, or write {actual}"))]
    TypeMismatch {
        /// The column.
        name: String,
        /// Its type.
        actual: ColumnType,
        /// The type in braces.
        given: ColumnType,
        /// Where it stands.
        #[label("another type")]
        span: SourceSpan,
    },
    /// A name or an expression in braces.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Program(#[from] ProgramError),
    /// The text of a default.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Default(#[from] ParseError),
}

/// Plans an operation. `headers` are the headers of the answer; `None` if the script has no query.
pub fn plan_mutation(
    mutation: &Mutation,
    headers: Option<&[String]>,
    existing: Option<&SchemaRef>,
    resolver: &mut Resolver<'_>,
) -> Result<MutationPlan, MutationError> {
    let planner = Planner { mutation, headers, resolver };
    match mutation.op {
        MutationOp::Create | MutationOp::Replace => planner.new_relation(existing),
        _ => planner.existing_relation(existing),
    }
}

/// The definition of a relation whose columns are all keys of any type.
pub fn default_schema(name: &SmallStr, columns: impl IntoIterator<Item = SmallStr>) -> RelationSchema {
    let key = |name| ColumnDefinition { name, column_type: ColumnType::ANY, default: None };
    RelationSchema {
        id: RelationId(0),
        name: name.clone(),
        keys: columns.into_iter().map(key).collect(),
        values: vec![],
        access_level: AccessLevel::Normal,
        description: String::new(),
        triggers: Triggers::default(),
        indices: vec![],
        searches: vec![],
    }
}

struct Planner<'a, 'r> {
    mutation: &'a Mutation,
    headers: Option<&'a [String]>,
    resolver: &'a mut Resolver<'r>,
}

impl Planner<'_, '_> {
    fn name(&self) -> &SmallStr {
        &self.mutation.relation.name
    }

    /// The specification, unless it is absent or empty.
    fn specs(&self) -> Option<&ColumnSpecs> {
        self.mutation.columns.as_ref().filter(|specs| !(specs.keys.is_empty() && specs.values.is_empty()))
    }

    fn new_relation(mut self, existing: Option<&SchemaRef>) -> Result<MutationPlan, MutationError> {
        let span = self.mutation.span;
        let name = self.name().clone();
        if let (MutationOp::Create, Some(schema)) = (self.mutation.op, existing) {
            let (op, sources, extractors) = (self.mutation.op, vec![], vec![]);
            return match self.mutation.if_absent {
                Some(_) => Ok(MutationPlan { op, schema: schema.clone(), sources, extractors, is_idle: true, span }),
                None => Err(MutationError::Exists { name: name.to_string(), span }),
            };
        }
        let Some(specs) = self.specs().cloned() else { return self.implied_relation() };
        if specs.keys.is_empty() {
            return Err(MutationError::NoKeys { name: name.to_string(), span: specs.span });
        }
        check_duplicates(&specs)?;
        let keys = self.definitions(&specs.keys)?;
        let values = self.definitions(&specs.values)?;
        let schema = RelationSchema { keys, values, ..default_schema(&name, []) };
        let mut sources = vec![];
        for spec in specs.keys.iter().chain(&specs.values) {
            sources.push(match &spec.source {
                _ if self.headers.is_none() => Source::Null,
                ColumnSource::Default(expr) => match self.output(&spec.name.name, spec.name.span) {
                    Ok(output) => Source::Output(output),
                    Err(_) => Source::Default(self.resolver.closed(expr)?),
                },
                ColumnSource::Binding(symbol) => Source::Output(self.output(&symbol.name, symbol.span)?),
                ColumnSource::SameName => Source::Output(self.output(&spec.name.name, spec.name.span)?),
            });
        }
        Ok(MutationPlan {
            op: self.mutation.op,
            schema: Arc::new(schema),
            sources,
            extractors: vec![],
            is_idle: false,
            span,
        })
    }

    /// A relation without a specification: the output columns are its keys.
    fn implied_relation(&self) -> Result<MutationPlan, MutationError> {
        let (name, span) = (self.name(), self.mutation.span);
        let headers = self.headers.unwrap_or_default();
        if headers.is_empty() {
            return Err(MutationError::NoKeys { name: name.to_string(), span });
        }
        self.check_names(headers)?;
        let schema = default_schema(name, headers.iter().map(SmallStr::from));
        let sources = (0..headers.len()).map(Source::Output).collect();
        Ok(MutationPlan {
            op: self.mutation.op,
            schema: Arc::new(schema),
            sources,
            extractors: vec![],
            is_idle: false,
            span,
        })
    }

    fn check_names(&self, headers: &[String]) -> Result<(), MutationError> {
        let span = self.mutation.span;
        if let Some(name) = headers.iter().find(|header| header.contains('(')) {
            return Err(MutationError::InvalidColumnName { name: name.clone(), span });
        }
        let mut seen = BTreeSet::new();
        match headers.iter().find(|header| !seen.insert(*header)) {
            Some(name) => Err(MutationError::DuplicateColumn { name: name.clone(), span }),
            None => Ok(()),
        }
    }

    fn definitions(&mut self, specs: &[ColumnSpec]) -> Result<Vec<ColumnDefinition>, MutationError> {
        let mut definitions = vec![];
        for spec in specs {
            let default = match &spec.source {
                ColumnSource::Default(expr) => {
                    // Resolved only to find errors: the schema stores the text.
                    let mentioned = self.resolver.parameters.mentioned.len();
                    self.resolver.closed(expr)?;
                    if let Some(Mention::Named(name, span)) = self.resolver.parameters.mentioned.get(mentioned) {
                        return Err(ProgramError::ParameterNotFound { name: name.to_string(), span: *span }.into());
                    }
                    Some(SmallStr::from(expr.to_string()))
                }
                _ => None,
            };
            let column_type = self.column_type(spec)?;
            definitions.push(ColumnDefinition { name: spec.name.name.clone(), column_type, default });
        }
        Ok(definitions)
    }

    fn column_type(&mut self, spec: &ColumnSpec) -> Result<ColumnType, MutationError> {
        let Some(written) = &spec.column_type else { return Ok(ColumnType::ANY) };
        let resolver = &mut *self.resolver;
        let mut length = |expr: &crate::parse::ast::Expr| {
            let values = resolver.values;
            let closed = resolver.closed(expr)?;
            resolver.parameters.shape_depends_on_values |= closed.as_constant().is_none();
            let bound = resolver.parameters.bind(values)?;
            closed.eval_closed(&bound).map_err(|_| ProgramError::ListLength { span: closed.span() })
        };
        Ok(resolve_column_type(written, &mut length)?)
    }

    /// The output column of a name.
    fn output(&self, name: &str, span: SourceSpan) -> Result<usize, MutationError> {
        let headers = self.headers.unwrap_or_default();
        let position = headers.iter().position(|header| header.as_str() == name);
        position.ok_or_else(|| MutationError::NotAnOutput { name: name.to_string(), span })
    }

    fn existing_relation(mut self, existing: Option<&SchemaRef>) -> Result<MutationPlan, MutationError> {
        let symbol = &self.mutation.relation;
        let not_found = || ProgramError::from(self.resolver.no_relation(symbol));
        let schema = existing.cloned().ok_or_else(not_found)?;
        self.check_access(&schema)?;
        let given = self.given_columns(&schema)?;
        let op = self.mutation.op;
        let width = if self.on_keys_alone() { schema.keys.len() } else { schema.arity() };
        let mut sources = vec![];
        for (i, column) in schema.columns().enumerate().take(width) {
            let given = given.iter().find(|(name, _)| *name == column.name).map(|(_, output)| *output);
            sources.push(match (given, &column.default) {
                (Some(output), _) => Source::Output(output),
                (None, _) if op == MutationOp::Update && i >= schema.keys.len() => Source::Kept,
                (None, Some(text)) => Source::Default(self.resolver.closed(&parse_expr(text)?)?),
                (None, None) if column.column_type.nullable && i >= schema.keys.len() => Source::Null,
                _ => {
                    return Err(MutationError::ColumnNotProvided {
                        relation: schema.name.to_string(),
                        name: column.name.to_string(),
                        span: self.mutation.span,
                    });
                }
            });
        }
        let extractors = extractors(&schema)?;
        Ok(MutationPlan { op, schema, sources, extractors, is_idle: false, span: self.mutation.span })
    }

    fn check_access(&self, schema: &SchemaRef) -> Result<(), MutationError> {
        let needed = match self.mutation.op {
            MutationOp::Ensure | MutationOp::EnsureNot => AccessLevel::ReadOnly,
            _ => AccessLevel::Protected,
        };
        Ok(schema.require(needed, "written", self.mutation.relation.span).map_err(ProgramError::from)?)
    }

    /// Whether the operation uses key columns only.
    fn on_keys_alone(&self) -> bool {
        matches!(self.mutation.op, MutationOp::Rm | MutationOp::Delete | MutationOp::EnsureNot)
    }

    /// The columns of the relation that the operation gives, with their output columns.
    fn given_columns(&mut self, schema: &SchemaRef) -> Result<Vec<(SmallStr, usize)>, MutationError> {
        let no_such = |name: &str, span| MutationError::NoSuchColumn {
            relation: schema.name.to_string(),
            name: name.to_string(),
            hint: schema.instead_of(name),
            span,
        };
        let Some(specs) = self.specs().cloned() else {
            let headers = self.headers.unwrap_or_default();
            self.check_names(headers)?;
            let span = self.mutation.span;
            let known = |(i, header): (usize, &String)| match schema.column_index(header) {
                Some(_) => Ok((SmallStr::from(header), i)),
                None => Err(no_such(header, span)),
            };
            return headers.iter().enumerate().map(known).collect();
        };
        check_duplicates(&specs)?;
        let keys_only = self.on_keys_alone();
        let mut given = vec![];
        for spec in specs.keys.iter().chain(&specs.values) {
            let (name, span) = (&spec.name.name, spec.name.span);
            let index = schema.column_index(name).ok_or_else(|| no_such(name, span))?;
            let written = self.column_type(spec)?;
            let column = schema.columns().nth(index).expect("the index was just found");
            if written != ColumnType::ANY && written != column.column_type {
                return Err(MutationError::TypeMismatch {
                    name: name.to_string(),
                    actual: column.column_type.clone(),
                    given: written,
                    span,
                });
            }
            let output = match &spec.source {
                ColumnSource::Binding(symbol) => self.output(&symbol.name, symbol.span)?,
                _ => match self.output(name, span) {
                    Ok(output) => output,
                    // A column with a default, or one that is not used, need not be in the query.
                    Err(_) if column.default.is_some() || (keys_only && index >= schema.keys.len()) => continue,
                    Err(error) => return Err(error),
                },
            };
            given.push((name.clone(), output));
        }
        Ok(given)
    }
}

fn check_duplicates(specs: &ColumnSpecs) -> Result<(), MutationError> {
    let mut seen = BTreeSet::new();
    match specs.keys.iter().chain(&specs.values).find(|spec| !seen.insert(&spec.name.name)) {
        Some(spec) => Err(MutationError::DuplicateColumn { name: spec.name.name.to_string(), span: spec.name.span }),
        None => Ok(()),
    }
}
