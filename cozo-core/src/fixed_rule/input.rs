//! An input of a fixed rule: a relation as columns, or as rows in ascending order.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::graph::GraphCache;
use super::{FixedRuleError, InputSpec, Poison, Shape};
use crate::diag::SourceSpan;
use crate::parse::ast::Symbol;
use crate::schema::RelationId;
use crate::storage::{BatchCursor, ContentVersion, KeyRange, StorageError};
use crate::value::{Batch, Column, DataValue};

/// The number of rows of a stored relation that are read between two checks of the poison.
pub(super) const ROWS_PER_CHECK: usize = 4096;

/// An input relation. Rows are read on demand.
pub struct Input<'a> {
    /// The names of its columns, from the first; `_` for no name. There may be more or fewer than columns.
    pub bindings: &'a [Symbol],
    /// The number of its columns.
    pub arity: usize,
    /// The position in the script.
    pub span: SourceSpan,
    source: InputSource<'a>,
    /// The cache for graphs of stored relations.
    graphs: Option<&'a GraphCache>,
    /// All rows in ascending order, once they were requested.
    ordered: OnceLock<Batch>,
}

/// The source of an input's rows.
pub enum InputSource<'a> {
    /// Derived rows in memory.
    Rows(Cow<'a, Batch>),
    /// A stored relation.
    Stored(Box<dyn StoredRows + 'a>),
}

/// The rows of a stored relation, now or as of a time.
pub trait StoredRows: Send + Sync {
    /// Some columns of all rows, in ascending order of the rows.
    fn scan_all(&self, columns: &[usize]) -> Result<Box<dyn BatchCursor + '_>, StorageError> {
        self.scan_part(&KeyRange::all(), columns)
    }

    /// Some columns of the rows of a part, in ascending order of the rows.
    fn scan_part(&self, part: &KeyRange, columns: &[usize]) -> Result<Box<dyn BatchCursor + '_>, StorageError>;

    /// Divides all rows into at most `parts` consecutive parts, each with its number of rows, which may be an estimate.
    fn parts(&self, parts: usize) -> Vec<(KeyRange, usize)>;

    /// An approximate upper bound of the number of rows.
    fn most_rows(&self) -> usize;

    /// The relation and the identity of its contents; none if that is unknown, or if only a part of the rows counts.
    fn contents(&self) -> Option<(RelationId, ContentVersion)>;
}

impl<'a> Input<'a> {
    /// An input of `arity` columns.
    pub fn new(source: InputSource<'a>, arity: usize, bindings: &'a [Symbol], span: SourceSpan) -> Self {
        Input { bindings, arity, span, source, graphs: None, ordered: OnceLock::new() }
    }

    /// Sets the cache for graphs of the input, which is used if it is a stored relation.
    pub fn keeping(self, graphs: Option<&'a GraphCache>) -> Self {
        Input { graphs, ..self }
    }

    /// The cache for a graph of the input, and the key in the cache.
    pub(super) fn kept(&self) -> Option<(&'a GraphCache, RelationId, ContentVersion)> {
        let InputSource::Stored(rows) = &self.source else { return None };
        let (relation, contents) = rows.contents()?;
        Some((self.graphs?, relation, contents))
    }

    /// Refuses the input if it has too few columns.
    pub fn check_shape(&self, rule: &str, spec: &InputSpec) -> Result<(), FixedRuleError> {
        match spec.shape {
            Shape::Edges if self.arity < 2 => Err(FixedRuleError::NotAnEdge { found: self.arity, span: self.span }),
            Shape::Edges => Ok(()),
            Shape::Columns(needed) => self.check_arity(rule, spec.name, needed),
        }
    }

    /// Refuses the input if it has fewer columns than `needed`.
    pub fn check_arity(&self, rule: &str, name: &str, needed: usize) -> Result<(), FixedRuleError> {
        if self.arity >= needed {
            return Ok(());
        }
        let (rule, input) = (rule.to_string(), name.to_string());
        Err(FixedRuleError::InputArity { rule, input, found: self.arity, needed, span: self.span })
    }

    /// The columns that have a name, numbered from `offset` on.
    pub fn bound_columns(&self, offset: usize) -> impl Iterator<Item = (&'a Symbol, usize)> {
        let bindings = self.bindings.iter().take(self.arity).enumerate();
        bindings.filter(|(_, binding)| !binding.is_wildcard()).map(move |(column, binding)| (binding, column + offset))
    }

