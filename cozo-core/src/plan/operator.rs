//! The operators of a rule, as data.
//!
//! An [`OperatorPlan`] says what is done to each row of a batch ([`OperatorKind`]), and which slots of the row are carried over. The
//! operators that read a relation have a plan of their own: [`JoinPlan`], [`SemiJoinPlan`], [`IntersectPlan`]. Each names the
//! [`Source`] and the columns that must equal expressions over the input. The first two name the [`Method`], too. [`SearchPlan`] names an index.
//!
//! A [`Signature`] is what the [`passes`](super::passes) need to know about any operator: the expressions and slots that it reads,
//! the slots that it fills, its relations, and whether it may multiply rows. **A pass matches the kinds only where it treats one of
//! them in its own way**, so that a new operator is described here once.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::expr::Expr;
use crate::index::search::SearchColumn;
use crate::program::{SearchCall, StoredRead, Target};
use crate::schema::RelationSchema;
use crate::storage::End;
use crate::value::SmallStr;

/// An operator.
#[derive(Clone, Debug)]
pub struct OperatorPlan {
    /// Its number in the plan, by which a run keeps measurements and indexes for it.
    pub number: usize,
    /// What it does.
    pub kind: OperatorKind,
    /// The slots of the input that the output has, too.
    pub keep: Vec<usize>,
    /// How many rows it was estimated to give, if it was.
    pub estimate: Option<f64>,
}

/// What an operator does to each row of its input.
#[derive(Clone, Debug)]
pub enum OperatorKind {
    /// Joins it with the rows of a relation.
    Join(JoinPlan),
    /// Keeps it if a relation has a matching row, or if it has none.
    SemiJoin(SemiJoinPlan),
    /// Keeps it if an expression is true.
    Filter(Expr),
    /// Keeps it if a slot and an expression are the same value (identity).
    Same(usize, Expr),
    /// Fills a slot with the value of an expression.
    Unify(usize, Expr),
    /// Repeats it for each element of a list, which fills the slot if there is one.
    Unnest(Option<usize>, Expr),
    /// Repeats it for each value that several relations agree on.
    Intersect(IntersectPlan),
    /// Drops it if an equal row came before, as far as earlier rows are remembered.
    Distinct,
    /// Repeats it for each row that an index finds by likeness.
    Search(SearchPlan),
    /// Repeats it for each history of a relation that is visible at the time of the row.
    AsOf(AsOfPlan),
}

/// A relation to read.
#[derive(Clone, Debug)]
pub enum Source {
    /// A derived table.
    Table(usize),
    /// A stored relation.
    Stored(StoredRead),
}

impl Source {
    /// The source of the rows of a relation, where predicates have these tables.
    pub(super) fn of(target: &Target, tables: &FxHashMap<&SmallStr, usize>) -> Self {
        match target {
            Target::Predicate(name) => Source::Table(tables[name]),
            Target::Stored(read) => Source::Stored(read.clone()),
        }
    }
}

/// How matching rows are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// All rows match.
    Scan,
    /// By the leading key columns of a stored relation.
    Prefix,
    /// By a range of keys of a stored relation: leading key columns that are constant, and bounds of the next one.
    Range,
    /// By a hash table on the bound columns.
    Hash,
    /// By a hash table on expressions over its columns: see [`EqualPlan`].
    Equal,
    /// In the order of expressions over its columns: see [`ComparePlan`].
    Compare,
}

/// A join of each input row with matching rows of a relation.
#[derive(Clone, Debug)]
pub struct JoinPlan {
    /// The relation.
    pub source: Source,
    /// How matching rows are found.
    pub method: Method,
    /// The columns that must be the same as expressions over the input; empty for a scan.
    pub keys: Vec<(usize, Expr)>,
    /// The columns that fill slots.
    pub outputs: Vec<(usize, usize)>,
    /// For a range: the bounds of the key column after those in `keys`.
    pub bounds: Vec<BoundPlan>,
    /// For a scan of a table: the column to sort by, so that the look-up that follows reads its relation in order.
    pub sort_by: Option<usize>,
    /// The order of the matches.
    pub order: MatchOrder,
    /// The equalities by which rows are found, for [`Method::Equal`].
    pub equal: Option<Box<EqualPlan>>,
    /// The comparisons by which rows are found, for [`Method::Compare`].
    pub compare: Option<Box<ComparePlan>>,
}

