//! Searches in indices: `~relation:index{columns | parameters}`, and what the index takes of each row.
//!
//! | part of the search | becomes |
//! |---|---|
//! | `column: x`, `bind_distance: x`, ... | an output of the atom: a [`SearchColumn`] and the variable that it binds |
//! | `query` | an expression, evaluated for each row before the atom |
//! | `k`, `ef`, `radius`, ... | expressions without variables |
//! | `filter` | an expression over outputs of the atom, and over variables that other atoms bind |
//! | `within` | a relation that is complete before the search, and its columns for the keys |
//!
//! A name in `filter` is a variable that the atom binds, or else a column of the relation, or else a variable of the rule. The filter
//! has outputs of its own, so that it tests what was found even if a variable is bound to another value. Their names begin with `~`.

use std::sync::Arc;

use super::names::column_index;
use super::resolve::check_once;
use super::search_error::SearchError;
use super::search_parameters::{Role, needed, of_kind, role};
use super::{Apply, Arg, Atom, ProgramError, Resolver, Variable};
use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::index::search::{Extractor, SearchColumn};
use crate::parse::{ast, parse_expr};
use crate::schema::{RelationSchema, SchemaRef, SearchIndex, SearchOptions};
use crate::text::AnalyzerError;
use crate::value::SmallStr;

/// A search in an index.
#[derive(Clone, Debug)]
pub struct Search {
    /// What is searched, and how.
    pub call: Arc<SearchCall>,
    /// What is searched for.
    pub query: Expr,
    /// What must hold of a row that is found.
    pub filter: Option<Expr>,
    /// The keys that may be found; all without it.
    pub within: Option<Box<Within>>,
    /// What is bound, and the variables.
    pub outputs: Vec<(SearchColumn, Variable)>,
    /// The whole atom.
    pub span: SourceSpan,
}

/// The rows among which a search looks: those whose keys a relation has.
#[derive(Clone, Debug)]
pub struct Within {
    /// The relation, applied to the names of the keys.
    pub apply: Apply,
    /// For each key column of the searched relation the column of this one.
    pub columns: Vec<usize>,
}

/// The parts of a search that are the same for all rows.
#[derive(Clone, Debug)]
pub struct SearchCall {
    /// The relation.
    pub schema: SchemaRef,
    /// Its index.
    pub index: SearchIndex,
    /// What the index takes of a row of the relation.
    pub extractor: Extractor,
    /// The parameters other than `query`, `filter` and those that bind: expressions without variables.
    pub parameters: Vec<(SmallStr, Expr)>,
}

impl Search {
    /// The variables that must be bound before it.
    pub fn inputs(&self) -> impl Iterator<Item = &SmallStr> {
        let own = |name: &&SmallStr| self.outputs.iter().any(|(_, variable)| variable.name == **name);
        let of_filter = self.filter.iter().flat_map(Expr::variables);
        self.query.variables().into_iter().chain(of_filter.filter(move |name| !own(name)))
    }

    /// The variables that it can bind.
    pub fn bindings(&self) -> impl Iterator<Item = &SmallStr> {
        self.outputs.iter().map(|(_, variable)| &variable.name)
    }
}

impl SearchCall {
    /// The name of the index as a relation.
    pub fn name(&self) -> &str {
        &self.index.listing.name
    }

    /// The name of an output.
    pub fn output_name(&self, column: SearchColumn) -> &str {
        match column {
            SearchColumn::Stored(at) => self.schema.columns().nth(at).map_or("", |column| column.name.as_str()),
            other => {
                let mut bindings = of_kind(self.index.options.kind());
                bindings.find(|parameter| parameter.role == Role::Binds(other)).map_or("", |parameter| parameter.name)
            }
        }
    }
}

