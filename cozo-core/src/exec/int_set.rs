//! Sets of integers that lie close together, as bitmaps.

/// So many integers are entered at a time, and room made for.
const CHUNK_ROWS: usize = 2048;

/// Integers from 0 up, a bit for each.
#[derive(Debug, Default)]
pub struct IntSet {
    words: Vec<u64>,
    len: usize,
}

impl IntSet {
    /// The bits that are spent on each row at most. More than a hash table takes, but cleared and read at memory speed.
    const BITS_PER_ROW: u64 = 1024;

    /// How many integers there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The set of these values, if they lie close enough together for one of so many rows.
    pub fn of(values: &[i64], rows: usize) -> Option<Self> {
        let mut set = IntSet::default();
        set.make_room(values, rows).then(|| {
            set.insert_all(values);
            set
        })
    }

    /// Makes room for values, if all of them lie close enough together for a set of so many rows; otherwise `false`.
    pub fn make_room(&mut self, values: &[i64], rows: usize) -> bool {
        // No value is above the bits of all together, which are found sooner than the largest value. Negative ones have the highest.
        let bound = values.iter().fold(0, |bits, value| bits | *value as u64);
        let fits = bound < rows as u64 * Self::BITS_PER_ROW;
        if fits && bound as usize / 64 >= self.words.len() {
            self.words.resize((bound as usize / 64 + 1).next_power_of_two(), 0);
        }
        fits
    }

    /// Adds values for which there is room.
    pub fn insert_all(&mut self, values: &[i64]) {
        let mut added = 0;
        for value in values {
            let (word, bit) = (&mut self.words[*value as usize / 64], 1 << (value % 64));
            added += usize::from(*word & bit == 0);
            *word |= bit;
        }
        self.len += added;
    }

    /// Adds values for which there is room, and appends those that are new to `fresh`.
    pub fn insert_fresh(&mut self, values: &[i64], fresh: &mut Vec<i64>) {
        let before = fresh.len();
        for values in values.chunks(CHUNK_ROWS) {
            // No branch asks whether a value is new, which nobody can foretell: each is written, and the next one over it if
            // it was not.
            let mut end = fresh.len();
            fresh.resize(end + values.len(), 0);
            for value in values {
                let (word, bit) = (&mut self.words[*value as usize / 64], 1 << (value % 64));
                fresh[end] = *value;
                end += usize::from(*word & bit == 0);
                *word |= bit;
            }
            fresh.truncate(end);
        }
        self.len += fresh.len() - before;
    }

    /// Adds the values of another set.
    pub fn union(&mut self, other: IntSet) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            self.len += (*other & !*word).count_ones() as usize;
            *word |= other;
        }
    }

    #[inline]
    pub fn contains(&self, value: i64) -> bool {
        let word = usize::try_from(value).ok().and_then(|value| self.words.get(value / 64));
        word.is_some_and(|word| word & (1 << (value % 64)) != 0)
    }

    /// The values in ascending order.
    pub fn to_values(&self) -> Vec<i64> {
        let mut values = Vec::with_capacity(self.len);
        for (number, word) in self.words.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                values.push(number as i64 * 64 + i64::from(rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_set_has_what_was_inserted_once_and_ascending() {
        let mut model = BTreeSet::new();
        let mut set_of = |starts_and_steps: &[(i64, i64)]| {
            let mut set = IntSet::default();
            for (start, step) in starts_and_steps {
                let values: Vec<i64> = (0..700).map(|i| (start + i * step) % 10_007).collect();
                assert!(set.make_room(&values, set.len() + values.len()));
                set.insert_all(&values);
                model.extend(values);
            }
            set
        };
        let (mut one, other) = (set_of(&[(3, 7), (0, 5)]), set_of(&[(9_000, 11)]));
        one.union(other);
        let expected: Vec<i64> = model.iter().copied().collect();
        assert_eq!((one.len(), one.to_values()), (model.len(), expected));
        assert!((-1..12_000).all(|value| one.contains(value) == model.contains(&value)));
        let mut fresh = vec![];
        one.insert_fresh(&[3, 10_006, 10_006, 4, 3], &mut fresh);
        let new = |value: &i64| !model.contains(value);
        assert_eq!(fresh, [3, 10_006, 4].into_iter().filter(new).collect::<Vec<_>>());
    }

    #[test]
    fn there_is_no_room_for_values_far_apart() {
        for values in [[0, 1 << 40], [5, -1], [i64::MIN, i64::MAX]] {
            assert!(IntSet::of(&values, values.len()).is_none());
        }
        assert!(IntSet::of(&[0, 2_000], 2).is_some());
    }
}
