//! The logical program: what a query means, before it is decided how it runs.
//!
//! [`Resolver::resolve`] turns a syntax tree into a [`Program`] whose bodies are [`Formula`]s. The [`passes`] bring it into the
//! form that the planner takes:
//!
//! | after | a body is | predicates are |
//! |---|---|---|
//! | `resolve` | a formula of `and`, `or`, `not` | those that the entry reaches |
//! | `normalise` | a conjunction of atoms | with one for each negated group |
//! | `safety` | in an order in which every atom finds its variables bound | the same |
//! | `stratify` | the same | grouped into components, in the order of evaluation |
//! | `magic` | restricted to the bindings that are asked for | copies for each pattern of bound arguments |
//!
//! A program prints after every pass:
//!
//! ```text
//! t[a, b] := e[a, b]
//! t[a, c] := t[a, b], e[b, c]
//! ?[b] := t[1, b]
//! ```
//!
//! **program never touches rows**: it knows schemas, never data.

mod as_of;
mod column_types;
mod constant;
mod display;
mod error;
mod expression;
mod fixed;
mod habits;
mod names;
mod parameters;
pub mod passes;
mod rename;
mod resolve;
mod search;
mod search_error;
mod search_parameters;
mod time_travel;
mod warnings;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use as_of::AsOfRead;
pub use column_types::resolve_column_type;
pub use constant::check_constant_rows;
pub use error::ProgramError;
pub use names::Relations;
pub use parameters::{Mention, ParameterValues, Parameters};
pub use passes::{Rewriting, order_body, prepare};
pub use resolve::Resolver;
pub use search::{Search, SearchCall, Within, extractor, extractors};
pub use search_error::SearchError;
pub use search_parameters::{SEARCH_PARAMETERS, SearchParameter};
pub use time_travel::{checked_time, checked_time_of_row};
pub use warnings::warnings;

use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::expr::aggregations::Aggregation;
use crate::fixed_rule::{OptionMap, Rule as FixedRule};
use crate::parse::ast::Symbol;
use crate::schema::SchemaRef;
use crate::value::{Batch, SmallStr};

/// The name of the predicate that is the answer of a query.
pub const ENTRY: &str = "?";

/// Predicates by name. `B` is the type of a rule's body: a [`Formula`] at first, then [`Atom`]s.
#[derive(Clone, Debug)]
pub struct Program<B = Vec<Atom>> {
    /// The predicates, `?` among them.
    pub predicates: BTreeMap<SmallStr, Predicate<B>>,
    /// Groups of mutually recursive predicates in the order of evaluation; empty until stratification.
    pub components: Vec<Component>,
}

/// Predicates that are evaluated together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Their names.
    pub predicates: Vec<SmallStr>,
    /// Whether any of them depends on itself.
    pub recursive: bool,
}

/// A relation that the program derives.
#[derive(Clone, Debug)]
pub struct Predicate<B = Vec<Atom>> {
    /// Its columns, as the last definition names them.
    pub columns: Vec<HeadColumn>,
    /// The source of its rows.
    pub definition: Definition<B>,
    /// The head of its last definition.
    pub span: SourceSpan,
}

/// A column of a predicate.
#[derive(Clone, Debug)]
pub struct HeadColumn {
    /// The variable, or `_0`, `_1`, ... where the script gives no name.
    pub name: SmallStr,
    /// The aggregation applied to it.
    pub aggregation: Option<AggregationUse>,
}

/// An aggregation with its constant arguments.
#[derive(Clone, Debug)]
pub struct AggregationUse {
    /// Which.
    pub aggregation: &'static Aggregation,
    /// Its arguments after the variable, without variables.
    pub args: Vec<Expr>,
    /// Where it stands.
    pub span: SourceSpan,
}

/// The source of a predicate's rows.
#[derive(Clone, Debug)]
pub enum Definition<B = Vec<Atom>> {
    /// The union of rules.
    Rules(Vec<Rule<B>>),
    /// Constant rows.
    Constant(ConstantRows),
    /// A fixed rule.
    Fixed(FixedApply),
}

/// A fixed rule applied to relations.
#[derive(Clone, Debug)]
pub struct FixedApply {
    /// Its name as the script has it.
    pub name: SmallStr,
    /// The rule.
    pub rule: FixedRule,
    /// Its inputs in order; each is read as a whole.
    pub inputs: Vec<FixedInput>,
    /// Its options by name. An option that is an expression over the inputs has variables.
    pub options: OptionMap,
    /// The call.
    pub span: SourceSpan,
}