impl Resolver<'_> {
    /// Resolves a search. It may come with unifications of what it finds with expressions.
    pub(super) fn search(
        &mut self,
        search: &ast::SearchApply,
    ) -> Result<(Search, Vec<(Variable, Expr)>), ProgramError> {
        let schema = self.readable(&search.relation)?;
        let not_found = || SearchError::IndexNotFound {
            relation: schema.name.to_string(),
            name: search.index.to_string(),
            span: search.index.span,
        };
        let index = schema.search(&search.index.name).ok_or_else(not_found)?.clone();
        require_ready(&index, search.index.span)?;
        let kind = index.options.kind();
        check_once(search.parameters.iter().map(|(name, _)| name), "parameter")?;
        let given = |wanted: &str| search.parameters.iter().find(|(name, _)| name.name == wanted).map(|(_, expr)| expr);
        if let Some(name) = needed(kind).iter().find(|name| given(name).is_none()) {
            return Err(SearchError::ParameterMissing { name, span: search.span }.into());
        }
        let query = self.expr(given("query").expect("each kind of index needs a query"))?;
        let mut outputs = Outputs { search, outputs: vec![], tests: vec![] };
        check_once(search.bindings.iter().map(|arg| &arg.column), "column")?;
        for arg in &search.bindings {
            let name = &arg.column;
            let at = column_index(&schema, name)?;
            outputs.bind(SearchColumn::Stored(at), name, &arg.expr, self)?;
        }
        let mut parameters = vec![];
        for (name, expr) in &search.parameters {
            match role(name, kind)? {
                Role::Binds(column) => outputs.bind(column, name, expr, self)?,
                Role::Constant => parameters.push((name.name.clone(), self.closed(expr)?)),
                Role::Part if name.name == "within" => return Err(bad_within(&schema, expr.span()).into()),
                Role::Part => {}
            }
        }
        let filter = given("filter").map(|filter| self.expr(filter)).transpose()?;
        let filter = filter.map(|it| outputs.of_filter(&it, &schema));
        let Outputs { outputs, tests, .. } = outputs;
        let within = self.within(search.within.as_deref(), &outputs, &schema)?;
        let extractor = extractor(&schema, &index)?;
        let call = Arc::new(SearchCall { schema, index, extractor, parameters });
        Ok((Search { call, query, filter, within, outputs, span: search.span }, tests))
    }

    /// The parameter `within`.
    fn within(
        &mut self,
        atom: Option<&ast::Atom>,
        outputs: &[(SearchColumn, Variable)],
        schema: &RelationSchema,
    ) -> Result<Option<Box<Within>>, ProgramError> {
        let Some(atom) = atom else { return Ok(None) };
        let Atom::Apply(apply) = self.atom(atom)? else { return Err(bad_within(schema, atom.span()).into()) };
        let mut columns = vec![None; schema.keys.len()];
        for (column, arg) in apply.args.iter().enumerate() {
            let key = match arg {
                Arg::Wildcard => continue,
                Arg::Variable(variable) => {
                    let bound = outputs.iter().find(|(_, output)| output.name == variable.name);
                    match bound.map(|(output, _)| *output) {
                        Some(SearchColumn::Stored(key)) => columns.get_mut(key),
                        _ => schema.column_index(&variable.name).and_then(|key| columns.get_mut(key)),
                    }
                }
                Arg::Expr(_) => None,
            };
            match key {
                Some(key @ None) => *key = Some(column),
                _ => return Err(bad_within(schema, atom.span()).into()),
            }
        }
        let columns: Option<Vec<usize>> = columns.into_iter().collect();
        let columns = columns.ok_or_else(|| bad_within(schema, atom.span()))?;
        Ok(Some(Box::new(Within { apply, columns })))
    }
}

fn bad_within(schema: &RelationSchema, span: SourceSpan) -> SearchError {
    let keys: Vec<&str> = schema.keys.iter().map(|key| key.name.as_str()).collect();
    SearchError::Within { relation: schema.name.to_string(), keys: keys.join(", "), span }
}

/// The outputs of a search while they are gathered.
struct Outputs<'s> {
    search: &'s ast::SearchApply,
    outputs: Vec<(SearchColumn, Variable)>,
    tests: Vec<(Variable, Expr)>,
}

