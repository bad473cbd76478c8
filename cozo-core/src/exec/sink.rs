//! The end of a rule: a [`Sink`] takes the heads of solutions as a set, as groups, or as groups that improve in recursion.
//!
//! A [`SetSink`] keeps each row once. It has four ways to tell rows apart, and takes the first that applies:
//!
//! | way | when | a batch is |
//! |---|---|---|
//! | `unique` | the plan proves that no row comes twice | appended |
//! | `lists` | a fork, whose original has a bitmap | appended; the merge drops duplicates |
//! | `ints` | all columns are integers, all rows are wanted, none is known | collected; duplicates are dropped at the end |
//! | `fresh` | otherwise | inserted into a [`Table`], which tells rows apart by itself |
//!
//! Known rows are those of the recursive table that grows. A [`GroupSink`] finds the group of each row and updates accumulators. A [`MeetSink`]
//! collects groups that are better than those of the table; [`apply_improvements`] then supersedes the rows that a rule has read, and changes
//! the others in place. Sets and groups fork for other threads; the [`Gathered`] results are merged in the order of their input.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use super::ExecError;
use super::dedup_index::{FEW_ROWS, NO_ROWS};
use super::grouping::Grouping;
use super::int_collector::IntCollector;
use super::table::Table;
use super::top_k::TopK;
use crate::budget::temporary;
use crate::diag::SourceSpan;
use crate::expr::FunctionError;
use crate::expr::aggregations::{Accumulator, Meet};
use crate::plan::{Plan, TableKind, TablePlan};
use crate::program::AggregationUse;
use crate::value::{Batch, Column, DataValue};

/// Takes the heads of solutions.
pub enum Sink<'a> {
    /// Keeps each row once.
    Set(SetSink<'a>),
    /// Aggregates all rows.
    Groups(GroupSink),
    /// Improves groups inside recursion.
    Meet(MeetSink<'a>),
}

/// Whether more solutions are wanted.
pub type Flow = Result<ControlFlow<()>, ExecError>;

/// More is wanted.
pub const CONTINUE: Flow = Ok(ControlFlow::Continue(()));

impl<'a> Sink<'a> {
    /// A sink for the rules of a table. In a recursive component, `existing` is the table so far, and `growth` takes the new rows of a set.
    pub fn new(
        plan: &Plan,
        table: usize,
        existing: Option<&'a Table>,
        growth: Option<Table>,
        parameters: &[&DataValue],
    ) -> Result<Self, ExecError> {
        let planned = &plan.tables[table];
        Ok(match &planned.kind {
            TableKind::Set => Sink::Set(SetSink::new(existing, growth, planned)),
            TableKind::Groups(aggregations) => {
                Sink::Groups(GroupSink::new(aggregations.iter().map(Option::as_ref), parameters)?)
            }
            TableKind::Meet { keys, aggregations } => Sink::Meet(MeetSink {
                existing: existing.expect("meets are only planned in recursion"),
                fresh: Table::keyed(planned.arity, *keys),
                meets: Meets::of(*keys, aggregations),
                grown: 0,
            }),
        })
    }

    /// Takes a batch of solutions; `head` has the slot of each head column.
    pub fn take(&mut self, mut solutions: Batch, head: &[usize]) -> Flow {
        match self {
            Sink::Set(sink) => Ok(sink.take(project(&mut solutions, head, &[]))),
            Sink::Groups(sink) => sink.take(solutions, head).map(ControlFlow::Continue),
            Sink::Meet(sink) => sink.take(project(&mut solutions, head, &[])).map(ControlFlow::Continue),
        }
    }

    /// Called when all rows of a chunk of an ordered scan have come.
    pub fn end_chunk(&mut self) {
        if let Sink::Set(sink) = self {
            sink.cut_if(TopK::has_enough);
        }
    }

    /// Whether no further row can matter. Further rows have `value` or one after it in the leading sort column; `without` excludes `value`
    /// itself.
    pub fn is_past(&self, value: &DataValue, without: bool) -> bool {
        match self {
            Sink::Set(sink) => sink.top.as_ref().is_some_and(|top| top.is_past(value, without)),
            Sink::Groups(sink) => sink.grouping.len() > 0,
            Sink::Meet(_) => false,
        }
    }

    /// About how many bytes the sink has grown since the last call.
    pub fn grown(&mut self) -> usize {
        std::mem::take(match self {
            Sink::Set(sink) => &mut sink.grown,
            Sink::Groups(sink) => &mut sink.grown,
            Sink::Meet(sink) => &mut sink.grown,
        })
    }

    /// Announces about `rows` more rows, at most. Ignored if only the first rows of an order are wanted.
    pub fn expect(&mut self, rows: usize) {
        if let Sink::Set(sink) = self
            && sink.top.is_none()
        {
            sink.expected = sink.fresh.len() + rows;
        }
    }

    /// An empty sink of the same kind for another thread, if its result can be merged later.
    pub fn fork(&self) -> Option<Sink<'_>> {
        match self {
            Sink::Set(sink) => sink.fork().map(Sink::Set),
            Sink::Groups(sink) => sink.fork().map(Sink::Groups),
            Sink::Meet(_) => None,
        }
    }

    /// The result of a fork, which borrows nothing from the original sink.
    pub fn into_gathered(self) -> Gathered {
        match self {
            Sink::Set(sink) => Gathered::Set { fresh: sink.fresh, ints: sink.ints },
            Sink::Groups(sink) => Gathered::Groups(sink),
            Sink::Meet(_) => unreachable!("meets do not fork"),
        }
    }

    /// Adds the result of a fork. Forks are merged in the order of their input rows.
    pub fn merge(&mut self, gathered: Gathered) -> Result<(), ExecError> {
        match (self, gathered) {
            (Sink::Set(sink), Gathered::Set { fresh, ints }) => {
                sink.merge(fresh, ints);
                Ok(())
            }
            (Sink::Groups(sink), Gathered::Groups(other)) => sink.merge(other),
            _ => unreachable!("forks are of the same kind"),
        }
    }
}

