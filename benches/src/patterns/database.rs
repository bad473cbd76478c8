//! Bringing a social network into a database.

use std::collections::BTreeMap;

use cozo::{DataValue, DbInstance, NamedRows};

use super::SocialNetwork;
use super::schema::{RELATIONS, REVERSE_INDICES, Relation, create_index};
use crate::Result;

/// So many rows are imported at once.
const BATCH_ROWS: usize = 250_000;

/// Makes all relations and fills them.
pub fn load(db: &DbInstance, network: &SocialNetwork) -> Result<()> {
    RELATIONS.iter().try_for_each(|relation| {
        db.run_default(&relation.create())?;
        fill(db, relation, network)
    })
}

fn fill(db: &DbInstance, relation: &Relation, network: &SocialNetwork) -> Result<()> {
    let columns: Vec<String> = relation.columns().iter().map(|column| column.to_string()).collect();
    let mut rows = relation.rows(network);
    loop {
        let batch: Vec<Vec<DataValue>> = (rows.by_ref().take(BATCH_ROWS))
            .map(|row| row[..columns.len()].iter().map(|number| DataValue::from(i64::from(*number))).collect())
            .collect();
        if batch.is_empty() {
            return Ok(());
        }
        let rows = NamedRows::new(columns.clone(), batch);
        db.import_relations(BTreeMap::from([(relation.name.to_string(), rows)]))?;
    }
}

/// Makes the reverse indices.
pub fn index(db: &DbInstance) -> Result<()> {
    REVERSE_INDICES.iter().try_for_each(|(relation, column)| db.run_default(&create_index(relation, column)).map(drop))
}

/// How many rows a network has in all relations.
pub fn rows(network: &SocialNetwork) -> usize {
    RELATIONS.iter().map(|relation| relation.rows(network).count()).sum()
}
