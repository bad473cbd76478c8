//! Sorting rows in memory.

use super::compare::compare;
use crate::budget::make_room;
use crate::exec::error::ExecError;
use crate::plan::SortKey;
use crate::value::sort::{sort_by_ints, sort_in_steps, sort_ints, sorted};
use crate::value::{Batch, Column};

/// Sorts by some columns, and among equals by all columns.
pub fn sort_rows(rows: Batch, keys: &[SortKey]) -> Result<Batch, ExecError> {
    if rows.len < 2 {
        return Ok(rows);
    }
    let ints = leading_ints(&rows, keys);
    if ints.is_some_and(|values| values.is_sorted_by(|a, b| a < b)) {
        return Ok(rows);
    }
    if let ([], [Column::Int(column)]) = (keys, rows.columns.as_slice())
        && column.nulls.is_none()
    {
        let mut values = column.values.clone();
        sort_ints(&mut values);
        return Ok(Batch { len: values.len(), columns: vec![Column::ints(values)] });
    }
    if keys.is_empty() && rows.columns.iter().all(|column| column.as_dense_ints().is_some()) {
        let width = rows.columns.len();
        return Ok(sorted(rows, width));
    }
    let compare = |a: usize, b: usize| compare(keys, (&rows, a), (&rows, b));
    if (1..rows.len).all(|row| compare(row - 1, row).is_le()) {
        return Ok(rows);
    }
    make_room(rows.large_bytes() + rows.len * size_of::<u32>())?;
    let row_bytes = rows.memory_bytes() / rows.len + 1;
    let mut order: Vec<u32> = (0..rows.len as u32).collect();
    match ints {
        // Most comparisons are decided by the first column: sort by it alone, then within runs of equal values.
        Some(values) => {
            sort_by_ints(&mut order, values);
            let mut rest = order.as_mut_slice();
            while let Some(first) = rest.first() {
                let value = values[*first as usize];
                let ties = rest.iter().take_while(|row| values[**row as usize] == value).count();
                let (tied, others) = rest.split_at_mut(ties);
                if ties > 1 {
                    let sorted = sort_in_steps(tied.to_vec(), |_| row_bytes, |a, b| compare(*a as usize, *b as usize))?;
                    tied.copy_from_slice(&sorted);
                }
                rest = others;
            }
        }
        None => order = sort_in_steps(order, |_| row_bytes, |a, b| compare(*a as usize, *b as usize))?,
    }
    Ok(rows.take(&order))
}

/// The values of the column that is sorted by first, if they are all integers and the order is ascending.
fn leading_ints<'a>(rows: &'a Batch, keys: &[SortKey]) -> Option<&'a [i64]> {
    match keys.first() {
        Some(key) if key.descending => None,
        Some(key) => rows.columns[key.column].as_dense_ints(),
        None => rows.columns.first()?.as_dense_ints(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::DataValue;

    #[test]
    fn rows_are_sorted_by_keys_and_then_by_all_columns() {
        let rows: Vec<Vec<DataValue>> = vec![
            vec![2.into(), "b".into()],
            vec![1.into(), "z".into()],
            vec![2.into(), "a".into()],
            vec![1.into(), DataValue::Null],
        ];
        let batch = || Batch::from_rows(2, rows.iter().map(Vec::as_slice));
        let sorted = |keys: &[SortKey]| sort_rows(batch(), keys).expect("there is room").rows().collect::<Vec<_>>();
        let mut plain = rows.clone();
        plain.sort();
        assert_eq!(sorted(&[]), plain);
        let descending = sorted(&[SortKey { column: 1, descending: true }]);
        assert_eq!(
            descending.iter().map(|row| row[1].clone()).collect::<Vec<_>>(),
            vec!["z".into(), "b".into(), "a".into(), DataValue::Null]
        );
    }
}
