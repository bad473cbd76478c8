//! Bringing rows into a database, few at a time, so that the process keeps little memory but the data.

use cozo::value::{Batch, Column};
use cozo::{DbInstance, NamedColumns};

/// So many rows are imported at once.
const BATCH_ROWS: usize = 100_000;

/// Makes a relation and fills it. The definition is as in `:create`, with columns of integers.
pub fn fill<const N: usize>(
    db: &DbInstance,
    relation: &str,
    definition: &str,
    mut rows: impl Iterator<Item = [u64; N]>,
) -> Result<(), String> {
    let failed = |error| format!("{relation} is not filled: {error:?}");
    db.run_default(&format!("{{:create {relation} {definition}}}")).map_err(failed)?;
    let headers: Vec<String> =
        definition.split(|c: char| !c.is_alphanumeric()).filter(|name| is_column(name)).map(String::from).collect();
    loop {
        let mut columns: [Vec<i64>; N] = std::array::from_fn(|_| Vec::with_capacity(BATCH_ROWS));
        for row in rows.by_ref().take(BATCH_ROWS) {
            columns.iter_mut().zip(row).for_each(|(column, number)| column.push(number as i64));
        }
        let number = columns[0].len();
        if number == 0 {
            return Ok(());
        }
        let batch = Batch::new(columns.into_iter().map(Column::ints).collect(), number);
        db.import_columns(relation, NamedColumns::new(headers.clone(), batch)).map_err(failed)?;
    }
}

/// Whether a word of a definition is no type.
fn is_column(word: &str) -> bool {
    word.starts_with(|c: char| c.is_lowercase())
}