impl JoinPlan {
    /// How matching rows would be found without comparisons.
    pub fn scan_method(&self) -> Method {
        self.compare.as_ref().map_or(self.method, |compare| compare.instead_of)
    }
}

/// The order of the matches of a join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchOrder {
    /// Any order.
    Any,
    /// The order of the input; for one input row, the order of the relation.
    Input,
    /// The same for an index whose order differs from the order of its relation. The matches of one input row are sorted by the
    /// slots `by`, which the join fills.
    Keys {
        /// A free slot, for the number of the input row.
        row: usize,
        /// The slots that the columns of the relation's key fill.
        by: Vec<usize>,
    },
}

/// Equalities of expressions over the rows of a relation with expressions over the input of its join. They stay as filters after
/// the join, so here an expression that fails for a row is equal to anything.
#[derive(Clone, Debug)]
pub struct EqualPlan {
    /// Pairs of an expression over the input and one over the slots that the join fills. All pairs must be equal.
    pub pairs: Vec<(Expr, Expr)>,
    /// Whether the only pair is a list and one of its elements.
    pub each: bool,
    /// Filters of the relation's rows alone: a row for which one is false need not be found.
    pub tests: Vec<Expr>,
}

/// Comparisons of expressions over the rows of a relation with expressions over the input of its join. They stay as filters after
/// the join, which may find more rows: all for which a comparison fails are among them.
#[derive(Clone, Debug)]
pub struct ComparePlan {
    /// The compared expressions, one or two. A second one has one bound.
    pub by: Vec<ComparedRows>,
    /// Whether the key columns of the join select the rows that are compared; if not, they are constant.
    pub by_key: bool,
    /// How the rows would be found without comparisons.
    pub instead_of: Method,
    /// Filters of the relation's rows alone: a row for which one is false need not be found.
    pub tests: Vec<Expr>,
    /// Whether the rule has no other tests of the relation's rows, and computes nothing from them.
    pub decides: bool,
    /// The end of the matches of an input row, in the order of the only compared expression, of which one row is enough.
    pub one: Option<End>,
}

/// A compared expression over the slots that a join fills.
#[derive(Clone, Debug)]
pub struct ComparedRows {
    /// The expression.
    pub of_rows: Expr,
    /// What it must be greater than.
    pub lower: Option<BoundOfRows>,
    /// What it must be smaller than.
    pub upper: Option<BoundOfRows>,
}

/// A bound of a compared expression.
#[derive(Clone, Debug)]
pub struct BoundOfRows {
    /// An expression over the input of the join.
    pub of_input: Expr,
    /// Whether the two may be equal.
    pub inclusive: bool,
}

impl ComparePlan {
    /// The expressions over the input.
    fn of_input(&self) -> impl Iterator<Item = &Expr> {
        self.by.iter().flat_map(|by| by.lower.iter().chain(&by.upper)).map(|bound| &bound.of_input)
    }
}

/// A bound of a key column.
#[derive(Clone, Debug)]
pub struct BoundPlan {
    /// How the column compares with the value.
    pub comparison: Comparison,
    /// A constant or a parameter.
    pub value: Expr,
}

/// How a column compares with the value of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// It is equal.
    Equal,
    /// It is equal or greater.
    AtLeast,
    /// It is equal or smaller.
    AtMost,
    /// It is a string that begins with the value.
    StartsWith,
}