/// An input of a fixed rule.
#[derive(Clone, Debug)]
pub struct FixedInput {
    /// The relation.
    pub target: Target,
    /// The names for its columns from the first column on, `_` for none. There may be more or fewer names than columns.
    pub bindings: Vec<Symbol>,
    /// The whole input.
    pub span: SourceSpan,
}

/// The rows of a constant rule: expressions without variables.
#[derive(Clone, Debug)]
pub enum ConstantRows {
    /// Rows as written, all of the predicate's width.
    Rows(Vec<Vec<Expr>>),
    /// Rows of constants, which the parser has put into columns.
    Columns(Arc<Batch>),
    /// An expression whose value is a list of rows when the script runs.
    List(Expr),
    /// Rows that the caller passes to the run, by number. No two of them are equal.
    Given(usize),
    /// The rows of a search index as scripts read them.
    Listing(Arc<SearchCall>),
}

/// A relation whose rows come from the caller of the query, such as `_new` of a trigger.
#[derive(Clone, Debug)]
pub struct GivenRelation {
    /// The name by which rules apply it.
    pub name: SmallStr,
    /// Its columns.
    pub columns: Vec<SmallStr>,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule<B = Vec<Atom>> {
    /// The variable of each column.
    pub head: Vec<Variable>,
    /// What must hold.
    pub body: B,
    /// The whole rule.
    pub span: SourceSpan,
}

/// A variable where it stands.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: SmallStr,
    /// Where it stands.
    pub span: SourceSpan,
}

/// A body before normalisation.
#[derive(Clone, Debug)]
pub enum Formula {
    /// All hold.
    And(Vec<Formula>),
    /// Any holds.
    Or(Vec<Formula>),
    /// It does not hold.
    Not(Box<Formula>),
    /// An atom.
    Atom(Atom),
}

/// An atom of a body.
#[derive(Clone, Debug)]
pub enum Atom {
    /// A relation applied, derived or stored.
    Apply(Apply),
    /// An expression that must be true.
    Filter(Expr),
    /// The variable has the expression's value. Binds a free variable; compares a bound one by `==`.
    Unify(Variable, Expr),
    /// The variable has each element of a list in turn. Binds a free variable; tests membership of a bound one.
    Unnest(Variable, Expr),
    /// The bound variable is identical to the expression's value. Occurs in bodies that were reordered, and after searches.
    Same(Variable, Expr),
    /// Rows that an index finds by likeness.
    Search(Search),
    /// Rows of histories, as of the time of each row.
    AsOf(AsOfRead),
}

/// A relation applied to arguments.
#[derive(Clone, Debug)]
pub struct Apply {
    /// The relation.
    pub target: Target,
    /// One argument a column.
    pub args: Vec<Arg>,
    /// Whether the atom asks for the absence of such rows.
    pub negated: bool,
    /// The whole atom.
    pub span: SourceSpan,
}

/// A relation that an atom applies.
#[derive(Clone, Debug)]
pub enum Target {
    /// A predicate of the program.
    Predicate(SmallStr),
    /// A stored relation.
    Stored(StoredRead),
}

/// A stored relation to read.
#[derive(Clone, Debug)]
pub struct StoredRead {
    /// The relation.
    pub schema: SchemaRef,
    /// The time at which its histories are read, an expression without variables; `None` to read all rows.
    pub as_of: Option<Expr>,
}

impl StoredRead {
    /// How many leading columns identify a row: as of a time, all key columns but the Validity.
    pub fn identifying_columns(&self) -> usize {
        self.schema.keys.len() - usize::from(self.as_of.is_some())
    }
}

/// An argument of an application.
#[derive(Clone, Debug)]
pub enum Arg {
    /// Anything.
    Wildcard,
    /// A variable.
    Variable(Variable),
    /// A value. After the safety pass, atoms before this one bind its variables.
    Expr(Expr),
}

impl Apply {
    /// The first column whose argument is a variable.
    pub fn column_of(&self, name: &SmallStr) -> Option<usize> {
        self.args.iter().position(|arg| matches!(arg, Arg::Variable(variable) if variable.name == *name))
    }

    /// The variables among its arguments, which it binds if it is not negated.
    pub fn bindings(&self) -> impl Iterator<Item = &SmallStr> {
        self.args.iter().filter_map(|arg| match arg {
            Arg::Variable(variable) => Some(&variable.name),
            _ => None,
        })
    }
}