    /// An approximate upper bound of the number of rows.
    pub fn most_rows(&self) -> usize {
        match &self.source {
            InputSource::Rows(batch) => batch.len,
            InputSource::Stored(rows) => rows.most_rows(),
        }
    }

    /// Some columns of all rows. The rows are in any order, which is the same in all columns.
    pub fn columns(&self, columns: &[usize], poison: &Poison) -> Result<Vec<Cow<'_, Column>>, FixedRuleError> {
        debug_assert!(columns.iter().all(|column| *column < self.arity), "only columns that there are");
        match &self.source {
            InputSource::Rows(batch) => Ok(columns.iter().map(|i| Cow::Borrowed(&batch.columns[*i])).collect()),
            InputSource::Stored(rows) => {
                let batch = read(&**rows, columns, poison)?;
                Ok(batch.columns.into_iter().map(Cow::Owned).collect())
            }
        }
    }

    /// Passes some columns of all rows to `visit`, some rows at a time, until it returns `false`. Returns whether it never did.
    pub fn visit(
        &self,
        columns: &[usize],
        poison: &Poison,
        visit: &mut dyn FnMut(&[&Column]) -> bool,
    ) -> Result<bool, FixedRuleError> {
        match &self.source {
            InputSource::Rows(batch) => Ok(visit(&columns.iter().map(|i| &batch.columns[*i]).collect::<Vec<_>>())),
            InputSource::Stored(rows) => {
                let mut cursor = rows.scan_all(columns)?;
                while let Some(batch) = cursor.next_batch(ROWS_PER_CHECK)? {
                    poison.check()?;
                    if !visit(&batch.columns.iter().collect::<Vec<_>>()) {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// The stored relation, if the input is one.
    pub fn stored(&self) -> Option<&dyn StoredRows> {
        match &self.source {
            InputSource::Rows(_) => None,
            InputSource::Stored(rows) => Some(&**rows),
        }
    }

    /// All rows, in ascending order.
    pub fn ordered(&self, poison: &Poison) -> Result<&Batch, FixedRuleError> {
        if let Some(batch) = self.ordered.get() {
            return Ok(batch);
        }
        let batch = match &self.source {
            InputSource::Rows(batch) => {
                poison.make_room(batch.memory_bytes())?;
                let mut order: Vec<u32> = (0..batch.len as u32).collect();
                order.sort_unstable_by(|a, b| batch.compare_rows(*a as usize, batch, *b as usize));
                batch.take(&order)
            }
            // A stored relation is in key order, which is the order of its rows.
            InputSource::Stored(rows) => read(&**rows, &(0..self.arity).collect::<Vec<_>>(), poison)?,
        };
        Ok(self.ordered.get_or_init(|| batch))
    }

    /// The rows of [`Input::ordered`] whose first column has this value.
    pub fn rows_with_first(
        &self,
        value: &DataValue,
        poison: &Poison,
    ) -> Result<std::ops::Range<usize>, FixedRuleError> {
        let batch = self.ordered(poison)?;
        let Some(first) = batch.columns.first() else { return Ok(0..0) };
        let below = |include_equal: bool| {
            let (mut low, mut high) = (0, batch.len);
            while low < high {
                let middle = low + (high - low) / 2;
                let order = first.compare_value(middle, value);
                if order.is_lt() || (include_equal && order.is_eq()) { low = middle + 1 } else { high = middle }
            }
            low
        };
        Ok(below(false)..below(true))
    }
}

impl std::fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").field("arity", &self.arity).field("bindings", &self.bindings).finish_non_exhaustive()
    }
}

/// Some columns of a stored relation.
fn read(rows: &dyn StoredRows, columns: &[usize], poison: &Poison) -> Result<Batch, FixedRuleError> {
    let mut cursor = rows.scan_all(columns)?;
    let mut all = Batch::empty(columns.len());
    while let Some(batch) = cursor.next_batch(ROWS_PER_CHECK)? {
        poison.check()?;
        poison.make_room(batch.memory_bytes())?;
        all.append(&batch);
    }
    Ok(all)
}
