//! Plans: how a program runs, as data.
//!
//! A [`Plan`] has a table for every predicate and, component by component, the rules that fill them. A rule is a line of
//! operators over numbered *slots*. Each operator takes batches whose columns are slots, and gives batches with more slots
//! filled. Slots that no later operator needs are dropped.
//!
//! ```text
//! ?[to] := l1[fr], *friends{fr, to}
//!     0  scan l1[fr -> slot 0]
//!     1  look up *friends by prefix fr = slot 0, giving to -> slot 1
//!     head [slot 1]
//! ```
//!
//! [`build()`] plans rule by rule. Atoms run in the written order, unless another order is clearly cheaper (`order`, by the costs of
//! `cost` and the sizes of `estimates`). A `RuleBuilder` turns the atoms of a rule into operators. A stored relation is read in one of
//! these ways, each a [`Method`]:
//!
//! | way | when | file |
//! |---|---|---|
//! | `Prefix` | its leading key columns are bound, or those of one of its indices | `rule_builder`, `indices` |
//! | `Range` | filters compare a key column with constants | `passes/ranges` |
//! | `Equal` | a filter equates expressions over the relation and the rows before it | `passes/equal` |
//! | `Compare` | filters compare expressions over the relation with some over the rows before it | `passes/compare` |
//! | `Hash` | other columns are bound: by an index that the run builds | `rule_builder` |
//! | `Scan` | nothing is bound, or the input is a single row | `rule_builder` |
//!
//! If several atoms give a variable from bound columns, sorted lists are intersected where that is cheaper than testing each
//! candidate (`intersect`). A read as of a time (`@`) finds the visible rows first and compares a bound Validity then; the
//! Validity is never part of a prefix. The listed [`passes`] choose all that is left, up to the [`Strategy`] of the whole plan,
//! and `::explain` shows what they chose.
//!
//! **plan never runs anything**: it reads schemas, no rows; sizes come from a [`Statistics`].

mod answer_types;
mod build;
mod cost;
mod early;
mod estimates;
mod explain;
mod indices;
mod intersect;
mod mutation;
mod operator;
mod options;
mod order;
mod passes;
mod rule_builder;
mod statistics;

pub use answer_types::answer_types;
pub use build::{Form, JoinOrder, build};
pub use explain::{Described, EXPLAIN_HEADERS, explain};
pub use mutation::{MutationPlan, Source as ValueSource, default_schema, plan_mutation};
pub use operator::{
    AsOfPlan, BoundOfRows, BoundPlan, ComparePlan, ComparedRows, Comparison, EqualPlan, IntersectInput, IntersectPlan,
    JoinPlan, MatchOrder, Method, OperatorKind, OperatorPlan, SearchPlan, SemiJoinPlan, Source,
};
pub use options::{OptionError, Options, SortKey, constant, plan_options};
pub use statistics::{Size, Statistics};

use smallvec::SmallVec;

use self::cost::{BYTES_PER_ROW_READ, ROW_AT_A_TIME, SEARCH_WORK};
use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::fixed_rule::{OptionMap, Rule as FixedRule};
use crate::parse::ast::Symbol;
use crate::program::{AggregationUse, ConstantRows};
use crate::schema::{BaseType, RelationId};
use crate::storage::End;
use crate::value::SmallStr;

/// How a program runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The derived tables, by number.
    pub tables: Vec<TablePlan>,
    /// The components in the order of evaluation.
    pub components: Vec<ComponentPlan>,
    /// The table that is the answer.
    pub entry: usize,
    /// The headers of the answer.
    pub headers: Vec<String>,
    /// The stored relations that are read. A few are stored inline: a small allocation of their own might share a cache line with
    /// data that a thread writes all the time.
    pub reads: SmallVec<[RelationId; 4]>,
    /// The times at which histories are read, for all sources of the plan: expressions without variables.
    pub times: Vec<Expr>,
    /// Whether other sizes of relations might give another plan.
    pub depends_on_sizes: bool,
    /// How it runs. It is final once the plan [follows](Plan::follow) the options of its query.
    pub strategy: Strategy,
    /// Whether its expressions may make large values or take long. Not set for a plan that runs on batches.
    pub costly: bool,
}

/// How a plan runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Component by component, on batches of rows.
    Batches,
    /// On single values: it gives one row at most, whatever the relations hold.
    OneRow,
    /// As one question to the engine: how many rows begin with a key. Runs on batches if the engine would have to read the rows.
    Count,
}

/// A derived table.
#[derive(Clone, Debug)]
pub struct TablePlan {
    /// The predicate.
    pub name: SmallStr,
    /// Its number of columns.
    pub arity: usize,
    /// What its rows are.
    pub kind: TableKind,
    /// Whether its rows are sorted once they are complete, because the result of a reader depends on their order.
    pub in_order: bool,
    /// Whether the rules give no row twice.
    pub unique: bool,
    /// Whether the entry reads it. If the entry stops early, which rows it gives depends on the order, too.
    pub read_by_entry: bool,
}

/// What the rows of a table are.
#[derive(Clone, Debug)]
pub enum TableKind {
    /// A set of rows.
    Set,
    /// Groups of all solutions of the rules: the aggregation of each column, none for grouping columns.
    Groups(Vec<Option<AggregationUse>>),
    /// Groups that recursion improves: the aggregations of the columns after the first `keys`.
    Meet {
        /// The number of grouping columns.
        keys: usize,
        /// One for each further column.
        aggregations: Vec<AggregationUse>,
    },
}

