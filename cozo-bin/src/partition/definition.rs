//! The definition of a relation from its entry in a catalog.
//!
//! A catalog may come from anywhere. So its scripts run in an empty database of their own, and only the definition
//! that they have made is taken over. It must be what the entry says.

use std::collections::BTreeMap;

use cozo::schema::{AccessLevel, RelationSchema};
use cozo::{DbInstance, ScriptMutability};

use super::catalog::{ColumnEntry, RelationEntry};
use crate::load::Target;

/// The definition that an entry describes, or what is wrong with the entry.
pub fn definition(entry: &RelationEntry) -> Result<RelationSchema, String> {
    let name = &entry.name;
    let in_relation = |reason: String| format!("relation '{name}': {reason}");
    if Target::parse(name).ok().is_none_or(|target| target.name != name || target.columns.is_some()) {
        return Err(format!("'{name}' is not the name of a relation"));
    }
    let access_level = access_level(&entry.access_level)
        .ok_or_else(|| in_relation(format!("there is no access level '{}'", entry.access_level)))?;
    let db = DbInstance::default();
    let run = |script: &str| {
        let ran = db.run_script(script, BTreeMap::new(), ScriptMutability::Mutable);
        ran.map(drop).map_err(|report| in_relation(format!("{report}, in {script}")))
    };
    run(&creation(entry))?;
    entry.indices.iter().chain(&entry.triggers).try_for_each(|script| match script.trim_start().starts_with("::") {
        true => run(script),
        false => Err(in_relation(format!("neither an index nor a trigger: {script}"))),
    })?;
    let made = db.read_relation(name).map_err(|report| in_relation(report.to_string()))?;
    let definition = made.definition();
    let columns = made.headers().into_iter().zip(made.types());
    let expected = entry.columns().map(|column| (column.name.clone(), without_blanks(&column.column_type)));
    if definition.keys.len() != entry.keys.len() || !columns.eq(expected) {
        return Err(in_relation("its columns are no columns of a relation".to_string()));
    }
    Ok(RelationSchema { access_level, description: entry.description.clone(), ..definition.clone() })
}

/// The script that creates the relation.
fn creation(entry: &RelationEntry) -> String {
    let column = |column: &ColumnEntry| {
        let default = column.default.as_ref().map(|default| format!(" default {default}")).unwrap_or_default();
        format!("{}: {}{default}", column.name, column.column_type)
    };
    let columns = |columns: &[ColumnEntry]| columns.iter().map(column).collect::<Vec<_>>().join(", ");
    format!(":create {} {{{} => {}}}", entry.name, columns(&entry.keys), columns(&entry.values))
}

fn access_level(name: &str) -> Option<AccessLevel> {
    let levels = [AccessLevel::Hidden, AccessLevel::ReadOnly, AccessLevel::Protected, AccessLevel::Normal];
    levels.into_iter().find(|level| level.name() == name)
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}
