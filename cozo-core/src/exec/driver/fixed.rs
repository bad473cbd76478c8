//! Running fixed rules: their inputs are read from tables and stored relations, their rows fill a table.

use std::borrow::Cow;

use crate::exec::access::stored::Stored;
use crate::exec::error::ExecError;
use crate::exec::rowset::table::BYTES_AROUND_ROW;
use crate::exec::rowset::table::Table;
use crate::exec::run::Run;
use crate::fixed_rule::input::{InputSource, StoredRows};
use crate::fixed_rule::{Call, Input, OptionMap, Options, Poison};
use crate::plan::{FixedInputPlan, FixedPlan, Source};
use crate::schema::RelationId;
use crate::storage::{BatchCursor, ContentVersion, KeyRange, StorageError};
use crate::value::Batch;

/// The rows that a fixed rule gives.
pub fn run_fixed(plan: &FixedPlan, tables: &[Table], run: &Run<'_>) -> Result<Batch, ExecError> {
    let given: OptionMap =
        plan.options.iter().map(|(name, expr)| (name.clone(), expr.with_parameters(run.input.parameters))).collect();
    let options = Options { rule: &plan.name, given: &given, span: plan.span };
    let inputs = plan.inputs.iter().map(|planned| input(planned, tables, run)).collect();
    let poison = Poison::of(run.budget);
    let arity = run.plan.tables[plan.table].arity;
    let rows = plan.rule.apply(&Call { options, inputs, poison }, arity);
    if let Some(graphs) = run.caches.graphs {
        graphs.keep_within_budget();
    }
    let rows = rows?;
    // The rule's working memory is no longer charged; its rows are.
    run.budget.charge(rows.memory_bytes() + rows.len * BYTES_AROUND_ROW)?;
    Ok(rows)
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