impl TableKind {
    /// Whether its rows depend on the order of the solutions. If so, solutions come in the order in which atoms are written and
    /// relations are stored, whatever indices there are and however many solutions are wanted.
    pub fn order_matters(&self) -> bool {
        let matters = |used: &AggregationUse| used.aggregation.order_matters;
        match self {
            TableKind::Set => false,
            TableKind::Groups(aggregations) => aggregations.iter().flatten().any(matters),
            TableKind::Meet { aggregations, .. } => aggregations.iter().any(matters),
        }
    }
}

/// Tables that are filled together.
#[derive(Clone, Debug)]
pub struct ComponentPlan {
    /// The tables.
    pub tables: Vec<usize>,
    /// Whether the rules run until nothing changes.
    pub recursive: bool,
    /// The rules.
    pub rules: Vec<RulePlan>,
    /// The tables of constant rules.
    pub constants: Vec<ConstantPlan>,
    /// Tables that fixed rules fill.
    pub fixed: Vec<FixedPlan>,
    /// Whether recursion runs row by row as long as few rows are new.
    pub row_by_row: bool,
}

/// A table that a fixed rule fills.
#[derive(Clone, Debug)]
pub struct FixedPlan {
    /// The table.
    pub table: usize,
    /// The rule's name as the script has it.
    pub name: SmallStr,
    /// The rule.
    pub rule: FixedRule,
    /// Its inputs in order.
    pub inputs: Vec<FixedInputPlan>,
    /// Its options by name.
    pub options: OptionMap,
    /// The call.
    pub span: SourceSpan,
    /// The call as text.
    pub text: String,
}

/// An input of a fixed rule.
#[derive(Clone, Debug)]
pub struct FixedInputPlan {
    /// The relation, read whole.
    pub source: Source,
    /// The names for its columns, from the first column on.
    pub bindings: Vec<Symbol>,
    /// The input in the script.
    pub span: SourceSpan,
}

/// A table of constant rows.
#[derive(Clone, Debug)]
pub struct ConstantPlan {
    /// The table.
    pub table: usize,
    /// Its rows.
    pub rows: ConstantRows,
    /// The rows in the script.
    pub span: SourceSpan,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct RulePlan {
    /// Its number in the plan.
    pub number: usize,
    /// The table that it fills.
    pub table: usize,
    /// Its operators in order.
    pub operators: Vec<OperatorPlan>,
    /// The slot of each column of the head.
    pub head: Vec<usize>,
    /// The number of slots.
    pub slots: usize,
    /// The operators that read a table of the rule's own component, and which of its rows. Exactly one reads the delta: a
    /// recursive rule is planned once for each such atom.
    pub reads: Vec<(usize, TablePart)>,
    /// The end of the relation whose rows alone matter, if there is one: the rule reads from that end until there is a row.
    pub end: Option<End>,
    /// About the work of all its rows, where reading a row is 1; 0 if it was not estimated.
    pub work: u64,
    /// Why its atoms are in another order than written, if they are.
    pub reason: Option<String>,
    /// The rule as text.
    pub text: String,
}

impl RulePlan {
    /// Whether the matches of its joins may come in any order.
    pub fn is_in_any_order(&self) -> bool {
        let in_order = |operator: &OperatorPlan| matches!(&operator.kind, OperatorKind::Join(join) if join.order != MatchOrder::Any);
        !self.operators.iter().any(in_order)
    }

    /// About the work that threads can share for each row of the first operator, where reading a row is 1. In recursion joins do
    /// not count: they find rows by position, and their results are compared with the known rows once more when they are merged.
    pub fn row_work(&self) -> u64 {
        let mut calls = 0;
        let mut count =
            |expr: &Expr| calls += u64::from(matches!(expr, Expr::Call { function, .. } if function.kernel.is_none()));
        let (mut lookups, mut searches) = (0, 0);
        for operator in self.operators.iter().skip(1) {
            let signature = operator.kind.signature();
            let reads = !signature.sources.is_empty();
            if !reads {
                signature.evaluates.iter().for_each(|expr| expr.walk(&mut count));
            }
            lookups += u64::from(reads || signature.multiplies);
            searches += u64::from(matches!(operator.kind, OperatorKind::Search(_)));
        }
        let shared = if self.reads.is_empty() { lookups } else { 0 };
        1 + self.vector_bytes() / BYTES_PER_ROW_READ + ROW_AT_A_TIME * (calls + shared) + SEARCH_WORK * searches
    }

    /// The size of the vectors of a row that the first operator reads.
    fn vector_bytes(&self) -> u64 {
        let Some(OperatorKind::Join(JoinPlan { source: Source::Stored(read), outputs, .. })) =
            self.operators.first().map(|operator| &operator.kind)
        else {
            return 0;
        };
        let of_column = |(column, _): &(usize, usize)| match read.schema.columns().nth(*column)?.column_type.base {
            BaseType::Vector { wide, len } => Some(len as u64 * if wide { 8 } else { 4 }),
            _ => None,
        };
        outputs.iter().filter_map(of_column).sum()
    }
}

/// Which rows of a growing table an operator reads in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablePart {
    /// The rows that the last round added.
    Delta,
    /// The rows that were there before the last round.
    Old,
    /// All rows up to the last round.
    Known,
}