impl FixedApply {
    /// The predicates among its inputs.
    pub fn predicates(&self) -> impl Iterator<Item = &SmallStr> {
        self.inputs.iter().filter_map(|input| match &input.target {
            Target::Predicate(name) => Some(name),
            Target::Stored(_) => None,
        })
    }
}

impl<B> Predicate<B> {
    /// Whether any column is aggregated.
    pub fn is_aggregated(&self) -> bool {
        self.columns.iter().any(|column| column.aggregation.is_some())
    }

    /// Whether all aggregations are meets and stand after all grouping columns, so that recursion through it is sound.
    pub fn is_meet(&self) -> bool {
        let grouping = self.columns.iter().take_while(|column| column.aggregation.is_none()).count();
        let is_meet = |column: &HeadColumn| column.aggregation.as_ref().is_some_and(|a| a.aggregation.meet.is_some());
        grouping < self.columns.len() && self.columns[grouping..].iter().all(is_meet)
    }

    /// The headers of its rows: the variables, with their aggregations.
    pub fn headers(&self) -> Vec<String> {
        self.columns.iter().map(HeadColumn::header).collect()
    }
}

impl HeadColumn {
    /// `x`, or `count(x)`.
    pub fn header(&self) -> String {
        match &self.aggregation {
            Some(used) => format!("{}({})", used.aggregation.name, self.name),
            None => self.name.to_string(),
        }
    }
}

impl Arg {
    /// The variables that occur.
    pub fn variables(&self) -> Vec<&SmallStr> {
        match self {
            Arg::Wildcard => vec![],
            Arg::Variable(variable) => vec![&variable.name],
            Arg::Expr(expr) => expr.variables(),
        }
    }
}

impl Formula {
    /// The atoms in it, negated or not.
    pub fn atoms(&self) -> Vec<&Atom> {
        fn gather<'f>(formula: &'f Formula, into: &mut Vec<&'f Atom>) {
            match formula {
                Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| gather(part, into)),
                Formula::Not(inner) => gather(inner, into),
                Formula::Atom(atom) => into.push(atom),
            }
        }
        let mut atoms = vec![];
        gather(self, &mut atoms);
        atoms
    }
}

impl Atom {
    /// The variables that it can bind.
    pub fn bindings(&self) -> impl Iterator<Item = &SmallStr> {
        let (apply, search, read, variable) = match self {
            Atom::Apply(apply) => (Some(apply).filter(|apply| !apply.negated), None, None, None),
            Atom::Search(search) => (None, Some(search), None, None),
            Atom::AsOf(read) => (None, None, Some(read), None),
            Atom::Unify(variable, _) | Atom::Unnest(variable, _) => (None, None, None, Some(&variable.name)),
            Atom::Filter(_) | Atom::Same(..) => (None, None, None, None),
        };
        let of_search = search.into_iter().flat_map(Search::bindings);
        let of_read = read.into_iter().flat_map(AsOfRead::bindings);
        apply.into_iter().flat_map(Apply::bindings).chain(of_search).chain(of_read).chain(variable)
    }

    /// The relation that it applies, if any.
    pub fn applied(&self) -> Option<&Apply> {
        match self {
            Atom::Apply(apply) => Some(apply),
            Atom::Search(search) => search.within.as_ref().map(|within| &within.apply),
            _ => None,
        }
    }

    /// Why the relation that it applies must be complete before, if it must.
    pub fn needs_complete(&self) -> Option<&'static str> {
        match self {
            Atom::Apply(apply) if apply.negated => Some("a negation"),
            Atom::Search(_) => Some("the 'within' of a search"),
            _ => None,
        }
    }

    /// The variables that occur.
    pub fn variables(&self) -> Vec<&SmallStr> {
        match self {
            Atom::Apply(apply) => apply.args.iter().flat_map(Arg::variables).collect(),
            Atom::Filter(expr) => expr.variables(),
            Atom::Unify(variable, expr) | Atom::Unnest(variable, expr) | Atom::Same(variable, expr) => {
                std::iter::once(&variable.name).chain(expr.variables()).collect()
            }
            Atom::Search(search) => search.inputs().chain(search.bindings()).collect(),
            Atom::AsOf(read) => read.inputs().chain(read.bindings()).collect(),
        }
    }
}

impl Program {
    /// The rules of a predicate; none for a constant one.
    pub fn rules(&self, name: &str) -> &[Rule] {
        match self.predicates.get(name).map(|predicate| &predicate.definition) {
            Some(Definition::Rules(rules)) => rules,
            _ => &[],
        }
    }
}
