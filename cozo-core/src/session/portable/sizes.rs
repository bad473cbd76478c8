//! Sizes of relations that the caller gives, for relations whose rows are elsewhere.

use std::collections::BTreeMap;

use serde_json::Value;

use super::error::PortableError;
use crate::plan::{Size, Statistics};
use crate::schema::RelationSchema;

/// The number of rows of a relation, and of different values in some of its columns.
struct GivenSize {
    rows: f64,
    distinct: BTreeMap<String, f64>,
}

/// Sizes of stored relations by name, for the planner. Relations without a size have the size that the database knows.
///
/// ```
/// # fn main() -> cozo::Result<()> {
/// use cozo::RelationSizes;
/// let sizes = RelationSizes::parse(&serde_json::json!({"edge": {"rows": 1000000, "distinct": {"from": 1000}}}))?;
/// let db = cozo::DbInstance::default();
/// db.run_default(":create edge {from: Int, to: Int}")?;
/// let plan = db.plan_json("?[to] := *edge{from: 1, to}", Default::default(), &sizes)?;
/// assert_eq!(plan["version"], 1);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct RelationSizes {
    by_name: BTreeMap<String, GivenSize>,
}

impl RelationSizes {
    /// The sizes of a JSON object: for each relation `rows`, and optionally `distinct`, by column.
    pub fn parse(json: &Value) -> miette::Result<Self> {
        let wrong = |what: &str| PortableError::BadSizes(what.to_string());
        let number = |json: &Value| json.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
        let mut by_name = BTreeMap::new();
        for (name, size) in json.as_object().ok_or_else(|| wrong("no object"))? {
            let rows = number(&size["rows"]).ok_or_else(|| wrong(&format!("'{name}' has no number of 'rows'")))?;
            let mut distinct = BTreeMap::new();
            for (column, values) in size["distinct"].as_object().into_iter().flatten() {
                let values = number(values).ok_or_else(|| wrong(&format!("'{name}.{column}' has no number")))?;
                distinct.insert(column.clone(), values.max(1.0));
            }
            by_name.insert(name.clone(), GivenSize { rows, distinct });
        }
        Ok(RelationSizes { by_name })
    }
}

/// Given sizes, and those of another source for all other relations.
pub struct SizesOver<'a> {
    pub given: &'a RelationSizes,
    pub known: &'a dyn Statistics,
}

impl Statistics for SizesOver<'_> {
    fn rows(&self, relation: &RelationSchema) -> f64 {
        match self.given.by_name.get(relation.name.as_str()) {
            Some(size) => size.rows,
            None => self.known.rows(relation),
        }
    }

    fn distinct(&self, relation: &RelationSchema, column: usize) -> f64 {
        let Some(size) = self.given.by_name.get(relation.name.as_str()) else {
            return self.known.distinct(relation, column);
        };
        let given = relation.columns().nth(column).and_then(|column| size.distinct.get(column.name.as_str()));
        given.copied().unwrap_or_else(|| Size::guessed(size.rows, relation.arity()).distinct[column])
    }
}
