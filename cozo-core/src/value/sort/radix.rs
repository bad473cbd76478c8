//! Stable radix sort by a number.
//!
//! The first pass distributes all items by the most significant digit. Each part then fits the cache, and threads sort the parts
//! separately, least significant digit first.

use rayon::prelude::*;

use super::RADIX_MIN_ROWS;
use crate::threads;

const DIGIT_BITS: u32 = 8;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Fewer items are sorted by comparison.
const FEW: usize = 64;

/// Items that fit the cache are sorted by comparison if their numbers have more bits.
const MAX_BITS_OF_FEW: u32 = 32;

/// Sorts items stably by the lowest `bits` bits of their numbers.
pub fn sort_by_bits<T: Copy + Default + Send + Sync>(items: &mut Vec<T>, bits: u32, number: impl Fn(&T) -> u64 + Sync) {
    let mask = if bits < u64::BITS { (1 << bits) - 1 } else { u64::MAX };
    let number = |item: &T| number(item) & mask;
    if items.len() < RADIX_MIN_ROWS {
        if items.len() >= FEW && bits <= MAX_BITS_OF_FEW {
            let mut spare = items.clone();
            sort_part(items, &mut spare, bits, number);
        } else {
            items.sort_by_key(number);
        }
        return;
    }
    let lower_bits = bits.saturating_sub(DIGIT_BITS);
    let mut spare = vec![T::default(); items.len()];
    let starts = scatter(items, &mut spare, |item| (number(item) >> lower_bits) as usize);
    std::mem::swap(items, &mut spare);
    if lower_bits == 0 {
        return;
    }
    // The items of each digit, and a spare buffer of the same size.
    let mut parts = Vec::with_capacity(DIGITS);
    let (mut items, mut spare) = (items.as_mut_slice(), spare.as_mut_slice());
    for len in starts.windows(2).map(|ends| ends[1] - ends[0]) {
        let (part, more) = items.split_at_mut(len);
        let (room, more_room) = spare.split_at_mut(len);
        parts.push((part, room));
        (items, spare) = (more, more_room);
    }
    threads::ready();
    parts.into_par_iter().for_each(|(part, room)| sort_part(part, room, lower_bits, number));
}

/// Sorts by the lowest `bits` bits.
fn sort_part<T: Copy>(items: &mut [T], room: &mut [T], bits: u32, number: impl Fn(&T) -> u64) {
    if items.len() < FEW {
        items.sort_by_key(number);
        return;
    }
    let (mut from, mut to) = (items, room);
    let passes = bits.div_ceil(DIGIT_BITS);
    for pass in 0..passes {
        scatter(from, to, |item| (number(item) >> (pass * DIGIT_BITS)) as usize % DIGITS);
        std::mem::swap(&mut from, &mut to);
    }
    if passes % 2 == 1 {
        to.copy_from_slice(from);
    }
}

/// Copies items in the order of a digit. Returns the start of the items of each digit, and the end.
fn scatter<T: Copy>(from: &[T], to: &mut [T], digit: impl Fn(&T) -> usize) -> [usize; DIGITS + 1] {
    let mut starts = [0; DIGITS + 1];
    from.iter().for_each(|item| starts[digit(item) + 1] += 1);
    (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
    let mut next = starts;
    for item in from {
        let place = &mut next[digit(item)];
        to[*place] = *item;
        *place += 1;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_sorted_by_some_bits_and_ties_keep_their_order() {
        for len in [0, 1, 100, 3 * RADIX_MIN_ROWS] {
            for bits in [1, 8, 9, 17, 42, 64] {
                let number = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (i % 3);
                let mut items: Vec<(u64, u64)> = (0..len as u64).map(|i| (number(i), i)).collect();
                let mut expected = items.clone();
                let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
                expected.sort_by_key(|(number, _)| number & mask);
                sort_by_bits(&mut items, bits, |item| item.0);
                assert!(items == expected, "{len} items by {bits} bits");
            }
        }
    }
}
