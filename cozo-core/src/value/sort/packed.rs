//! Rows of integers packed into one number each. The numbers sort as the rows do.
//!
//! For columns with the values -2 to 5 and 100 to 103, the first takes three bits and the second two. The row `(-1, 102)` is
//! `001_10`.

use smallvec::SmallVec;

use super::radix::sort_by_bits;
use crate::value::{Batch, Column};

/// The position of a column in a packed row.
struct Field {
    /// The smallest value, which is packed as 0.
    min: i64,
    shift: u32,
    bits: u32,
}

/// Sorts rows stably by their first `width` columns. With `once`, only the last of rows that are equal there remains. Returns the
/// rows unchanged as an error if the columns are not integers whose differences together fit 64 bits.
pub fn sort_packed(rows: Batch, width: usize, once: bool) -> Result<Batch, Batch> {
    let Some((places, mut packed)) = packed(&rows) else { return Err(rows) };
    // The rows are dropped here, since a sort of many rows needs a second copy.
    drop(rows);
    // The columns after the key are the lowest bits.
    let rest: u32 = places[width..].iter().map(|place| place.bits).sum();
    let keys: u32 = places[..width].iter().map(|place| place.bits).sum();
    let key = move |row: &u64| row.checked_shr(rest).unwrap_or(0);
    sort_by_bits(&mut packed, keys, key);
    if once {
        keep_last(&mut packed, key);
    }
    let unpack = |place: &Field| {
        let mask = 1_u64.checked_shl(place.bits).map_or(u64::MAX, |above| above - 1);
        let value = |row: &u64| place.min.wrapping_add((row.checked_shr(place.shift).unwrap_or(0) & mask) as i64);
        Column::ints(packed.iter().map(value).collect())
    };
    Ok(Batch { columns: places.iter().map(unpack).collect(), len: packed.len() })
}

/// Each row as a number, and the positions of the columns.
fn packed(rows: &Batch) -> Option<(SmallVec<[Field; 4]>, Vec<u64>)> {
    let columns: Option<SmallVec<[&[i64]; 4]>> = rows.columns.iter().map(Column::as_dense_ints).collect();
    let columns = columns.filter(|columns| !columns.is_empty() && rows.len > 0)?;
    let places = places(&columns)?;
    let packed = pack(&columns, &places, rows.len);
    Some((places, packed))
}

/// The position of each column, if all fit.
fn places(columns: &[&[i64]]) -> Option<SmallVec<[Field; 4]>> {
    let mut shift = 0;
    let mut places: SmallVec<[Field; 4]> = SmallVec::new();
    for values in columns.iter().rev() {
        let first = values.first().copied().unwrap_or(0);
        let (min, max) = values.iter().fold((first, first), |(min, max), value| (min.min(*value), max.max(*value)));
        let bits = u64::BITS - max.abs_diff(min).leading_zeros();
        places.push(Field { min, shift, bits });
        shift += bits;
    }
    places.reverse();
    (shift <= u64::BITS).then_some(places)
}

fn pack(columns: &[&[i64]], places: &[Field], len: usize) -> Vec<u64> {
    let part = |value: i64, place: &Field| (value.wrapping_sub(place.min) as u64).checked_shl(place.shift).unwrap_or(0);
    let mut packed: Vec<u64> = columns[0].iter().map(|value| part(*value, &places[0])).collect();
    debug_assert_eq!(packed.len(), len, "columns are as long as their batch");
    for (values, place) in columns.iter().zip(places).skip(1) {
        packed.iter_mut().zip(*values).for_each(|(row, value)| *row |= part(*value, place));
    }
    packed
}

/// Keeps only the last of sorted rows with the same key.
fn keep_last(rows: &mut Vec<u64>, key: impl Fn(&u64) -> u64) {
    // Whether a row is the last of its key is unpredictable, so there is no branch: each row is written, and the next one overwrites it
    // if it was not the last.
    let mut kept = 0;
    for next in 1..rows.len() {
        let row = rows[next - 1];
        rows[kept] = row;
        kept += usize::from(key(&row) != key(&rows[next]));
    }
    if let Some(last) = rows.last().copied() {
        rows[kept] = last;
        rows.truncate(kept + 1);
    }
}
