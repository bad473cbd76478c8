//! A list of numbers for each of many owners, in two arrays.

/// For each owner, numbered from 0, an ascending list of numbers without repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// Where the list of each owner begins in `items`; one more entry at the end.
    begins: Vec<usize>,
    items: Vec<u32>,
}

impl Lists {
    /// The lists of so many owners, from pairs of an owner and a number, which ascend and differ.
    pub fn new(owners: usize, pairs: &[(u32, u32)]) -> Lists {
        debug_assert!(pairs.is_sorted_by(|left, right| left < right));
        let begins = (0..=owners).map(|owner| pairs.partition_point(|(of, _)| (*of as usize) < owner)).collect();
        Lists { begins, items: pairs.iter().map(|(_, item)| *item).collect() }
    }

    /// Adds the list of one more owner. Repetitions are removed.
    pub fn push(&mut self, mut list: Vec<u32>) {
        list.sort_unstable();
        list.dedup();
        self.begins.extend(self.begins.is_empty().then_some(0));
        self.items.extend(list);
        self.begins.push(self.items.len());
    }

    /// The list of an owner.
    pub fn of(&self, owner: u32) -> &[u32] {
        &self.items[self.begins[owner as usize]..self.begins[owner as usize + 1]]
    }

    /// Whether a number is in the list of an owner.
    pub fn contains(&self, owner: u32, item: u32) -> bool {
        self.of(owner).binary_search(&item).is_ok()
    }

    /// How many owners there are.
    pub fn owners(&self) -> u32 {
        self.begins.len().saturating_sub(1) as u32
    }

    /// All pairs of an owner and a number, ascending.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.owners()).flat_map(|owner| self.of(owner).iter().map(move |item| (owner, *item)))
    }
}

/// How many numbers two ascending lists share.
pub fn shared<'a>(left: &'a [u32], right: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    let (mut left, mut right) = (left, right);
    std::iter::from_fn(move || {
        while let (Some(l), Some(r)) = (left.first(), right.first()) {
            let same = (l == r).then_some(*l);
            (left, right) = (&left[usize::from(l <= r)..], &right[usize::from(r <= l)..]);
            if same.is_some() {
                return same;
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_from_pairs_are_those_that_are_pushed() {
        let lists = Lists::new(3, &[(0, 5), (2, 1), (2, 7)]);
        let mut pushed = Lists::default();
        [vec![5], vec![], vec![7, 1, 7]].into_iter().for_each(|list| pushed.push(list));
        assert_eq!(lists, pushed);
        assert_eq!(lists.pairs().collect::<Vec<_>>(), [(0, 5), (2, 1), (2, 7)]);
        assert!(lists.contains(2, 7) && !lists.contains(1, 7));
    }

    #[test]
    fn shared_numbers_are_in_both_lists() {
        assert_eq!(shared(&[1, 3, 5, 9], &[2, 3, 4, 9, 11]).collect::<Vec<_>>(), [3, 9]);
        assert_eq!(shared(&[], &[2]).count(), 0);
    }
}
