//! `ReadParquet`: files of Parquet, by the crate of that name where it is built in.

use super::{COLUMNS, LIMIT, OUTPUT, PATH};
#[cfg(feature = "parquet")]
use crate::fixed_rule::Gathering;
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, OptionKind, OptionSpec, Settings};
use crate::value::Batch;

const FILES: OptionSpec = OptionSpec::required(
    PATH.name,
    OptionKind::Text,
    "the path of a file, or a pattern for several files such as `'data/*.parquet'`",
);

/// Files of Parquet.
pub static READ_PARQUET: BuiltInRule = BuiltInRule {
    name: "ReadParquet",
    aliases: &[],
    doc: "Reads Parquet files, whose columns have types. It reads only the columns that the rule needs. It needs a \
          build with the feature `parquet`.",
    cost: "",
    source: "",
    examples: &[],
    inputs: &[],
    options: &[FILES, COLUMNS, LIMIT],
    output: OUTPUT,
    external_access: true,
    run,
};

#[cfg(not(feature = "parquet"))]
fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let origin = super::Origin::new(call, settings.text(PATH.name));
    Err(origin.unreadable("this build knows nothing of Parquet: build it with the feature 'parquet'"))
}

#[cfg(feature = "parquet")]
fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let choice = super::Choice::of(call.options)?;
    let mut rows = Gathering::result(call, choice.columns.len(), false);
    for address in super::addresses(call, settings)? {
        let left = super::limit(settings) - rows.len();
        if left > 0 {
            built_in::read(&mut rows, &choice, left, &super::Origin::new(call, &address), &address)?;
        }
    }
    rows.finish()
}

#[cfg(feature = "parquet")]
mod built_in {
    //! Reading batch by batch. The query can be stopped after each one.

    use std::fs::File;

    use parquet::arrow::ProjectionMask;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::super::{Choice, FILE_SCHEME, Origin};
    use crate::fixed_rule::{FixedRuleError, Gathering};
    use crate::value::{Batch, arrow};

    /// The rows of a batch.
    const BATCH_ROWS: usize = 8192;

    pub fn read(
        rows: &mut Gathering<'_>,
        choice: &Choice,
        limit: usize,
        origin: &Origin<'_>,
        address: &str,
    ) -> Result<(), FixedRuleError> {
        let Some(path) = address.strip_prefix(FILE_SCHEME) else {
            return Err(origin.unreadable("Parquet is read from files only"));
        };
        let file = File::open(path).map_err(|error| origin.unreadable(error))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| origin.unreadable(error))?;
        let names: Vec<String> = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
        let positions = choice.positions(Some(&names), names.len(), origin)?;
        // The reader gives each column once, in the order of the file.
        let mut read = positions.clone();
        read.sort_unstable();
        read.dedup();
        let mask = ProjectionMask::roots(builder.parquet_schema(), read.iter().copied());
        let reader = builder.with_projection(mask).with_batch_size(BATCH_ROWS).with_limit(limit).build();
        for batch in reader.map_err(|error| origin.unreadable(error))? {
            let batch = batch.map_err(|error| origin.unreadable(error))?;
            let meanwhile = origin.poison().for_a_while();
            meanwhile.make_room(batch.get_array_memory_size())?;
            let found = arrow::columns(&batch).map_err(|refusal| origin.unreadable(refusal.reason))?;
            let column = |position: &usize| found.columns[read.partition_point(|at| at < position)].clone();
            rows.push(Batch::new(positions.iter().map(column).collect(), found.len))?;
            origin.poison().check()?;
        }
        Ok(())
    }
}
