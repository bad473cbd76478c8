//! What was found in a file, and what of it cannot be carried over.

use super::expression::names_in;
use super::source::IdRange;
use super::{LegacyFile, LegacyRelation};
use crate::parse::parse_query;
use crate::storage::StorageError;
use crate::value::SmallStr;

/// What is in a file, but for the rows themselves.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Each relation.
    pub relations: Vec<RelationReport>,
    /// Rows that belong to nothing.
    pub remnants: Vec<Remnant>,
    /// What is lost, with the reason.
    pub not_carried_over: Vec<Note>,
    /// What is kept, but may not work.
    pub warnings: Vec<Note>,
}

/// What is in the file of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationReport {
    /// The relation.
    pub name: SmallStr,
    /// The number of rows under its id.
    pub rows_in_file: u64,
    /// The relations, also those of indices, that have the same id, so that some of the rows are theirs.
    pub shares_id_with: Vec<SmallStr>,
}

/// Rows under an id that no relation has: what is left of one that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remnant {
    /// The id; none where keys are too short to have one.
    pub id: Option<u64>,
    /// The number of rows.
    pub rows: u64,
}

/// A remark on a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The relation; empty where it is on the file as a whole.
    pub relation: SmallStr,
    /// The remark.
    pub message: String,
}

/// What became of the rows of a relation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowsRead {
    /// The rows that were given out.
    pub rows: u64,
    /// Those of them with a value that was converted to the type of its column.
    pub converted: u64,
    /// Rows of other relations with the same id.
    pub of_others: u64,
    /// Rows that do not fit the relation, and were not given out.
    pub refused: u64,
    /// The first of these.
    pub examples: Vec<RefusedRow>,
}

/// A row that does not fit its relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRow {
    /// Its key in hexadecimal digits, without the id.
    pub key: String,
    /// Why.
    pub reason: String,
}

impl RowsRead {
    /// Fails unless every row of the file was given out or belongs to another relation.
    pub fn require_all(&self, relation: &RelationReport) -> Result<(), StorageError> {
        let name = &relation.name;
        if let Some(RefusedRow { key, reason }) = self.examples.first() {
            let count = self.refused;
            return Err(StorageError::Damaged(format!(
                "{count} rows do not fit relation '{name}', first of all key {key}: {reason}"
            )));
        }
        let (found, expected) = (self.rows + self.of_others, relation.rows_in_file);
        if found != expected {
            return Err(StorageError::Damaged(format!(
                "relation '{name}' has {expected} rows in the file, of which {found} were found"
            )));
        }
        Ok(())
    }
}

impl LegacyFile {
    /// What is in the file. `knows_function` says whether there is a function of a name. Fails if the file has rows that
    /// cannot be found.
    pub fn report(&self, knows_function: &dyn Fn(&str) -> bool) -> Result<Report, StorageError> {
        self.source.require_whole()?;
        let mut report = Report {
            relations: self
                .relations
                .iter()
                .map(|relation| self.relation_report(relation))
                .collect::<Result<_, _>>()?,
            remnants: self.remnants()?,
            not_carried_over: self.lost.clone(),
            warnings: self.warnings.clone(),
        };
        for relation in &self.relations {
            let messages = warnings_on(relation, knows_function).into_iter();
            report.warnings.extend(messages.map(|message| Note { relation: relation.schema.name.clone(), message }));
        }
        report.not_carried_over.extend(self.unclaimed_indices());
        Ok(report)
    }

    fn relation_report(&self, relation: &LegacyRelation) -> Result<RelationReport, StorageError> {
        let schema = &relation.schema;
        let others = self.schemas().filter(|other| other.id == schema.id && other.name != schema.name);
        Ok(RelationReport {
            name: schema.name.clone(),
            rows_in_file: self.source.count(IdRange { id: schema.id.0 })?,
            shares_id_with: others.map(|other| other.name.clone()).collect(),
        })
    }

    /// Goes from id to id, so that the rows of relations are not looked at.
    fn remnants(&self) -> Result<Vec<Remnant>, StorageError> {
        let mut remnants = Vec::new();
        let without_id = self.source.count_without_id()?;
        if without_id > 0 {
            remnants.push(Remnant { id: None, rows: without_id });
        }
        let mut next = Some(1);
        while let Some(from) = next
            && let Some(id) = self.source.id_from(from)?
        {
            if self.schemas().all(|schema| schema.id.0 != id) {
                remnants.push(Remnant { id: Some(id), rows: self.source.count(IdRange { id })? });
            }
            next = id.checked_add(1);
        }
        Ok(remnants)
    }

    /// The relations of indices that no relation has among its indices.
    fn unclaimed_indices(&self) -> impl Iterator<Item = Note> {
        let is_claimed = |name: &SmallStr| self.relations.iter().any(|relation| relation.keeps_index_in(name));
        let unclaimed = self.index_relations.iter().filter(move |index| !is_claimed(&index.name));
        unclaimed.map(|index| {
            let message = "no relation has it among its indices".to_string();
            Note { relation: index.name.clone(), message }
        })
    }
}

/// What of a relation may not work.
fn warnings_on(relation: &LegacyRelation, knows_function: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut warnings = Vec::new();
    for column in relation.schema.columns() {
        let Some(default) = &column.default else { continue };
        let what = format!("the default of column '{}'", column.name);
        warnings.extend(warnings_on_expression(&what, default, false, knows_function));
    }
    for index in &relation.search_indices {
        let Some(expression) = index.definition.expression() else { continue };
        let what = format!("the {} index '{}'", index.definition.kind(), index.name);
        warnings.extend(warnings_on_expression(&what, expression, true, knows_function));
    }
    let triggers = &relation.schema.triggers;
    for (event, texts) in [("put", &triggers.put), ("rm", &triggers.rm), ("replace", &triggers.replace)] {
        for (number, text) in texts.iter().enumerate() {
            if let Err(error) = parse_query(text) {
                warnings.push(format!("the trigger on {event} number {number} cannot be read: {error}"));
            }
        }
    }
    warnings
}

fn warnings_on_expression(
    what: &str,
    text: &str,
    may_use_columns: bool,
    knows_function: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let names = match names_in(text) {
        Ok(names) => names,
        Err(error) => return vec![format!("{what} cannot be read: {error}")],
    };
    let unknown = names.functions.iter().filter(|name| !knows_function(name));
    let unknown = unknown.map(|name| format!("{what} uses the function '{name}', which does not exist"));
    let unbound = names.variables.iter().filter(|_| !may_use_columns);
    unknown.chain(unbound.map(|name| format!("{what} uses the name '{name}', which has no meaning there"))).collect()
}