/// A join of each input row with the values that are in all of several lists: a step of a worst-case optimal join (Ngo, Porat, Ré
/// and Rudra 2012). Each relation gives a list for each value of one of its columns.
#[derive(Clone, Debug)]
pub struct IntersectPlan {
    /// The slot that the values fill.
    pub slot: usize,
    /// The relations, two at least.
    pub inputs: Vec<IntersectInput>,
}

/// A relation of pairs.
#[derive(Clone, Debug)]
pub struct IntersectInput {
    /// The relation. All columns that tell its rows apart are among the two below.
    pub source: Source,
    /// The column that selects a list, and its value.
    pub key: (usize, Expr),
    /// The column whose values are listed.
    pub values: usize,
}

/// A test for matching rows.
#[derive(Clone, Debug)]
pub struct SemiJoinPlan {
    /// The relation.
    pub source: Source,
    /// How matching rows are found; never by a scan.
    pub method: Method,
    /// The columns that must be the same as expressions over the input.
    pub keys: Vec<(usize, Expr)>,
    /// Whether the row is kept if there is no match, instead of if there is one.
    pub negated: bool,
}

/// A search in an index for each input row.
#[derive(Clone, Debug)]
pub struct SearchPlan {
    /// What is searched, and how.
    pub call: Arc<SearchCall>,
    /// The relation.
    pub source: Source,
    /// What is searched for.
    pub query: Expr,
    /// What must hold of a row that is found, over the slots of the input and those that the search fills.
    pub filter: Option<Expr>,
    /// The rows among which it looks: the relation that has their keys, and its columns for these, in their order.
    pub within: Option<(Source, Vec<usize>)>,
    /// What fills slots.
    pub outputs: Vec<(SearchColumn, usize)>,
}

/// A read of a relation that keeps histories, as of the time of each input row.
#[derive(Clone, Debug)]
pub struct AsOfPlan {
    /// The relation, which is stored.
    pub source: Source,
    /// The time.
    pub time: Expr,
    /// The leading key columns that must be the same as expressions over the input.
    pub keys: Vec<(usize, Expr)>,
    /// The columns that fill slots.
    pub outputs: Vec<(usize, usize)>,
}

impl AsOfPlan {
    /// The relation.
    pub fn schema(&self) -> &RelationSchema {
        match &self.source {
            Source::Stored(read) => &read.schema,
            Source::Table(_) => unreachable!("histories are stored"),
        }
    }

    fn signature(&self) -> Signature<'_> {
        Signature {
            evaluates: std::iter::once(&self.time).chain(key_values(&self.keys)).collect(),
            fills: self.outputs.iter().map(|(_, slot)| *slot).collect(),
            sources: smallvec![&self.source],
            searches: true,
            multiplies: true,
            ..Signature::default()
        }
    }
}

/// What an operator needs of its input and what it gives, whatever it does in between.
#[derive(Default)]
pub struct Signature<'a> {
    /// The expressions that it evaluates for each input row.
    pub evaluates: SmallVec<[&'a Expr; 4]>,
    /// The slot that it compares with a value, if it compares one.
    pub compares: Option<usize>,
    /// The slots that it fills.
    pub fills: SmallVec<[usize; 8]>,
    /// The relations that it reads.
    pub sources: SmallVec<[&'a Source; 2]>,
    /// Whether it reads a relation in another way than by all key columns of a stored relation.
    pub searches: bool,
    /// Whether one input row may become several.
    pub multiplies: bool,
}

impl Signature<'_> {
    /// The slots that it reads.
    pub fn reads(&self) -> BTreeSet<usize> {
        let mut slots: BTreeSet<usize> = self.compares.into_iter().collect();
        for expr in &self.evaluates {
            expr.walk(&mut |part| {
                if let Expr::Slot(slot, _) = part {
                    slots.insert(*slot);
                }
            });
        }
        slots
    }
}

