//! The syntax tree of CozoScript.
//!
//! | file | what |
//! |---|---|
//! | `script` | a [`Script`]: a query, an imperative script of [`Statement`]s, or a [`SystemOp`] |
//! | `query` | a [`Query`]: [`Rule`]s and options; calls of fixed rules |
//! | `formula` | the body of a rule: a [`Formula`] of [`Atom`]s over [`Expr`]s |
//! | `option`, `schema` | options of a query, operations on stored relations, and their columns |
//! | `system` | system operations |
//!
//! Everything has a span (`spans`) and prints as CozoScript (`display`). **Names are names here**: nothing is resolved against
//! functions, rules or the catalog.

mod formula;
mod option;
mod query;
mod schema;
mod script;
mod system;

pub use formula::{Atom, Expr, Formula, NamedArg, RuleApply, SearchApply, StoredApply, StoredArgs};
pub use option::{Assertion, Mutation, MutationOp, OrderKey, QueryOption};
pub use query::{AggregationCall, FixedCall, FixedInput, Head, HeadArg, Query, Rule, RuleBody, StoredBindings};
pub use schema::{BaseTypeSpec, ColumnSource, ColumnSpec, ColumnSpecs, ColumnTypeSpec};
pub use script::{Condition, Script, Statement};
pub use system::{ChangedColumn, ColumnChange, SearchIndexKind, SystemOp, SystemOpKind, TriggerEvent, TriggerSpec};

use crate::diag::SourceSpan;
use crate::value::SmallStr;

/// A name and where it stands. Symbols are equal and ordered by the name alone.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The name, without any sigil.
    pub name: SmallStr,
    /// Where it stands.
    pub span: SourceSpan,
}
