//! Fixed rules of the host: the row-based interface of crate `cozo` 0.7, as an adapter over columns.
//!
//! A host implements [`FixedRule`]. Its method `run` reads inputs and options from a [`FixedRulePayload`], puts rows into a
//! [`RegularTempStore`], and checks the [`Poison`] in long loops. `run_custom` runs such a rule, and converts its rows to a
//! batch. `BuiltInForHost` is the opposite adapter: a rule of the language, as the host sees it.
//!
//! Invariant: `put` never fails. A row of the wrong length or without memory is recorded, and the query fails after the rule
//! returns, or at its next check of the poison.
//!
//! ```
//! use std::collections::BTreeMap;
//! use cozo::{
//!     DataValue, DbInstance, Expr, FixedRule, FixedRulePayload, Poison, RegularTempStore, Result, SmallStr, SourceSpan,
//!     Symbol,
//! };
//!
//! /// The nodes that an edge leads to directly.
//! struct Targets;
//!
//! impl FixedRule for Targets {
//!     fn arity(&self, _: &BTreeMap<SmallStr, Expr>, _: &[Symbol], _: SourceSpan) -> Result<usize> {
//!         Ok(1)
//!     }
//!
//!     fn run(&self, payload: FixedRulePayload<'_, '_>, out: &mut RegularTempStore, poison: Poison) -> Result<()> {
//!         for edge in payload.get_input(0)?.ensure_min_len(2)?.iter()? {
//!             out.put(vec![edge?[1].clone()]);
//!             poison.check()?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<()> {
//! let db = DbInstance::default();
//! db.register_fixed_rule("Targets".to_string(), Targets)?;
//! let rows = db.run_default("e[a, b] <- [[1, 2], [3, 2]]  ?[x] <~ Targets(e[])")?.rows;
//! assert_eq!(rows, vec![vec![DataValue::from(2)]]);
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::graph::{Direction, Graph, Weights};
use super::{BuiltInRule, Call, FixedRuleError, Input, OptionKind, OptionMap, Options, Output, Poison};
use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::fork::Process;
use crate::parse::ast::Symbol;
use crate::value::{Batch, DataValue, SmallStr, Tuple, check_depth};

/// A fixed rule that the host adds to a database.
pub trait FixedRule: Send + Sync {
    /// Checks or completes the options before they are used.
    fn init_options(&self, _options: &mut BTreeMap<SmallStr, Expr>, _span: SourceSpan) -> miette::Result<()> {
        Ok(())
    }

    /// The number of columns of the result.
    fn arity(
        &self,
        options: &BTreeMap<SmallStr, Expr>,
        rule_head: &[Symbol],
        span: SourceSpan,
    ) -> miette::Result<usize>;

    /// Puts the rows into `out`. A long computation checks the poison at intervals.
    fn run(&self, payload: FixedRulePayload<'_, '_>, out: &mut RegularTempStore, poison: Poison) -> miette::Result<()>;
}

/// The inputs and options of a fixed rule.
#[derive(Clone, Copy)]
pub struct FixedRulePayload<'a, 'b> {
    call: &'a Call<'b>,
}

/// An input of a fixed rule, as rows in ascending order.
#[derive(Clone, Copy)]
pub struct FixedRuleInputRelation<'a, 'b> {
    input: &'a Input<'b>,
    number: usize,
    call: &'a Call<'b>,
}

/// The rows of an input.
pub type TupleIter<'a> = Box<dyn Iterator<Item = miette::Result<Tuple>> + 'a>;

impl<'a, 'b> FixedRulePayload<'a, 'b> {
    /// The payload of a call.
    pub fn new(call: &'a Call<'b>) -> Self {
        FixedRulePayload { call }
    }

    /// The number of inputs.
    pub fn inputs_count(&self) -> usize {
        self.call.inputs.len()
    }

    /// An input by its number from 0. Fails if there is none.
    pub fn get_input(&self, index: usize) -> miette::Result<FixedRuleInputRelation<'a, 'b>> {
        Ok(FixedRuleInputRelation { input: self.call.input(index)?, number: index, call: self.call })
    }

    /// The name by which the rule was called.
    pub fn name(&self) -> &str {
        self.call.options.rule
    }

    /// The place of the call in the script.
    pub fn span(&self) -> SourceSpan {
        self.call.options.span
    }

