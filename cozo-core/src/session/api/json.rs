//! The calls that take and give text of JSON, for bindings to other languages and for the HTTP server.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::db::{DbInstance, ScriptMutability};
use crate::diag::format_error_as_json;
use crate::session::backup::Strictness;
use crate::session::error::SessionError;
use crate::session::results::NamedRows;
use crate::value::DataValue;

impl DbInstance {
    /// Runs a script. Returns the result or the error as JSON, with the time in seconds.
    pub fn run_script_fold_err(
        &self,
        payload: &str,
        params: BTreeMap<String, DataValue>,
        mutability: ScriptMutability,
    ) -> Value {
        let start = Instant::now();
        match self.run_script(payload, params, mutability) {
            Ok(rows) => {
                let mut result = rows.into_json();
                let warnings = self.script_warnings(payload);
                if !warnings.is_empty() {
                    result["warnings"] = json!(warnings);
                }
                result["ok"] = json!(true);
                result["took"] = json!(start.elapsed().as_secs_f64());
                result
            }
            Err(error) => format_error_as_json(error, Some(payload)),
        }
    }

    /// Runs a script with parameters as the text of a JSON object. Returns the result or the error as the text of JSON.
    pub fn run_script_str(&self, payload: &str, params: &str, immutable: bool) -> String {
        let mutability = if immutable { ScriptMutability::Immutable } else { ScriptMutability::Mutable };
        let result = match json_parameters(params) {
            Ok(params) => self.run_script_fold_err(payload, params, mutability),
            Err(message) => json!({"ok": false, "message": message}),
        };
        result.to_string()
    }

    /// Exports `{"relations": [...]}`. Returns `{"ok": true, "data": {...}}` or an error, as text.
    pub fn export_relations_str(&self, data: &str) -> String {
        let export = || -> miette::Result<Value> {
            let request: Value =
                serde_json::from_str(data).map_err(|error| SessionError::BadJson(error.to_string()))?;
            let names = request.get("relations").and_then(Value::as_array);
            let names = names.ok_or_else(|| SessionError::BadJson("expected {\"relations\": [...]}".to_string()))?;
            let exported = self.export_relations(names.iter().filter_map(Value::as_str))?;
            let data: serde_json::Map<String, Value> =
                exported.into_iter().map(|(name, rows)| (name, rows.into_json())).collect();
            Ok(json!({"ok": true, "data": data}))
        };
        export().unwrap_or_else(|error| format_error_as_json(error, None)).to_string()
    }

    /// Imports from the text of JSON. Returns the outcome as the text of JSON.
    pub fn import_relations_str(&self, data: &str) -> String {
        outcome_as_text(self.import_relations_str_with_err(data))
    }

    /// Imports from the text of JSON: `{"relation": {"headers": [...], "rows": [[...]]}, ...}`.
    pub fn import_relations_str_with_err(&self, data: &str) -> miette::Result<()> {
        let parsed: BTreeMap<String, Value> =
            serde_json::from_str(data).map_err(|error| SessionError::BadJson(error.to_string()))?;
        let rows = parsed.into_iter().map(|(name, rows)| Ok((name, NamedRows::from_json(&rows)?)));
        self.import_relations(rows.collect::<miette::Result<_>>()?)
    }

    /// [`DbInstance::backup_db`] with the outcome as the text of JSON.
    pub fn backup_db_str(&self, out_file: impl AsRef<Path>) -> String {
        outcome_as_text(self.backup_db(out_file))
    }

    /// [`DbInstance::restore_backup`] with the outcome as the text of JSON. `"notes"` lists what could not be carried over, if any.
    pub fn restore_backup_str(&self, in_file: impl AsRef<Path>) -> String {
        match self.restore_with_progress(in_file, Strictness::EveryRow, |_| ()) {
            Ok(notes) if !notes.is_empty() => json!({"ok": true, "notes": notes}).to_string(),
            outcome => outcome_as_text(outcome.map(drop)),
        }
    }

    /// Imports `{"path": ..., "relations": [...]}` from a backup file. Returns the outcome as the text of JSON.
    pub fn import_from_backup_str(&self, payload: &str) -> String {
        let import = || {
            let request: BackupImport =
                serde_json::from_str(payload).map_err(|error| SessionError::BadJson(error.to_string()))?;
            self.import_from_backup(request.path, &request.relations)
        };
        outcome_as_text(import())
    }
}

/// The argument of [`DbInstance::import_from_backup_str`].
#[derive(serde::Deserialize)]
struct BackupImport {
    path: std::path::PathBuf,
    relations: Vec<String>,
}

/// `{"ok": true}` or the error with its causes as the text of JSON.
fn outcome_as_text(outcome: miette::Result<()>) -> String {
    match outcome {
        Ok(()) => json!({"ok": true}).to_string(),
        Err(error) => json!({"ok": false, "message": format!("{error:#}")}).to_string(),
    }
}

/// Parameters from the text of a JSON object. An empty text has none.
fn json_parameters(params: &str) -> Result<BTreeMap<String, DataValue>, String> {
    if params.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    match serde_json::from_str::<Value>(params) {
        Ok(Value::Object(object)) => Ok(object.into_iter().map(|(name, value)| (name, value.into())).collect()),
        Ok(_) => Err("params argument is not a JSON map".to_string()),
        Err(error) => Err(format!("params argument is not a JSON map: {error}")),
    }
}
