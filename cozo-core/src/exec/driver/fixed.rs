//! Running fixed rules: their inputs are read from tables and stored relations, their rows fill a table.

use std::borrow::Cow;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::time::Instant;

use crate::exec::access::stored::Stored;
use crate::exec::error::ExecError;
use crate::exec::profile::BeyondMemory;
use crate::exec::rowset::table::{BYTES_AROUND_ROW, OnDisk, Table};
use crate::exec::run::Run;
use crate::exec::sorting::{Disk, RunOrder, SortedRuns};
use crate::fixed_rule::input::{InputSource, StoredRows};
use crate::fixed_rule::{Call, FixedRuleError, Input, OptionMap, Options, Overflow, Poison};
use crate::plan::{FixedInputPlan, FixedPlan, Source};
use crate::schema::RelationId;
use crate::spill::SpillFile;
use crate::storage::{BatchCursor, ContentVersion, KeyRange, StorageError};
use crate::sync::Mutex;
use crate::value::Batch;

/// The rows of a rule on disk, as sorted runs.
struct RunsOfRule<'r> {
    disk: &'r Disk,
    share_bytes: usize,
    order: RunOrder,
    /// `None` until memory is used up.
    runs: Mutex<Option<SortedRuns>>,
}

/// The table of a fixed rule.
pub fn run_fixed(plan: &FixedPlan, tables: &[Table], run: &Run<'_>) -> Result<Table, ExecError> {
    let began = Instant::now();
    let order = if plan.table == run.plan.entry { run.wanted.order.clone() } else { vec![] };
    let overflow = run.disk().map(|disk| RunsOfRule {
        disk,
        share_bytes: run.share_bytes(),
        order: RunOrder::Rows(order),
        runs: Mutex::new(None),
    });
    let rows = rows_of(plan, tables, run, overflow.as_ref().map(|overflow| overflow as &dyn Overflow))?;
    let table = match overflow.and_then(|overflow| overflow.runs.lock().take()) {
        Some(mut runs) => {
            let width = rows.columns.len();
            runs.push(rows)?;
            Table::on_disk(OnDisk::Runs(runs), width)
        }
        None => {
            // The rule's working memory is no longer charged; its rows are.
            run.budget.charge(rows.memory_bytes() + rows.len * BYTES_AROUND_ROW)?;
            Table::of(rows)
        }
    };
    let how = table.is_on_disk().then_some(BeyondMemory::Runs);
    run.notes.fixed(plan, table.len(), began.elapsed(), how);
    Ok(table)
}

fn rows_of(
    plan: &FixedPlan,
    tables: &[Table],
    run: &Run<'_>,
    overflow: Option<&dyn Overflow>,
) -> Result<Batch, ExecError> {
    let given: OptionMap =
        plan.options.iter().map(|(name, expr)| (name.clone(), expr.with_parameters(run.input.parameters))).collect();
    let options = Options { rule: &plan.name, given: &given, span: plan.span };
    let inputs = plan.inputs.iter().map(|planned| input(planned, tables, run)).collect();
    let poison = Poison::of(run.budget);
    let arity = run.plan.tables[plan.table].arity;
    let rows = plan.rule.apply(&Call { options, inputs, poison, overflow }, arity);
    if let Some(graphs) = run.caches.graphs {
        graphs.keep_within_budget();
    }
    Ok(rows?)
}

impl Overflow for RunsOfRule<'_> {
    fn share_bytes(&self) -> usize {
        self.share_bytes
    }

    fn take(&self, rows: Batch) -> Result<(), FixedRuleError> {
        let mut runs = self.runs.lock();
        let runs = runs.get_or_insert_with(|| SortedRuns::new(self.order.clone(), self.disk));
        runs.push(rows).map_err(|error| miette::Report::from(error).into())
    }

    fn file(&self) -> Arc<SpillFile> {
        self.disk.file()
    }
}

impl Debug for RunsOfRule<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("RunsOfRule")
    }
}

fn input<'a>(planned: &'a FixedInputPlan, tables: &'a [Table], run: &'a Run<'a>) -> Input<'a> {
    let (source, arity) = match &planned.source {
        Source::Table(number) => {
            let table = &tables[*number];
            let rows = match table.has_dead() {
                true => Cow::Owned(table.rows().take(&table.living(0..table.len()))),
                false => Cow::Borrowed(table.rows()),
            };
            (InputSource::Rows(rows), run.plan.tables[*number].arity)
        }
        Source::Stored(read) => (InputSource::Stored(Box::new(Stored::of(read, run))), read.schema.arity()),
    };
    Input::new(source, arity, &planned.bindings, planned.span).keeping(run.caches.graphs)
}

impl StoredRows for Stored<'_> {
    fn scan_part(&self, part: &KeyRange, columns: &[usize]) -> Result<Box<dyn BatchCursor + '_>, StorageError> {
        self.scan(part, columns)
    }

    fn parts(&self, parts: usize) -> Vec<(KeyRange, usize)> {
        let counted = |part| {
            let rows = self.most_rows(&part) as usize;
            (part, rows)
        };
        self.parts(&KeyRange::all(), parts).into_iter().map(counted).collect()
    }

    fn most_rows(&self) -> usize {
        self.most_rows(&KeyRange::all()) as usize
    }

    fn contents(&self) -> Option<(RelationId, ContentVersion)> {
        self.contents()
    }
}