/// Moves columns out of their slots. A column that is needed again, for a later slot or for `kept`, is copied.
fn project(batch: &mut Batch, slots: &[usize], kept: &[usize]) -> Batch {
    let column = |(i, slot): (usize, &usize)| {
        let again = slots[i + 1..].contains(slot) || kept.contains(slot);
        let column = &mut batch.columns[*slot];
        if again { column.clone() } else { std::mem::take(column) }
    };
    Batch { columns: slots.iter().enumerate().map(column).collect(), len: batch.len }
}

/// The result of a fork.
pub enum Gathered {
    /// The new rows, in two parts: see [`SetSink`].
    Set { fresh: Table, ints: IntCollector },
    /// Groups.
    Groups(GroupSink),
}

impl Gathered {
    /// The number of rows in the table of new rows.
    pub fn listed(&self) -> usize {
        match self {
            Gathered::Set { fresh, .. } => fresh.len(),
            Gathered::Groups(_) => 0,
        }
    }
}

/// Keeps rows that are new.
pub struct SetSink<'a> {
    /// The rows that a recursive table has already.
    known: &'a Batch,
    /// In a fork, the known rows and the new rows of the original sink, if it has any. They are not taken again.
    origin: Option<(&'a Batch, &'a Table)>,
    /// Whether rows are appended unchecked, because the bitmap of the original sink drops duplicates quickly.
    lists: bool,
    /// Whether no row comes twice.
    unique: bool,
    /// New rows.
    fresh: Table,
    /// More new rows: rows of integers, if all rows are wanted and none is known. Duplicates are dropped when all rows have come. The rows are
    /// then in ascending order, in which look-ups are fastest.
    ints: IntCollector,
    /// Whether the table is recursive. The next rule then needs the bitmap again, so integers are not listed.
    recurs: bool,
    /// How many rows are enough, if not all are wanted.
    pub enough: Option<usize>,
    /// Keeps the first rows of an order, if not all are wanted.
    pub top: Option<TopK>,
    /// The most new rows that are expected, or 0 if unknown.
    expected: usize,
    /// See [`Sink::grown`].
    grown: usize,
    /// The bytes of the new rows,
    bytes: usize,
    /// and their greatest number so far.
    most_bytes: usize,
}

