//! `Constant`: rows as given.
//!
//! The resolver converts `name[..] <~ Constant(data: ..)` to a constant rule, as it does with `name[..] <- ..`. This item documents
//! the rule, and serves hosts that call it like any other rule.

use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, OptionKind, OptionSpec, Options, Output, Settings};
use crate::value::{Batch, DataValue};

/// Rows as given.
pub static CONSTANT: BuiltInRule = BuiltInRule {
    name: "Constant",
    aliases: &[],
    doc: "Gives the rows of its data: `r[a] <~ Constant(data: [[1], [2]])` is `r[a] <- [[1], [2]]`.",
    cost: "",
    source: "",
    examples: &[("?[a, b] <~ Constant(data: [[1, 'x'], [2, 'y']])", "[[1, 'x'], [2, 'y']]")],
    inputs: &[],
    options: &[OptionSpec::required("data", OptionKind::Value, "a list of rows, each a list, all of one length")],
    output: Output::FromOptions("as many columns as a row of the data has", width),
    external_access: false,
    run,
};

fn width(options: Options<'_>) -> Result<usize, FixedRuleError> {
    let data = options.required("data", OptionKind::Value)?;
    Ok(rows(&data, options)?.first().map_or(0, |row| row.len()))
}

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let rows = rows(settings.value("data"), call.options)?;
    Ok(Batch::from_rows(rows.first().map_or(0, |row| row.len()), rows))
}

fn rows<'a>(data: &'a DataValue, options: Options<'_>) -> Result<Vec<&'a [DataValue]>, FixedRuleError> {
    let rows: Option<Vec<&[DataValue]>> =
        data.get_slice().and_then(|rows| rows.iter().map(DataValue::get_slice).collect());
    let even = rows.filter(|rows| rows.iter().all(|row| row.len() == rows[0].len()));
    even.ok_or_else(|| options.wrong("data", "a list of lists of one length", data.type_name()))
}
