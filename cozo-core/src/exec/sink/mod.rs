//! The end of a rule: a [`Sink`] takes the heads of solutions as a set, as groups, or as groups that improve in recursion.
//!
//! | sink | what it makes of solutions | file |
//! |---|---|---|
//! | [`SetSink`] | rows, each once | `set` |
//! | [`GroupSink`] | a row for each group, with aggregates | `groups` |
//! | [`PartitionSink`] | rows on disk, parted by hash | `partition` |
//! | [`MeetSink`] | improvements of the groups of a recursive table | `meet` |
//!
//! Sets and groups fork for other threads; the [`Gathered`] results are merged in the order of their input.

mod allowance;
mod groups;
mod meet;
mod partition;
mod set;

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::exec::error::ExecError;
use crate::exec::rowset::int_collector::IntCollector;
use crate::exec::rowset::table::Table;
use crate::exec::rowset::top_k::TopK;
use crate::exec::sorting::{Disk, SortedRuns};
use crate::plan::{Plan, TableKind};
use crate::spill::SpilledRows;
use crate::value::{Batch, DataValue};
pub use allowance::Allowance;
pub use groups::{GroupSink, project};
pub use meet::{MeetSink, Meets, apply_improvements};
pub use partition::{PartitionKey, PartitionSink, into_partitions};
pub use set::SetSink;

/// Takes the heads of solutions.
// There is one for each rule and thread, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub enum Sink<'a> {
    /// Keeps each row once.
    Set(SetSink<'a>),
    /// Aggregates all rows.
    Groups(GroupSink),
    /// Improves groups inside recursion.
    Meet(MeetSink<'a>),
    /// Parts rows by hash, on disk.
    Partitions(PartitionSink<'a>),
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
            Sink::Partitions(sink) => sink.take(solutions, head).map(ControlFlow::Continue),
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
            Sink::Groups(sink) => sink.groups() > 0,
            Sink::Meet(_) | Sink::Partitions(_) => false,
        }
    }

    /// About how many bytes the sink has grown since the last call.
    pub fn grown(&mut self) -> usize {
        std::mem::take(match self {
            Sink::Set(sink) => &mut sink.grown,
            Sink::Groups(sink) => &mut sink.grown,
            Sink::Meet(sink) => &mut sink.grown,
            Sink::Partitions(_) => return 0,
        })
    }

    /// Moves rows to disk, if they are at least `least_bytes` and may go there. It is called after what has [`Sink::grown`] was charged.
    pub fn spill(&mut self, least_bytes: usize, disk: &Disk) -> Result<(), ExecError> {
        match self {
            Sink::Set(sink) => sink.spill(least_bytes, disk),
            Sink::Groups(_) | Sink::Meet(_) | Sink::Partitions(_) => Ok(()),
        }
    }

    /// The allowance of the rows, if their rules can be run in another way when it is used up.
    pub fn allowance(&self) -> Option<&Allowance> {
        match self {
            Sink::Set(sink) => sink.allowance.as_deref(),
            Sink::Groups(sink) => sink.allowance.as_deref(),
            Sink::Meet(sink) => sink.allowance.as_deref(),
            Sink::Partitions(_) => None,
        }
    }

    /// Sets the allowance of the rows.
    pub fn allow(&mut self, allowance: Option<Arc<Allowance>>) {
        match self {
            Sink::Set(sink) => sink.allowance = allowance,
            Sink::Groups(sink) => sink.allowance = allowance,
            Sink::Meet(sink) => sink.allowance = allowance,
            Sink::Partitions(_) => {}
        }
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
            Sink::Partitions(sink) => Some(Sink::Partitions(sink.fork())),
        }
    }

    /// The result of a fork, which borrows nothing from the original sink.
    pub fn into_gathered(self) -> Result<Gathered, ExecError> {
        Ok(match self {
            Sink::Set(sink) => sink.into_gathered(),
            Sink::Groups(sink) => Gathered::Groups(Box::new(sink)),
            Sink::Meet(_) => unreachable!("meets do not fork"),
            Sink::Partitions(sink) => Gathered::Partitions(sink.finish()?),
        })
    }

    /// Adds the result of a fork. Forks are merged in the order of their input rows.
    pub fn merge(&mut self, gathered: Gathered) -> Result<(), ExecError> {
        match (self, gathered) {
            (Sink::Set(sink), Gathered::Set(gathered)) => {
                sink.merge(*gathered);
                Ok(())
            }
            (Sink::Groups(sink), Gathered::Groups(other)) => sink.merge(*other),
            (Sink::Partitions(sink), Gathered::Partitions(partitions)) => {
                sink.merge(partitions);
                Ok(())
            }
            _ => unreachable!("forks are of the same kind"),
        }
    }
}

/// The result of a fork.
pub enum Gathered {
    /// New rows.
    Set(Box<GatheredSet>),
    /// Groups.
    Groups(Box<GroupSink>),
    /// Rows on disk, parted by hash.
    Partitions(Vec<SpilledRows>),
}

/// The new rows of a fork, in three parts: see [`SetSink`].
pub struct GatheredSet {
    fresh: Table,
    ints: IntCollector,
    runs: Option<Box<SortedRuns>>,
    /// What was charged for the rows in memory.
    bytes: usize,
}

impl Gathered {
    /// The number of rows in the table of new rows.
    pub fn listed(&self) -> usize {
        match self {
            Gathered::Set(gathered) => gathered.fresh.len(),
            Gathered::Groups(_) | Gathered::Partitions(_) => 0,
        }
    }
}
