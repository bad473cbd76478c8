//! A sink that aggregates rows by group: it finds the group of each row and updates accumulators.

use std::sync::Arc;

use smallvec::SmallVec;

use super::allowance::Allowance;
use crate::budget::Stop;
use crate::diag::SourceSpan;
use crate::exec::error::ExecError;
use crate::exec::rowset::grouping::Grouping;
use crate::exec::rowset::table::bytes_of;
use crate::expr::aggregations::{self, Accumulator};
use crate::expr::{EvalError, FunctionError};
use crate::program::AggregationUse;
use crate::value::{Batch, DataValue};

/// Moves columns out of their slots. A column that is needed again, for a later slot or for `kept`, is copied.
pub fn project(batch: &mut Batch, slots: &[usize], kept: &[usize]) -> Batch {
    let column = |(i, slot): (usize, &usize)| {
        let again = slots[i + 1..].contains(slot) || kept.contains(slot);
        let column = &mut batch.columns[*slot];
        if again { column.clone() } else { std::mem::take(column) }
    };
    Batch { columns: slots.iter().enumerate().map(column).collect(), len: batch.len }
}

/// Aggregates rows by group.
pub struct GroupSink {
    /// The aggregation of each head column; none for grouping columns.
    aggregations: Vec<Option<(&'static str, SourceSpan)>>,
    grouping: Grouping,
    /// The state of each aggregation, for all groups.
    accumulators: Vec<Box<dyn Accumulator>>,
    /// See [`Sink::grown`](super::Sink::grown).
    pub grown: usize,
    /// See [`Sink::allowance`](super::Sink::allowance).
    pub allowance: Option<Arc<Allowance>>,
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
        let mut sink = GroupSink { aggregations, grouping, accumulators, grown: 0, allowance: None };
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

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.grouping.len()
    }

    /// Whether there are grouping columns, by which the rows can be parted.
    pub fn may_part(&self) -> bool {
        self.aggregations.iter().any(Option::is_none)
    }

    /// Takes a batch of solutions; `head` has the slot of each head column.
    pub fn take(&mut self, mut solutions: Batch, head: &[usize]) -> Result<(), ExecError> {
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

    /// An empty sink for another thread, if its aggregates can be merged.
    pub fn fork(&self) -> Option<Self> {
        let accumulators = self.accumulators.iter().map(|accumulator| accumulator.fork()).collect::<Option<_>>()?;
        let width = self.aggregations.iter().filter(|aggregation| aggregation.is_none()).count();
        let mut fork = GroupSink {
            aggregations: self.aggregations.clone(),
            grouping: Grouping::new(width),
            accumulators,
            grown: 0,
            allowance: self.allowance.clone(),
        };
        fork.resize();
        Some(fork)
    }

    /// Adds the groups of a fork.
    pub fn merge(&mut self, other: GroupSink) -> Result<(), ExecError> {
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

/// How an aggregation is written, and what it gives.
fn usage(name: &str) -> String {
    aggregations::find(name)
        .map_or(String::new(), |aggregation| format!("{}: {}", aggregation.signature(), aggregation.doc))
}

/// An error of an aggregation.
pub fn failed(name: &'static str, span: SourceSpan, error: FunctionError) -> ExecError {
    match error {
        FunctionError::Refused(reason) => ExecError::Aggregation { name, reason, usage: usage(name), span },
        FunctionError::Stop(Stop::TooDeep) => EvalError::TooDeep { span }.into(),
        FunctionError::Stop(stop) => EvalError::Stop(stop).into(),
    }
}