/// Unchecked rows are checked from this many rows on, which bounds their memory.
const MAX_LISTED: usize = 1 << 20;

/// The bytes of a table's row besides its values: its hash and its entry in the hash table.
pub const BYTES_AROUND_ROW: usize = 16;

/// About how many bytes a table takes for `rows` of the `batch_rows` rows of a batch.
fn bytes_of(rows: usize, batch_bytes: usize, batch_rows: usize) -> usize {
    rows * (batch_bytes / batch_rows.max(1) + BYTES_AROUND_ROW)
}

impl<'a> SetSink<'a> {
    fn new(existing: Option<&'a Table>, growth: Option<Table>, planned: &TablePlan) -> Self {
        // Look-ups of single integers are fastest in a bitmap, which tells them apart anyway.
        let unique = planned.unique && planned.arity > 1;
        let fresh = growth.unwrap_or_else(|| Table::set(planned.arity));
        let known = existing.map_or(&NO_ROWS, Table::rows);
        SetSink { known, recurs: existing.is_some(), ..SetSink::empty(fresh, unique) }
    }

    fn empty(fresh: Table, unique: bool) -> Self {
        SetSink {
            known: &NO_ROWS,
            origin: None,
            lists: false,
            unique,
            fresh,
            ints: IntCollector::default(),
            recurs: false,
            enough: None,
            top: None,
            expected: 0,
            grown: 0,
            bytes: 0,
            most_bytes: 0,
        }
    }