impl Outputs<'_> {
    /// Binds an output to a variable, or tests that it has the value of an expression.
    fn bind(
        &mut self,
        column: SearchColumn,
        name: &ast::Symbol,
        expr: &ast::Expr,
        resolver: &mut Resolver<'_>,
    ) -> Result<(), ProgramError> {
        match expr {
            ast::Expr::Variable(symbol) if symbol.name == "_" => {}
            ast::Expr::Variable(symbol) => {
                self.outputs.push((column, Variable { name: symbol.name.clone(), span: symbol.span }));
            }
            expr => {
                let variable = self.own(column, name.span);
                self.tests.push((variable, resolver.expr(expr)?));
            }
        }
        Ok(())
    }

    /// A variable of the search's own for an output.
    fn own(&mut self, column: SearchColumn, span: SourceSpan) -> Variable {
        let variable = Variable { name: SmallStr::from(format!("~{}:{column:?}", self.search.span.0)), span };
        if !self.outputs.iter().any(|(_, known)| known.name == variable.name) {
            self.outputs.push((column, variable.clone()));
        }
        variable
    }

    /// The filter over outputs of its own.
    fn of_filter(&mut self, filter: &Expr, schema: &RelationSchema) -> Expr {
        filter.map_leaves(&mut |leaf| {
            let Expr::Variable(name, span) = leaf else { return leaf.clone() };
            let bound = self.outputs.iter().find(|(_, variable)| variable.name == *name).map(|(column, _)| *column);
            match bound.or_else(|| schema.column_index(name).map(SearchColumn::Stored)) {
                Some(column) => Expr::Variable(self.own(column, *span).name, *span),
                None => leaf.clone(),
            }
        })
    }
}

fn require_ready(index: &SearchIndex, span: SourceSpan) -> Result<(), SearchError> {
    match index.is_ready {
        true => Ok(()),
        false => Err(SearchError::Building { index: index.listing.name.to_string(), span }),
    }
}

/// A search index to read as a relation.
pub(super) fn listing(
    schema: &SchemaRef,
    index: &SearchIndex,
    span: SourceSpan,
) -> Result<Arc<SearchCall>, ProgramError> {
    require_ready(index, span)?;
    let (schema, index) = (schema.clone(), index.clone());
    let extractor = extractor(&schema, &index)?;
    Ok(Arc::new(SearchCall { schema, index, extractor, parameters: vec![] }))
}

/// What the search indices of a relation take of its rows, in order.
pub fn extractors(schema: &RelationSchema) -> Result<Vec<Extractor>, ProgramError> {
    schema.searches.iter().map(|index| extractor(schema, index)).collect()
}

/// What a search index takes of each row of its relation.
pub fn extractor(schema: &RelationSchema, index: &SearchIndex) -> Result<Extractor, ProgramError> {
    let text = match &index.options {
        SearchOptions::Vectors(options) => options.filter.as_deref(),
        SearchOptions::Text(options) => Some(options.extractor.as_str()),
        SearchOptions::Duplicates(options) => Some(options.text.extractor.as_str()),
    };
    let expr = text.map(|text| over_columns(text, schema, &index.listing.name)).transpose()?;
    let bad = |reason: AnalyzerError| SearchError::BadExtractor {
        index: index.listing.name.to_string(),
        reason: reason.to_string(),
    };
    Ok(Extractor::new(index, expr).map_err(bad)?)
}

/// An expression over the columns of a relation, whose numbers are slots.
fn over_columns(text: &str, schema: &RelationSchema, index: &str) -> Result<Expr, ProgramError> {
    let bad = |reason: String| SearchError::BadExtractor { index: index.to_string(), reason };
    let parsed = parse_expr(text).map_err(|error| bad(error.to_string()))?;
    let no_values = Default::default();
    let mut resolver = Resolver::standalone(&no_values);
    let resolved = resolver.expr(&parsed)?;
    if !resolved.is_deterministic() {
        return Err(bad("it gives another value each time, and the index could not follow its rows".to_string()).into());
    }
    let mut unknown = None;
    let expr = resolved.map_leaves(&mut |leaf| match leaf {
        Expr::Variable(name, span) => match schema.column_index(name) {
            Some(column) => Expr::Slot(column, *span),
            None => {
                unknown.get_or_insert_with(|| format!("the relation has no column '{name}'"));
                leaf.clone()
            }
        },
        Expr::Parameter(..) => {
            unknown.get_or_insert_with(|| "it has a parameter, which later writes do not know".to_string());
            leaf.clone()
        }
        other => other.clone(),
    });
    unknown.map_or(Ok(expr), |reason| Err(bad(reason).into()))
}
