//! A sink that improves the groups of a recursive table: `min(d)` and other meets.
//!
//! A [`MeetSink`] collects groups that are better than those of the table. [`apply_improvements`] then supersedes the rows that a
//! rule has read, and changes the others in place.

use std::sync::Arc;

use super::allowance::Allowance;
use super::groups::failed;
use crate::budget::temporary;
use crate::diag::SourceSpan;
use crate::exec::error::ExecError;
use crate::exec::rowset::table::{Table, bytes_of};
use crate::expr::aggregations::Meet;
use crate::program::AggregationUse;
use crate::value::{Batch, Column};

/// The aggregations of a meet table's value columns.
pub struct Meets {
    keys: usize,
    aggregations: Vec<(&'static str, SourceSpan, &'static Meet)>,
}

impl Meets {
    /// The aggregations after so many grouping columns.
    pub fn of(keys: usize, aggregations: &[AggregationUse]) -> Self {
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
            let _passing = matches!(column, Column::Vec(_) | Column::Any(_)).then(temporary);
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
    /// See [`Sink::grown`](super::Sink::grown).
    pub grown: usize,
    /// See [`Sink::allowance`](super::Sink::allowance).
    pub allowance: Option<Arc<Allowance>>,
}

impl<'a> MeetSink<'a> {
    /// A sink for the groups of a recursive table of so many columns.
    pub fn new(existing: &'a Table, arity: usize, meets: Meets) -> Self {
        MeetSink { existing, fresh: Table::keyed(arity, meets.keys), meets, grown: 0, allowance: None }
    }

    /// Takes a batch of heads.
    pub fn take(&mut self, rows: Batch) -> Result<(), ExecError> {
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