    /// All options of the call.
    pub fn options(&self) -> Options<'a> {
        self.call.options
    }

    /// An option as an expression.
    pub fn expr_option(&self, name: &str, default: Option<Expr>) -> miette::Result<Expr> {
        let options = self.call.options;
        Ok(options.expr(name).cloned().or(default).ok_or_else(|| options.missing(name))?)
    }

    fn option<T>(
        &self,
        name: &str,
        kind: OptionKind,
        default: Option<T>,
        read: impl FnOnce(&DataValue) -> Option<T>,
    ) -> miette::Result<T> {
        let options = self.call.options;
        let given = match options.value(name, kind)? {
            Some(value) => Some(read(&value).ok_or_else(|| options.wrong(name, kind.describe(), value.to_string()))?),
            None => None,
        };
        Ok(given.or(default).ok_or_else(|| options.missing(name))?)
    }

    /// An option that is a string.
    pub fn string_option(&self, name: &str, default: Option<&str>) -> miette::Result<SmallStr> {
        self.option(name, OptionKind::Text, default.map(SmallStr::from), |value| value.get_str().map(SmallStr::from))
    }

    /// An option that is an integer.
    pub fn integer_option(&self, name: &str, default: Option<i64>) -> miette::Result<i64> {
        self.option(name, OptionKind::Int, default, DataValue::get_int)
    }

    /// An option that is an integer of at least 1.
    pub fn pos_integer_option(&self, name: &str, default: Option<usize>) -> miette::Result<usize> {
        self.option(name, OptionKind::PositiveInt, default, unsigned)
    }

    /// An option that is an integer of at least 0.
    pub fn non_neg_integer_option(&self, name: &str, default: Option<usize>) -> miette::Result<usize> {
        self.option(name, OptionKind::NonNegativeInt, default, unsigned)
    }

    /// An option that is a number.
    pub fn float_option(&self, name: &str, default: Option<f64>) -> miette::Result<f64> {
        self.option(name, OptionKind::Float, default, DataValue::get_float)
    }

    /// An option that is a number between 0 and 1.
    pub fn unit_interval_option(&self, name: &str, default: Option<f64>) -> miette::Result<f64> {
        self.option(name, OptionKind::UnitInterval, default, DataValue::get_float)
    }

    /// An option that is `true` or `false`.
    pub fn bool_option(&self, name: &str, default: Option<bool>) -> miette::Result<bool> {
        self.option(name, OptionKind::Bool, default, DataValue::get_bool)
    }

    /// The place of an option. Fails if it is missing.
    pub fn option_span(&self, name: &str) -> miette::Result<SourceSpan> {
        let options = self.call.options;
        Ok(options.expr(name).map(Expr::span).ok_or_else(|| options.missing(name))?)
    }
}

fn unsigned(value: &DataValue) -> Option<usize> {
    value.get_int().and_then(|int| usize::try_from(int).ok())
}

impl<'a, 'b> FixedRuleInputRelation<'a, 'b> {
    /// The number of columns.
    pub fn arity(&self) -> miette::Result<usize> {
        Ok(self.input.arity)
    }

    /// Fails if there are fewer than `len` columns.
    pub fn ensure_min_len(self, len: usize) -> miette::Result<Self> {
        let name = format!("number {}", self.number + 1);
        self.input.check_arity(self.call.options.rule, &name, len)?;
        Ok(self)
    }

    /// The names of the columns in the script, with their positions counted from `offset`.
    pub fn get_binding_map(&self, offset: usize) -> BTreeMap<Symbol, usize> {
        self.input.bound_columns(offset).map(|(name, column)| (name.clone(), column)).collect()
    }

    /// The headers: the names of the columns, and `_i` for a column without a name.
    pub fn headers(&self) -> Vec<String> {
        let named = |i: usize| self.input.bindings.get(i).filter(|name| !name.is_wildcard());
        let header = |i: usize| named(i).map_or_else(|| format!("_{i}"), |name| name.to_string());
        (0..self.input.arity).map(header).collect()
    }