impl SearchPlan {
    fn signature(&self) -> Signature<'_> {
        Signature {
            evaluates: std::iter::once(&self.query).chain(&self.filter).collect(),
            fills: self.outputs.iter().map(|(_, slot)| *slot).collect(),
            sources: std::iter::once(&self.source).chain(self.within.iter().map(|(source, _)| source)).collect(),
            searches: true,
            multiplies: true,
            ..Signature::default()
        }
    }
}

impl OperatorKind {
    /// What it needs and gives.
    pub fn signature(&self) -> Signature<'_> {
        let none = Signature::default;
        match self {
            OperatorKind::Join(join) => {
                let equal = join.equal.iter().flat_map(|equal| &equal.pairs).map(|(of_input, _)| of_input);
                let compared = join.compare.iter().flat_map(|compare| compare.of_input());
                let searches = !is_by_whole_key(&join.source, join.method, &join.keys);
                Signature {
                    evaluates: key_values(&join.keys).chain(equal).chain(compared).collect(),
                    fills: join.outputs.iter().map(|(_, slot)| *slot).collect(),
                    sources: smallvec![&join.source],
                    searches,
                    multiplies: searches,
                    ..none()
                }
            }
            OperatorKind::SemiJoin(exists) => Signature {
                evaluates: key_values(&exists.keys).collect(),
                sources: smallvec![&exists.source],
                searches: !is_by_whole_key(&exists.source, exists.method, &exists.keys),
                ..none()
            },
            OperatorKind::Filter(expr) => Signature { evaluates: smallvec![expr], ..none() },
            OperatorKind::Same(slot, expr) => Signature { evaluates: smallvec![expr], compares: Some(*slot), ..none() },
            OperatorKind::Unify(slot, expr) => {
                Signature { evaluates: smallvec![expr], fills: smallvec![*slot], ..none() }
            }
            OperatorKind::Unnest(slot, expr) => Signature {
                evaluates: smallvec![expr],
                fills: slot.iter().copied().collect(),
                multiplies: true,
                ..none()
            },
            OperatorKind::Intersect(intersect) => Signature {
                evaluates: intersect.inputs.iter().map(|input| &input.key.1).collect(),
                fills: smallvec![intersect.slot],
                sources: intersect.inputs.iter().map(|input| &input.source).collect(),
                searches: true,
                multiplies: true,
                ..none()
            },
            OperatorKind::Distinct => none(),
            OperatorKind::Search(search) => search.signature(),
            OperatorKind::AsOf(read) => read.signature(),
        }
    }

    /// Whether it only fills slots and tests: each row gives one row at most, whatever the relations hold.
    pub fn gives_a_row_for_each(&self) -> bool {
        let signature = self.signature();
        signature.sources.is_empty() && !signature.multiplies
    }

    /// The relations that it reads.
    pub fn sources(&self) -> SmallVec<[&Source; 2]> {
        self.signature().sources
    }

    /// Whether it reads its sources from end to end, once or more often, and needs no index of a table.
    pub fn reads_through(&self) -> bool {
        match self {
            OperatorKind::Join(join) => !matches!(join.method, Method::Hash | Method::Prefix),
            OperatorKind::SemiJoin(_) => false,
            _ => true,
        }
    }
}

impl OperatorPlan {
    /// Whether it gives one row at most for each input row, and reads no more than one row for that.
    pub fn is_point(&self) -> bool {
        let signature = self.kind.signature();
        !signature.searches && !signature.multiplies
    }
}

/// The values of key columns.
fn key_values(keys: &[(usize, Expr)]) -> impl Iterator<Item = &Expr> {
    keys.iter().map(|(_, value)| value)
}

/// Whether all key columns of a stored relation are bound, in their order.
fn is_by_whole_key(source: &Source, method: Method, keys: &[(usize, Expr)]) -> bool {
    match source {
        Source::Stored(read) => {
            let all = !keys.is_empty() && keys.len() == read.schema.keys.len();
            all && method == Method::Prefix && read.as_of.is_none()
        }
        Source::Table(_) => false,
    }
}
