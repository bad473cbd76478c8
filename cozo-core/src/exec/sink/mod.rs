//! The end of a rule: a [`Sink`] takes the heads of solutions as a set, as groups, or as groups that improve in recursion.
//!
//! | sink | what it makes of solutions | file |
//! |---|---|---|
//! | [`SetSink`] | rows, each once | `set` |
//! | [`GroupSink`] | a row for each group, with aggregates | `groups` |
//! | [`MeetSink`] | improvements of the groups of a recursive table | `meet` |
//!
//! Sets and groups fork for other threads; the [`Gathered`] results are merged in the order of their input.

mod groups;
mod meet;
mod set;

use std::ops::ControlFlow;

use crate::exec::error::ExecError;
use crate::exec::rowset::int_collector::IntCollector;
use crate::exec::rowset::table::Table;
use crate::exec::rowset::top_k::TopK;
use crate::plan::{Plan, TableKind};
use crate::value::{Batch, DataValue};
pub use groups::GroupSink;
use groups::project;
pub use meet::{MeetSink, Meets, apply_improvements};
pub use set::SetSink;

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
            TableKind::Meet { keys, aggregations } => {
                let existing = existing.expect("meets are only planned in recursion");
                Sink::Meet(MeetSink::new(existing, planned.arity, Meets::of(*keys, aggregations)))
            }
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
            Sink::Groups(sink) => sink.has_groups(),
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
        if let Sink::Set(sink) = self {
            sink.expect(rows);
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
            Sink::Set(sink) => sink.into_gathered(),
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