    fn fork(&self) -> Option<SetSink<'_>> {
        if self.enough.is_some() {
            return None;
        }
        let fresh = Table::set(self.fresh.rows().columns.len());
        let origin = (self.known.len + self.fresh.len() > 0).then_some((self.known, &self.fresh));
        let lists = origin.is_some_and(|(_, origin)| origin.has_bitmap());
        let (top, recurs) = (self.top.clone(), self.recurs);
        Some(SetSink { origin, lists, top, recurs, ..SetSink::empty(fresh, self.unique) })
    }

    fn merge(&mut self, fresh: Table, ints: IntCollector) {
        if self.unique {
            self.append(fresh.into_rows());
        } else {
            let listed = match self.keeps_ints() {
                true => self.ints.union(ints).err(),
                false => (ints.len() > 0).then_some(ints),
            };
            for part in listed.map(IntCollector::into_table).into_iter().chain([fresh]) {
                match self.known.len {
                    0 => self.fresh.insert_table(part),
                    _ => self.fresh.insert_table_after(self.known, part),
                };
            }
        }
        self.cut_if(TopK::is_worth_cutting);
    }

    /// Cuts the new rows to the wanted ones if `worth` says so.
    fn cut_if(&mut self, worth: impl Fn(&TopK, &Table) -> bool) {
        if let Some(top) = self.top.as_mut().filter(|top| worth(top, &self.fresh)) {
            top.cut(&mut self.fresh);
            let rows = self.fresh.rows();
            self.bytes = bytes_of(rows.len, rows.memory_bytes(), rows.len);
        }
    }

    fn take(&mut self, rows: Batch) -> ControlFlow<()> {
        let rows = match self.origin {
            Some((known, fresh)) => {
                let absent = fresh.absent_after(known, &rows);
                if absent.len() == rows.len { rows } else { rows.take(&absent) }
            }
            None => rows,
        };
        let rows = match self.top.as_ref().and_then(|top| top.before_threshold(&rows)) {
            Some(wanted) => rows.take(&wanted),
            None => rows,
        };
        let (bytes, len) = (rows.memory_bytes(), rows.len);
        if self.lists && self.fresh.len() > MAX_LISTED {
            self.lists = false;
            let listed = std::mem::replace(&mut self.fresh, Table::set(rows.columns.len()));
            self.fresh.insert(listed.into_rows());
        }
        let added = match self.unique || self.lists {
            true => self.append(rows),
            false => self.insert_ints(rows).unwrap_or_else(|rows| self.fresh.insert_after(self.known, rows)),
        };
        self.bytes += bytes_of(added, bytes, len);
        self.grown += self.bytes.saturating_sub(self.most_bytes);
        self.most_bytes = self.most_bytes.max(self.bytes);
        self.cut_if(TopK::is_worth_cutting);
        match self.enough {
            Some(enough) if self.fresh.len() >= enough => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Appends rows unchecked. Reserves room for all expected rows, since columns that move as they grow may cost more than all else.
    fn append(&mut self, mut rows: Batch) -> usize {
        if self.fresh.len() == 0
            && let Some(more) = self.expected.checked_sub(rows.len).filter(|more| *more > 0)
        {
            rows.columns.iter_mut().for_each(|column| column.try_reserve(more));
        }
        self.fresh.append(rows)
    }

    /// Whether rows may be collected as integers.
    fn keeps_ints(&self) -> bool {
        self.known.is_empty() && self.enough.is_none() && self.top.is_none()
    }

    /// Collects rows as integers, if possible; returns about the number of new rows, or else the rows.
    fn insert_ints(&mut self, rows: Batch) -> Result<usize, Batch> {
        if !self.keeps_ints() || self.ints.len() + rows.len <= FEW_ROWS {
            return Err(rows);
        }
        self.ints.insert(rows, !self.recurs)
    }

    /// The new rows.
    pub fn finish(mut self) -> Table {
        if self.ints.len() == 0 {
            return self.fresh;
        }
        // The few rows that came first are mostly integers, too.
        let few = self.fresh.len() <= FEW_ROWS;
        if self.fresh.len() == 0 || (few && self.ints.insert(self.fresh.rows().clone(), !self.recurs).is_ok()) {
            return self.ints.into_table();
        }
        self.fresh.insert_table(self.ints.into_table());
        self.fresh
    }
}

/// Aggregates rows by group.
pub struct GroupSink {
    /// The aggregation of each head column; none for grouping columns.
    aggregations: Vec<Option<(&'static str, SourceSpan)>>,
    grouping: Grouping,
    /// The state of each aggregation, for all groups.
    accumulators: Vec<Box<dyn Accumulator>>,
    /// See [`Sink::grown`].
    grown: usize,
}

impl GroupSink {
    /// A sink without rows. `columns` are the aggregations of the head; none for grouping columns.
    pub fn new<'u>(
        columns: impl Iterator<Item = Option<&'u AggregationUse>>,
        parameters: &[&DataValue],
    ) -> Result<Self, ExecError> {
        let columns: Vec<Option<&AggregationUse>> = columns.collect();
        let mut accumulators = vec![];
        for used in columns.iter().flatten() {
            let args = used.args.iter().map(|arg| arg.eval_closed(parameters)).collect::<Result<Vec<_>, _>>()?;
            let started = (used.aggregation.start)(&args);
            accumulators.push(started.map_err(|error| failed(used.aggregation.name, used.span, error))?);
        }
        let aggregations: Vec<_> =
            columns.iter().map(|used| used.map(|used| (used.aggregation.name, used.span))).collect();
        let grouping = Grouping::new(aggregations.iter().filter(|aggregation| aggregation.is_none()).count());
        let mut sink = GroupSink { aggregations, grouping, accumulators, grown: 0 };
        sink.resize();
        Ok(sink)
    }

    fn resize(&mut self) {
        let groups = self.grouping.len();
        self.accumulators.iter_mut().for_each(|accumulator| accumulator.resize(groups));
    }

    /// The head slots that group if `group`, or else those that are aggregated.
    fn slots<'h>(&'h self, head: &'h [usize], group: bool) -> impl Iterator<Item = usize> + 'h {
        let chosen = move |(slot, aggregation): (&usize, &Option<_>)| (aggregation.is_none() == group).then_some(*slot);
        head.iter().zip(&self.aggregations).filter_map(chosen)
    }

    fn take(&mut self, mut solutions: Batch, head: &[usize]) -> Result<(), ExecError> {
        let groups: SmallVec<[usize; 4]> = self.slots(head, true).collect();
        let values: SmallVec<[usize; 4]> = self.slots(head, false).collect();
        let keys = project(&mut solutions, &groups, &values);
        let before = (self.grouping.len(), self.kept_bytes());
        self.grouping.find(&keys);
        self.resize();
        let groups = self.grouping.groups();
        let named = self.aggregations.iter().flatten();
        for ((accumulator, slot), (name, span)) in self.accumulators.iter_mut().zip(values).zip(named) {
            accumulator.update(groups, &solutions.columns[slot]).map_err(|error| failed(name, *span, error))?;
        }
        self.grown += bytes_of(self.grouping.len() - before.0, keys.memory_bytes(), keys.len);
        self.grown += self.kept_bytes().saturating_sub(before.1);
        Ok(())
    }

    /// About how many bytes the accumulators hold.
    pub fn kept_bytes(&self) -> usize {
        self.accumulators.iter().map(|accumulator| accumulator.memory_bytes()).sum()
    }

    fn fork(&self) -> Option<Self> {
        let accumulators = self.accumulators.iter().map(|accumulator| accumulator.fork()).collect::<Option<_>>()?;
        let width = self.aggregations.iter().filter(|aggregation| aggregation.is_none()).count();
        let mut fork = GroupSink {
            aggregations: self.aggregations.clone(),
            grouping: Grouping::new(width),
            accumulators,
            grown: 0,
        };
        fork.resize();
        Some(fork)
    }

    fn merge(&mut self, other: GroupSink) -> Result<(), ExecError> {
        self.grouping.find(&other.grouping.into_keys());
        self.resize();
        let groups = self.grouping.groups();
        let named = self.aggregations.iter().flatten();
        for ((accumulator, partial), (name, span)) in self.accumulators.iter_mut().zip(other.accumulators).zip(named) {
            accumulator.merge(groups, partial).map_err(|error| failed(name, *span, error))?;
        }
        Ok(())
    }

    /// One row for each group.
    pub fn finish(self) -> Result<Batch, ExecError> {
        let keys = self.grouping.into_keys();
        let mut keys_left = keys.columns.into_iter();
        let mut accumulators = self.accumulators.into_iter();
        let mut columns = vec![];
        for aggregation in &self.aggregations {
            columns.push(match aggregation {
                None => keys_left.next().expect("one column for each grouping position"),
                Some((name, span)) => {
                    let accumulator = accumulators.next().expect("one accumulator for each aggregation");
                    accumulator.finish().map_err(|error| failed(name, *span, error))?
                }
            });
        }
        Ok(Batch::new(columns, keys.len))
    }
}

fn failed(name: &'static str, span: SourceSpan, error: FunctionError) -> ExecError {
    match error {
        FunctionError::Refused(reason) => ExecError::Aggregation { name, reason, span },
        stop => stop.at(span).into(),
    }
}

/// The aggregations of a meet table's value columns.
pub struct Meets {
    keys: usize,
    aggregations: Vec<(&'static str, SourceSpan, &'static Meet)>,
}

impl Meets {
    fn of(keys: usize, aggregations: &[AggregationUse]) -> Self {
        let meet = |used: &AggregationUse| {
            let meet = used.aggregation.meet.as_ref().expect("only meets are planned in recursion");
            (used.aggregation.name, used.span, meet)
        };
        Meets { keys, aggregations: aggregations.iter().map(meet).collect() }
    }

    /// Turns the values of each row into the aggregates of a group of that row alone.
    fn start(&self, mut rows: Batch) -> Result<Batch, ExecError> {
        for ((name, span, meet), column) in self.aggregations.iter().zip(&mut rows.columns[self.keys..]) {
            if meet.int_improves.is_some() && column.as_dense_ints().is_some() {
                continue;
            }
            let started = (0..column.len()).map(|row| (meet.start)(column.copy_at(row)?));
            *column = started.collect::<Result<_, _>>().map_err(|error| failed(name, *span, error))?;
        }
        Ok(rows)
    }

    /// Whether a row of `new` would improve a row of `current`.
    fn improves(&self, current: &Batch, row: usize, new: &Batch, new_row: usize) -> Result<bool, ExecError> {
        for (i, (name, span, meet)) in self.aggregations.iter().enumerate() {
            let (current, new) = (&current.columns[self.keys + i], &new.columns[self.keys + i]);
            if let (Some(improves), Column::Int(current), Column::Int(new)) = (meet.int_improves, current, new)
                && let (Some(current), Some(new)) = (current.get(row), new.get(new_row))
            {
                if improves(current, new) {
                    return Ok(true);
                }
                continue;
            }
            let _passing = temporary();
            let mut value = current.copy_at(row)?;
            if (meet.improve)(&mut value, &new.copy_at(new_row)?).map_err(|error| failed(name, *span, error))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Improves a row of `table`, which no rule has read, by a row of `new`. Returns by how many bytes the row grew.
    fn improve(&self, table: &mut Table, row: usize, new: &Batch, new_row: usize) -> Result<usize, ExecError> {
        let mut grown = 0;
        for (i, (name, span, meet)) in self.aggregations.iter().enumerate() {
            let column = table.column_mut(self.keys + i);
            let _passing = matches!(column, Column::Any(_)).then(temporary);
            let mut value = column.copy_at(row)?;
            let before = value.held_bytes();
            let input = new.columns[self.keys + i].copy_at(new_row)?;
            if (meet.improve)(&mut value, &input).map_err(|error| failed(name, *span, error))? {
                grown += value.held_bytes().saturating_sub(before);
                column.set(row, value);
            }
        }
        Ok(grown)
    }
}

/// Collects improvements of the groups of a table.
pub struct MeetSink<'a> {
    existing: &'a Table,
    /// The improved groups, with their values so far.
    pub fresh: Table,
    /// How groups improve.
    pub meets: Meets,
    /// See [`Sink::grown`].
    grown: usize,
}

impl MeetSink<'_> {
    fn take(&mut self, rows: Batch) -> Result<(), ExecError> {
        let rows = self.meets.start(rows)?;
        let before = self.fresh.len();
        let hashes = self.fresh.key_hashes(&rows);
        for (row, hash) in hashes.into_iter().enumerate() {
            if let Some(known) = self.fresh.find_key(&rows, row, hash) {
                if self.meets.improves(self.fresh.rows(), known as usize, &rows, row)? {
                    self.grown += self.meets.improve(&mut self.fresh, known as usize, &rows, row)?;
                }
                continue;
            }
            match self.existing.find_key(&rows, row, hash).filter(|_| !self.existing.is_placeholder()) {
                None => {
                    self.fresh.append_keyed(&rows, row, hash);
                }
                Some(known) => {
                    if self.meets.improves(self.existing.rows(), known as usize, &rows, row)? {
                        // The current value is applied first, so that of equal values the first stays.
                        let number = self.fresh.append_keyed(self.existing.rows(), known as usize, hash);
                        self.grown += self.meets.improve(&mut self.fresh, number as usize, &rows, row)?;
                    }
                }
            }
        }
        self.grown += bytes_of(self.fresh.len() - before, rows.memory_bytes(), rows.len);
        Ok(())
    }
}

/// Applies the improvements of one rule to the table. Rows before `seen` have been read by rules: they are superseded, not changed.
pub fn apply_improvements(table: &mut Table, fresh: Table, meets: &Meets, seen: usize) -> Result<(), ExecError> {
    let fresh = fresh.into_rows();
    let hashes = table.key_hashes(&fresh);
    for (row, hash) in hashes.into_iter().enumerate() {
        match table.find_key(&fresh, row, hash) {
            None => {
                table.append_keyed(&fresh, row, hash);
            }
            Some(known) if table.is_placeholder() => {
                table.supersede(known, &fresh, row, hash);
                table.set_placeholder(false);
            }
            Some(known) if !meets.improves(table.rows(), known as usize, &fresh, row)? => {}
            Some(known) if (known as usize) < seen => {
                table.supersede(known, &fresh, row, hash);
            }
            Some(known) => {
                meets.improve(table, known as usize, &fresh, row)?;
            }
        }
    }
    Ok(())
}