    /// All rows, in ascending order.
    pub fn iter(&self) -> miette::Result<TupleIter<'a>> {
        let rows = self.input.ordered(&self.call.poison)?;
        Ok(Box::new(rows.rows().map(Ok)))
    }

    /// The rows whose first column has this value, in ascending order.
    pub fn prefix_iter(&self, prefix: &DataValue) -> miette::Result<TupleIter<'a>> {
        let rows = self.input.ordered(&self.call.poison)?;
        let range = self.input.rows_with_first(prefix, &self.call.poison)?;
        Ok(Box::new(range.map(|row| Ok(rows.row(row)))))
    }

    /// The place of the input in the script.
    pub fn span(&self) -> SourceSpan {
        self.input.span
    }

    /// The first two columns as a graph of numbered nodes, the value of each node, and the number of each value.
    pub fn as_directed_graph(&self, undirected: bool) -> miette::Result<NumberedGraph> {
        Ok(numbered(self.input.edges(None, &self.call.poison)?, undirected))
    }

    /// [`FixedRuleInputRelation::as_directed_graph`] with the third column as weights, which are 1 without one.
    pub fn as_directed_weighted_graph(
        &self,
        undirected: bool,
        allow_negative_weights: bool,
    ) -> miette::Result<NumberedGraph> {
        let weights = if allow_negative_weights { Weights::Finite } else { Weights::NonNegative };
        Ok(numbered(self.input.edges(Some(weights), &self.call.poison)?, undirected))
    }
}

/// A graph of numbered nodes, the value of each node, and the number of each value.
pub type NumberedGraph = (Graph, Vec<DataValue>, BTreeMap<DataValue, u32>);

fn numbered(edges: super::graph::Edges, undirected: bool) -> NumberedGraph {
    let values: Vec<DataValue> = edges.nodes.values().iter().collect();
    let numbers = values.iter().cloned().zip(0..).collect();
    (edges.graph(Direction::undirected(undirected)), values, numbers)
}

/// The size of a row in the set, besides its values.
const BYTES_AROUND_ROW: usize = 2 * size_of::<Tuple>();

/// The rows of a fixed rule's result, as a set.
#[derive(Debug)]
pub struct RegularTempStore {
    arity: usize,
    rows: FxHashSet<Tuple>,
    /// The length of the first row that does not fit.
    misfit: Option<usize>,
    poison: Poison,
}

impl RegularTempStore {
    /// An empty set of rows with `arity` columns.
    pub(super) fn new(arity: usize, poison: Poison) -> Self {
        RegularTempStore { arity, rows: FxHashSet::default(), misfit: None, poison }
    }

    /// Adds a row. An equal row is stored once. The query fails for a row of the wrong length, for a value that is nested too deep,
    /// and for more rows than the memory limit allows. For the last two, [`Poison::check`] fails from then on.
    pub fn put(&mut self, tuple: Tuple) {
        if tuple.len() != self.arity {
            self.misfit.get_or_insert(tuple.len());
            return;
        }
        if let Err(stop) = tuple.iter().try_for_each(|value| check_depth(value, 0)) {
            self.poison.stop(stop);
            return;
        }
        let bytes = tuple.iter().map(DataValue::memory_bytes).sum::<usize>() + BYTES_AROUND_ROW;
        if self.poison.make_room(bytes).is_ok() {
            self.rows.insert(tuple);
        }
    }

    /// Whether the set has a row.
    pub fn exists(&self, tuple: &Tuple) -> bool {
        self.rows.contains(tuple)
    }

    fn into_batch(self, options: Options<'_>) -> Result<Batch, FixedRuleError> {
        match self.misfit {
            None => Ok(Batch::from_rows(self.arity, self.rows.iter().map(Vec::as_slice))),
            Some(found) => Err(FixedRuleError::RowArity {
                rule: options.rule.to_string(),
                expected: self.arity,
                found,
                span: options.span,
            }),
        }
    }
}

/// Runs a rule of the host.
pub(super) fn run_custom(rule: &dyn FixedRule, call: &Call<'_>, arity: usize) -> Result<Batch, FixedRuleError> {
    let (mut out, process) = (RegularTempStore::new(arity, call.poison.clone()), Process::current());
    rule.run(FixedRulePayload::new(call), &mut out, call.poison.clone())?;
    // The host's code may have forked, or may have exceeded the time limit.
    process.check().map_err(miette::Report::from)?;
    call.poison.check()?;
    out.into_batch(call.options)
}

/// A rule of the language as the host sees it.
pub(super) struct BuiltInForHost(pub &'static BuiltInRule);

impl FixedRule for BuiltInForHost {
    /// The host does not say which columns of inputs have names, but the head tells how many columns there are.
    fn arity(&self, given: &OptionMap, head: &[Symbol], span: SourceSpan) -> miette::Result<usize> {
        match self.0.output {
            Output::AfterInput(..) => Ok(head.len()),
            _ => Ok(self.0.arity(Options { rule: self.0.name, given, span }, 0)?),
        }
    }

    fn run(&self, payload: FixedRulePayload<'_, '_>, out: &mut RegularTempStore, _: Poison) -> miette::Result<()> {
        self.0.apply(payload.call)?.rows().for_each(|row| out.put(row));
        Ok(())
    }
}
