//! `cozo plan`: the plan of a query, as a table or as JSON. The query is not run.

use std::path::Path;
use std::process::ExitCode;

use cozo::{RelationSizes, ScriptMutability};
use serde_json::Value;

use crate::args::PlanArguments;
use crate::error::CliError;
use crate::output;
use crate::run::{STDIN, parameters, read_script};
use crate::table::Strings;

/// Shows the plan of a query.
pub fn run(arguments: &PlanArguments) -> miette::Result<ExitCode> {
    let script = match (&arguments.script, &arguments.file) {
        (Some(script), _) => script.clone(),
        (None, file) => read_script(file.as_deref().unwrap_or(Path::new(STDIN)))?,
    };
    let parameters = parameters(&arguments.parameters)?;
    let sizes = sizes(arguments.sizes.as_deref())?;
    let db = arguments.database.find()?.open()?;
    for first in &arguments.first {
        db.run_default(first)?;
    }
    if arguments.json {
        let plan = db.plan_json(&script, parameters, &sizes)?;
        output::line(format_args!("{plan:#}"))?;
    } else {
        let explain = format!("::explain {{\n{script}\n}}");
        let rows = db.run_script(&explain, parameters, ScriptMutability::Immutable)?;
        output::table(&rows, usize::MAX, Strings::Plain)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The sizes in a text of JSON.
fn sizes(text: Option<&str>) -> miette::Result<RelationSizes> {
    let Some(text) = text else { return Ok(RelationSizes::default()) };
    let bad = |error: serde_json::Error| CliError::Usage(format!("--sizes is no JSON: {error}"));
    let json: Value = serde_json::from_str(text).map_err(bad)?;
    RelationSizes::parse(&json)
}
